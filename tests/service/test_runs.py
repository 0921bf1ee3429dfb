"""Runs that the service streams: a language model answers, and every step is told as it happens."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.parsers.scripted_endpoint import Request, ScriptedEndpoint, completion, endpoint, fails, says
from tests.service.conftest import NEEDS
from tests.service.processes import running_service

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")
pytest.importorskip("openai", reason="pip install '.[llm]'")

STEPS = ["rivers in Norland", "lengths of #1", "#1 where #2 is highest", "Norland", "if #3 starts in #4"]
BODY = {"question": "Does the longest river in Norland start there?", "decomposition": STEPS}
SAID = {
    "rivers in Norland": "1. Ulla\n2. Brae",
    "What are the lengths of Ulla and Brae?": "<think>Ulla is long.</think>310 km\n95 km",
    "Is it true that Ulla starts in Norland?": "Yes.",
}


def knows(request: Request) -> None:
    request.send(200, completion(SAID[request.body["messages"][-1]["content"]]))


def events_in(text: str) -> list[tuple[str, dict[str, Any]]]:
    lines = (block.split("\n") for block in text.strip().split("\n\n"))
    return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in lines]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path))


@pytest.fixture
def model() -> Iterator[ScriptedEndpoint]:
    with endpoint(knows) as server:
        yield server


def test_a_run_is_told_as_it_happens(client_of: Callable[..., TestClient], model: ScriptedEndpoint) -> None:
    client = client_of(model=model.url)
    answer = client.post("/run", json=BODY)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *steps, (kind, last) = events_in(answer.text)
    assert [(name, event["number"], event.get("outcome")) for name, event in steps] == [
        ("step", 4, "given"),
        ("start", 1, None),
        ("step", 1, "asked"),
        ("start", 2, None),
        ("step", 2, "asked"),
        ("step", 3, "combined"),
        ("start", 5, None),
        ("step", 5, "asked"),
    ]
    assert [event["answer"] for name, event in steps if name == "step"][1:4] == [
        ["Ulla", "Brae"],
        ["310 km", "95 km"],
        "Ulla",
    ]
    assert (kind, last["answer"], last["error"], last["calls"]) == ("answer", True, None, 3)
    assert client.get("/version").json()["language_model"] == "tiny"
    resumed = events_in(client.post("/run", json={**BODY, "answers": {"3": "Ulla"}}).text)
    assert resumed[-1][1]["answer"] is True
    # What was asked before is known.
    assert len(model.bodies) == 3


def test_a_step_without_an_answer_says_why(client_of: Callable[..., TestClient]) -> None:
    with endpoint(fails(500)) as model:
        *steps, (kind, last) = events_in(client_of(model=model.url).post("/run", json=BODY).text)
    assert [event["outcome"] for name, event in steps if name == "step"] == ["given", "failed", *["not run"] * 3]
    assert (kind, last["answer"]) == ("answer", None)
    assert last["error"].startswith("step 1: ModelError: http://127.0.0.1")


def test_a_run_has_a_time_limit(client_of: Callable[..., TestClient]) -> None:
    with endpoint(says("late", 1.5)) as model:
        told = events_in(client_of(model=model.url, max_seconds=0.3).post("/run", json=BODY).text)
    assert told[-1] == ("error", {"error": "the run took longer than 0.3 seconds"})


def test_what_cannot_be_run_is_refused(
    client: TestClient, client_of: Callable[..., TestClient], model: ScriptedEndpoint
) -> None:
    assert client.get("/version").json()["language_model"] is None
    assert "has no language model" in client.post("/run", json=BODY).json()["error"]
    wrong = client_of(model=model.url).post("/run", json={**BODY, "answers": {"9": "x"}})
    assert (wrong.status_code, wrong.json()["error"]) == (422, "answers has '9'; the steps are 1 to 5")


def test_a_run_too_many_is_refused_and_when_the_client_is_gone_nothing_else_is_asked(
    client_of: Callable[..., TestClient],
) -> None:
    gate = threading.Event()

    def waits(request: Request) -> None:
        assert gate.wait(600)
        knows(request)

    def run(port: int, body: dict[str, Any]) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/run", json.dumps(body), {"Content-Type": "application/json"})
        return connection, connection.getresponse()

    with endpoint(waits) as model:
        options = ("--fallback", model.url, "--model", "tiny", "--retries", "0", "--concurrency", "1")
        with running_service(*options, "--timeout", "600", "--max-seconds", "600") as service:
            connection, answer = run(service.port, BODY)
            # The first event is there before the first answer is.
            assert answer.readline() == b"event: step\n"
            second, refusal = run(service.port, BODY)
            assert refusal.status == 503
            second.close()
            connection.close()
            answer.close()
            # A run that asks nothing is accepted as soon as the service knows that the first client is gone.
            known = {**BODY, "answers": {"1": "Ulla", "2": "310 km", "3": "Ulla", "5": True}}
            end = time.monotonic() + 60
            last, told = run(service.port, known)
            while told.status == 503:
                assert time.monotonic() < end
                last.close()
                last, told = run(service.port, known)
            gate.set()
            # It waits for the thread of the first one.
            assert b"event: answer" in told.read()
            last.close()
            assert len(model.bodies) <= 1
            assert service.stop() == (0, "")

"""Questions that come at the same time are parsed together; what takes too long or is too much is refused, early."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from qdecomp.parsers.decomposition import Decomposition
from tests.service.conftest import NEEDS, parser_of, toy_predict

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")


class Gated:
    """An application whose parser waits for a gate, with requests that are sent to it without a server."""

    def __init__(self, **limits: Any) -> None:
        from qdecomp.service.app import create_app
        from qdecomp.service.settings import ServiceSettings

        self.batches: list[list[str]] = []
        self.begun, self.gate = threading.Event(), threading.Event()
        self.app = create_app(ServiceSettings(**limits), parser_of(self._predict))

    def _predict(self, questions: Sequence[str]) -> list[Decomposition]:
        self.batches.append([question.split()[-1] for question in questions])
        self.begun.set()
        assert self.gate.wait(600)
        return toy_predict(questions)

    async def ask(self, path: str, body: Any) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer; a body of None is one that must not be read."""
        messages: list[Any] = []

        async def receive() -> Any:
            if body is None:
                pytest.fail("the body was read")
            if messages:
                await asyncio.Event().wait()
            messages.append("sent")
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.update(message)

        answer: dict[str, Any] = {}
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
        await self.app(scope, receive, send)
        return answer["status"], {name.decode(): value.decode() for name, value in answer["headers"]}

    async def waiting(self) -> int:
        """How many questions wait for the parser, as the service itself says."""
        messages: list[Any] = []

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            messages.append(message)

        scope = {"type": "http", "method": "GET", "path": "/metrics", "headers": [], "query_string": b""}
        await self.app(scope, receive, send)
        found = re.search(r"^qdecomp_questions_waiting (\d+)", messages[1]["body"].decode(), re.MULTILINE)
        assert found is not None
        return int(found[1])

    async def fill(self, waiting: int) -> list[asyncio.Future[Any]]:
        """Let the parser be busy with a question, and this many others wait."""
        self.begun.clear()
        requests = []
        for number in range(waiting + 1):
            question = {"question": f"how many things{number}"}
            requests.append(asyncio.ensure_future(self.ask("/parse", question)))
            assert await asyncio.to_thread(self.begun.wait, 60)
            end = time.monotonic() + 60
            while await self.waiting() < number:
                assert time.monotonic() < end
                await asyncio.sleep(0.01)
        return requests

    async def finish(self, requests: Sequence[asyncio.Future[Any]]) -> None:
        """Open the gate; all requests are answered."""
        self.gate.set()
        assert {status for status, _ in await asyncio.gather(*requests)} <= {200}


def test_requests_at_the_same_time_share_batches() -> None:
    async def scenario() -> None:
        service = Gated(batch_size=4)
        await service.finish(await service.fill(6))
        names = [f"things{number}" for number in range(7)]
        assert service.batches == [names[:1], names[1:5], names[5:]]

    asyncio.run(scenario())


def test_a_request_that_has_gone_is_not_parsed() -> None:
    async def scenario() -> None:
        service = Gated()
        first, gone, stays = await service.fill(2)
        gone.cancel()
        await asyncio.wait({gone})
        await service.finish([first, stays])
        assert service.batches == [["things0"], ["things2"]]

    asyncio.run(scenario())


def test_a_full_service_refuses_before_it_reads_the_body() -> None:
    async def scenario() -> None:
        service = Gated(max_waiting=3)
        accepted = await service.fill(3)
        status, headers = await service.ask("/parse", None)
        assert (status, headers["retry-after"]) == (503, "1")
        # Other work has a queue of its own.
        steps = {"question": "how many cubes", "decomposition": "return cubes"}
        assert (await service.ask("/convert", steps))[0] == 200
        await service.finish(accepted)

    asyncio.run(scenario())


def test_what_was_accepted_is_not_refused_while_other_answers_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from qdecomp.service.schemas import ParseAnswer

    free, write = threading.Event(), ParseAnswer.of

    def slow(*arguments: Any, **options: Any) -> ParseAnswer:
        assert free.wait(600)
        return write(*arguments, **options)

    monkeypatch.setattr(ParseAnswer, "of", slow)

    async def scenario() -> None:
        service = Gated(max_waiting=1)
        accepted = await service.fill(1)
        service.gate.set()
        # The second one is parsed, and not answered before the first one is.
        await asyncio.wait(accepted, timeout=0.3, return_when=asyncio.FIRST_COMPLETED)
        free.set()
        await service.finish(accepted)

    asyncio.run(scenario())


def test_many_questions_for_which_there_is_no_room_are_refused_together() -> None:
    async def scenario() -> None:
        service = Gated(max_waiting=3)
        accepted = await service.fill(2)
        assert (await service.ask("/parse", {"questions": ["how many cubes"] * 2}))[0] == 503
        await service.finish(accepted)

    asyncio.run(scenario())


def test_on_a_slow_machine_fewer_questions_wait() -> None:
    async def scenario() -> None:
        service = Gated(batch_size=4, max_waiting=64)
        slow = await service.fill(0)
        await asyncio.sleep(1)
        await service.finish(slow)
        service.gate.clear()
        # In three seconds it answers at most two questions, which are also half a batch.
        accepted = await service.fill(2)
        assert (await service.ask("/parse", None))[0] == 503
        await service.finish(accepted)

    asyncio.run(scenario())


def test_refusals_take_turns_so_that_those_who_ask_again_at_once_take_no_time_from_the_others() -> None:
    async def scenario() -> None:
        service = Gated(max_waiting=1)
        accepted = await service.fill(1)
        start = time.monotonic()
        refused = await asyncio.gather(*(service.ask("/parse", None) for _ in range(26)))
        assert {status for status, _ in refused} == {503}
        assert 0.5 <= time.monotonic() - start < 60
        await service.finish(accepted)

    asyncio.run(scenario())


def test_an_answer_that_takes_too_long_is_given_up() -> None:
    service = Gated(max_seconds=0.2)
    assert asyncio.run(service.ask("/parse", {"question": "how many cubes"}))[0] == 504
    service.gate.set()


def test_a_slow_conversion_holds_up_no_other_request(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdecomp.service.schemas import ConvertAnswer

    begun, gate = threading.Event(), threading.Event()
    convert = ConvertAnswer.of_written

    def slow(question: str, *args: Any, **options: Any) -> ConvertAnswer:
        if question == "slow":
            begun.set()
            assert gate.wait(600)
        return convert(question, *args, **options)

    monkeypatch.setattr(ConvertAnswer, "of_written", slow)
    client = client_of()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(client.post, "/convert", json={"question": "slow", "decomposition": "return cubes"})
        assert begun.wait(60)
        body = {"question": "how many cubes", "decomposition": "return cubes", "pictures": True}
        assert client.post("/convert", json=body).status_code == 200
        assert client.post("/parse", json={"question": "how many cubes", "pictures": True}).status_code == 200
        pair = {"question": "how many cubes", "prediction": "return cubes", "gold": "return cubes"}
        assert client.post("/score", json=pair).status_code == 200
        assert not job.done()
        gate.set()
        assert job.result().status_code == 200


def test_work_for_a_request_whose_time_is_up_ends_with_the_item_in_progress(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdecomp.service.schemas import ScoreAnswer

    scored: list[str] = []
    begun, gate = threading.Event(), threading.Event()

    def slow(pair: Any, functions: Any) -> ScoreAnswer:
        scored.append(pair.question)
        begun.set()
        assert gate.wait(600)
        return ScoreAnswer(scores={}, errors={})

    monkeypatch.setattr(ScoreAnswer, "of", slow)
    client = client_of(max_seconds=0.3)
    pairs = [{"question": f"q{number}", "prediction": "return a", "gold": "return a"} for number in range(5)]
    # On a busy machine, the time may be up before the work begins.
    for _ in range(100):
        assert client.post("/score", json={"pairs": pairs, "metrics": ["em"]}).status_code == 504
        if begun.wait(1):
            break
    assert begun.is_set()
    gate.set()
    client.__exit__(None, None, None)
    assert set(scored) == {"q0"}

"""A language model as a parser, behind an endpoint that answers as a script says; no test needs a model."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import qdecomp
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bulk import FileSummary, parse_file
from qdecomp.parsers.decomposition import Answered, decomposition_from_record
from qdecomp.parsers.language_model import ModelError
from qdecomp.parsers.parser import opened_on_worker
from qdecomp.parsers.source import parser_source
from tests.cli_runs import json_lines, run_qdecomp
from tests.files.dask_cluster import dask_cluster
from tests.parsers.scripted_endpoint import (
    KEY,
    Answer,
    Request,
    completion,
    cut,
    endpoint,
    fails,
    half,
    refuses,
    says,
    without_end,
)

pytest.importorskip("openai", reason="pip install 'question-decomposition[llm]' (in a clone: pip install '.[llm]')")
pytest.importorskip("bm25s")

QUESTION = "How many red mugs are on the shelf?"
STEPS = ["mugs", "#1 that are red", "#2 on the shelf", "number of #3"]
PLAN = json.dumps({"steps": STEPS})
LINES = "\n".join(f"{number}. {step}" for number, step in enumerate(STEPS, start=1))


@pytest.fixture(autouse=True)
def _own_cache_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("QDECOMP_API_KEY", KEY)


def load(url: str, **options: Any) -> qdecomp.Parser:
    return qdecomp.load(url, model="toy", **{"timeout": 300.0, "retries": 1, "k": 2, **options})


def without_usage(request: Request) -> None:
    content = {name: value for name, value in json.loads(completion(PLAN)).items() if name != "usage"}
    request.send(200, json.dumps(content).encode())


@pytest.mark.parametrize(
    ("answers", "requests", "error"),
    [
        pytest.param([says(PLAN)], 1, None, id="a plan"),
        pytest.param([fails(429, **{"retry-after": "0"}), says(PLAN)], 2, None, id="too many requests, then a plan"),
        pytest.param([half, says(PLAN)], 2, None, id="half a JSON, then a plan"),
        pytest.param([without_usage], 1, None, id="an endpoint that leaves out the usage"),
        pytest.param([fails(400), fails(400), fails(422), says(LINES)], 4, None, id="an endpoint that knows no forms"),
        pytest.param(
            [refuses("max_tokens"), refuses("temperature"), says(PLAN)], 3, None, id="a model with few options"
        ),
        pytest.param([says("Rivers: see above."), says(PLAN)], 2, None, id="no plan, then a plan"),
        pytest.param([fails(429)], 2, r"429, also when asked 2 times", id="too many requests"),
        pytest.param([fails(500)], 8, r"500, also when asked 2 times", id="a broken server"),
        pytest.param([*[fails(500)] * 6, says(LINES)], 7, None, id="a server that breaks of forms"),
        pytest.param([fails(400)], 4, r"400 \(", id="a request that is always wrong"),
        pytest.param([fails(401)], 1, r"401, the key in QDECOMP_API_KEY is missing or has no permission", id="no key"),
        pytest.param([fails(404, "no model toy")], 1, r"404 .*no model toy", id="no such model"),
        pytest.param([half], 2, r"what came back is not a chat completion, 2 times", id="half a JSON"),
        pytest.param([cut], 2, r"the connection broke \(.*2 times", id="a connection that ends"),
        pytest.param(
            [fails(302, location=f"http://127.0.0.1:9/{KEY}")], 1, r"redirects to http://127", id="a redirect"
        ),
        pytest.param([without_end(0)], 1, r"the answer has no end", id="a stream without an end"),
    ],
)
def test_every_answer_ends_as_documented(
    answers: list[Answer],
    requests: int,
    error: str | None,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    # At DEBUG, the HTTP library logs whatever comes back.
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.DEBUG, "openai")
    with endpoint(*answers) as server:
        parser = load(server.url)
        if error is None:
            found = parser.parse(QUESTION)
            shown = json.dumps(found.to_dict()) + repr(found)
            assert found.steps == tuple(STEPS)
            assert found.answered is not None
            assert found.answered.by == "toy"
        else:
            with pytest.raises(ModelError, match=error) as caught:
                parser.parse(QUESTION)
            shown = str(caught.value) + repr(caught.value)
            assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args
    assert len(server.bodies) == requests
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    shown += caplog.text + "".join(capfd.readouterr()) + repr(parser) + repr(parser.source) + str(parser.usage)
    assert KEY not in shown
    cache = Path(os.environ["QDECOMP_CACHE"]) / "answers.sqlite"
    assert not cache.exists() or KEY.encode() not in cache.read_bytes()


# Each would end in another way if it were waited for.
@pytest.mark.parametrize("answer", [says(PLAN, seconds=30), without_end(0.2)], ids=["late", "slow without an end"])
def test_a_late_answer_ends_with_the_time(answer: Answer) -> None:
    with endpoint(answer) as server:
        parser = load(server.url, timeout=1.0)
        with pytest.raises(ModelError, match=r"no answer within 1 seconds \(timeout, --timeout\)"):
            parser.parse(QUESTION)


def test_a_wrong_address_is_said() -> None:
    with endpoint(fails(404)) as server, pytest.raises(ModelError, match="most addresses end with /v1"):
        load(server.url.removesuffix("/v1")).parse(QUESTION)
    with pytest.raises(ModelError, match=r"no connection \(.*\); is the server running there\?"):
        load(server.url).parse(QUESTION)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("", "it is empty"),
        ("Entschuldigung, das kann ich nicht beantworten.", "no step says anything that the question says"),
        ('{"steps": ["mugs", "#3 that are red", "number of #2"]}', "step 2: its references form a cycle"),
        ("x" * 30_000, "it has 30,000 characters, and no plan needs so many"),
    ],
)
def test_what_is_no_plan_is_asked_for_again_and_then_is_the_reason(text: str, mistake: str) -> None:
    with endpoint(says(text)) as server:
        found = load(server.url).parse(QUESTION)
    assert not found
    assert found.error is not None
    assert found.error.startswith(f"toy gave no plan, asked 2 times: {mistake}")
    assert found.answered == Answered("toy", 2, 200, 20)
    *_, answer, again = server.bodies[1]["messages"]
    assert (answer["role"], answer["content"]) == ("assistant", text[:20_000])
    assert mistake in again["content"]


@pytest.mark.parametrize(
    ("steps", "mistake"),
    [
        ([*STEPS[:3], "price of #1", "number of #3"], "step 4: no other step uses it"),
        (["mugs", "#3 that are red", "#1 on the shelf", "number of #2"], "step 2 refers to #3, which comes later"),
        (["mugs", "#1 on the shelf in Paris", "number of #2"], "red"),
    ],
)
def test_a_plan_with_a_mistake_is_better_than_none(steps: list[str], mistake: str) -> None:
    with endpoint(says(json.dumps({"steps": steps})), says("no")) as server:
        found = load(server.url).parse(QUESTION)
    assert found.steps == tuple(steps)
    assert mistake in server.bodies[1]["messages"][-1]["content"]


def test_the_prompt_has_examples_and_the_form_that_the_endpoint_accepts() -> None:
    with endpoint(says(PLAN)) as server:
        load(server.url, k=3).parse(QUESTION)
        load(server.url, k=0, form="grammar").parse("Please, how many red mugs are on the shelf?")
    first, second = server.bodies
    assert [message["role"] for message in first["messages"]] == ["system", *["user", "assistant"] * 3, "user"]
    assert all("steps" in json.loads(message["content"]) for message in first["messages"][2:-1:2])
    assert first["messages"][-1]["content"] == f"Question: {QUESTION}"
    assert first["response_format"]["json_schema"]["schema"]["required"] == ["steps"]
    assert second["grammar"].startswith("root ::= ")
    assert len(second["messages"]) == 2


# The same plan fits all of these.
OPENINGS = ("Please", "Hi", "Hello", "Hey", "So", "Well", "Ok", "And", "But", "Then", "Also", "Now")
QUESTIONS = [f"{opening}, how many red mugs are on the shelf?" for opening in OPENINGS]


def questions_file(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("".join(f"{question}\n" for question in QUESTIONS[:count]))
    return path


def asked(bodies: Sequence[dict[str, Any]]) -> list[str]:
    return [body["messages"][-1]["content"] for body in bodies]


def test_a_run_that_an_error_stopped_asks_nothing_twice(tmp_path: Path) -> None:
    path, output = questions_file(tmp_path, 6), tmp_path / "out.jsonl"
    with endpoint(*[says(PLAN)] * 4, fails(401)) as server:
        with pytest.raises(ModelError, match="401"):
            parse_file(load(server.url, concurrency=1), path, output)
        server.answers[:] = [says(PLAN)]
        parser = load(server.url, concurrency=1)
        summary = parse_file(parser, path, output)
    assert summary == FileSummary(6, asked=6, calls=6, prompt_tokens=600, completion_tokens=60)
    assert parser.usage is not None
    assert (parser.usage.calls, parser.usage.cached) == (2, 4)
    # One of them was refused.
    counts = [asked(server.bodies).count(f"Question: {question}") for question in QUESTIONS[:6]]
    assert sorted(counts) == [1, 1, 1, 1, 1, 2]
    # The file says the same as that of a run that was not stopped.
    whole = tmp_path / "whole.jsonl"
    parse_file(parser, path, whole)
    assert output.read_bytes() == whole.read_bytes()
    assert decomposition_from_record(json_lines(whole)[0]).answered == Answered("toy", 1, 100, 10)


def test_an_interrupt_ends_at_once_and_the_next_run_goes_on(tmp_path: Path) -> None:
    path, output = questions_file(tmp_path, 12), tmp_path / "out.jsonl"
    arguments = ["parse", "--input", path, "--output", output, "--model", "toy", "--concurrency", "2", "--k", "0"]

    def hangs(request: Request) -> None:
        request.server.hung_up.wait(300)

    with endpoint(*[says(PLAN)] * 5, hangs) as server:
        command = [sys.executable, "-m", "qdecomp", *map(str, arguments), "--parser", server.url, "--timeout", "300"]
        run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        while len(server.bodies) < 7:
            assert run.poll() is None
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=120)
        assert (run.returncode, errors.strip()) == (130, "")
        server.hung_up.set()
        server.answers[:] = [says(PLAN)]
        assert run_qdecomp(*arguments, "--parser", server.url) == 0
    assert len(json_lines(output)) == 12
    # Only what was in flight is asked again.
    assert len(server.bodies) == 12 + 2


def test_a_limit_on_calls_stops_the_run_and_keeps_the_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = questions_file(tmp_path, 3), tmp_path / "out.jsonl"
    with endpoint(says(PLAN)) as server:
        arguments = ("parse", "--input", path, "--output", output, "--parser", server.url, "--model", "toy", "--k", "0")
        assert run_qdecomp(*arguments, "--max-calls", 2) == 2
        assert "the limit of 2 calls is reached" in capsys.readouterr().err
        assert run_qdecomp(*arguments, "--max-calls", 2) == 0
        assert "3 questions took 3 calls with 300 + 30 tokens" in capsys.readouterr().err
    assert len(server.bodies) == 3


def test_the_page_leads_from_an_address_to_a_plan_that_runs(
    project_root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (project_root / "docs" / "language_models.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    assert len(program.split("\n")) <= 11
    steps = ["points that the Bears scored", "points that the Lions scored", "which is highest of #1 , #2"]
    monkeypatch.setattr("builtins.input", lambda question: "21" if "Bears" in question else "17")
    with endpoint(says(json.dumps({"steps": steps}))) as server:
        exec(program.replace("http://127.0.0.1:11434/v1", server.url), {})
    assert capsys.readouterr().out.splitlines()[-1] == "points that the Bears scored"


def test_questions_are_asked_at_the_same_time_and_equal_ones_once() -> None:
    together = threading.Barrier(4, timeout=60)

    def answer(request: Request) -> None:
        together.wait()
        says(PLAN)(request)

    with endpoint(answer) as server:
        questions = QUESTIONS[:4] * 2
        found = list(load(server.url, concurrency=4, cache=False).pipe(questions))
    assert [each.question for each in found] == questions
    assert len(server.bodies) == 4


def test_a_function_is_a_parser() -> None:
    messages: list[Any] = []

    def answer(given: list[dict[str, str]]) -> str:
        messages.append(given)
        return LINES

    parser = qdecomp.load(answer, k=1)
    assert parser.parse(QUESTION).steps == tuple(STEPS)
    assert parser.parse("hello").error == "not a question: a single word"
    assert len(messages) == 1
    for local in (parser, qdecomp.load(fallback=answer)):
        with pytest.raises(DataError, match="answer can only parse in one process"):
            local.pipe([], processes=2)
    with pytest.raises(DataError, match="the function must return the model's answer, a text, not int"):
        qdecomp.load(len).parse(QUESTION)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="a function takes no decoder"):
        qdecomp.load(answer, decoder="ilp")


@pytest.mark.parametrize(
    ("source", "options", "reason"),
    [
        ("http://127.0.0.1:1/v1", {}, r"give the name of the language model: model=… \(--model NAME\)"),
        ("http://me:secret@127.0.0.1/v1", {"model": "toy"}, "without a user, a password or a query"),
        ("http://127.0.0.1/v1?key=1", {"model": "toy"}, "QDECOMP_API_KEY"),
        ("http:///v1", {"model": "toy"}, "is not an address such as"),
        ("http://127.0.0.1:99999/v1", {"model": "toy"}, "is not an address such as"),
        ("http://127.0.0.1:1/v1", {"model": "toy", "form": "xml"}, "there is no form 'xml'; choose from auto"),
        ("http://127.0.0.1:1/v1", {"model": "toy", "k": -1}, "k is -1; give a whole number, 0 or more"),
        ("http://127.0.0.1:1/v1", {"model": "toy", "timeout": 0}, "timeout is 0; give seconds"),
        ("http://127.0.0.1:1/v1", {"model": "toy", "examples": "none.csv"}, r"none\.csv: there is no such file"),
        ("minilm_break", {"model": "toy"}, "model is for a language model; give its address"),
        ("minilm_break", {"fallback": "nowhere"}, "there is no parser 'nowhere'"),
        ("minilm_break", {"together": True}, "together needs a fallback"),
        ("minilm_break", {"fallback_below": 2}, "fallback_below is 2; give a number from 0 to 1"),
    ],
)
def test_a_wrong_option_is_one_line(source: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(DataError, match=reason) as error:
        qdecomp.load(source, **options)
    assert "secret" not in str(error.value)


def test_a_key_goes_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QDECOMP_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("MY_KEY", KEY)
    with endpoint(says(PLAN)) as server:
        load(server.url, cache=False).parse(QUESTION)
        load(server.url, cache=False, key_variable="MY_KEY").parse(QUESTION)
        with pytest.raises(ModelError, match="the environment variable NO_KEY has no key in it"):
            load(server.url, cache=False, key_variable="NO_KEY").parse(QUESTION)
    assert [headers["authorization"] for headers in server.headers] == ["Bearer none", f"Bearer {KEY}"]
    assert not any("org-mine" in str(headers) for headers in server.headers)


def test_a_cluster_asks_the_model_and_goes_on_after_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    with endpoint(*[says(PLAN)] * 3, fails(401)) as server, dask_cluster(tmp_path) as cluster:
        arguments = ("parse", "--input", questions_file(tmp_path, 6), "--parser", server.url, "--model", "toy")
        arguments += ("--batch-size", "1", "--output")
        assert run_qdecomp(*arguments, there, "--cluster", cluster.address) == 2
        assert "401, the key in QDECOMP_API_KEY" in capsys.readouterr().err
        server.answers[:] = [says(PLAN)]
        assert run_qdecomp(*arguments, there, "--cluster", cluster.address) == 0
        assert "6 questions took 6 calls with 600 + 60 tokens" in capsys.readouterr().err
        requests = len(server.bodies)
        assert run_qdecomp(*arguments, here) == 0
    assert there.read_bytes() == here.read_bytes()
    # What was answered is never asked again; each of the other three may have been refused once.
    assert 6 + 1 <= requests <= 6 + 3
    assert len(server.bodies) == requests
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}


def test_other_processes_know_which_model_is_asked(project_root: Path) -> None:
    examples, url = str(project_root / "data" / "dev.csv"), "http://127.0.0.1:1/v1"
    remote = parser_source("minilm_break", fallback=url, model="toy", examples=examples).for_workers()
    assert pickle.loads(pickle.dumps(remote)) == remote
    assert opened_on_worker(remote).name == "minilm_break, then toy"
    assert parser_source(url, model="other").contents() != parser_source(url, model="toy").contents()


def test_the_bundled_parser_has_a_model_behind_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with endpoint(says(PLAN)) as server:
        parser = qdecomp.load(fallback=server.url, model="toy", fallback_below=1.0, k=0)
        assert parser.parse(QUESTION).answered == Answered("toy", 1, 100, 10)
        assert parser.parse("").error == "the question is empty"
        arguments = ("parse", QUESTION, "--fallback", server.url, "--model", "toy", "--k", 0, "--fallback-below")
        assert run_qdecomp(*arguments, "1") == 0
        captured = capsys.readouterr()
        assert "answered by toy" in captured.out
        assert "1 questions took 1 calls" in captured.err
        assert run_qdecomp(*arguments, "0") == 0
        assert "answered by minilm_break, confidence" in capsys.readouterr().out
    function = qdecomp.load(fallback=lambda messages: LINES, fallback_below=1.0, k=0, min_confidence=0.9)
    assert function.parse(QUESTION).steps == tuple(STEPS)
    assert len(server.bodies) == 1
    (answered,) = [
        each.answered for each in qdecomp.load(lambda _: "no", k=0, fallback="minilm_break").pipe([QUESTION])
    ]
    assert answered == Answered("minilm_break", 2, note=answered.note)
    assert "gave no plan, asked 2 times" in str(answered.note)
    # Only mistakes of form fall back.
    with endpoint(fails(401)) as server, pytest.raises(ModelError, match="401"):
        load(server.url, fallback="minilm_break").parse(QUESTION)


def test_the_service_says_who_answered_and_an_error_is_that_of_its_question() -> None:
    testing = pytest.importorskip("fastapi.testclient")
    from qdecomp.service.app import create_app
    from qdecomp.service.settings import ServiceSettings

    def answers(request: Request) -> None:
        asked = request.body["messages"][-1]["content"]
        (fails(401) if "Hello" in asked else says(PLAN, seconds=0.2))(request)

    with endpoint(answers) as server:
        parser = load(server.url, cache=False)
        assert parser.source is not None
        with testing.TestClient(create_app(ServiceSettings(parser.source, max_seconds=600.0), parser)) as client:
            questions = [{"question": question} for question in (*QUESTIONS[:8], QUESTION)]
            with ThreadPoolExecutor(len(questions)) as executor:
                *found, last = executor.map(lambda question: client.post("/parse", json=question), questions)
    assert last.json()["answered"] == asdict(Answered("toy", 1, 100, 10))
    assert [each.status_code for each in found] == [502 if "Hello" in each else 200 for each in QUESTIONS[:8]]
    assert "401, the key in QDECOMP_API_KEY" in found[2].json()["error"]

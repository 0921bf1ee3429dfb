"""Questions that come at the same time are parsed together; what takes too long or is too much is refused, early."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import Parser
from tests.service.conftest import NEEDS, toy_parser, toy_predict

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")

from qdecomp.service.engine import MicroBatcher
from qdecomp.service.refusals import RefusedError


class Gate:
    """A parser that waits until it is allowed to start, and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun = threading.Semaphore(0)
        self.open = threading.Event()

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        self.batches.append(list(questions))
        self.begun.release()
        assert self.open.wait(60)
        return list(toy_parser().pipe(questions))


def run(gate: Gate, scenario: Callable[[MicroBatcher], Any], **options: Any) -> Any:
    batcher = MicroBatcher(gate, **options)
    try:
        return asyncio.run(scenario(batcher))
    finally:
        gate.open.set()
        batcher.stop()


async def begun(batcher: MicroBatcher, gate: Gate, questions: Sequence[str]) -> asyncio.Future[list[Decomposition]]:
    """A request whose batch is being parsed, until the gate opens."""
    request = asyncio.ensure_future(batcher.parse(questions))
    await asyncio.to_thread(gate.begun.acquire)
    return request


def test_what_comes_while_a_batch_is_parsed_makes_the_next_one() -> None:
    gate = Gate()
    questions = [f"how many things{number}" for number in range(7)]

    async def scenario(batcher: MicroBatcher) -> list[list[Decomposition]]:
        first = await begun(batcher, gate, questions[:1])
        others = [asyncio.ensure_future(batcher.parse(questions[start : start + 2])) for start in (1, 3, 5)]
        await asyncio.sleep(0)
        assert batcher.waiting == 6
        gate.open.set()
        return list(await asyncio.gather(first, *others))

    answers = run(gate, scenario, batch_size=4)
    assert gate.batches == [questions[:1], questions[1:5], questions[5:]]
    assert [each.question for answer in answers for each in answer] == questions
    assert all(each.steps[0] == each.question.split()[-1] for answer in answers for each in answer)


def test_too_much_is_refused_and_nothing_of_it_is_parsed() -> None:
    gate = Gate()

    async def scenario(batcher: MicroBatcher) -> None:
        first = await begun(batcher, gate, ["how many a"])
        second = asyncio.ensure_future(batcher.parse(["how many b"]))
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="try again") as refusal:
            await batcher.parse(["how many c", "how many d"])
        assert refusal.value.status == 503
        gate.open.set()
        await asyncio.gather(first, second)

    run(gate, scenario, max_waiting=2)
    assert gate.batches == [["how many a"], ["how many b"]]


def test_on_a_slow_machine_fewer_questions_wait() -> None:
    gate = Gate()

    async def scenario(batcher: MicroBatcher) -> None:
        slow = await begun(batcher, gate, ["how many a"])
        await asyncio.sleep(1)
        gate.open.set()
        await slow
        gate.open.clear()
        # In three seconds it answers at most two questions, which are also half a batch.
        accepted = [await begun(batcher, gate, ["how many b"])]
        accepted.append(asyncio.ensure_future(batcher.parse(["how many c"])))
        await asyncio.sleep(0)
        with pytest.raises(RefusedError, match="try again"):
            await batcher.parse(["how many d", "how many e"])
        gate.open.set()
        await asyncio.gather(*accepted)

    run(gate, scenario, batch_size=4, max_waiting=64)


def test_a_request_that_has_gone_is_not_parsed() -> None:
    gate = Gate()

    async def scenario(batcher: MicroBatcher) -> None:
        first = await begun(batcher, gate, ["how many a"])
        gone = asyncio.ensure_future(batcher.parse(["how many b"]))
        stays = asyncio.ensure_future(batcher.parse(["how many c"]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        gate.open.set()
        await asyncio.gather(first, stays)

    run(gate, scenario)
    assert gate.batches == [["how many a"], ["how many c"]]


def test_an_error_of_the_parser_reaches_every_request_of_its_batch_and_no_other() -> None:
    calls = []

    def fail_once(questions: Sequence[str]) -> list[Decomposition]:
        calls.append(questions)
        if len(calls) == 1:
            raise MemoryError("no room")
        return list(toy_parser().pipe(questions))

    async def scenario(batcher: MicroBatcher) -> list[Decomposition]:
        with pytest.raises(MemoryError):
            await batcher.parse(["how many a"])
        return await batcher.parse(["how many b"])

    batcher = MicroBatcher(fail_once)
    assert asyncio.run(scenario(batcher))[0].steps[0] == "b"
    batcher.stop()


def test_requests_at_the_same_time_share_batches(client_of: Callable[..., TestClient]) -> None:
    begun, gate = threading.Event(), threading.Event()
    sizes: list[int] = []

    def predict(questions: Sequence[str]) -> Any:
        sizes.append(len(questions))
        begun.set()
        assert gate.wait(60)
        return toy_predict(questions)

    client = client_of(Parser("gated", predict))

    def ask(number: int) -> str:
        answer = client.post("/parse", json={"question": f"how many things{number}"})
        return answer.json()["steps"][0]["text"]

    def waiting() -> float:
        lines = client.get("/metrics").text.splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("qdecomp_questions_waiting "))

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(ask, 0)
        assert begun.wait(60)
        others = [pool.submit(ask, number) for number in range(1, 7)]
        while waiting() < 6:
            pass
        gate.set()
        assert [job.result() for job in (first, *others)] == [f"things{number}" for number in range(7)]
    assert sizes == [1, 6]


def test_an_answer_that_takes_too_long_is_given_up(client_of: Callable[..., TestClient]) -> None:
    gate = threading.Event()

    def predict(questions: Sequence[str]) -> Any:
        assert gate.wait(60)
        return toy_predict(questions)

    client = client_of(Parser("slow", predict), max_seconds=0.2)
    answer = client.post("/parse", json={"question": "how many cubes"})
    gate.set()
    assert (answer.status_code, answer.json()["error"]) == (
        504,
        "there was no answer within 0.2 seconds; ask for less at a time",
    )


class Gated:
    """An application whose parser waits for a gate, with requests that are sent to it without a server."""

    def __init__(self, **limits: Any) -> None:
        from qdecomp.service.app import create_app
        from qdecomp.service.settings import ServiceSettings

        self.begun, self.gate = threading.Event(), threading.Event()
        self.app = create_app(ServiceSettings(**limits), Parser("gated", self._predict))

    def _predict(self, questions: Sequence[str]) -> Any:
        self.begun.set()
        assert self.gate.wait(60)
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

    async def fill(self, waiting: int) -> list[asyncio.Future[Any]]:
        """Let the parser be busy, and this many questions wait."""
        first = asyncio.ensure_future(self.ask("/parse", {"question": "how many cubes"}))
        await asyncio.to_thread(self.begun.wait, 60)
        others = [asyncio.ensure_future(self.ask("/parse", {"question": "how many cubes"})) for _ in range(waiting)]
        await asyncio.sleep(0.2)
        return [first, *others]


def test_a_full_service_refuses_before_it_reads_the_body() -> None:
    async def scenario() -> None:
        service = Gated(max_waiting=3)
        accepted = await service.fill(3)
        status, headers = await service.ask("/parse", None)
        assert (status, headers["retry-after"]) == (503, "1")
        # Other work has a queue of its own.
        steps = {"question": "how many cubes", "decomposition": "return cubes"}
        assert (await service.ask("/convert", steps))[0] == 200
        service.gate.set()
        assert [status for status, _ in await asyncio.gather(*accepted)] == [200] * 4

    asyncio.run(scenario())


def test_refusals_take_turns_so_that_those_who_ask_again_at_once_take_no_time_from_the_others() -> None:
    async def scenario() -> None:
        service = Gated(max_waiting=1)
        accepted = await service.fill(1)
        start = time.monotonic()
        refused = await asyncio.gather(*(service.ask("/parse", None) for _ in range(26)))
        assert {status for status, _ in refused} == {503}
        assert 0.5 <= time.monotonic() - start < 5
        service.gate.set()
        await asyncio.gather(*accepted)

    asyncio.run(scenario())


def test_a_slow_conversion_holds_up_no_other_request(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdecomp.service.schemas import ConvertAnswer

    begun, gate = threading.Event(), threading.Event()
    convert = ConvertAnswer.of_written

    def slow(question: str, *args: Any, **options: Any) -> ConvertAnswer:
        if question == "slow":
            begun.set()
            assert gate.wait(60)
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
        assert gate.wait(60)
        return ScoreAnswer(scores={}, errors={})

    monkeypatch.setattr(ScoreAnswer, "of", slow)
    client = client_of(max_seconds=0.3)
    pairs = [{"question": f"q{number}", "prediction": "return a", "gold": "return a"} for number in range(5)]
    assert client.post("/score", json={"pairs": pairs}).status_code == 504
    assert begun.is_set()
    gate.set()
    client.__exit__(None, None, None)
    assert scored == ["q0"]

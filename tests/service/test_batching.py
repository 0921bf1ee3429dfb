"""Questions that come at the same time are parsed together; what takes too long or is too much is refused, early."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from qdecomp.parsers.decomposition import Decomposition
from tests.service.conftest import NEEDS, parser_of, toy_predict

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")
httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.anyio


class Gated:
    """An application whose parser waits for a gate, with requests that are sent to it without a server."""

    def __init__(self, **limits: Any) -> None:
        from qdecomp.service.app import create_app
        from qdecomp.service.settings import ServiceSettings

        self.batches: list[list[str]] = []
        self.begun, self.gate = threading.Event(), threading.Event()
        app = create_app(ServiceSettings(**limits), parser_of(self._predict))
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")

    def _predict(self, questions: Sequence[str]) -> list[Decomposition]:
        self.batches.append([question.split()[-1] for question in questions])
        self.begun.set()
        assert self.gate.wait(600)
        return toy_predict(questions)

    async def ask(self, path: str, body: Any) -> httpx.Response:
        """The answer to a request; a body of None is one that must not be read."""

        async def unread() -> AsyncIterator[bytes]:
            yield pytest.fail("the body was read")

        return await self._client.post(path, **({"content": unread()} if body is None else {"json": body}))

    async def waiting(self) -> int:
        """How many questions wait for the parser, as the service itself says."""
        found = re.search(r"^qdecomp_questions_waiting (\d+)", (await self._client.get("/metrics")).text, re.MULTILINE)
        assert found is not None
        return int(found[1])

    async def fill(self, waiting: int, begun: int = 0) -> list[asyncio.Future[Any]]:
        """Let the parser be busy with a question, and this many others wait, of which so many have ``begun``."""
        if not begun:
            self.begun.clear()
        requests = []
        for number in range(begun, waiting + 1):
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
        assert {answer.status_code for answer in await asyncio.gather(*requests)} <= {200}


async def test_requests_at_the_same_time_share_batches() -> None:
    service = Gated(batch_size=4)
    await service.finish(await service.fill(6))
    names = [f"things{number}" for number in range(7)]
    assert service.batches == [names[:1], names[1:5], names[5:]]


async def test_a_request_that_has_gone_is_not_parsed() -> None:
    service = Gated()
    first, gone, stays = await service.fill(2)
    gone.cancel()
    await asyncio.wait({gone})
    await service.finish([first, stays])
    assert service.batches == [["things0"], ["things2"]]


async def test_a_full_service_refuses_before_it_reads_the_body() -> None:
    service = Gated(max_waiting=3)
    accepted = await service.fill(2)
    # There is room for one question, not for two.
    assert (await service.ask("/parse", {"questions": ["how many cubes"] * 2})).status_code == 503
    accepted += await service.fill(3, begun=3)
    refusal = await service.ask("/parse", None)
    assert (refusal.status_code, refusal.headers["retry-after"]) == (503, "1")
    # Other work has a queue of its own.
    steps = {"question": "how many cubes", "decomposition": "return cubes"}
    assert (await service.ask("/convert", steps)).status_code == 200
    await service.finish(accepted)


async def test_what_was_accepted_is_not_refused_while_other_answers_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from qdecomp.service.schemas import ParseAnswer

    free, write = threading.Event(), ParseAnswer.of

    def slow(*arguments: Any, **options: Any) -> ParseAnswer:
        assert free.wait(600)
        return write(*arguments, **options)

    monkeypatch.setattr(ParseAnswer, "of", slow)

    service = Gated(max_waiting=1)
    accepted = await service.fill(1)
    service.gate.set()
    # The second one is parsed, and not answered before the first one is.
    await asyncio.wait(accepted, timeout=0.3, return_when=asyncio.FIRST_COMPLETED)
    free.set()
    await service.finish(accepted)


async def test_on_a_slow_machine_fewer_questions_wait() -> None:
    service = Gated(batch_size=4, max_waiting=64)
    slow = await service.fill(0)
    await asyncio.sleep(1)
    await service.finish(slow)
    service.gate.clear()
    # In three seconds it answers at most two questions, which are also half a batch.
    accepted = await service.fill(2)
    assert (await service.ask("/parse", None)).status_code == 503
    await service.finish(accepted)


async def test_refusals_take_turns_so_that_those_who_ask_again_at_once_take_no_time_from_the_others() -> None:
    service = Gated(max_waiting=1)
    accepted = await service.fill(1)
    start = time.monotonic()
    refused = await asyncio.gather(*(service.ask("/parse", None) for _ in range(26)))
    assert {answer.status_code for answer in refused} == {503}
    assert 0.5 <= time.monotonic() - start < 60
    await service.finish(accepted)


async def test_an_answer_that_takes_too_long_is_given_up() -> None:
    service = Gated(max_seconds=0.2)
    assert (await service.ask("/parse", {"question": "how many cubes"})).status_code == 504
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

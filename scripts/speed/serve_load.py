"""Load for the service: clients that ask as fast as they get answers, and mixed requests at a steady rate.

Requests are written to sockets directly, so that one process can be several hundred clients.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

_SECONDS_FOR_AN_ANSWER = 120
# Instead of the status of an answer: the client went away on purpose, or there was no answer.
_ABORTED = 0
_LOST = -1

BAD_BODIES = (b'{"question": ', b"[" * 5_000, b'{"question": 7}', b'{"question": "\\ud800"}', b"x" * 2_000_000)
_THINGS = ("cubes", "rivers", "flights", "films", "players", "songs", "cities", "books")
_QUALITIES = ("red", "long", "early", "old", "young", "famous", "large", "short", "new", "loud")


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and whether the client waits for the answer."""

    path: str
    body: bytes
    is_aborted: bool = False

    def to_bytes(self) -> bytes:
        """The request on the wire; an aborted one lacks the end of its body."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self.body) + self.is_aborted}\r\n\r\n"
        )
        return head.encode() + self.body


class Client:
    """One connection, opened again whenever the service closes it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: Request) -> int:
        """The status of the answer."""
        try:
            return await asyncio.wait_for(self._ask(request), _SECONDS_FOR_AN_ANSWER)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            self.close()
            return _LOST

    async def _ask(self, request: Request) -> int:
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request.to_bytes())
        if request.is_aborted:
            await writer.drain()
            self.close()
            return _ABORTED
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length: ")[2].split(b"\r\n", 1)[0])
        await reader.readexactly(length)
        if b"\r\nconnection: close" in head:
            self.close()
        return int(head[9:12])

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


@dataclass(frozen=True, slots=True)
class Load:
    """What clients got that asked as fast as they could: times are those of good answers."""

    clients: int
    seconds: float
    per_second: float
    median_ms: float
    p95_ms: float
    p99_ms: float
    worst_ms: float
    statuses: dict[int, int]


def ask_together(port: int, clients: int, seconds: float, questions: Sequence[str | bytes]) -> Load:
    """Let this many clients ask as fast as they get answers or refusals; bytes are sent as they are."""
    return asyncio.run(_ask_together(port, clients, seconds, questions))


async def _ask_together(port: int, clients: int, seconds: float, questions: Sequence[str | bytes]) -> Load:
    statuses: Counter[int] = Counter()
    times: list[float] = []
    numbers = count()
    end = time.monotonic() + seconds

    async def ask_on() -> None:
        client = Client(port)
        while time.monotonic() < end:
            question = questions[next(numbers) % len(questions)]
            start = time.monotonic()
            body = question if isinstance(question, bytes) else json.dumps({"question": question}).encode()
            status = await client.ask(Request("/parse", body))
            statuses[status] += 1
            if status == 200:
                times.append(time.monotonic() - start)
            elif status == _LOST:
                await asyncio.sleep(0.1)
        client.close()

    start = time.monotonic()
    await asyncio.gather(*(ask_on() for _ in range(clients)))
    taken = time.monotonic() - start
    cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [float("nan")] * 99
    p50, p95, p99 = (1000 * cuts[place] for place in (49, 94, 98))
    worst = 1000 * max(times, default=float("nan"))
    return Load(clients, taken, len(times) / taken, p50, p95, p99, worst, dict(sorted(statuses.items())))


def ask_steadily(
    port: int, rate: float, seconds: float, requests: Iterator[Request], every: float, tell: Callable[[float], None]
) -> dict[int, int]:
    """Send ``rate`` requests a second, whatever becomes of them; ``tell`` the time ``every`` so many seconds."""
    return asyncio.run(_ask_steadily(port, rate, seconds, requests, every, tell))


async def _ask_steadily(
    port: int, rate: float, seconds: float, requests: Iterator[Request], every: float, tell: Callable[[float], None]
) -> dict[int, int]:
    statuses: Counter[int] = Counter()
    idle: list[Client] = []
    asking: set[asyncio.Task[None]] = set()

    async def ask(request: Request) -> None:
        client = idle.pop() if idle else Client(port)
        statuses[await client.ask(request)] += 1
        idle.append(client)

    start = time.monotonic()
    told = 0
    for number in count():
        now = time.monotonic() - start
        if now >= told * every:
            tell(now)
            told += 1
        if now >= seconds:
            break
        task = asyncio.ensure_future(ask(next(requests)))
        asking.add(task)
        task.add_done_callback(asking.discard)
        await asyncio.sleep(max(0.0, start + (number + 1) / rate - time.monotonic()))
    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(asyncio.gather(*asking), _SECONDS_FOR_AN_ANSWER)
    for client in idle:
        client.close()
    return dict(sorted(statuses.items()))


def mixed_requests(questions: Sequence[str]) -> Iterator[Request]:
    """Requests of all kinds, no two the same, so that whatever is kept from one to the next would show."""
    chance = random.Random(0)
    for number in count():
        thing, quality = chance.choice(_THINGS), chance.choice(_QUALITIES)
        name = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=8))
        asked = f"{questions[number % len(questions)]} ({name} {number})"
        question = f"How many {quality} {thing} of {name} are in box {number}?"
        steps = [f"{thing} of {name}", f"#1 that are {quality}", f"#2 in box {number}", "number of #3"]
        gold = [f"{quality} {thing} of {name}", "number of #1"]
        bodies: tuple[tuple[str, Any], ...] = (
            ("/parse", {"question": asked}),
            ("/parse", {"question": asked, "pictures": True}),
            ("/parse", {"questions": [asked, question], "graph": True}),
            ("/convert", {"question": question, "decomposition": steps, "pictures": True}),
            ("/convert", {"question": question, "decomposition": "; ".join(steps)}),
            ("/score", {"question": question, "prediction": steps, "gold": gold}),
            ("/score", {"question": question, "prediction": steps, "gold": gold, "metrics": ["lf_em", "lf_eq"]}),
        )
        kind = chance.randrange(10)
        if kind < len(bodies):
            path, body = bodies[kind]
            yield Request(path, json.dumps(body).encode())
        elif kind == 7:
            yield Request("/parse", BAD_BODIES[number % len(BAD_BODIES)])
        elif kind == 8:
            yield Request("/parse", json.dumps({"question": asked}).encode(), is_aborted=True)
        else:
            yield Request("/convert", json.dumps({"question": question, "decomposition": "number of #7"}).encode())

"""What surrounds every request: limits on its body, security headers, metrics, a log without content."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Iterable

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qdecomp.service.refusals import RefusedError, busy, internal_error

LOG = logging.getLogger("qdecomp.service")
"""It contains no words of questions."""

MULTIPROCESS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which workers keep their metrics; prometheus_client reads it when it is imported."""

_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# A body above the limit is read and discarded, up to this many times the limit, since most clients send their whole
# body before they read the answer that says that it is too large.
_THROWN_AWAY = 16

# Refusals for want of room go out at this rate, and none is held for longer than this: clients that ask again at once
# would otherwise take the time of those that are being answered.
_REFUSALS_A_SECOND = 50
_LONGEST_HOLD = 5.0

_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SECURITY_HEADERS = (
    (b"content-security-policy", _CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_CACHE_CONTROL = b"cache-control"

# The creation times of counters would double the lines, and nobody needs them.
disable_created_metrics()

_BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Monitor:
    """Metrics for Prometheus, of one process or of all workers together. No label contains what a client wrote."""

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self.requests = Counter(
            "qdecomp_requests", "Requests by path and status.", ("method", "path", "status"), registry=registry
        )
        self.seconds = Histogram(
            "qdecomp_request_seconds", "Time to answer.", ("path",), buckets=_SECONDS, registry=registry
        )
        self.questions = Counter("qdecomp_questions", "Parsed questions by outcome.", ("outcome",), registry=registry)
        self.batches = Histogram(
            "qdecomp_batch_size", "Questions parsed together.", buckets=_BATCH_SIZES, registry=registry
        )
        self._waiting = Gauge(
            "qdecomp_questions_waiting",
            "Questions waiting for the parser.",
            registry=registry,
            multiprocess_mode="livesum",
        )

    def text(self, waiting: int) -> tuple[bytes, str]:
        """All metrics in Prometheus's format, and the content type of that format."""
        self._waiting.set(waiting)
        registry = self._registry
        if MULTIPROCESS_FOLDER in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def stop(self) -> None:
        """Remove this process from the metrics about running processes."""
        if MULTIPROCESS_FOLDER in os.environ:
            mark_process_dead(os.getpid())


class Observer:
    """Adds security headers, counts and measures, and lets no exception escape."""

    def __init__(self, app: ASGIApp, monitor: Monitor, paths: Iterable[str], log_requests: bool = False) -> None:
        self._app = app
        self._monitor = monitor
        self._paths = frozenset(paths)
        self._log_requests = log_requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(_secured(message))

        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            # Its message may contain words of the request; the reason does not.
            refusal = internal_error(error)
            LOG.error("%s %s: %s", scope["method"], self._label(scope), refusal.message)
            if not status:
                await _send_refusal(send_and_note, refusal)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _label(self, scope: Scope) -> str:
        path: str = scope["path"]
        if path in self._paths:
            return path
        return "/static" if path.startswith("/static/") else "other"

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path, method = self._label(scope), scope["method"]
        known = method if method in _WITH_BODY or method in ("GET", "HEAD", "OPTIONS") else "other"
        # A client that disconnected before its answer has no status.
        self._monitor.requests.labels(known, path, str(status or "gone")).inc()
        self._monitor.seconds.labels(path).observe(seconds)
        if self._log_requests:
            LOG.info("%s %s %s %.1f ms", known, path, status or "gone", 1000 * seconds)


class BoundedBodies:
    """Reads the body of a request before anything is done with it, and stops the work if the client disconnects.

    A request to a path that ``is_full`` is refused before its body is read, so that a service with too much to do
    keeps its time for what it has accepted.
    """

    def __init__(self, app: ASGIApp, max_body: int, max_seconds: float, is_full: Callable[[str], bool]) -> None:
        self._app = app
        self._max_body = max_body
        self._max_seconds = max_seconds
        self._is_full = is_full
        self._next_refusal = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse a body that is too large or too slow."""
        if scope["type"] != "http" or scope["method"] not in _WITH_BODY:
            await self._app(scope, receive, send)
            return
        try:
            if self._is_full(scope["path"]):
                await self._take_turn()
                raise busy()
            body = await asyncio.wait_for(self._body(scope, receive), self._max_seconds)
        except (TimeoutError, asyncio.TimeoutError):
            message = f"the body did not arrive within {self._max_seconds:g} seconds"
            await _send_refusal(send, RefusedError(408, message, {"Connection": "close"}))
            return
        except RefusedError as refusal:
            await _send_refusal(send, refusal)
            return
        if body is not None:
            await self._while_connected(scope, body, receive, send)

    async def _take_turn(self) -> None:
        now = time.monotonic()
        held = min(max(self._next_refusal - now, 0.0), _LONGEST_HOLD)
        self._next_refusal = now + held + 1 / _REFUSALS_A_SECOND
        await asyncio.sleep(held)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body; None if the client has disconnected."""
        pieces: list[bytes] = []
        size = 0
        refusal = RefusedError(413, f"the body is too large; at most {self._max_body:,} bytes are allowed")
        if _announced_length(scope["headers"]) > self._max_body * _THROWN_AWAY:
            refusal.headers["Connection"] = "close"
            raise refusal
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            size += len(message.get("body", b""))
            if size <= self._max_body:
                pieces.append(message.get("body", b""))
            elif size > self._max_body * _THROWN_AWAY:
                refusal.headers["Connection"] = "close"
                raise refusal
            if not message.get("more_body"):
                break
        if size > self._max_body:
            raise refusal
        return b"".join(pieces)

    async def _while_connected(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        is_answered = False

        async def replay() -> Message:
            return waiting.pop() if waiting else await gone

        async def send_and_note(message: Message) -> None:
            nonlocal is_answered
            is_answered = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        gone = asyncio.ensure_future(receive())
        work = asyncio.ensure_future(self._app(scope, replay, send_and_note))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
            if not is_answered:
                # The client has disconnected, and nobody needs the answer.
                work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.result()
        finally:
            gone.cancel()
            work.cancel()


def _announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int:
    value = next((value for name, value in headers if name == b"content-length"), b"0")
    return int(value) if value.isdigit() else 0


async def refuse_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """An application for a connection that is one too many."""

    async def send_with_security(message: Message) -> None:
        await send(_secured(message))

    await _send_refusal(send_with_security, busy("connections are open", Connection="close"))


async def _send_refusal(send: Send, refusal: RefusedError) -> None:
    """Answer with the reason as JSON."""
    body = json.dumps({"error": refusal.message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _secured(message: Message) -> Message:
    """The same message; one that starts an answer gets the security headers."""
    if message["type"] != "http.response.start":
        return message
    found = [*message.get("headers", ()), *_SECURITY_HEADERS]
    if not any(name.lower() == _CACHE_CONTROL for name, _ in found):
        found.append((_CACHE_CONTROL, b"no-store"))
    return {**message, "headers": found}

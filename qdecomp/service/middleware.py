"""What surrounds every request: limits on its body, refusals, security headers, metrics, a log without content."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

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
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from qdecomp.data_structures.errors import InternalError, QDecompError, as_internal_errors
from qdecomp.parsers.language_model import ModelError

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

# The creation times of counters would double the lines, and nobody needs them.
disable_created_metrics()

_BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class RefusedError(Exception):
    """A request that gets no answer other than this one line, with a status and headers."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


def busy(what: str = "requests are waiting", **headers: str) -> RefusedError:
    """Too much is already waiting, or open."""
    return RefusedError(503, f"too many {what}; try again in a moment", **{"Retry-After": "1", **headers})


def answer_to(refusal: RefusedError) -> JSONResponse:
    """The refusal as JSON."""
    return JSONResponse({"error": refusal.message}, refusal.status, refusal.headers)


def refusal_for(error: Exception) -> RefusedError:
    """What a request is told about an error; of one in the code, also the log, without words of the request."""
    if isinstance(error, RefusedError):
        return error
    try:
        with as_internal_errors():
            raise error
    except InternalError as found:
        LOG.error("%s", found.reason)
        return RefusedError(500, found.reason)
    except QDecompError as found:
        return RefusedError(502 if isinstance(found, ModelError) else 422, str(found))


class Monitor:
    """Metrics for Prometheus, of one process or of all workers together. No label contains what a client wrote."""

    def __init__(self) -> None:
        here: dict[str, Any] = {"registry": CollectorRegistry()}
        self._registry = here["registry"]
        by = ("method", "path", "status")
        self.requests = Counter("qdecomp_requests", "Requests by path and status.", by, **here)
        self.seconds = Histogram("qdecomp_request_seconds", "Time to answer.", ("path",), buckets=_SECONDS, **here)
        self.questions = Counter("qdecomp_questions", "Parsed questions by outcome.", ("outcome",), **here)
        self.batches = Histogram("qdecomp_batch_size", "Questions parsed together.", buckets=_BATCH_SIZES, **here)
        about = "Questions waiting for the parser."
        self._waiting = Gauge("qdecomp_questions_waiting", about, multiprocess_mode="livesum", **here)

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
    """Adds security headers, counts and measures, and answers every exception."""

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
        secured = _secured(send)

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await secured(message)

        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            if not status:
                await answer_to(refusal_for(error))(scope, receive, send_and_note)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _label(self, path: str) -> str:
        return path if path in self._paths else "/static" if path.startswith("/static/") else "other"

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path, method = self._label(scope["path"]), scope["method"]
        known = method if method in _WITH_BODY or method in ("GET", "HEAD", "OPTIONS") else "other"
        # A client that disconnected before its answer has no status.
        self._monitor.requests.labels(known, path, str(status or "gone")).inc()
        self._monitor.seconds.labels(path).observe(seconds)
        if self._log_requests:
            LOG.info("%s %s %s %.1f ms", known, path, status or "gone", 1000 * seconds)


class BoundedBodies:
    """Reads the body of a request before anything is done with it, and stops the work if the client disconnects.

    A request to a path that ``is_full`` is refused before its body is read, so that a service with too much to do
    keeps its time for what it has accepted. :class:`Observer` answers what this refuses.
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
        if self._is_full(scope["path"]):
            await self._take_turn()
            raise busy()
        try:
            body = await asyncio.wait_for(self._body(scope, receive), self._max_seconds)
        except (TimeoutError, asyncio.TimeoutError):
            message = f"the body did not arrive within {self._max_seconds:g} seconds"
            raise RefusedError(408, message, Connection="close") from None
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
        size, most = 0, self._max_body * _THROWN_AWAY
        too_large = f"the body is too large; at most {self._max_body:,} bytes are allowed"
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        is_more = True
        while is_more:
            if size > most or (announced.isdigit() and int(announced) > most):
                raise RefusedError(413, too_large, Connection="close")
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            size += len(message.get("body", b""))
            if size <= self._max_body:
                pieces.append(message.get("body", b""))
            is_more = message.get("more_body", False)
        if size > self._max_body:
            raise RefusedError(413, too_large)
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


async def refuse_connection(scope: Scope, receive: Receive, send: Send) -> None:
    """An application for a connection that is one too many."""
    await answer_to(busy("connections are open", Connection="close"))(scope, receive, _secured(send))


def _secured(send: Send) -> Send:
    """The same, with the security headers in what starts an answer."""

    async def send_secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            # A file has a tag, by which a browser asks whether it has changed.
            caching = b"no-cache" if b"etag" in dict(given) else b"no-store"
            message = {**message, "headers": [*given, *_SECURITY_HEADERS, (b"cache-control", caching)]}
        await send(message)

    return send_secured

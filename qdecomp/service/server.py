"""Running the service: one process or several on one socket, until a signal ends them."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing.connection
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.service.app import create_app
from qdecomp.service.middleware import LOG, MULTIPROCESS_FOLDER, refuse_connection
from qdecomp.service.settings import ServiceSettings
from qdecomp.terminal import printable

_SECONDS_TO_KEEP_ALIVE = 20
# For a client to take an answer; one that does not read would otherwise keep its connection for ever.
_SECONDS_TO_READ = 20
_SECONDS_TO_FINISH = 5
_SECONDS_FOR_A_SIGN_OF_LIFE = 30
# When the service stops, what a client sent on an open connection before it could know is still answered.
_SECONDS_TO_STOP = 1.0
_BACKLOG = 1024
_CLOSE = (b"connection", b"close")


def serve(settings: ServiceSettings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Answer requests until SIGTERM or an interrupt; what was accepted by then is still answered."""
    _start_log()
    name = settings.parser.name
    who = f"{name} answers" if workers == 1 else f"{workers} processes with {name} will answer"
    with listening(host, port) as listener:
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/"
        ready = partial(tell, f"{who} at {address} (press Ctrl-C to stop)")
        if workers == 1:
            _serve_alone(settings, listener, ready)
        else:
            _serve_together(settings, listener, workers, ready)


def _serve_alone(settings: ServiceSettings, listener: socket.socket, ready: Callable[[], None]) -> None:
    server = uvicorn.Server(_config(settings, create_app(settings, settings.parser.open())))
    # uvicorn handles the signal while it runs and raises it again once it has stopped, when there is nothing left to
    # end.
    signal.signal(signal.SIGTERM, lambda number, frame: setattr(server, "should_exit", True))
    listener.listen(_BACKLOG)
    ready()
    server.run(sockets=[listener])


def _serve_together(
    settings: ServiceSettings, listener: socket.socket, workers: int, ready: Callable[[], None]
) -> None:
    # What the workers could not load is reported here, before there are any.
    settings.parser.open()
    with tempfile.TemporaryDirectory(prefix="qdecomp-serve-", ignore_cleanup_errors=True) as folder:
        os.environ[MULTIPROCESS_FOLDER] = folder
        config = _config(settings, partial(_worker_app, settings), factory=True, workers=workers)
        supervisor = _Supervisor(config, sockets=[listener])
        ready()
        supervisor.run()
    if any(process.exitcode == uvicorn.config.STARTUP_FAILURE for process in supervisor.processes):
        raise DataError("a worker process could not start; its message is above")


def _worker_app(settings: ServiceSettings) -> ASGIApp:
    """The application of a worker process; if the parser cannot be loaded, it prints one line and the process ends."""
    _start_log()
    threading.Thread(target=_end_with_parent, name="qdecomp-parent-watch", daemon=True).start()
    try:
        return create_app(settings, settings.parser.open())
    except QDecompError as error:
        print(f"qdecomp: {printable(str(error))}", file=sys.stderr)
        # So that the supervisor tries no other.
        sys.exit(uvicorn.config.STARTUP_FAILURE)


def _end_with_parent() -> None:
    """Stop as on SIGTERM if the process that started this one is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _start_log() -> None:
    handler = logging.StreamHandler(sys.stderr)
    # bm25s, which finds examples for a language model, logs what it does for debugging whatever the root's level is.
    handler.setLevel(logging.INFO)
    logging.basicConfig(format="%(asctime)s %(message)s", handlers=[handler])
    LOG.setLevel(logging.INFO)


def _config(settings: ServiceSettings, app: Any, **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        limit_concurrency=settings.max_connections,
        timeout_keep_alive=_SECONDS_TO_KEEP_ALIVE,
        timeout_graceful_shutdown=int(settings.max_seconds) + _SECONDS_TO_FINISH,
        timeout_worker_healthcheck=_SECONDS_FOR_A_SIGN_OF_LIFE,
        **options,
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket bound to this address that does not listen yet; if that is impossible, a :class:`DataError`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off Nagle's algorithm only on sockets that name TCP. With it, the body of an answer waits until the
    # client has acknowledged the headers, and clients take 40 ms to do so.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # The connections inherit it. Only Linux has it.
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 1000 * _SECONDS_TO_READ)
        listener.set_inheritable(True)
        try:
            listener.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(
                f"cannot listen on {host}, port {port}: {reason}; choose another --port or --host"
            ) from None
        yield listener


class _Supervisor(Multiprocess):
    """uvicorn's, which stops listening before its workers do.

    While any process has the socket open, the system completes new connections; those that nobody accepts any more
    would be reset at the end, after their requests were sent.
    """

    def terminate_all(self) -> None:
        """Ask all workers to stop."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


class _Connection(H11Protocol):
    """uvicorn's, with a clock for the headers of each request, and a stop that loses no request.

    After the service was told to stop, every answer says that the connection closes, so that a client sends nothing
    more on it; connections without a request close a little later.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock for the first request, which is refused if there are too many connections."""
        super().connection_made(transport)
        # uvicorn's own refusal is plain text without our headers, and refuses those who were there before.
        limit, self.limit_concurrency = self.limit_concurrency, None
        if limit is not None and len(self.connections) > limit:
            self.app = refuse_connection
        stopping = _CLOSE in self.server_state.default_headers
        self._close_in(_SECONDS_TO_STOP if stopping else self.timeout_keep_alive)

    def data_received(self, data: bytes) -> None:
        """Let the clock run on while the headers are incomplete."""
        clock, self.timeout_keep_alive_task = self.timeout_keep_alive_task, None
        super().data_received(data)
        if clock is not None:
            if self.conn.their_state is h11.IDLE:
                self.timeout_keep_alive_task = clock
            else:
                clock.cancel()

    def shutdown(self) -> None:
        """Close after the answer that is in progress, or soon if there is none."""
        if _CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers = [*self.server_state.default_headers, _CLOSE]
        if self.cycle is None or self.cycle.response_complete:
            self._unset_keepalive_if_required()
            self._close_in(_SECONDS_TO_STOP)
        elif self.cycle.response_started:
            self.cycle.keep_alive = False
        else:
            self.cycle.default_headers = self.server_state.default_headers

    def _close_in(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

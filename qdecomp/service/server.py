"""Running the service: one process or several on one socket, until a signal ends them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.parser_source import parser_path
from qdecomp.service.app import create_app
from qdecomp.service.engine import open_parser
from qdecomp.service.log import start_log
from qdecomp.service.monitoring import MULTIPROCESS_FOLDER
from qdecomp.service.protocol import PatientProtocol
from qdecomp.service.settings import ServiceSettings

__all__ = ["listening", "serve"]

_SECONDS_TO_KEEP_ALIVE = 20
_SECONDS_TO_FINISH = 5
_SECONDS_FOR_A_SIGN_OF_LIFE = 30
_BACKLOG = 1024


def serve(settings: ServiceSettings, host: str, port: int, workers: int, tell: Callable[[str], None]) -> None:
    """Answer requests until SIGTERM or an interrupt; what was accepted by then is still answered."""
    parser_path(settings.parser)
    start_log()
    with listening(host, port) as listener:
        address = _address(host, listener.getsockname()[1])
        if workers == 1:
            told = f"{settings.parser} answers at {address} (press Ctrl-C to stop)"
            _serve_alone(settings, listener, lambda: tell(told))
        else:
            told = f"{workers} processes with {settings.parser} will answer at {address} (press Ctrl-C to stop)"
            _serve_together(settings, listener, workers, lambda: tell(told))


def _serve_alone(settings: ServiceSettings, listener: socket.socket, ready: Callable[[], None]) -> None:
    server = uvicorn.Server(_config(settings, create_app(settings, open_parser(settings))))
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
    open_parser(settings)
    settings.to_environment()
    folder = tempfile.mkdtemp(prefix="qdecomp-serve-")
    os.environ[MULTIPROCESS_FOLDER] = folder
    try:
        config = _config(settings, "qdecomp.service.app:app_from_environment", factory=True, workers=workers)
        supervisor = Multiprocess(config, sockets=[listener])
        ready()
        supervisor.run()
        if any(process.exitcode == uvicorn.config.STARTUP_FAILURE for process in supervisor.processes):
            raise DataError("a worker process could not start; its message is above")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _config(settings: ServiceSettings, app: Any, **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=PatientProtocol,
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
        listener.set_inheritable(True)
        try:
            listener.bind((host, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(
                f"cannot listen on {host}, port {port}: {reason}; choose another --port or --host"
            ) from None
        yield listener


def _address(host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"

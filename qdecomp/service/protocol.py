"""HTTP connections that stop without losing a request, and that an idle client cannot keep open."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from qdecomp.service.middleware import refuse_connection

__all__ = ["PatientProtocol"]

_SECONDS_FOR_HEADERS = 15.0
# When the service stops, what a client sent on an open connection before it could know is still answered.
_SECONDS_TO_STOP = 1.0
_CLOSE = (b"connection", b"close")


class PatientProtocol(H11Protocol):
    """A uvicorn connection with a time limit for headers, which on a stop first answers what is in progress.

    After the service was told to stop, every answer says that the connection closes, so that a client sends nothing
    more on it; connections without a request close a little later.
    """

    _stops_without_headers: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for the first request, which is refused if there are too many connections."""
        super().connection_made(transport)
        # uvicorn's own refusal is plain text without our headers, and counts this connection against itself.
        limit, self.limit_concurrency = self.limit_concurrency, None
        if limit is not None and len(self.connections) > limit:
            self.app = refuse_connection
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the headers, if they are incomplete; new bytes do not reset the clock."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._stops_without_headers is None and not self.transport.is_closing():
            self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close after the answer that is in progress, or soon if there is none."""
        if _CLOSE not in self.server_state.default_headers:
            self.server_state.default_headers = [*self.server_state.default_headers, _CLOSE]
        if self.cycle is None or self.cycle.response_complete:
            self._unset_keepalive_if_required()
            self.timeout_keep_alive_task = self.loop.call_later(_SECONDS_TO_STOP, self.timeout_keep_alive_handler)
        elif self.cycle.response_started:
            self.cycle.keep_alive = False
        else:
            self.cycle.default_headers = self.server_state.default_headers

    def _wait_for_headers(self) -> None:
        stopping = _CLOSE in self.server_state.default_headers
        seconds = _SECONDS_TO_STOP if stopping else _SECONDS_FOR_HEADERS
        self._stops_without_headers = self.loop.call_later(seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._stops_without_headers is not None:
            self._stops_without_headers.cancel()
            self._stops_without_headers = None

    def _give_up(self) -> None:
        if not self.transport.is_closing() and self.conn.their_state is h11.IDLE:
            self.transport.close()

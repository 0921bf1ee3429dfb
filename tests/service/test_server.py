"""The socket that the service listens on, before anything is asked."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.service.conftest import NEEDS

pytest.importorskip("uvicorn", reason=f"the service is not installed: {NEEDS}")

from qdecomp.service.server import listening


def test_answers_are_sent_without_waiting_for_the_client_to_confirm_their_beginning() -> None:
    async def delays() -> bool:
        found = asyncio.get_running_loop().create_future()

        class Connection(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted = transport.get_extra_info("socket")
                found.set_result(not accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

        with listening("127.0.0.1", 0) as listener:
            server = await asyncio.get_running_loop().create_server(Connection, sock=listener)
            _, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
            answer = await found
            writer.close()
            server.close()
        return answer

    assert not asyncio.run(delays())

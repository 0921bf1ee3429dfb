"""The socket that the service listens on, and what its connections inherit from it."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.service.conftest import NEEDS

pytest.importorskip("uvicorn", reason=f"the service is not installed: {NEEDS}")

from qdecomp.service import server as service_server
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


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux ends such connections")
def test_a_client_that_never_reads_loses_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_server, "_SECONDS_TO_READ", 1)

    async def seconds_until_lost() -> float:
        lost = asyncio.get_running_loop().create_future()

        class Connection(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                assert isinstance(transport, asyncio.WriteTransport)
                transport.write(b"x" * 20_000_000)

            def connection_lost(self, exc: Exception | None) -> None:
                lost.set_result(exc)

        with listening("127.0.0.1", 0) as listener:
            server = await asyncio.get_running_loop().create_server(Connection, sock=listener)
            with socket.create_connection(listener.getsockname()):
                start = asyncio.get_running_loop().time()
                assert isinstance(await asyncio.wait_for(lost, 60), TimeoutError)
                taken = asyncio.get_running_loop().time() - start
            server.close()
        return taken

    assert asyncio.run(seconds_until_lost()) > 0.9

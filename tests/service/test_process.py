"""The command in a separate process: how it starts, answers, copes with slow clients, and stops."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import pickle
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.cli_runs import refusal
from tests.parsers.scripted_endpoint import Request, completion, endpoint
from tests.service.conftest import NEEDS
from tests.service.processes import ServiceProcess, running_service

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")
pytest.importorskip("uvicorn")

import uvicorn

from qdecomp.parsers.source import ParserSource
from qdecomp.service import server
from qdecomp.service.settings import ServiceSettings

BODY = json.dumps({"question": "How many red cubes are there?"})
JSON = {"Content-Type": "application/json"}
pytestmark = pytest.mark.anyio
LINES = f"POST /parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n"


@pytest.fixture(scope="module")
def service() -> Iterator[ServiceProcess]:
    with running_service("--max-seconds", "2", "--max-body", "5000") as started:
        yield started


def ask(connection: http.client.HTTPConnection) -> http.client.HTTPResponse:
    connection.request("POST", "/parse", BODY, JSON)
    return connection.getresponse()


def answer_to(port: int, *pieces: bytes) -> bytes:
    """What comes back for bytes that are sent as they are, until the connection closes."""
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        for piece in pieces:
            connection.sendall(piece)
        answer = b""
        while piece := connection.recv(1 << 16):
            answer += piece
        return answer


def test_a_body_that_does_not_come_is_refused_in_time_while_others_are_answered(service: ServiceProcess) -> None:
    with ThreadPoolExecutor(8) as pool:
        slow = [pool.submit(answer_to, service.port, LINES.encode(), BODY[:5].encode()) for _ in range(6)]
        # This answer has no limit on its time.
        assert urlopen(f"{service.address}metrics").read()
        for job in slow:
            answer = job.result()
            assert answer.startswith(b"HTTP/1.1 408 ")
            assert b"the body did not arrive within 2 seconds" in answer


def test_bodies_above_the_limit_get_their_answer(service: ServiceProcess) -> None:
    for size in (5001, 50_000, 5_000_000):
        head = LINES.replace(f"Content-Length: {len(BODY)}", f"Content-Length: {size}")
        with socket.create_connection(("127.0.0.1", service.port), 60) as connection:
            connection.sendall(head.encode() + b"x" * min(size, 50_000))
            assert connection.recv(20).startswith(b"HTTP/1.1 413 ")


def test_a_connection_above_the_limit_is_refused_in_json() -> None:
    with running_service("--max-connections", "1") as service:
        first, second = (http.client.HTTPConnection("127.0.0.1", service.port, timeout=60) for _ in range(2))
        assert json.loads(ask(first).read())["error"] is None
        refusal = ask(second)
        assert refusal.status == 503
        assert refusal.getheader("Retry-After") == "1"
        assert refusal.getheader("Connection") == "close"
        assert refusal.getheader("Content-Security-Policy")
        assert json.loads(refusal.read()) == {"error": "too many connections are open; try again in a moment"}
        # The first one is still served.
        assert json.loads(ask(first).read())["error"] is None
        first.close()
        second.close()
        assert service.stop()[0] == 0


def questions_until_it_stops(port: int, first: threading.Barrier, lost: list[str]) -> int:
    """Ask again and again on one connection until the service says that it closes; note what is lost."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    answered = 0
    while True:
        try:
            response = ask(connection)
            body = json.loads(response.read())
        except (OSError, http.client.HTTPException) as error:
            lost.append(repr(error))
            return answered
        assert body["decomposition"]
        answered += 1
        if answered == 1:
            first.wait(60)
        if response.getheader("Connection") == "close":
            return answered


def connect_until_it_is_refused(port: int, lost: list[str]) -> None:
    """Ask on new connections: whoever connects during a stop is answered or refused."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            assert json.loads(ask(connection).read())["decomposition"]
        except ConnectionRefusedError:
            return
        except TimeoutError:
            # Nobody accepts it any more, and it is not refused.
            raise
        except (OSError, http.client.HTTPException) as error:
            lost.append(repr(error))
        finally:
            connection.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_under_load_loses_no_request_and_refuses_new_connections_before_the_last_answer(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="pip install '.[llm]'")
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path))
    clients = 4
    lost: list[str] = []
    reset: list[str] = []
    first = threading.Barrier(clients + 1)
    begun, gate = threading.Event(), threading.Event()

    def last_answer(request: Request) -> None:
        begun.set()
        assert gate.wait(600)
        request.send(200, completion("Ulla"))

    with (
        endpoint(last_answer) as model,
        ThreadPoolExecutor(2 * clients) as pool,
        running_service(
            *("--workers", str(workers), "--max-seconds", "600", "--fallback", model.url, "--model", "tiny")
        ) as service,
    ):
        wait_until_it_answers(service.port)
        last = http.client.HTTPConnection("127.0.0.1", service.port, timeout=600)
        last.request("POST", "/run", json.dumps({"question": "rivers?", "decomposition": ["rivers in Norland"]}), JSON)
        assert begun.wait(60)
        jobs = [pool.submit(questions_until_it_stops, service.port, first, lost) for _ in range(clients)]
        others = [pool.submit(connect_until_it_is_refused, service.port, reset) for _ in range(clients)]
        first.wait(60)
        service.process.send_signal(signal.SIGTERM)
        # They are refused now, and not when the last process ends.
        for other in others:
            other.result()
        gate.set()
        assert b"event: answer" in last.getresponse().read()
        last.close()
        assert [job.result() > 0 for job in jobs] == [True] * clients
        code, errors = service.end()
    assert (code, lost, errors) == (0, [], "")
    # The system resets a connection that is made in the instant in which the last process closes the socket.
    assert len(reset) <= clients


@pytest.mark.parametrize("talks", [False, True])
async def test_a_connection_that_sends_no_whole_header_is_closed(monkeypatch: pytest.MonkeyPatch, talks: bool) -> None:
    """The clock begins with the connection, and bytes do not reset it."""
    monkeypatch.setattr(server, "_SECONDS_TO_KEEP_ALIVE", 1)

    async def app(*request: object) -> None:
        pytest.fail("there was no request")

    config = server._config(ServiceSettings(), app)
    config.lifespan = "off"
    running = uvicorn.Server(config)
    with server.listening("127.0.0.1", 0) as listener:
        serving = asyncio.ensure_future(running._serve([listener]))
        while not running.started:
            await asyncio.sleep(0.01)
        start = time.monotonic()
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        if talks:
            writer.write(b"POST /parse HTTP/1.1\r\n")
        closed = asyncio.ensure_future(reader.read())
        while not closed.done():
            assert time.monotonic() - start < 60
            if talks:
                writer.write(b"x: y\r\n")
            await asyncio.wait({closed}, timeout=0.1)
        assert time.monotonic() - start > 0.9
        # The system resets it if the last bytes were not read.
        with contextlib.suppress(ConnectionResetError):
            assert closed.result() == b""
        writer.close()
        running.should_exit = True
        await serving


def wait_until_it_answers(port: int) -> None:
    """Workers listen when they have loaded; until then, connections are refused."""
    for _ in range(3000):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            assert ask(connection).status == 200
            return
        except ConnectionRefusedError:
            time.sleep(0.1)
        finally:
            connection.close()
    pytest.fail("the workers did not begin to answer")


def test_figures_of_all_workers_are_added() -> None:
    with running_service("--workers", "2") as service:
        # New connections, so that both have some.
        for _ in range(10):
            wait_until_it_answers(service.port)
        # A worker counts a request when its answer is on its way, so the other one may know of it a little later.
        wanted = {
            'qdecomp_requests_total{method="POST",path="/parse",status="200"} 10.0',
            'qdecomp_questions_total{outcome="plan"} 10.0',
        }
        end = time.monotonic() + 60
        while not wanted <= set(urlopen(f"{service.address}metrics").read().decode().splitlines()):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert service.stop()[0] == 0


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("qdecomp.service")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "pip install 'question-decomposition[serve]'" in refusal("serve")


def test_what_cannot_be_served_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert refusal("serve", "--port", taken.getsockname()[1]).startswith("qdecomp: cannot listen on 127.0.0.1")
    assert "there is no parser" in refusal("serve", "--parser", tmp_path / "none")
    broken = tmp_path / "consensus.json"
    broken.write_text("{}")
    for workers in (1, 2):
        assert "not a consensus" in refusal("serve", "--parser", broken, "--port", 0, "--workers", workers)
    with pytest.raises(SystemExit) as end:
        server._worker_app(pickle.loads(pickle.dumps(ServiceSettings(ParserSource(broken, candidates=3)))))
    # What uvicorn's supervisor takes for a reason not to try again.
    assert end.value.code == 3
    error = capsys.readouterr().err
    assert "not a consensus" in error
    assert error.count("\n") == 1


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux ends such connections")
async def test_connections_do_not_wait_for_the_client_and_one_that_never_reads_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "_SECONDS_TO_READ", 1)
    found = asyncio.get_running_loop().create_future()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        has_no_delay = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.write(b"x" * 20_000_000)
        (error,) = await asyncio.gather(writer.drain(), return_exceptions=True)
        found.set_result((bool(has_no_delay), type(error)))

    with server.listening("127.0.0.1", 0) as listener:
        serving = await asyncio.start_server(answer, sock=listener)
        with socket.create_connection(listener.getsockname()):
            start = time.monotonic()
            assert await asyncio.wait_for(found, 60) == (True, TimeoutError)
            assert time.monotonic() - start > 0.9
        serving.close()

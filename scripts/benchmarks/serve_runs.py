"""A service on this machine and what is done to it: load, a comparison with its parser alone, a flood, a stop."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

from benchmarks.measuring import clock, median_ms
from benchmarks.process_sampling import cpu_seconds, memory_mb
from qdecomp.data_structures.errors import DataError

__all__ = ["Load", "Service", "beside_the_parser", "flood", "load", "memory_under_load", "running", "stop_under_load"]

_QUESTION = "Which team scored more points, the Bears or the Lions?"
_BODY = json.dumps({"question": _QUESTION})
_JSON = {"Content-Type": "application/json"}
_THINGS = ("cubes", "rivers", "flights", "films", "players", "songs", "cities", "books")
_QUALITIES = ("red", "long", "early", "old", "young", "famous", "large", "short", "new", "loud")
_BAD = (b'{"question": ', b"[" * 5_000, b'{"question": 7}', b'{"question": "\\ud800"}', b"x" * 2_000_000)
_CLIENTS_FOR_MEMORY = 4
_CLIENTS_AT_STOP = 16


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: the process, and where it listens."""

    process: subprocess.Popen[str]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        """A new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)


@contextmanager
def running(workers: int) -> Iterator[Service]:
    """A service that has loaded its parser."""
    command = [sys.executable, "-m", "qdecomp", "serve", "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        port = re.search(r":(\d+)/", line)
        if port is None:
            raise DataError(f"the service did not start: {line}{process.stderr.read()}")
        service = Service(process, int(port[1]))
        while _status(service, _BODY.encode()) != 200:
            time.sleep(0.2)
        yield service
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate()


def _status(service: Service, body: bytes) -> int:
    """The status of an answer on a new connection; 0 if there is none."""
    connection = service.connect()
    try:
        connection.request("POST", "/parse", body, _JSON)
        response = connection.getresponse()
        response.read()
    except OSError:
        return 0
    finally:
        connection.close()
    return response.status


@dataclass(frozen=True, slots=True)
class Load:
    """What ``hey`` says about one run."""

    clients: int
    seconds: float
    requests: int
    per_second: float
    median_ms: float
    p95_ms: float
    p99_ms: float
    worst_ms: float
    cpu_ms: float
    """Processor time of the service for a request, which other programs change less than the time by the clock."""
    errors: int


def load(service: Service, clients: int, seconds: float) -> Load:
    """Let this many clients ask as fast as they get answers."""
    program = shutil.which("hey")
    if program is None:
        raise DataError("there is no hey to make load; install it, for example with: apt install hey")
    address = f"http://127.0.0.1:{service.port}/parse"
    options = ["-z", f"{seconds:g}s", "-c", str(clients), "-t", "120", "-m", "POST", "-T", "application/json"]
    before = cpu_seconds(service.process.pid)
    text = subprocess.run([program, *options, "-d", _BODY, address], check=True, capture_output=True, text=True).stdout
    cpu = cpu_seconds(service.process.pid) - before
    statuses = {int(code): int(number) for code, number in re.findall(r"\[(\d{3})\]\s+(\d+) responses", text)}
    failed = re.findall(r"^\s+\[(\d+)\]\s+\w+ \"?http", text, re.MULTILINE)
    answered = sum(statuses.values())

    def figure(pattern: str) -> float:
        found = re.search(pattern, text)
        return float(found[1]) if found else float("nan")

    return Load(
        clients=clients,
        seconds=seconds,
        requests=answered,
        per_second=figure(r"Requests/sec:\s+([\d.]+)"),
        median_ms=1000 * figure(r"50% in ([\d.]+) secs"),
        p95_ms=1000 * figure(r"95% in ([\d.]+) secs"),
        p99_ms=1000 * figure(r"99% in ([\d.]+) secs"),
        worst_ms=1000 * figure(r"Slowest:\s+([\d.]+) secs"),
        cpu_ms=1000 * cpu / max(answered, 1),
        errors=answered - statuses.get(200, 0) + sum(map(int, failed)),
    )


def beside_the_parser(port: int, pid: int, questions: Sequence[str]) -> dict[str, float]:
    """The time of one answer by the parser alone, in this process, and through an idle service; they take turns."""
    from qdecomp import load as load_parser

    parser = load_parser()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    alone, served, cpu = [], [], 0.0
    for question in questions[:3]:
        parser.parse(question)
        _answer(connection, question)
    for question in questions:
        with clock() as one:
            parser.parse(question)
        alone.append(one)
        before = cpu_seconds(pid)
        with clock() as other:
            _answer(connection, question)
        served.append(other)
        cpu += cpu_seconds(pid) - before
    connection.close()
    return {
        "questions": len(questions),
        "parser_ms": median_ms([one.wall for one in alone]),
        "service_ms": median_ms([one.wall for one in served]),
        "difference_ms": median_ms([two.wall - one.wall for one, two in zip(alone, served, strict=True)]),
        "parser_cpu_ms": 1000 * sum(one.cpu for one in alone) / len(questions),
        "service_cpu_ms": 1000 * cpu / len(questions),
    }


def _answer(connection: http.client.HTTPConnection, question: str) -> None:
    connection.request("POST", "/parse", json.dumps({"question": question}), _JSON)
    response = connection.getresponse()
    response.read()
    if response.status != 200:
        raise DataError(f"the service refused {question!r} with status {response.status}")


def flood(service: Service, seconds: float) -> dict[str, Any]:
    """Ask with four clients while others send what is too large, malformed or too slow."""
    end = time.monotonic() + seconds
    statuses: dict[int, int] = {}
    lock = threading.Lock()

    def send_bad(first: int) -> None:
        for number in count(first):
            if time.monotonic() > end:
                return
            status = _status(service, _BAD[number % len(_BAD)])
            with lock:
                statuses[status] = statuses.get(status, 0) + 1

    def hold() -> None:
        head = "POST /parse HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            for byte in head + '{"question": ':
                if time.monotonic() > end:
                    return
                connection.sendall(byte.encode())
                time.sleep(0.1)
            time.sleep(max(0.0, end - time.monotonic()))

    with ThreadPoolExecutor(60) as pool:
        jobs = [pool.submit(send_bad, number) for number in range(5)] + [pool.submit(hold) for _ in range(50)]
        good = load(service, 4, seconds)
        for job in jobs:
            job.result()
    return {"good": asdict(good), "bad_by_status": dict(sorted(statuses.items())), "slow_connections": 50}


def stop_under_load(service: Service) -> dict[str, int]:
    """Send SIGTERM while clients ask on open connections; a request without its answer is lost."""
    answered, lost = [0] * _CLIENTS_AT_STOP, [0] * _CLIENTS_AT_STOP
    begun = threading.Barrier(_CLIENTS_AT_STOP + 1)

    def ask(place: int) -> None:
        connection = service.connect()
        while True:
            try:
                connection.request("POST", "/parse", _BODY, _JSON)
                response = connection.getresponse()
                lost[place] += not json.loads(response.read())["decomposition"]
            except (OSError, http.client.HTTPException):
                lost[place] += 1
                return
            answered[place] += 1
            if answered[place] == 1:
                begun.wait()
            if response.getheader("Connection") == "close":
                return

    with ThreadPoolExecutor(_CLIENTS_AT_STOP) as pool:
        jobs = [pool.submit(ask, place) for place in range(_CLIENTS_AT_STOP)]
        begun.wait()
        time.sleep(1)
        service.process.send_signal(signal.SIGTERM)
        for job in jobs:
            job.result()
    code = service.process.wait()
    return {"clients": _CLIENTS_AT_STOP, "answered": sum(answered), "lost": sum(lost), "exit_code": code}


def memory_under_load(service: Service, seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    """Let clients ask as fast as they get answers, all kinds of requests in turn; the memory after every tenth.

    No two requests are the same, so that whatever is kept from one to the next would show.
    """
    numbers = count()
    start = time.monotonic()
    statuses: set[int] = set()

    def ask() -> None:
        connection = service.connect()
        while time.monotonic() < start + seconds:
            path, body = _request(next(numbers))
            connection.request("POST", path, json.dumps(body), _JSON)
            response = connection.getresponse()
            response.read()
            statuses.add(response.status)
        connection.close()

    sizes: list[float] = []
    with ThreadPoolExecutor(_CLIENTS_FOR_MEMORY) as pool:
        jobs = [pool.submit(ask) for _ in range(_CLIENTS_FOR_MEMORY)]
        for tenth in range(1, 11):
            time.sleep(max(0.0, start + tenth * seconds / 10 - time.monotonic()))
            sizes.append(memory_mb(service.process.pid))
            tell(f"after {time.monotonic() - start:.0f} seconds: {sizes[-1]:.1f} MB")
        for job in jobs:
            job.result()
    return {"seconds": seconds, "requests": next(numbers), "mb": sizes, "statuses": sorted(statuses)}


def _request(number: int) -> tuple[str, dict[str, Any]]:
    thing, quality = _THINGS[number % len(_THINGS)], _QUALITIES[number // 3 % len(_QUALITIES)]
    question = f"How many {quality} {thing} are in box {number}?"
    steps = [thing, f"#1 that are {quality}", f"#2 in box {number}", "number of #3"]
    return (
        ("/parse", {"question": question, "pictures": True}),
        ("/convert", {"question": question, "decomposition": steps, "pictures": True}),
        ("/score", {"question": question, "prediction": steps, "gold": [f"{quality} {thing}", "number of #1"]}),
    )[number % 3]

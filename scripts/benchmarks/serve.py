"""The service under load, on this machine: throughput, latency, memory, a flood of bad requests, a stop under load.

The load comes from ``hey`` (Debian: ``apt install hey``). It sends one question again and again; the parser keeps no
answers. Requests for memory, the flood and the stop come from threads of this process.
"""

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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import click

from benchmarks.measuring import write_results
from qdecomp.data_structures.errors import DataError
from qdecomp.terminal.tables import Table, show_tables

_QUESTION = "Which team scored more points, the Bears or the Lions?"
_BODY = json.dumps({"question": _QUESTION})
_JSON = {"Content-Type": "application/json"}
_THINGS = ("cubes", "rivers", "flights", "films", "players", "songs", "cities", "books")
_QUALITIES = ("red", "long", "early", "old", "young", "famous", "large", "short", "new", "loud")
_BAD = (b'{"question": ', b"[" * 5_000, b'{"question": 7}', b'{"question": "\\ud800"}', b"x" * 2_000_000)
_REQUESTS_A_SECOND = 1.0
_CLIENTS_AT_STOP = 16


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: the process, and where it listens."""

    process: subprocess.Popen[str]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        """A new connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def memory_mb(self) -> float:
        """The memory of the process and of its workers."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = [Path(f"/proc/{pid}/status").read_text() for pid in (str(self.process.pid), *children)]
        sizes = [re.search(r"VmRSS:\s+(\d+) kB", status) for status in found]
        return sum(int(size[1]) for size in sizes if size is not None) / 1024


@contextmanager
def running(workers: int) -> Iterator[Service]:
    """A service that has loaded its parser."""
    command = [sys.executable, "-m", "qdecomp.cli", "serve", "--port", "0", "--workers", str(workers)]
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
    """The status of an answer on a connection of its own; 0 if there is none."""
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
    worst_ms: float
    errors: int


def load(service: Service, clients: int, seconds: float) -> Load:
    """Let so many clients ask as fast as they get answers."""
    program = shutil.which("hey")
    if program is None:
        raise DataError("there is no hey to make load; install it, for example with: apt install hey")
    address = f"http://127.0.0.1:{service.port}/parse"
    options = ["-z", f"{seconds:g}s", "-c", str(clients), "-t", "120", "-m", "POST", "-T", "application/json"]
    text = subprocess.run([program, *options, "-d", _BODY, address], check=True, capture_output=True, text=True).stdout
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
        worst_ms=1000 * figure(r"Slowest:\s+([\d.]+) secs"),
        errors=answered - statuses.get(200, 0) + sum(map(int, failed)),
    )


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


def memory(service: Service, seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    """Ask one question a second, all kinds of requests in turn; the memory after a tenth of the time and at the end."""
    connection = service.connect()
    start, early, statuses = time.monotonic(), None, set()
    for number in count():
        passed = time.monotonic() - start
        if early is None and passed >= seconds / 10:
            early = service.memory_mb()
            tell(f"after {passed:.0f} seconds: {early:.1f} MB")
        if passed >= seconds:
            break
        path, body = _request(number)
        connection.request("POST", path, json.dumps(body), _JSON)
        response = connection.getresponse()
        response.read()
        statuses.add(response.status)
        time.sleep(max(0.0, start + (number + 1) / _REQUESTS_A_SECOND - time.monotonic()))
    late = service.memory_mb()
    connection.close()
    return {"seconds": seconds, "requests": number, "early_mb": early, "late_mb": late, "statuses": sorted(statuses)}


def _request(number: int) -> tuple[str, dict[str, Any]]:
    thing, quality = _THINGS[number % len(_THINGS)], _QUALITIES[number // 3 % len(_QUALITIES)]
    question = f"How many {quality} {thing} are in box {number}?"
    steps = [thing, f"#1 that are {quality}", f"#2 in box {number}", "number of #3"]
    return (
        ("/parse", {"question": question, "pictures": True}),
        ("/convert", {"question": question, "decomposition": steps, "pictures": True}),
        ("/score", {"question": question, "prediction": steps, "gold": [f"{quality} {thing}", "number of #1"]}),
    )[number % 3]


def _tables(results: dict[str, Any]) -> Iterator[Table]:
    loads = [*results["loads"], results["flood"]["good"]] if results["flood"] else results["loads"]
    names = [str(each["clients"]) for each in results["loads"]] + ["4, in a flood"]
    heads = ("clients", "seconds", "requests", "a second", "median ms", "95 of 100 ms", "worst ms", "errors")
    rows = tuple(
        (
            name,
            f"{each['seconds']:g}",
            str(each["requests"]),
            *(f"{each[key]:.1f}" for key in ("per_second", "median_ms", "p95_ms", "worst_ms")),
            str(each["errors"]),
        )
        for name, each in zip(names, loads, strict=False)
    )
    if rows:
        yield Table(f"The service in {results['workers']} process(es)", heads, rows)
    others = [("flood: bad requests by status", str(results["flood"]["bad_by_status"]))] if results["flood"] else []
    others += [(f"stop: {key}", str(value)) for key, value in (results["stop"] or {}).items()]
    others += [(f"memory: {key}", str(value)) for key, value in (results["memory"] or {}).items()]
    yield Table("Other", ("what", "value"), tuple(others))


@click.command("serve")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes of the service.")
@click.option("--clients", default="1,8,32", show_default=True, help="Numbers of clients, one run for each.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="For each run; 0 for none.")
@click.option("--memory-seconds", type=float, default=600.0, show_default=True, help="Of a slow run; 0 for none.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(workers: int, clients: str, seconds: float, memory_seconds: float, json_path: Path | None) -> None:
    """Measure the service under load."""
    results: dict[str, Any] = {"workers": workers, "loads": [], "flood": None, "stop": None, "memory": None}

    def tell(line: str) -> None:
        click.echo(line, err=True)

    with running(workers) as service:
        if memory_seconds:
            results["memory"] = memory(service, memory_seconds, tell)
        if seconds:
            before = service.memory_mb()
            for number in map(int, clients.split(",")):
                results["loads"].append(asdict(load(service, number, seconds)))
                tell(str(results["loads"][-1]))
            results["flood"] = flood(service, seconds)
            tell(f"memory before the load {before:.1f} MB, after it {service.memory_mb():.1f} MB")
            results["stop"] = stop_under_load(service)
    show_tables(list(_tables(results)))
    if json_path is not None:
        write_results(json_path, {"serve": results})

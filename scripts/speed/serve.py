"""The service under load, on this machine: throughput, latency, overload, a flood of bad requests, a stop.

The load comes from :mod:`speed.serve_load`, in a process of its own. A service without load is compared with its
parser alone.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv
from qdecomp.terminal import Table, show_tables
from speed.measuring import clock, in_fresh_process, json_option, median_ms, tree_cpu_seconds, write_results
from speed.serve_load import BAD_BODIES, Load, ask_together

_SAMPLE = Path(__file__).parents[2] / "data" / "dev.csv"
_JSON = {"Content-Type": "application/json"}
_CLIENTS_AT_STOP = 16


@click.command("serve")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes of the service.")
@click.option("--clients", default="1,8,32,400", show_default=True, help="Numbers of clients, one run for each.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="For each run; 0 for none.")
@json_option
def command(workers: int, clients: str, seconds: float, json_path: Path | None) -> None:
    """Measure the service under load."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    questions = [row.question for row in read_break_csv(_SAMPLE)]
    results: dict[str, Any] = {"workers": workers, "loads": [], "flood": None, "stop": None}
    with _running(workers) as service:
        results["beside_the_parser"] = in_fresh_process(
            _beside_the_parser, service.port, service.process.pid, questions
        )
        if seconds:
            for number in map(int, clients.split(",")):
                load = in_fresh_process(ask_together, service.port, number, seconds, questions)
                results["loads"].append(asdict(load))
                click.echo(str(load), err=True)
            results["flood"] = _flood(service, seconds, questions)
            results["stop"] = _stop_under_load(service, questions[0])
    show_tables(list(_tables(results)))
    write_results(json_path, {"serve": results})


_HEADS = {
    "clients": "clients",
    "per_second": "answers a second",
    "median_ms": "median ms",
    "p95_ms": "95 of 100 ms",
    "p99_ms": "99 of 100 ms",
    "worst_ms": "worst ms",
    "statuses": "requests by status",
}


def _tables(results: dict[str, Any]) -> Iterator[Table]:
    rows = [(str(load["clients"]), load) for load in results["loads"]]
    if results["flood"]:
        rows.append(("4, in a flood", results["flood"]["good"]))
    if rows:
        yield Table(
            f"The service in {results['workers']} process(es)",
            tuple(_HEADS.values()),
            tuple((name, *(_shown(load[key]) for key in list(_HEADS)[1:])) for name, load in rows),
        )
    yield Table("Other", ("what", "value"), tuple(_others(results)))


def _others(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in results["beside_the_parser"].items():
        yield f"one client, beside the parser alone: {key}", _shown(value)
    if results["flood"]:
        yield "flood: bad requests by status", _shown(results["flood"]["bad_by_status"])
    for key, value in (results["stop"] or {}).items():
        yield f"stop: {key}", _shown(value)


def _shown(value: Any) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class _Service:
    """A running service: the process, and where it listens."""

    process: subprocess.Popen[str]
    port: int


@contextmanager
def _running(workers: int) -> Iterator[_Service]:
    """A service that has loaded its parser."""
    command = [sys.executable, "-m", "qdecomp", "serve", "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        port = re.search(r":(\d+)/", line)
        if port is None:
            raise DataError(f"the service did not start: {line}{process.stderr.read()}")
        service = _Service(process, int(port[1]))
        while ask_together(service.port, 1, 0.1, ["How many cubes are there?"]).statuses.keys() != {200}:
            time.sleep(0.2)
        yield service
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate()


def _beside_the_parser(port: int, pid: int, questions: Sequence[str]) -> dict[str, float]:
    """The time of one answer by the parser alone, in this process, and through an idle service; they take turns."""
    from qdecomp import load as load_parser

    parser = load_parser()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def serve(question: str) -> None:
        response = _ask(connection, question)
        response.read()
        if response.status != 200:
            raise DataError(f"the service refused {question!r} with status {response.status}")

    alone, served, cpu = [], [], 0.0
    for question in questions[:3]:
        parser.parse(question)
        serve(question)
    for question in questions:
        with clock() as one:
            parser.parse(question)
        alone.append(one)
        before = tree_cpu_seconds(pid)
        with clock() as other:
            serve(question)
        served.append(other)
        cpu += tree_cpu_seconds(pid) - before
    connection.close()
    return {
        "questions": len(questions),
        "parser_ms": median_ms([one.wall for one in alone]),
        "service_ms": median_ms([one.wall for one in served]),
        "difference_ms": median_ms([two.wall - one.wall for one, two in zip(alone, served, strict=True)]),
        "parser_cpu_ms": 1000 * sum(one.cpu for one in alone) / len(questions),
        "service_cpu_ms": 1000 * cpu / len(questions),
    }


def _ask(connection: http.client.HTTPConnection, question: str) -> http.client.HTTPResponse:
    connection.request("POST", "/parse", json.dumps({"question": question}), _JSON)
    return connection.getresponse()


def _flood(service: _Service, seconds: float, questions: Sequence[str]) -> dict[str, Any]:
    """Ask with four clients while five others send bad requests as fast as they are refused."""
    with ThreadPoolExecutor(1) as pool:
        good = pool.submit(in_fresh_process, ask_together, service.port, 4, seconds, questions)
        bad: Load = in_fresh_process(ask_together, service.port, 5, seconds, BAD_BODIES)
        return {"good": asdict(good.result()), "bad_by_status": bad.statuses}


def _stop_under_load(service: _Service, question: str) -> dict[str, int]:
    """Send SIGTERM while clients ask on open connections; a request without its answer is lost."""
    answered, lost = [0] * _CLIENTS_AT_STOP, [0] * _CLIENTS_AT_STOP
    begun = threading.Barrier(_CLIENTS_AT_STOP + 1)

    def ask(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=120)
        while True:
            try:
                response = _ask(connection, question)
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

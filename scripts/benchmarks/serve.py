"""The service under load, on this machine: throughput, latency, memory, a flood of bad requests, a stop under load.

The load comes from ``hey`` (Debian: ``apt install hey``). It sends one question again and again; the parser caches no
answers. Other requests come from this process. A service without load is compared with its parser alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchmarks.measuring import in_fresh_process, write_results
from benchmarks.process_sampling import memory_mb
from benchmarks.serve_runs import beside_the_parser, flood, load, memory_under_load, running, stop_under_load
from qdecomp.files import read_break_csv
from qdecomp.terminal import Table, show_tables

_SAMPLE = Path(__file__).parents[2] / "data" / "dev.csv"


def _tables(results: dict[str, Any]) -> Iterator[Table]:
    loads = [*results["loads"], results["flood"]["good"]] if results["flood"] else results["loads"]
    names = [str(each["clients"]) for each in results["loads"]] + ["4, in a flood"]
    heads = (
        "clients",
        "seconds",
        "requests",
        "a second",
        "median ms",
        "95 of 100 ms",
        "99 of 100 ms",
        "worst ms",
        "CPU ms",
        "errors",
    )
    rows = tuple(
        (
            name,
            f"{each['seconds']:g}",
            str(each["requests"]),
            *(f"{each[key]:.1f}" for key in ("per_second", "median_ms", "p95_ms", "p99_ms", "worst_ms", "cpu_ms")),
            str(each["errors"]),
        )
        for name, each in zip(names, loads, strict=False)
    )
    if rows:
        yield Table(f"The service in {results['workers']} process(es)", heads, rows)
    yield Table("Other", ("what", "value"), tuple(_others(results)))


def _others(results: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in results["beside_the_parser"].items():
        yield f"one client, beside the parser alone: {key}", f"{value:.1f}" if key.endswith("ms") else str(value)
    if results["flood"]:
        yield "flood: bad requests by status", str(results["flood"]["bad_by_status"])
    for key, value in (results["stop"] or {}).items():
        yield f"stop: {key}", str(value)
    for key, value in (results["memory"] or {}).items():
        shown = ", ".join(f"{size:.1f}" for size in value) if key == "mb" else str(value)
        yield f"memory under load: {key}", shown


@click.command("serve")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes of the service.")
@click.option("--clients", default="1,8,32", show_default=True, help="Numbers of clients, one run for each.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="For each run; 0 for none.")
@click.option(
    "--memory-seconds", type=float, default=600.0, show_default=True, help="Of the run for memory; 0 for none."
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(workers: int, clients: str, seconds: float, memory_seconds: float, json_path: Path | None) -> None:
    """Measure the service under load."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results: dict[str, Any] = {"workers": workers, "loads": [], "flood": None, "stop": None, "memory": None}

    def tell(line: str) -> None:
        click.echo(line, err=True)

    questions = [row.question for row in read_break_csv(_SAMPLE)]
    with running(workers) as service:
        pid = service.process.pid
        results["beside_the_parser"] = in_fresh_process(beside_the_parser, service.port, pid, questions)
        if memory_seconds:
            results["memory"] = memory_under_load(service, memory_seconds, tell)
        if seconds:
            for number in map(int, clients.split(",")):
                results["loads"].append(asdict(load(service, number, seconds)))
                tell(str(results["loads"][-1]))
            results["flood"] = flood(service, seconds)
            tell(f"memory after the load: {memory_mb(pid):.1f} MB")
            results["stop"] = stop_under_load(service)
    show_tables(list(_tables(results)))
    if json_path is not None:
        write_results(json_path, {"serve": results})

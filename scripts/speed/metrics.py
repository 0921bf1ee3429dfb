"""How many pairs a CPU second a metric scores after start-up.

Each metric and file has its own process. Start-up (loading the metric and scoring one made-up pair) is not counted. If
a metric looks at all rows beforehand, as NormEM does to annotate their words, that time is given on its own.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import click
from shared_data import shared_data_option

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_json_lines
from qdecomp.terminal import Table, show_tables
from speed.measuring import clock, in_fresh_process, json_option, peak_memory_mb, write_results

_WARM_UP = ("How many red cubes are there?", "return red cubes ;return number of #1", "return cubes ;return #1 in red")


def measure_metric(name: str, path: Path, limit: int | None) -> dict[str, Any]:
    """Score the rows of a reference file with a metric."""
    from qdecomp.evaluation.metrics import get_metric, prepare

    rows = read_rows(path, limit)
    function = get_metric(name).load()
    prepare(function, [_WARM_UP])
    function(*_WARM_UP)
    with clock() as preparation:
        prepare(function, rows)
    with clock() as scoring:
        for row in rows:
            function(*row)
    return {
        "metric": name,
        "file": path.name,
        "pairs": len(rows),
        "cpu_seconds": scoring.cpu,
        "preparation_cpu_seconds": preparation.cpu,
        "pairs_per_cpu_second": len(rows) / scoring.cpu,
        "memory_mb": peak_memory_mb(),
    }


def read_rows(path: Path, limit: int | None) -> list[tuple[str, str, str]]:
    """Question, prediction and gold of the rows of a reference file."""
    records = (record for _, record in islice(read_json_lines(path), limit))
    try:
        rows = [(record["question"], record["prediction"], record["gold"]) for record in records]
    except (KeyError, TypeError):
        raise DataError(f"{path}: every line needs question, prediction and gold") from None
    if not rows:
        raise DataError(f"{path}: there is no row in it")
    return rows


@click.command("metrics")
@shared_data_option("--reference", "reference", meaning="The folder with lf_em_a.jsonl and lf_em_b.jsonl.")
@click.option("--metrics", default="lf_em,lf_em_strict", show_default=True, help="Comma-separated names of metrics.")
@click.option("--rows", type=click.IntRange(min=1), help="Only the first rows of each file.")
@json_option
def command(reference: Path, metrics: str, rows: int | None, json_path: Path | None) -> None:
    """Measure metrics on the rows of the reference files, on one core."""
    files = [reference / name for name in ("lf_em_a.jsonl", "lf_em_b.jsonl")]
    found = [in_fresh_process(measure_metric, name, file, rows) for name in metrics.split(",") for file in files]
    columns = ("metric", "file", "pairs", "preparation CPU s", "CPU s", "pairs/CPU s", "MB")
    cells = tuple(
        (
            each["metric"],
            each["file"],
            f"{each['pairs']:,}",
            f"{each['preparation_cpu_seconds']:.2f}",
            f"{each['cpu_seconds']:.2f}",
            f"{each['pairs_per_cpu_second']:,.0f}",
            f"{each['memory_mb']:,.0f}",
        )
        for each in found
    )
    show_tables([Table("Metrics on one core, after start-up", columns, cells, text_columns=2)])
    write_results(json_path, {"metrics": found})

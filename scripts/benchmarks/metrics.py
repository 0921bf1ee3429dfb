"""How many pairs per second a metric scores on one core after start-up, and what importing qdecomp costs.

Each metric and file has its own process. Start-up (loading the metric and scoring one made-up pair) is not counted. If
a metric looks at all rows beforehand, as NormEM does to annotate their words, the rate is given with and without that.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
from shared_data import shared_data_option

from benchmarks.measuring import clock, in_fresh_process, peak_memory_mb, write_results
from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_json_lines
from qdecomp.terminal import Table, show_tables

_WARM_UP = ("How many red cubes are there?", "return red cubes ;return number of #1", "return cubes ;return #1 in red")
_TIME_AN_IMPORT = "import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
_STATEMENTS = ("import qdecomp", "from qdecomp import lf_em, parse_qdmr, to_logical_form")
_IMPORTS = 5


@dataclass(frozen=True, slots=True)
class Speed:
    """One metric on the rows of one file; rates are pairs per second of wall or CPU time."""

    metric: str
    file: str
    pairs: int
    wall_seconds: float
    cpu_seconds: float
    preparation_wall_seconds: float
    preparation_cpu_seconds: float
    memory_mb: float

    @property
    def pairs_per_wall_second(self) -> float:
        """The rate after preparation."""
        return self.pairs / self.wall_seconds

    @property
    def pairs_per_cpu_second(self) -> float:
        """The rate after preparation, by CPU time."""
        return self.pairs / self.cpu_seconds

    @property
    def pairs_per_cpu_second_prepared(self) -> float:
        """The rate with preparation, by CPU time."""
        return self.pairs / (self.cpu_seconds + self.preparation_cpu_seconds)


def measure_metric(name: str, path: Path, limit: int | None) -> Speed:
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
    return Speed(
        metric=name,
        file=path.name,
        pairs=len(rows),
        wall_seconds=scoring.wall,
        cpu_seconds=scoring.cpu,
        preparation_wall_seconds=preparation.wall,
        preparation_cpu_seconds=preparation.cpu,
        memory_mb=peak_memory_mb(),
    )


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


def import_seconds(statement: str) -> list[float]:
    """How long new interpreters take for an import statement."""
    command = [sys.executable, "-c", _TIME_AN_IMPORT.format(statement=statement)]
    runs = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(_IMPORTS))
    return [float(run.stdout) for run in runs]


def _speed_table(speeds: list[Speed]) -> Table:
    columns = ("metric", "file", "pairs", "wall s", "CPU s", "pairs/wall s", "pairs/CPU s", "with preparation", "MB")
    rows = tuple(
        (
            each.metric,
            each.file,
            f"{each.pairs:,}",
            f"{each.wall_seconds:.2f}",
            f"{each.cpu_seconds:.2f}",
            f"{each.pairs_per_wall_second:,.0f}",
            f"{each.pairs_per_cpu_second:,.0f}",
            f"{each.pairs_per_cpu_second_prepared:,.0f}",
            f"{each.memory_mb:,.0f}",
        )
        for each in speeds
    )
    note = "With preparation: pairs per CPU second, including what is done for all rows beforehand."
    return Table("Metrics on one core, after start-up", columns, rows, text_columns=2, note=note)


def _import_table(seconds: dict[str, list[float]]) -> Table:
    rows = tuple((each, f"{min(times):.3f}", f"{statistics.median(times):.3f}") for each, times in seconds.items())
    return Table("Imports in a new interpreter", ("statement", "best s", "median s"), rows)


@click.command("metrics")
@shared_data_option("--reference", "reference", meaning="The folder with lf_em_a.jsonl and lf_em_b.jsonl.")
@click.option("--metrics", default="lf_em,lf_em_strict", show_default=True, help="Comma-separated names of metrics.")
@click.option("--rows", type=click.IntRange(min=1), help="Only the first rows of each file.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(reference: Path, metrics: str, rows: int | None, json_path: Path | None) -> None:
    """Measure metrics on the rows of the reference files, and the time to import qdecomp."""
    files = [reference / name for name in ("lf_em_a.jsonl", "lf_em_b.jsonl")]
    speeds = [in_fresh_process(measure_metric, name, file, rows) for name in metrics.split(",") for file in files]
    imports = {statement: import_seconds(statement) for statement in _STATEMENTS}
    show_tables([_speed_table(speeds), _import_table(imports)])
    if json_path is not None:
        write_results(json_path, {"metrics": [_to_json(speed) for speed in speeds], "import_seconds": imports})


def _to_json(speed: Speed) -> dict[str, Any]:
    rates = ("pairs_per_wall_second", "pairs_per_cpu_second", "pairs_per_cpu_second_prepared")
    return asdict(speed) | {name: getattr(speed, name) for name in rates}

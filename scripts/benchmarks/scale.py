"""How cost grows: generated questions in thousands and millions through reading, converting, scoring and parsing.

Each run is a command in a separate process, whose CPU time and memory are sampled while it runs. The measurements are
kept in a file: run it again with other sizes to add them; the table and the figure are made from all of them.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import click

from benchmarks.generated_questions import write_questions
from benchmarks.process_sampling import run_measured
from benchmarks.scale_model import ScaleRun, cost_table, fit_costs, forecast_table, run_table
from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_json_lines, write_text_atomically
from qdecomp.parsers.backend_names import BACKEND_NAMES
from qdecomp.terminal import Table, show_tables

_READ = (
    "import sys; from qdecomp.evaluation.predictions import read_gold, read_predictions; "
    "read_predictions(sys.argv[2], read_gold(sys.argv[1]))"
)


@dataclass(frozen=True, slots=True)
class ScaleFiles:
    """The generated input of a run, and a folder for what it writes."""

    gold: Path
    predictions: Path
    folder: Path


_QDECOMP = (sys.executable, "-m", "qdecomp")


def _parse_command(backend: str, files: ScaleFiles, workers: int) -> Sequence[str]:
    return (
        *(*_QDECOMP, "parse", "--input", str(files.gold), "--output", str(files.folder / "parsed.jsonl")),
        *("--processes", str(workers), "--backend", backend),
    )


# What a stage runs, for its files and a number of workers.
_STAGES: Mapping[str, Callable[[ScaleFiles, int], Sequence[str]]] = {
    "read": lambda files, workers: (sys.executable, "-c", _READ, str(files.gold), str(files.predictions)),
    "convert": lambda files, workers: (
        *(*_QDECOMP, "convert", "--input", str(files.gold), "--output", str(files.folder / "graphs.jsonl")),
        *("--processes", str(workers)),
    ),
    "score": lambda files, workers: (
        *(*_QDECOMP, "evaluate", "--gold", str(files.gold), str(files.predictions)),
        *("--details", str(files.folder / "details.jsonl"), "--processes", str(workers)),
    ),
    **{f"parse-{backend}": partial(_parse_command, backend) for backend in BACKEND_NAMES},
}
# Reading is not distributed to workers.
_ONE_WORKER = frozenset(("read",))


def measure_stage(stage: str, questions: int, workers: int, seed: int = 0) -> ScaleRun:
    """Run a stage on this many generated questions, without caches from earlier runs."""
    with tempfile.TemporaryDirectory(prefix="qdecomp-scale-") as name:
        folder = Path(name)
        files = ScaleFiles(folder / "gold.csv", folder / "predictions.jsonl", folder)
        write_questions(questions, files.gold, files.predictions, seed)
        # Threads that wait for each other take CPU time without doing anything; a worker has one core.
        environment = {**os.environ, "QDECOMP_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
        measured = run_measured(_STAGES[stage](files, workers), environment, folder)
    return ScaleRun(stage, questions, workers, **{name: getattr(measured, name) for name in measured.__slots__})


def read_runs(path: Path) -> list[ScaleRun]:
    """The runs that were measured before; none if there is no file."""
    if not path.exists():
        return []
    try:
        return [ScaleRun(**record) for _, record in read_json_lines(path)]
    except TypeError:
        raise DataError(f"{path}: these are not runs of this benchmark; give another file") from None


def _numbers(text: str, option: str) -> list[int]:
    try:
        numbers = [int(each.replace("_", "")) for each in text.split(",") if each.strip()]
    except ValueError:
        raise DataError(f"{option}: give whole numbers separated by commas, not {text!r}") from None
    if any(number < 1 for number in numbers):
        raise DataError(f"{option}: every number must be at least 1")
    return numbers


def _plan(sizes: Sequence[int], parsed: Sequence[int], workers: Sequence[int]) -> list[tuple[str, int, int]]:
    chosen = {stage: parsed if stage.startswith("parse-") else sizes for stage in _STAGES}
    plan = [(stage, size, count) for stage, numbers in chosen.items() for size in numbers for count in workers]
    return [each for each in plan if each[0] not in _ONE_WORKER or each[2] == 1]


def _markdown(table: Table) -> str:
    lines = [
        table.columns,
        tuple("---" if place < table.text_columns else "--:" for place in range(len(table.columns))),
    ]
    rows = "".join(f"| {' | '.join(cells)} |\n" for cells in (*lines, *table.rows))
    return f"**{table.title}.** {table.note}\n\n{rows}"


@click.command("scale")
@click.option(
    "--sizes", default="1000,10000,100000,1000000", show_default=True, help="Questions to read, convert, score."
)
@click.option("--parsed", default="200,1000", show_default=True, help="Questions for the bundled parser.")
@click.option("--workers", default="1,2", show_default=True, help="Numbers of processes.")
@click.option("--stages", default=",".join(_STAGES), show_default=True, help="Which stages to measure.")
@click.option("--results", type=click.Path(path_type=Path), required=True, help="The file of runs (JSON lines).")
@click.option("--table", "table_path", type=click.Path(path_type=Path), help="Write the tables here (Markdown).")
@click.option("--figure", "figure_path", type=click.Path(path_type=Path), help="Write the figure here (SVG).")
def command(
    sizes: str,
    parsed: str,
    workers: str,
    stages: str,
    results: Path,
    table_path: Path | None,
    figure_path: Path | None,
) -> None:
    """Measure how time and memory grow, and estimate how long many workers would take for a hundred million questions.

    Runs that are already in the file of results are not measured again.
    """
    chosen = [stage.strip() for stage in stages.split(",") if stage.strip()]
    if unknown := set(chosen) - set(_STAGES):
        raise DataError(f"--stages: there is no {min(unknown)!r}; choose from {', '.join(_STAGES)}")
    if not Path("/proc/self/status").exists():
        raise DataError("this benchmark looks at processes in /proc, which this system does not have")
    runs = read_runs(results)
    known = {(run.stage, run.questions, run.workers) for run in runs}
    for stage, size, count in _plan(
        _numbers(sizes, "--sizes"), _numbers(parsed, "--parsed"), _numbers(workers, "--workers")
    ):
        if stage in chosen and (stage, size, count) not in known:
            print(f"{stage}: {size:,} questions, workers: {count}", file=sys.stderr, flush=True)
            runs.append(measure_stage(stage, size, count))
            with write_text_atomically(results) as stream:
                stream.writelines(json.dumps(asdict(run)) + "\n" for run in runs)
    if not runs:
        raise DataError("nothing was measured: --sizes, --parsed and --stages leave nothing to do")
    costs = fit_costs(runs)
    tables = [run_table(runs), cost_table(costs), forecast_table(costs)]
    show_tables(tables)
    if figure_path is not None:
        from benchmarks.scale_figure import draw_scale

        with write_text_atomically(figure_path) as stream:
            stream.write(draw_scale(runs, costs))
    if table_path is not None:
        with write_text_atomically(table_path) as stream:
            stream.write("\n".join(map(_markdown, tables)))

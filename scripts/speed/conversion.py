"""How long it takes from a decomposition to its graph and back, stage by stage, and what is lost.

The stages are measured on one core in a separate process, after start-up (loading the lexicons and the solver, and
converting one made-up question). The whole file is then converted as ``qdecomp convert`` does it. On a busy machine,
look at the CPU seconds.
"""

from __future__ import annotations

import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from shared_data import from_shared_data

from qdecomp.terminal import Table, show_tables
from speed.measuring import clock, evenly_spread, in_fresh_process, json_option, peak_memory_mb, write_results

if TYPE_CHECKING:
    from qdecomp.data_structures.special_tokens import SpecialTokens

T = TypeVar("T")

_WARM_UP = (
    "How many red cubes are there, red or blue?",
    "return red cubes ;return #1 that are red ;return number of #2",
)
_STAGES = ("QDMR to LF", "alignment", "LF to SDG to DG", "DG to SDG to LF", "LF-EM", "all")
_FILES = tuple(from_shared_data("--input", "break", name) for name in ("train.csv", "dev.csv"))


@click.command()
@click.option(
    "--input",
    "paths",
    type=click.Path(path_type=Path),
    multiple=True,
    default=lambda: [file() for file in _FILES],
    help="Break's CSV.",
)
@click.option("--questions", default=2000, show_default=True, help="How many questions to measure by stages.")
@click.option("--special-tokens", default="default", show_default=True, help="default or paper.")
@click.option("--processes", default=2, show_default=True, help="Cores for the whole files; 0 skips them.")
@json_option
def command(
    paths: tuple[Path, ...], questions: int, special_tokens: str, processes: int, json_path: Path | None
) -> None:
    """Milliseconds per question, and rows per second for whole files."""
    stages = in_fresh_process(measure_stages, paths, questions, special_tokens)
    rows = tuple((name, *(f"{value:.2f}" for value in stages["stages"][name].values())) for name in _STAGES)
    note = f"{stages['questions']} questions; {stages['over_one_second']} over one second; {stages['memory_mb']:.0f} MB"
    columns = ("stage", "mean", "median", "99%", "longest")
    tables = [Table("Milliseconds of the processor a question", columns, rows, note=note)]
    results: dict[str, Any] = {"stages": stages}
    if processes:
        whole = [in_fresh_process(measure_file, path, special_tokens, processes) for path in paths]
        results["files"] = whole
        columns = ("file", "rows", "converted %", "round trip %", "seconds", "CPU seconds", "MB, at most")
        cells = tuple(tuple(f"{v:.2f}" if isinstance(v, float) else str(v) for v in one.values()) for one in whole)
        tables.append(Table(f"Whole files, {processes} processes", columns, cells))
    show_tables(tables)
    write_results(json_path, results)


class _Stopwatch:
    """The CPU milliseconds of each run of each stage."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {name: [] for name in _STAGES}

    def timed(self, stage: str, function: Callable[[], T]) -> T:
        """What the function gives; its time counts for the stage, even if it fails."""
        start = time.process_time()
        try:
            return function()
        finally:
            self.times[stage].append(1000 * (time.process_time() - start))


def measure_stages(paths: tuple[Path, ...], questions: int, special_tokens: str) -> dict[str, Any]:
    """The CPU time of each stage, over questions spread evenly over the files."""
    from qdecomp.data_structures.conversion.chain import check_round_trip, convert
    from qdecomp.data_structures.errors import QDecompError
    from qdecomp.data_structures.special_tokens import PRESETS
    from qdecomp.files import read_break_csv

    special = PRESETS[special_tokens]
    examples = evenly_spread([example for path in paths for example in read_break_csv(path)], questions)
    check_round_trip(convert(*_WARM_UP, special=special))
    watch = _Stopwatch()
    for example in examples:
        with suppress(QDecompError):
            watch.timed("all", partial(_run_stages, watch, example.question, example.decomposition or "", special))
    return {
        "questions": len(examples),
        "over_one_second": sum(value > 1000 for value in watch.times["all"]),
        "memory_mb": peak_memory_mb(),
        "stages": {name: _figures(values) for name, values in watch.times.items()},
    }


def _run_stages(watch: _Stopwatch, question: str, text: str, special: SpecialTokens) -> None:
    from qdecomp.data_structures.alignment.align import align
    from qdecomp.data_structures.conversion.lf_to_sdg import logical_form_from_span_graph, span_graph_from_logical_form
    from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
    from qdecomp.data_structures.conversion.sdg_to_dg import to_dependency_graph, to_span_graph
    from qdecomp.data_structures.lf_em import lf_em
    from qdecomp.data_structures.qdmr import parse_qdmr
    from qdecomp.data_structures.tokenization import tokenize

    form = watch.timed("QDMR to LF", lambda: to_logical_form(parse_qdmr(text)))
    words = (*tokenize(question), *special.words)
    alignment = watch.timed("alignment", lambda: align(form, words))
    graph = watch.timed(
        "LF to SDG to DG",
        lambda: to_dependency_graph(span_graph_from_logical_form(form, alignment, words), special),
    )
    again = watch.timed("DG to SDG to LF", lambda: logical_form_from_span_graph(to_span_graph(graph)))
    watch.timed("LF-EM", lambda: lf_em(question, again, form))


def _figures(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "p99": ordered[int(0.99 * (len(ordered) - 1))],
        "longest": ordered[-1],
    }


def measure_file(path: Path, special_tokens: str, processes: int) -> dict[str, Any]:
    """Convert a whole file as the command does; memory is that of the parent plus as many times the largest child."""
    from joblib.externals.loky import get_reusable_executor

    from qdecomp.data_structures.special_tokens import PRESETS
    from qdecomp.files.conversion import convert_file
    from qdecomp.files.jobs import Where

    with tempfile.TemporaryDirectory() as folder, clock() as measured:
        output = Path(folder) / "graphs.jsonl"
        summary = convert_file(path, output, special=PRESETS[special_tokens], where=Where(processes))
    get_reusable_executor().shutdown(wait=True)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = summary.total
    return {
        "file": path.name,
        "rows": total["rows"],
        "converted": 100 * total["converted"] / total["rows"],
        "round_trip": 100 * total["round_trip"] / total["rows"],
        "seconds": measured.wall,
        "cpu_seconds": measured.cpu + children.ru_utime + children.ru_stime,
        "memory_mb": peak_memory_mb() + processes * children.ru_maxrss / 1024,
    }

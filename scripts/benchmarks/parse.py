"""How fast the bundled parser is: a cold start, one question at a time, many in a pipe, and where the time goes.

The cold start is a new process from its start to its answer. Tokenisation and decoding are included everywhere.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from shared_data import from_shared_data

from benchmarks.measuring import clock, in_fresh_process, peak_memory_mb, write_results
from qdecomp.files import read_break_csv
from qdecomp.terminal.tables import Table, show_tables

_QUESTION = "Which state has the most rivers?"
_COLD_STARTS = 5

# Functions, by file and name, whose time with all that they call is shown or taken apart.
_TOKENIZE, _PIECES = ("tokenization.py", "tokenize"), ("word_pieces.py", "__call__")
_ENCODER, _NETWORK = ("encoder.py", "__call__"), ("graph_network.py", "encode")
_DECODE, _LABELS, _SOLVE = ("ilp.py", "decode"), ("graph_network.py", "_work_out"), ("graph_program.py", "solve_graph")
_STEPS = ("prediction.py", "prediction_from_graph")
_SEARCH, _ADVANCE = ("beam_search.py", "beam_search"), ("writer_network.py", "advance")
_WRITTEN = ("writer.py", "_prediction")


def cold_starts(count: int) -> list[float]:
    """Seconds from the start of ``qdecomp parse`` to its end, each in a new process."""
    seconds = []
    for _ in range(count):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "qdecomp.cli", "parse", _QUESTION], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - started)
    return seconds


def measure(questions: Sequence[str], parser_name: str) -> dict[str, Any]:
    """Latency, throughput, memory and a profile, in this process."""
    from qdecomp import load

    with clock() as loading:
        parser = load(parser_name)
    parser.parse(_QUESTION)
    latencies = []
    for question in questions:
        started = time.perf_counter()
        parser.parse(question)
        latencies.append(time.perf_counter() - started)
    with clock() as piping:
        without = sum(not decomposition for decomposition in parser.pipe(questions))
    processes = os.cpu_count() or 1
    list(parser.pipe(questions[: 2 * processes], batch_size=1, processes=processes))
    with clock() as piping_on_all_cores:
        list(parser.pipe(questions, processes=processes))
    return {
        "load_seconds": loading.wall,
        "median_ms": 1000 * statistics.median(latencies),
        "p95_ms": 1000 * statistics.quantiles(latencies, n=20)[-1],
        "worst_ms": 1000 * max(latencies),
        "pipe_questions_per_wall_second": len(questions) / piping.wall,
        "pipe_questions_per_cpu_second": len(questions) / piping.cpu,
        "processes": processes,
        "pipe_on_all_cores_questions_per_second": len(questions) / piping_on_all_cores.wall,
        "without_decomposition": without,
        "memory_mb": peak_memory_mb(),
        "profile_ms": _profile(parser, questions),
    }


def _profile(parser: Any, questions: Sequence[str]) -> dict[str, float]:
    """Milliseconds a question in a pipe, by part; the profiler slows down what calls many functions."""
    profiler = cProfile.Profile()
    with profiler:
        for _ in parser.pipe(questions):
            pass
    inclusive: dict[tuple[str, str], float] = {}
    total = 0.0
    for (path, _, function), (_, _, own, seconds, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        key = (Path(path).name, function)
        inclusive[key] = max(inclusive.get(key, 0.0), seconds)
        total += own

    def at(key: tuple[str, str]) -> float:
        return inclusive.get(key, 0.0)

    parts = {"tokens and pieces": at(_TOKENIZE) + at(_PIECES), "encoder": at(_ENCODER)}
    if at(_SEARCH):
        parts |= {
            "search: networks": at(_ADVANCE),
            "search: hypotheses and rules": at(_SEARCH) - at(_ADVANCE),
            "tokens to steps": at(_WRITTEN),
        }
    else:
        parts |= {
            "special tokens, nets and edge scores": at(_NETWORK) - at(_ENCODER),
            "label scores": at(_LABELS),
            "integer program": at(_SOLVE),
            "greedy graph, checks and repair": at(_DECODE) - at(_LABELS) - at(_SOLVE),
            "graph to steps": at(_STEPS),
        }
    parts["everything else"] = total - sum(parts.values())
    return {name: 1000 * seconds / len(questions) for name, seconds in parts.items()}


def _tables(results: dict[str, Any], cold: Sequence[float], count: int) -> list[Table]:
    rows = (
        ("cold start, median of new processes", f"{statistics.median(cold):.2f} s"),
        ("cold start, slowest", f"{max(cold):.2f} s"),
        ("loading", f"{results['load_seconds']:.2f} s"),
        ("one question, median", f"{results['median_ms']:.1f} ms"),
        ("one question, 95 of 100", f"{results['p95_ms']:.1f} ms"),
        ("one question, worst", f"{results['worst_ms']:.1f} ms"),
        ("pipe in one process, questions a wall second", f"{results['pipe_questions_per_wall_second']:.1f}"),
        ("pipe in one process, questions a CPU second", f"{results['pipe_questions_per_cpu_second']:.1f}"),
        (
            f"pipe in {results['processes']} processes that have loaded, questions a wall second",
            f"{results['pipe_on_all_cores_questions_per_second']:.1f}",
        ),
        ("memory at most", f"{results['memory_mb']:.0f} MB"),
        ("questions without a decomposition", str(results["without_decomposition"])),
    )
    total = sum(results["profile_ms"].values())
    parts = tuple(
        (name, f"{milliseconds:.2f}", f"{100 * milliseconds / total:.0f}%")
        for name, milliseconds in results["profile_ms"].items()
    )
    note = "Neither spaCy nor AllenNLP is used: the tokens are those of qdecomp.data_structures.tokenization."
    return [
        Table(f"The bundled parser on {count:,} questions", ("what", "value"), rows),
        Table("Where the time of a pipe goes, with a profiler", ("part", "ms a question", "share"), parts, note=note),
    ]


@click.command("parse")
@click.option(
    "--questions",
    "path",
    type=click.Path(path_type=Path),
    default=from_shared_data("--questions", "break", "dev.csv"),
    help="A CSV.",
)
@click.option("--count", type=click.IntRange(min=2), default=500, show_default=True, help="How many, evenly spread.")
@click.option("--parser", "parser_name", default="minilm_break", show_default=True, help="A name or a folder.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results to this file.")
def command(path: Path, count: int, parser_name: str, json_path: Path | None) -> None:
    """Measure the bundled parser: cold start, latency, throughput, memory, profile."""
    examples = read_break_csv(path)
    step = max(len(examples) / count, 1.0)
    questions = [examples[int(number * step)].question for number in range(min(count, len(examples)))]
    cold = cold_starts(_COLD_STARTS)
    results = in_fresh_process(measure, questions, parser_name)
    show_tables(_tables(results, cold, len(questions)))
    if json_path is not None:
        write_results(json_path, {"parse": results, "cold_start_seconds": cold})

"""How fast the bundled parser is: a cold start, one question at a time, many in a pipe.

The cold start is a new process from its start to its answer. Tokenisation and decoding are included everywhere. Parsers
that are compared take turns in one process, so that whatever else the machine does slows down both alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from shared_data import shared_data_option

from qdecomp.files import read_break_csv
from qdecomp.parsers.parser import load
from qdecomp.parsers.source import parser_path
from qdecomp.terminal import Table, show_tables
from speed.measuring import (
    Clock,
    children_cpu,
    clock,
    evenly_spread,
    in_fresh_process,
    json_option,
    peak_memory_mb,
    write_results,
)

_QUESTION = "Which state has the most rivers?"
_COLD_STARTS = 3
_QUESTIONS_OF_A_TURN = 25
_CLOCKS = ("wall", "cpu")


def cold_starts(subject: str, count: int = _COLD_STARTS) -> list[dict[str, float]]:
    """Seconds from the start of ``qdecomp parse`` to its end, each in a new process."""
    command = [sys.executable, "-m", "qdecomp", "parse", "--parser", subject, _QUESTION]
    found = []
    for _ in range(count):
        before = children_cpu()
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found.append({"wall": time.perf_counter() - started, "cpu": children_cpu() - before})
    return found


def measure_together(questions: Sequence[str], subjects: Sequence[str]) -> dict[str, Any]:
    """Latency and throughput in one process of each parser; they take turns."""
    parsers = {subject: load(subject) for subject in subjects}
    for parser in parsers.values():
        parser.parse(_QUESTION)
    latencies: dict[str, list[Clock]] = {name: [] for name in parsers}
    for start in range(0, len(questions), _QUESTIONS_OF_A_TURN):
        for name, parser in parsers.items():
            for question in questions[start : start + _QUESTIONS_OF_A_TURN]:
                with clock() as one:
                    parser.parse(question)
                latencies[name].append(one)
    # Enough questions for a pipe to batch those of similar length together.
    pipes = {name: Clock() for name in parsers}
    without = dict.fromkeys(parsers, 0)
    for start in range(0, len(questions), 256):
        for name, parser in parsers.items():
            with clock() as piping:
                answers = list(parser.pipe(questions[start : start + 256]))
            pipes[name].wall += piping.wall
            pipes[name].cpu += piping.cpu
            without[name] += sum(not answer for answer in answers)
    return {
        name: {
            "one_question_ms": {which: _spread([getattr(one, which) for one in latencies[name]]) for which in _CLOCKS},
            "pipe_questions_a_second": {which: len(questions) / getattr(pipes[name], which) for which in _CLOCKS},
            "without_decomposition": without[name],
        }
        for name in parsers
    }


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    values = 1000 * np.array(seconds)
    return {
        "median": float(np.median(values)),
        "99 of 100": float(np.percentile(values, 99)),
        "worst": float(values.max()),
    }


def measure_alone(questions: Sequence[str], subject: str, processes: int) -> dict[str, float]:
    """The memory of one process, and the questions per second of several, with nothing else running."""
    from joblib.externals.loky import get_reusable_executor

    parser = load(subject)
    list(parser.pipe(questions[:64]))
    memory = peak_memory_mb()
    list(parser.pipe(questions[: 2 * processes], batch_size=1, processes=processes))
    with clock() as piping:
        list(parser.pipe(questions, processes=processes))
    get_reusable_executor().shutdown(wait=True)
    return {"memory_mb": memory, "pipe_in_processes_questions_a_second": len(questions) / piping.wall}


def _table(parsers: dict[str, Any], processes: int, count: int) -> Table:
    shown = [_figures(each, processes) for each in parsers.values()]
    rows = tuple((what, *(figures[what] for figures in shown)) for what in shown[0])
    note = "Wall time and, in parentheses, CPU time, which other programs do not change."
    return Table(f"On {count:,} questions", ("what", *parsers), rows, note=note)


def _figures(found: dict[str, Any], processes: int) -> dict[str, str]:
    """What the table shows of a parser's results."""

    def both(form: str, value: Callable[[str], float]) -> str:
        return f"{value('wall'):{form}} ({value('cpu'):{form}})"

    cold = both(".2f", lambda which: float(np.median([start[which] for start in found["cold"]])))
    latencies = {
        f"one question, {name}, ms": both(".1f", lambda which, name=name: found["one_question_ms"][which][name])
        for name in ("median", "99 of 100", "worst")
    }
    in_processes = f"pipe in {processes} processes that have loaded, questions a second"
    return {
        "cold start, median of new processes, s": cold,
        **latencies,
        "pipe in one process, questions a second": both(".1f", found["pipe_questions_a_second"].__getitem__),
        in_processes: f"{found['pipe_in_processes_questions_a_second']:.1f}",
        "memory at most, MB": f"{found['memory_mb']:.0f}",
        "questions without a decomposition": str(found["without_decomposition"]),
    }


@click.command("parse")
@shared_data_option("--questions", "break", "dev.csv", parameter="path", meaning="A CSV.")
@click.option("--count", type=click.IntRange(min=2), default=300, show_default=True, help="How many, evenly spread.")
@click.option("--parser", "parser_name", default="minilm_break", show_default=True, help="A name or a folder.")
@click.option("--against", help="Another parser to measure side by side: a name or a folder.")
@json_option
def command(path: Path, count: int, parser_name: str, against: str | None, json_path: Path | None) -> None:
    """Measure the bundled parser: cold start, latency, throughput, memory."""
    # A process uses only one core, because that is its share in a pipe with several processes.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    subjects = [parser_name, *([against] if against else [])]
    for subject in subjects:
        # Before it is measured in a process of its own, whose error would be a traceback here.
        parser_path(subject)
    processes = os.cpu_count() or 1
    questions = [example.question for example in evenly_spread(read_break_csv(path), count)]
    cold = {subject: cold_starts(subject) for subject in subjects}
    together = in_fresh_process(measure_together, questions, subjects)
    alone = {each: in_fresh_process(measure_alone, questions, each, processes) for each in subjects}
    parsers = {name: {"cold": cold[name], **together[name], **alone[name]} for name in cold}
    show_tables([_table(parsers, processes, len(questions))])
    write_results(json_path, {"parse": {"processes": processes, "parsers": parsers}})

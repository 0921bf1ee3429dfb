"""How long the parsers take for a question."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, median
from typing import Any

from qdecomp.evaluation.statistics import mean_interval

from ..cells import systems_of
from ..paper import figures_of
from ..results import NOT_RUN, Block, Claim, Entry, Result, Verdict
from ..settings import Settings
from ..systems import SYSTEMS
from ..table_results import result_of

__all__ = ["TIMES", "build"]

TIMES = "times.json"
"""What the measurement writes."""
_MANY_TIMES = 5
_MEAN, _MEDIAN, _CPU = "milliseconds", "median", "milliseconds of CPU"
_NOTE = (
    "Batches of one question, one thread, all parsers in turns in one process; tokenisation and the reading of the "
    "answer are included, loading is not. The paper timed the forward pass."
)


def build(settings: Settings, base: Path) -> Result:
    """The time for one question, asked alone on one thread, from its text to the prediction record."""
    path = base / TIMES
    measured = json.loads(path.read_text(encoding="utf-8"))["inference"] if path.is_file() else []
    by_system = {each["parser"]: each for each in measured}
    systems = systems_of("inference_time", settings)
    entries = [entry for system in systems for entry in _entries(system.title, by_system.get(system.name))]
    columns = (_MEAN, _MEDIAN, _CPU)
    block = Block("Time of one question", "parser", columns, tuple(entries), figures_of("inference_time"), decimals=1)
    claims = [_claim(by_system, name) for name in ("biaffine", "biaffine_ilp")]
    return result_of("inference_time", settings, block, claims=claims, notes=[_NOTE])


def _entries(title: str, speed: dict[str, Any] | None) -> list[Entry]:
    if speed is None:
        return [Entry(title, column) for column in (_MEAN, _MEDIAN, _CPU)]
    times = [1000 * seconds for seconds in speed["latencies"]]
    low, high = mean_interval(times)
    count = speed["questions"]
    return [
        Entry(title, _MEAN, mean(times), None, low, high, 1, count),
        Entry(title, _MEDIAN, median(times), runs=1, questions=count),
        Entry(title, _CPU, 1000 * speed["cpu_seconds"] / count, runs=1, questions=count),
    ]


def _claim(by_system: dict[str, Any], name: str) -> Claim:
    """By CPU time, which other work on the machine affects least."""
    graph_parser, writer = SYSTEMS[name], SYSTEMS["copynet"]
    text = f"{graph_parser.title} is many times ({_MANY_TIMES} or more) faster than {writer.title}"
    if not {graph_parser.name, writer.name} <= by_system.keys():
        return Claim(text, Verdict.NOT_RUN, NOT_RUN)
    ratio = by_system[writer.name]["cpu_seconds"] / by_system[graph_parser.name]["cpu_seconds"]
    verdict = Verdict.HOLDS if ratio >= _MANY_TIMES else Verdict.DOES_NOT_HOLD
    return Claim(text, verdict, f"{ratio:.1f} times by CPU time; the paper: 16 times")

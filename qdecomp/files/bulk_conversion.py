"""Whole files of annotated decompositions to dependency graphs, on all cores, with a count of what was lost and why."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION, Conversion, convert
from qdecomp.data_structures.dependency_graph import dependency_graph_to_json
from qdecomp.data_structures.error_kinds import kind_of_error
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.lf_em.round_trip import check_round_trip
from qdecomp.data_structures.logical_form import format_step
from qdecomp.data_structures.mistakes import as_row_errors, is_mistake
from qdecomp.data_structures.special_tokens import PRESETS, SpecialTokens
from qdecomp.terminal.processes import ROW_KILLED_WORKERS, Spread, in_processes
from qdecomp.terminal.progress import progress

from .break_csv import BreakExample, read_break_csv, source_of
from .resumable import resume_json_lines

__all__ = ["ConversionSummary", "SourceCounts", "conversion_summary_to_json", "convert_file", "convert_row"]

_ROWS_A_TASK = 40
# For fewer rows than this, starting other processes takes longer than the work.
_ROWS_FOR_PROCESSES = 400
_NO_DECOMPOSITION = "there is no decomposition"


@dataclass(slots=True)
class SourceCounts:
    """How many rows of one source there are, and what became of them."""

    rows: int = 0
    converted: int = 0
    round_trip: int = 0


@dataclass(slots=True)
class ConversionSummary:
    """What became of the rows of a file.

    ``failures`` counts rows without a graph by reason; ``losses`` counts rows whose graph does not give the logical
    form back, by reason. ``resumed`` rows were there already when the run began. ``mistakes`` of the rows without a
    graph have none because of a mistake in the code. ``broken`` says which rows of the file cannot be read, and why.
    """

    sources: dict[str, SourceCounts] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    mistakes: int = 0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)

    @property
    def total(self) -> SourceCounts:
        """All sources together."""
        counts = self.sources.values()
        return SourceCounts(
            sum(count.rows for count in counts),
            sum(count.converted for count in counts),
            sum(count.round_trip for count in counts),
        )

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        counts = self.sources.setdefault(source_of(record["question_id"]), SourceCounts())
        counts.rows += 1
        counts.converted += record["graph"] is not None
        counts.round_trip += record["round_trip"]
        if record["graph"] is None:
            self.failures[record["reason"]] += 1
            self.mistakes += is_mistake(record["error"])
        elif not record["round_trip"]:
            self.losses[record["reason"]] += 1


def convert_row(example: BreakExample, special: SpecialTokens = PRESETS["default"]) -> dict[str, Any]:
    """The record of one row: its graph, whether that gives the logical form back, and what went wrong."""
    record = _empty_record(example, special)
    try:
        if example.error is not None:
            raise DataError(example.error)
        if example.decomposition is None:
            raise DataError(_NO_DECOMPOSITION)
        with as_row_errors():
            conversion = convert(example.question, example.decomposition, special=special)
            reason, error = _loss(conversion)
    except QDecompError as failure:
        return {**record, "reason": kind_of_error(failure), "error": str(failure)}
    return {
        **record,
        "logical_form": [format_step(step) for step in conversion.form.steps],
        "graph": dependency_graph_to_json(conversion.graph),
        "round_trip": reason is None,
        "missing": [word for _, word in conversion.alignment.missing],
        "reason": reason,
        "error": error,
    }


def _empty_record(example: BreakExample, special: SpecialTokens) -> dict[str, Any]:
    return {
        "row": example.row,
        "key": _key(example, special),
        "question_id": example.question_id,
        "question": example.question,
        "logical_form": None,
        "graph": None,
        "round_trip": False,
        "missing": [],
        "reason": None,
        "error": None,
    }


def _loss(conversion: Conversion) -> tuple[str | None, str | None]:
    """Why the graph does not give the logical form back: a class of reasons and the reason; None if it does."""
    result = check_round_trip(conversion)
    if result.verdict:
        return None, None
    if result.error is not None and "gold:" in result.error:
        return "no published logical form", result.error
    if conversion.alignment.missing:
        words = ", ".join(word for _, word in conversion.alignment.missing)
        return "words that the question does not have", f"the question does not have: {words}"
    return "words that go elsewhere", f"{result.gold_normalized} became {result.prediction_normalized}"


def _key(example: BreakExample, special: SpecialTokens) -> str:
    parts = [CONVERSION_VERSION, special.appended, example.question_id, example.question, example.decomposition]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def convert_file(
    input_path: str | Path,
    output_path: str | Path,
    *,
    special: SpecialTokens = PRESETS["default"],
    processes: int | None = None,
    spread: Spread | None = None,
    overwrite: bool = False,
) -> ConversionSummary:
    """Convert Break's CSV to JSON lines, one for each row, in its order.

    A run that was stopped goes on where it ended when it is started again. ``processes`` is the number of cores to
    use, all by default; with ``spread``, workers elsewhere convert.
    """
    started = time.monotonic()
    examples = read_break_csv(input_path)
    summary = ConversionSummary(broken=[f"row {each.row}: {each.error}" for each in examples if each.error is not None])
    keys = [_key(example, special) for example in examples]
    with resume_json_lines(output_path, keys, overwrite=overwrite, on_record=summary.add) as writer:
        summary.resumed = writer.done
        rest = examples[writer.done :]
        for record in progress(_records(rest, special, processes, spread), "Converting", len(rest)):
            writer.write(record)
            summary.add(record)
    summary.seconds = time.monotonic() - started
    return summary


def _records(
    examples: Sequence[BreakExample], special: SpecialTokens, processes: int | None, spread: Spread | None
) -> Iterator[dict[str, Any]]:
    from joblib import cpu_count

    tasks = (examples[start : start + _ROWS_A_TASK] for start in range(0, len(examples), _ROWS_A_TASK))
    work = partial(_convert_rows, special=special)
    if spread is not None:
        yield from chain.from_iterable(spread(work, tasks, partial(_died_record, special=special)))
        return
    workers = max(1, processes or cpu_count())
    if workers == 1 or len(examples) < _ROWS_FOR_PROCESSES:
        yield from (convert_row(example, special) for example in examples)
        return
    yield from chain.from_iterable(in_processes(work, tasks, workers, ahead=3))


def _died_record(example: BreakExample, special: SpecialTokens) -> dict[str, Any]:
    """The record of a row that no worker survives."""
    return {**_empty_record(example, special), "reason": "the worker process died", "error": ROW_KILLED_WORKERS}


def _convert_rows(examples: Iterable[BreakExample], special: SpecialTokens) -> list[dict[str, Any]]:
    return [convert_row(example, special) for example in examples]


def conversion_summary_to_json(summary: ConversionSummary) -> dict[str, Any]:
    """The figures for ``json.dumps``."""
    total = summary.total
    return {
        "rows": total.rows,
        "converted": total.converted,
        "round_trip": total.round_trip,
        "seconds": round(summary.seconds, 3),
        "resumed": summary.resumed,
        "failures": dict(summary.failures.most_common()),
        "losses": dict(summary.losses.most_common()),
        "sources": {
            name: {"rows": counts.rows, "converted": counts.converted, "round_trip": counts.round_trip}
            for name, counts in sorted(summary.sources.items())
        },
        "conversion_version": CONVERSION_VERSION,
    }

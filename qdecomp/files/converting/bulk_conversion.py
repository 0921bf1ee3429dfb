"""Converts whole files of annotated decompositions on all cores, and counts what was lost and why."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS, SpecialTokens
from qdecomp.files.converting.conversion_cache import ConversionCache
from qdecomp.files.converting.conversion_records import conversion_key, failed_conversion, make_conversion_records
from qdecomp.files.readers.break_csv import BreakExample, iterate_break_csv, source_of
from qdecomp.files.records.record_lines import RecordLine, format_record
from qdecomp.files.records.record_output import resume_records
from qdecomp.files.row_store.spilled_rows import SpilledRows
from qdecomp.terminal import progress
from qdecomp.workers.processes import ROW_KILLED_WORKERS, Spread, in_chunks, rows_in_processes

__all__ = ["ConversionSummary", "SourceCounts", "conversion_summary_to_json", "convert_file"]

_ROWS_A_TASK = 100
# Above this, the cache would take more than about 200 MB for one file.
_MOST_ROWS_TO_KEEP = 100_000
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

    ``failures`` counts rows without a graph by reason; ``losses`` counts rows whose graph does not convert back to the
    logical form, by reason. ``resumed`` rows were already there when the run began. ``mistakes`` counts the rows that
    have no graph because of a mistake in the code. ``broken`` says which rows of the file cannot be read, and why.
    """

    sources: dict[str, SourceCounts] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    mistakes: int = 0
    seconds: float = 0.0
    broken: Sequence[str] = ()

    @property
    def total(self) -> SourceCounts:
        """All sources together."""
        counts = self.sources.values()
        return SourceCounts(
            sum(count.rows for count in counts),
            sum(count.converted for count in counts),
            sum(count.round_trip for count in counts),
        )

    def add(self, outcome: ConversionOutcome) -> None:
        """Count one row."""
        counts = self.sources.setdefault(outcome.source, SourceCounts())
        counts.rows += 1
        counts.converted += outcome.converted
        counts.round_trip += outcome.round_trip
        self.mistakes += outcome.is_mistake
        if not outcome.converted:
            self.failures[outcome.reason] += 1
        elif not outcome.round_trip:
            self.losses[outcome.reason] += 1


class ConversionOutcome(NamedTuple):
    """What is counted about a row."""

    source: str
    converted: bool
    round_trip: bool
    reason: str
    is_mistake: bool


def _outcome(record: Mapping[str, Any]) -> ConversionOutcome:
    converted = record["graph"] is not None
    source, reason = source_of(record["question_id"]), record["reason"] or ""
    return ConversionOutcome(source, converted, record["round_trip"], reason, "internal_error" in record)


def _convert_rows(
    examples: Sequence[BreakExample], special: SpecialTokens, cache: ConversionCache | None = None
) -> list[RecordLine]:
    pairs = [(example.question, example.decomposition) for example in examples if example.decomposition is not None]
    conversions = iter(
        make_conversion_records(pairs, special) if cache is None else cache.records(pairs, special, processes=1)
    )
    return [
        _row_line(example, special, _no_conversion(example) if example.decomposition is None else next(conversions))
        for example in examples
    ]


def _no_conversion(example: BreakExample) -> dict[str, Any]:
    return failed_conversion(DataError(example.error or _NO_DECOMPOSITION))


def _row_line(example: BreakExample, special: SpecialTokens, conversion: Mapping[str, Any]) -> RecordLine:
    row = {"row": example.row, "key": _key(example, special), "question_id": example.question_id}
    record = {**row, "question": example.question, **conversion}
    return RecordLine(format_record(record), _outcome(record))


def _key(example: BreakExample, special: SpecialTokens) -> str:
    content = conversion_key(example.question, example.decomposition, special)
    return hashlib.sha256(json.dumps([content, example.question_id]).encode()).hexdigest()[:16]


def convert_file(
    input_path: str | Path,
    output_path: str | Path,
    *,
    special: SpecialTokens = PRESETS["default"],
    processes: int | None = None,
    spread: Spread | None = None,
    cache: ConversionCache | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
) -> ConversionSummary:
    """Convert Break's CSV to JSON lines, one for each row, in its order.

    An output whose name ends with a slash is a folder of files with ``part_rows`` rows each.

    A run that was stopped resumes when it is started again. ``processes`` is the number of cores to use, all by
    default; with ``spread``, workers on other machines convert. With a ``cache``, what training or another run has
    converted is not converted again, and what is new is kept there, unless the file is very long.
    """
    started = time.monotonic()
    examples: SpilledRows[BreakExample] = SpilledRows(iterate_break_csv(input_path))
    broken = SpilledRows(f"row {each.row}: {each.error}" for each in examples if each.error is not None)
    summary = ConversionSummary(broken=broken.frozen())
    keys = (_key(example, special) for example in examples)

    def count(record: Mapping[str, Any]) -> None:
        summary.add(_outcome(record))

    with resume_records(output_path, keys, overwrite=overwrite, on_record=count, part_rows=part_rows) as writer:
        summary.resumed = writer.done
        rest, left = islice(examples, writer.done, None), len(examples) - writer.done
        kept_in = cache if len(examples) <= _MOST_ROWS_TO_KEEP else None
        for line, outcome in progress(_lines(rest, left, special, processes, spread, kept_in), "Converting", left):
            writer.write(line)
            summary.add(outcome)
    summary.seconds = time.monotonic() - started
    return summary


def _lines(
    examples: Iterator[BreakExample],
    count: int,
    special: SpecialTokens,
    processes: int | None,
    spread: Spread | None,
    cache: ConversionCache | None,
) -> Iterator[RecordLine]:
    if spread is not None:
        tasks = in_chunks(examples, _ROWS_A_TASK)
        work = partial(_convert_rows, special=special)
        return chain.from_iterable(spread(work, tasks, partial(_died_line, special=special)))
    work = partial(_convert_rows, special=special, cache=cache)
    return rows_in_processes(work, examples, count, processes)


def _died_line(example: BreakExample, special: SpecialTokens) -> RecordLine:
    """The line of a row that no worker survives."""
    nothing = failed_conversion(DataError(ROW_KILLED_WORKERS))
    return _row_line(example, special, {**nothing, "reason": "the worker process died"})


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

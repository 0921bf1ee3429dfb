"""Converts annotated decompositions to graphs: whole files of them, with records that can be written and kept.

A conversion is kept in a cache under a key of its content (question, decomposition, special tokens) and the version of
the rules, so a graph made by other rules is never used. The cache is an SQLite file, which several processes may share.
"""

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

from qdecomp.data_structures.alignment.align import solver_library
from qdecomp.data_structures.conversion.chain import CONVERSION_VERSION, Conversion, check_round_trip, convert
from qdecomp.data_structures.dependency_graph import dependency_graph_to_json
from qdecomp.data_structures.errors import DataError, InternalError, QDecompError, as_internal_errors, pattern_of_text
from qdecomp.data_structures.logical_form import format_step
from qdecomp.data_structures.special_tokens import PRESETS, SpecialTokens
from qdecomp.files.break_csv import BreakExample, example_store, iterate_break_csv, source_of
from qdecomp.files.jobs import ALL_CORES, ROW_KILLED_WORKERS, Job, Where, in_chunks, run, spread
from qdecomp.files.sources import cache_folder
from qdecomp.files.store import RecordCache
from qdecomp.terminal import progress

# For fewer rows than this, starting other processes takes longer than the work.
_ROWS_FOR_PROCESSES = 400
_ROWS_A_TASK = 100
_ROWS_A_TRANSACTION = 200
_ROWS_FOR_PROGRESS = 100


def make_conversion_record(question: str, decomposition: str, special: SpecialTokens) -> dict[str, Any]:
    """Convert a decomposition, and check that its graph converts back to the logical form.

    The record has the ``logical_form`` and the ``graph``, both None if there is none; ``round_trip``, the verdict of
    the check; ``missing``, the words of the decomposition that the question does not have; and what went wrong, as a
    ``reason`` for counting and an ``error`` for people.
    """
    # That it is not installed is no failure of a row.
    solver_library()
    try:
        with as_internal_errors():
            conversion = convert(question, decomposition, special=special)
            reason, error = _loss(conversion)
    except QDecompError as failure:
        return _failed(failure)
    return {
        "logical_form": [format_step(step) for step in conversion.form.steps],
        "graph": dependency_graph_to_json(conversion.graph),
        "round_trip": reason is None,
        "missing": [word for _, word in conversion.alignment.missing],
        "reason": reason,
        "error": error,
    }


def _make_records(pairs: Iterable[tuple[str, str]], special: SpecialTokens) -> list[dict[str, Any]]:
    return [make_conversion_record(*pair, special) for pair in pairs]


def _failed(failure: QDecompError, reason: str | None = None) -> dict[str, Any]:
    """The record of a decomposition that has no graph."""
    nothing: dict[str, Any] = {"logical_form": None, "graph": None, "round_trip": False, "missing": []}
    record = {**nothing, "reason": reason or failure.kind, "error": str(failure)}
    # Only such a record has the field: a run that is resumed counts it, and no cache keeps it.
    return record | {"internal_error": True} if isinstance(failure, InternalError) else record


def _died() -> dict[str, Any]:
    return _failed(DataError(ROW_KILLED_WORKERS), "the worker process died")


def _loss(conversion: Conversion) -> tuple[str | None, str | None]:
    """Why the graph does not convert back to the logical form: a class of reasons and the reason; None if it does."""
    result = check_round_trip(conversion)
    if result.verdict:
        return None, None
    if result.error is not None and "gold" in result.error.sides:
        return "no published logical form", result.error
    if conversion.alignment.missing:
        words = ", ".join(word for _, word in conversion.alignment.missing)
        return "words that the question does not have", f"the question does not have: {words}"
    return "words that go elsewhere", f"{result.gold_normalized} became {result.prediction_normalized}"


def _content_key(question: str, decomposition: str | None, special: SpecialTokens) -> str:
    """What a conversion depends on, as one short text: if any of it changes, so does the key."""
    content = json.dumps([CONVERSION_VERSION, question, decomposition, special.appended])
    return hashlib.sha256(content.encode()).hexdigest()


class ConversionCache:
    """Converts annotated questions, or finds earlier conversions in ``folder``."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.path = (Path(folder) if folder else cache_folder()) / f"conversions-{CONVERSION_VERSION}.sqlite"
        self._kept = RecordCache(self.path, "checked_conversions")

    def records(
        self, pairs: Sequence[tuple[str, str]], special: SpecialTokens, *, processes: int | None = None
    ) -> list[dict[str, Any]]:
        """The conversion of each pair, see :func:`make_conversion_record`.

        ``processes`` is how many cores convert what is not found, all by default.
        """
        keys = [_content_key(*pair, special) for pair in pairs]
        found = self._kept.find(keys)
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in found}
        # Written in chunks: a kill loses little, and other processes need not wait for the whole file.
        for chunk in in_chunks(_convert(missing, special, processes), _ROWS_A_TRANSACTION):
            found.update(chunk)
            # A bug may be fixed without a new version of the rules.
            self._kept.keep({key: record for key, record in chunk if "internal_error" not in record})
        return [found[key] for key in keys]


def _convert(
    wanted: Mapping[str, tuple[str, str]], special: SpecialTokens, processes: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    with Where(processes).for_rows(len(wanted), _ROWS_FOR_PROCESSES).pool() as pool:
        chunks = in_chunks(wanted.values(), _ROWS_A_TASK)
        records = chain.from_iterable(spread(partial(_make_records, special=special), chunks, pool, lambda _: _died()))
        results = zip(wanted, records, strict=True)
        shown = len(wanted) > _ROWS_FOR_PROGRESS
        yield from progress(results, "Converting to graphs", len(wanted)) if shown else results


# Files.


_COUNTED = ("rows", "converted", "round_trip")


@dataclass(slots=True)
class ConversionSummary:
    """What became of the rows of a file.

    ``sources`` counts rows, those with a graph, and those whose graph converts back to the logical form. ``failures``
    counts rows without a graph by reason, ``losses`` those whose graph does not convert back. ``resumed`` rows were
    already there when the run began. ``internal_errors`` counts the rows that have no graph because of a bug.
    ``broken`` says why rows cannot be read.
    """

    sources: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    losses: Counter[str] = field(default_factory=Counter)
    resumed: int = 0
    internal_errors: int = 0
    seconds: float = 0.0
    broken: list[str] = field(default_factory=list)

    @property
    def total(self) -> dict[str, int]:
        """All sources together."""
        return {name: sum(counts[name] for counts in self.sources.values()) for name in _COUNTED}

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one row."""
        counts = self.sources.setdefault(source_of(record["question_id"]), dict.fromkeys(_COUNTED, 0))
        is_converted = record["graph"] is not None
        for name, count in zip(_COUNTED, (True, is_converted, record["round_trip"]), strict=True):
            counts[name] += count
        self.internal_errors += "internal_error" in record
        if not record["round_trip"]:
            (self.losses if is_converted else self.failures)[record["reason"] or ""] += 1

    def to_json(self) -> dict[str, Any]:
        """The figures for ``json.dumps``."""
        return {
            **self.total,
            "seconds": round(self.seconds, 3),
            "resumed": self.resumed,
            "failures": dict(self.failures.most_common()),
            "losses": dict(self.losses.most_common()),
            "sources": dict(sorted(self.sources.items())),
            "conversion_version": CONVERSION_VERSION,
        }


def convert_file(
    input_path: str | Path,
    output_path: str | Path,
    *,
    special: SpecialTokens = PRESETS["default"],
    where: Where = ALL_CORES,
    cache: ConversionCache | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
) -> ConversionSummary:
    """Convert Break's CSV to JSON lines, one for each row, in its order; a run that was stopped resumes.

    An output whose name ends with a slash is a folder of files with ``part_rows`` rows each. With a ``cache``, what
    training or another run has converted is not converted again, and what is new is kept there, unless other machines
    convert it.
    """
    started = time.monotonic()
    examples = example_store(iterate_break_csv(input_path))
    summary = ConversionSummary(
        broken=[f"row {example.row}: {example.error}" for example in examples if example.error is not None]
    )
    job = Job(
        "Converting",
        partial(_records, special=special, cache=cache if where.cluster is None else None),
        partial(_key, special=special),
        lambda example: _record(example, special, _died()),
    )
    where = where.for_rows(len(examples), _ROWS_FOR_PROCESSES)
    summary.resumed = run(
        examples, job, output_path, where, count=summary.add, overwrite=overwrite, part_rows=part_rows
    )
    summary.seconds = time.monotonic() - started
    return summary


def _records(
    examples: Sequence[BreakExample], special: SpecialTokens, cache: ConversionCache | None
) -> list[dict[str, Any]]:
    pairs = [(example.question, example.decomposition) for example in examples if example.decomposition is not None]
    conversions = iter(_make_records(pairs, special) if cache is None else cache.records(pairs, special, processes=1))
    records = []
    for example in examples:
        if example.decomposition is None:
            error = example.error or "there is no decomposition"
            conversion = _failed(DataError(error), pattern_of_text(error))
        else:
            conversion = next(conversions)
        records.append(_record(example, special, conversion))
    return records


def _record(example: BreakExample, special: SpecialTokens, conversion: Mapping[str, Any]) -> dict[str, Any]:
    row = {"row": example.row, "key": _key(example, special), "question_id": example.question_id}
    return {**row, "question": example.question, **conversion}


def _key(example: BreakExample, special: SpecialTokens) -> str:
    content = _content_key(example.question, example.decomposition, special)
    return hashlib.sha256(json.dumps([content, example.question_id]).encode()).hexdigest()[:16]

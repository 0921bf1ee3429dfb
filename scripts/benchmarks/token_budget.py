"""What each special token is worth: rows that are lost with fewer or more resource words, [DUP] and [DUM] tokens.

The resource words are chosen one after another by what the training rows lack: a row counts for each word that it
lacks, and counts more the fewer words it lacks. The losses are for all rows; those that no token could save (there is
no published logical form, or the decomposition is another question's) are in every line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from shared_data import shared_data_option

from benchmarks.measuring import write_results
from qdecomp.data_structures.alignment.candidates import make_problem
from qdecomp.data_structures.conversion.chain import check_round_trip, convert
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.conversion.sdg_to_dg import placeholders_needed
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.special_tokens import SpecialTokens
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files import BreakExample, read_break_csv
from qdecomp.terminal import Table, progress, show_tables

_PLENTY = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one row, with as many placeholders as it needs."""

    converted: bool
    round_trip: bool
    duplicates: int = 0
    dummies: int = 0


@click.command()
@shared_data_option("--input", "break", "train.csv", parameter="path", meaning="Break's CSV.")
@click.option("--rows", type=int, help="Only that many rows, evenly spread.")
@click.option("--most", type=int, default=20, show_default=True, help="The largest number of resource words.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the figures to this file.")
def command(path: Path, rows: int | None, most: int, json_path: Path | None) -> None:
    """Losses for each number of special tokens."""
    examples = read_break_csv(path)
    examples = examples[:: max(1, len(examples) // rows)] if rows else examples
    outcomes = {example.row: _outcome(example, ()) for example in progress(examples, "No words", len(examples))}
    missing = {example.row: _missing(example) for example in examples}
    in_need = [example for example in examples if missing[example.row]]
    words = _choose_words([missing[example.row] for example in in_need], most)
    curve = []
    for count in range(len(words) + 1):
        chosen = words[:count]
        outcomes.update((example.row, _outcome(example, chosen)) for example in in_need)
        curve.append((count, chosen[-1] if chosen else "", *_shares(outcomes.values())))
    placeholders = [(count, *_over(outcomes.values(), count)) for count in range(8)]
    show_tables(
        [
            Table("Resource words", ("words", "last", "converted %", "round trip %"), _texts(curve), text_columns=2),
            Table("Rows that need more placeholders", ("tokens", "[DUP]", "[DUM]"), _texts(placeholders)),
        ]
    )
    if json_path:
        write_results(json_path, {"rows": len(examples), "resource_words": curve, "placeholders": placeholders})


def _outcome(example: BreakExample, words: Sequence[str]) -> Outcome:
    try:
        conversion = convert(
            example.question, example.decomposition or "", special=SpecialTokens(tuple(words), _PLENTY, _PLENTY)
        )
        return Outcome(True, bool(check_round_trip(conversion)), *placeholders_needed(conversion.span_graph))
    except QDecompError:
        return Outcome(False, False)


def _missing(example: BreakExample) -> tuple[tuple[str, str], ...]:
    """The words that the question does not have, with the names of their classes, as far as LF-EM counts them."""
    try:
        problem = make_problem(to_logical_form(parse_qdmr(example.decomposition or "")), tokenize(example.question))
    except QDecompError:
        return ()
    names = representatives(example.question)
    words = (word for step in problem.steps for word in step.missing if word not in stop_words())
    return tuple((word, names.get(word, word)) for word in words)


def _choose_words(missing: Iterable[tuple[tuple[str, str], ...]], most: int) -> list[str]:
    """The word that helps most, then the word that helps most besides it, and so on."""
    surfaces: dict[str, Counter[str]] = {}
    open_rows = []
    for pairs in missing:
        for word, name in pairs:
            surfaces.setdefault(name, Counter())[word] += 1
        open_rows.append({name for _, name in pairs})
    chosen: list[str] = []
    while len(chosen) < most and open_rows:
        gains: Counter[str] = Counter()
        for names in open_rows:
            for name in names:
                gains[name] += 1 / len(names) ** 2
        best = max(gains, key=lambda name: (gains[name], name))
        chosen.append(surfaces[best].most_common(1)[0][0])
        open_rows = [rest for names in open_rows if (rest := names - {best})]
    return chosen


def _shares(outcomes: Iterable[Outcome]) -> tuple[float, float]:
    rows = list(outcomes)
    converted = sum(row.converted for row in rows)
    return 100 * converted / len(rows), 100 * sum(row.round_trip for row in rows) / len(rows)


def _over(outcomes: Iterable[Outcome], count: int) -> tuple[int, int]:
    rows = list(outcomes)
    return sum(row.duplicates > count for row in rows), sum(row.dummies > count for row in rows)


def _texts(rows: Iterable[Sequence[object]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in row) for row in rows)

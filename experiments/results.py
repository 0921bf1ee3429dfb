"""What an experiment found, and how it is written: Markdown to read, CSV to compute with, JSON with everything.

The paper's own figures, which stand below ours, are in ``paper_figures.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from qdecomp.data_structures.operators import TextEnum
from qdecomp.evaluation.formats import format_p_value
from qdecomp.evaluation.statistics import Comparison
from qdecomp.files import write_text_atomically

from .settings import SYSTEMS

NOT_RUN = "not run"
LEVEL = 0.05
"""The level at which the adjusted p-values of paired tests are read."""
_NO_FIGURE = "–"


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure, with its row and column, and over how many runs and questions. Without a value, it was not run."""

    row: str
    column: str
    value: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    questions: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A table of figures, with the paper's own by row and column."""

    title: str
    head: str
    columns: tuple[str, ...]
    entries: tuple[Entry, ...]
    paper: Mapping[str, Mapping[str, float]]
    decimals: int = 3
    columns_below: bool = False
    """Whether the page shows the columns as rows, because there are many with long names."""


@dataclass(frozen=True, slots=True)
class Test:
    """A paired test, and on which questions."""

    where: str
    comparison: Comparison


class Verdict(TextEnum):
    """What the figures say about a claim."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    WITHIN_CHANCE = "within chance"
    NOT_RUN = NOT_RUN


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of the paper, whether it holds, and the figures that say so."""

    text: str
    verdict: Verdict
    figures: str


@dataclass(frozen=True, slots=True)
class Result:
    """Everything about one experiment; ``plot`` is ``lines``, ``bars`` or ``horizontal bars``."""

    name: str
    title: str
    size: str
    paper: str
    blocks: tuple[Block, ...]
    plot: str
    axis: str
    tests: tuple[Test, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()


@cache
def _paper() -> Mapping[str, Any]:
    values: Mapping[str, Any] = json.loads((Path(__file__).parent / "paper_figures.json").read_text(encoding="utf-8"))
    return values


def place_in_paper(table: str) -> str:
    """Where the figures are in the paper."""
    return str(_paper()[table]["where"])


def paper_figures(table: str) -> dict[str, dict[str, float]]:
    """The figures of a table by row and column; the rows have the titles of the systems."""
    titles = {name: system.title for name, system in SYSTEMS.items()}
    return {titles.get(row, row): dict(figures) for row, figures in _paper()[table]["figures"].items()}


def better_than(text: str, first: str, others: Sequence[str], tests: Iterable[Test], expected: int) -> Claim:
    """A claim that a system is better than others; ``expected`` is the number of tests with all cells run.

    It holds if every test confirms it beyond chance, and does not hold if any test shows the opposite beyond chance.
    """
    verdicts, figures = [], []
    for test in tests:
        comparison = test.comparison
        if comparison.second == first and comparison.first in others:
            comparison = replace(comparison, first=first, second=comparison.first, difference=-comparison.difference)
        elif comparison.first != first or comparison.second not in others:
            continue
        verdict = Verdict.HOLDS if comparison.difference > 0 else Verdict.DOES_NOT_HOLD
        verdicts.append(verdict if comparison.p_adjusted < LEVEL else Verdict.WITHIN_CHANCE)
        p_value = format_p_value(comparison.p_adjusted)
        difference = f"{first} – {comparison.second} {comparison.difference:+.3f}"
        figures.append(f"{test.where}: {difference}, p {p_value} ({verdicts[-1]})")
    if missing := expected - len(verdicts):
        verdicts.append(Verdict.NOT_RUN)
        figures.append(f"{missing} of {expected} comparisons {NOT_RUN}")
    order = (Verdict.DOES_NOT_HOLD, Verdict.NOT_RUN, Verdict.WITHIN_CHANCE, Verdict.HOLDS)
    return Claim(text, next(each for each in order if each in verdicts), "; ".join(figures))


def number(value: float | None, decimals: int = 3) -> str:
    """A figure as the tables show it.

    >>> number(0.1234), number(-0.5), number(1.0), number(38.23, 1), number(None)
    ('.123', '-.500', '1.000', '38.2', '–')
    """
    if value is None:
        return _NO_FIGURE
    text = f"{value:.{decimals}f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def _cell(entry: Entry | None, decimals: int) -> str:
    if entry is None or entry.value is None:
        return NOT_RUN
    text = number(entry.value, decimals)
    if entry.deviation is not None:
        text += f" ± {number(entry.deviation, decimals)}"
    if entry.low is not None and entry.high is not None:
        text += f" [{number(entry.low, decimals)}, {number(entry.high, decimals)}]"
    return text


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [*("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines), ""]


def _block_lines(block: Block) -> list[str]:
    entries = {(entry.row, entry.column): entry for entry in block.entries}
    lines = [[block.head, *block.columns]]
    for row in dict.fromkeys(entry.row for entry in block.entries):
        lines.append([row, *(_cell(entries.get((row, column)), block.decimals) for column in block.columns)])
    for row, figures in block.paper.items():
        lines.append([f"{row}, the paper", *(number(figures.get(column), block.decimals) for column in block.columns)])
    if block.columns_below:
        lines = [list(line) for line in zip(*lines, strict=True)]
    return [f"## {block.title}", "", *_table(lines[0], lines[1:])]


def _test_row(test: Test) -> list[str]:
    found = test.comparison
    p_values = [format_p_value(found.p_value), format_p_value(found.p_adjusted)]
    better = [str(found.first_better), str(found.second_better)]
    return [test.where, f"{found.first} – {found.second}", f"{found.difference:+.3f}", *better, found.test, *p_values]


def to_markdown(result: Result) -> str:
    """The page of an experiment."""
    lines = [f"# {result.title}", "", f"Size: {result.size}. The paper's figures: {result.paper}.", ""]
    for block in result.blocks:
        lines += _block_lines(block)
    if result.claims:
        rows = [[claim.text, str(claim.verdict), claim.figures] for claim in result.claims]
        lines += ["## The paper's claims", "", *_table(["claim", "here", "figures"], rows)]
    if result.tests:
        heads = ["where", "systems", "difference", "first better", "second better", "test", "p", "p (Holm)"]
        lines += ["## Paired tests", "", *_table(heads, map(_test_row, result.tests))]
    lines += [f"{note}\n" for note in result.notes]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(result: Result) -> str:
    """One line for each figure."""
    rows = [
        {"table": block.title}
        | asdict(entry)
        | {"paper": block.paper.get(entry.row, {}).get(entry.column)}
        | {"status": NOT_RUN if entry.value is None else "run"}
        for block in result.blocks
        for entry in block.entries
    ]
    return str(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n"))


def write_result(result: Result, folder: Path) -> None:
    """Write the three files."""
    texts = {
        "md": to_markdown(result),
        "csv": to_csv(result),
        "json": json.dumps(asdict(result), ensure_ascii=False, indent=1) + "\n",
    }
    for suffix, text in texts.items():
        with write_text_atomically(folder / f"{result.name}.{suffix}") as stream:
            stream.write(text)

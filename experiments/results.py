"""What an experiment found, and how it is written: Markdown to read, CSV to compute with, JSON with everything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qdecomp.data_structures.operators import TextEnum
from qdecomp.evaluation.outputs import format_p_value
from qdecomp.evaluation.statistics import Comparison
from qdecomp.files import write_text_atomically
from qdecomp.terminal import format_csv

__all__ = ["NOT_RUN", "Block", "Claim", "Entry", "Result", "Test", "Verdict", "number", "write_result"]

NOT_RUN = "not run"
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

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows in their order."""
        return tuple(dict.fromkeys(entry.row for entry in self.entries))


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
    """Everything about one experiment."""

    name: str
    title: str
    size: str
    paper: str
    blocks: tuple[Block, ...]
    plot: str
    """``lines``, ``bars`` or ``horizontal bars``."""
    axis: str
    tests: tuple[Test, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()


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
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _block_lines(block: Block) -> list[str]:
    entries = {(entry.row, entry.column): entry for entry in block.entries}
    rows = [
        [row, *(_cell(entries.get((row, column)), block.decimals) for column in block.columns)] for row in block.rows
    ]
    rows += [
        [f"{row}, the paper", *(number(figures.get(column), block.decimals) for column in block.columns)]
        for row, figures in block.paper.items()
    ]
    lines = [[block.head, *block.columns], *rows]
    if block.columns_below:
        lines = [list(line) for line in zip(*lines, strict=True)]
    return [f"## {block.title}", "", *_table(lines[0], lines[1:]), ""]


def _test_lines(tests: Sequence[Test]) -> list[str]:
    if not tests:
        return []
    rows = [
        [
            test.where,
            f"{test.comparison.first} – {test.comparison.second}",
            f"{test.comparison.difference:+.3f}",
            str(test.comparison.first_better),
            str(test.comparison.second_better),
            test.comparison.test,
            format_p_value(test.comparison.p_value),
            format_p_value(test.comparison.p_adjusted),
        ]
        for test in tests
    ]
    heads = ["where", "systems", "difference", "first better", "second better", "test", "p", "p (Holm)"]
    return ["## Paired tests", "", *_table(heads, rows), ""]


def _claim_lines(claims: Sequence[Claim]) -> list[str]:
    if not claims:
        return []
    rows = [[claim.text, str(claim.verdict), claim.figures] for claim in claims]
    return ["## The paper's claims", "", *_table(["claim", "here", "figures"], rows), ""]


def to_markdown(result: Result) -> str:
    """The page of an experiment."""
    lines = [f"# {result.title}", "", f"Size: {result.size}. The paper's figures: {result.paper}.", ""]
    for block in result.blocks:
        lines += _block_lines(block)
    lines += [*_claim_lines(result.claims), *_test_lines(result.tests)]
    lines += [f"{note}\n" for note in result.notes]
    return "\n".join(lines).rstrip() + "\n"


def to_csv(result: Result) -> str:
    """One line for each figure."""
    heads = ("table", "row", "column", "value", "deviation", "low", "high", "runs", "questions", "paper", "status")
    rows = [
        (
            block.title,
            entry.row,
            entry.column,
            *("" if value is None else value for value in (entry.value, entry.deviation, entry.low, entry.high)),
            entry.runs,
            entry.questions,
            block.paper.get(entry.row, {}).get(entry.column, ""),
            NOT_RUN if entry.value is None else "run",
        )
        for block in result.blocks
        for entry in block.entries
    ]
    return format_csv(heads, rows)


def to_json(result: Result) -> dict[str, Any]:
    """A value for ``json.dumps`` with everything."""
    return asdict(result)


def write_result(result: Result, folder: Path) -> None:
    """Write the three files; the JSON, which the figure is drawn from, comes last."""
    texts = {
        "md": to_markdown(result),
        "csv": to_csv(result),
        "json": json.dumps(to_json(result), ensure_ascii=False, indent=1) + "\n",
    }
    for suffix, text in texts.items():
        with write_text_atomically(folder / f"{result.name}.{suffix}") as stream:
            stream.write(text)

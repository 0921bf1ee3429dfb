"""The table of meanings: what each operator computes in a world, with an example that the tests run.

A row's example is a pair of decompositions that are equal, or different, because of what the row says.
``docs/lf_eq.md`` shows the same table.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Meaning", "meanings", "meanings_table"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """One case of an operator (or of a part of a step), what it computes, and a pair that shows it."""

    case: str
    computes: str
    one: str
    other: str
    equal: bool


@cache
def meanings() -> tuple[Meaning, ...]:
    """The rows, read once from the file next to this module."""
    text = files(__package__).joinpath("meanings.json").read_text(encoding="utf-8")
    return tuple(Meaning(**row) for row in json.loads(text))


def meanings_table() -> str:
    """The rows as a table in Markdown."""
    lines = ["| | what it computes | | |", "|---|---|---|---|"]
    for row in meanings():
        sign = "=" if row.equal else "≠"
        lines.append(f"| {row.case} | {row.computes} | `{row.one}` | {sign} `{row.other}` |")
    return "\n".join(lines)

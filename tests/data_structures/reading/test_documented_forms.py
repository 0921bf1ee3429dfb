"""The tables of docs/reading.md are tests, and so are the examples of the tables of phrases."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.reading.phrases import COMMANDS, QUESTIONS, Phrasing, without_sentences
from qdecomp.data_structures.reading.wordings import WORDINGS, Wording, usual_wording

_ROW = re.compile(r"\| `(?P<written>.+)` \| (?:`(?P<steps>.+)`|\(none\)) \| (?P<form>.+?)(?P<doubted> \(doubted\))? \|")
_PAGE = Path(__file__).parents[3] / "docs" / "reading.md"
ROWS = [match for line in _PAGE.read_text(encoding="utf-8").splitlines() if (match := _ROW.fullmatch(line))]


def test_the_page_has_all_rows() -> None:
    assert len(ROWS) >= 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["written"][:60])
def test_a_form_reads_as_the_page_says(row: re.Match[str]) -> None:
    reading = read_decomposition(row["written"].replace("⏎", "\n"))
    form = reading.form if reading.references == "#1" else f"{reading.form}, {reading.references}"
    assert (reading.text.replace("return ", "") or None, form) == (row["steps"], row["form"])
    assert bool(reading.doubt) == bool(row["doubted"])
    if row["steps"]:
        parse_qdmr(reading.text)


@pytest.mark.parametrize("row", [*QUESTIONS, *COMMANDS], ids=lambda row: row.example)
def test_a_phrasing_reads_as_its_row_says(row: Phrasing) -> None:
    mark = "?" if row in QUESTIONS else "."
    assert without_sentences([row.example + mark])[0].lower() == row.reads


@pytest.mark.parametrize("row", WORDINGS, ids=lambda row: row.example)
def test_a_wording_reads_as_its_row_says(row: Wording) -> None:
    before = ["number of dogs", "number of cats"] if row.needs_numbers else ["dogs", "cats"]
    assert usual_wording([*before, row.example])[2] == row.reads

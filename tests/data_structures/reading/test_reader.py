"""Forms of decompositions are read as their tables say: those of the tests, of docs/reading.md, and of phrases."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.reading import BREAK_FORM, Reading, read_decomposition
from qdecomp.data_structures.reading.phrases import (
    COMMANDS,
    QUESTIONS,
    WORDINGS,
    Phrasing,
    usual_wording,
    without_sentences,
)
from qdecomp.files import read_break_csv
from tests.data_structures.reading.written_forms import FORMS, Written

_ROW = re.compile(r"\| `(?P<written>.+)` \| (?:`(?P<steps>.+)`|\(none\)) \| (?P<form>.+?)(?P<doubted> \(doubted\))? \|")
_PAGE = Path(__file__).parents[3] / "docs" / "reading.md"
ROWS = [match for line in _PAGE.read_text(encoding="utf-8").splitlines() if (match := _ROW.fullmatch(line))]


@pytest.mark.parametrize("row", FORMS, ids=lambda row: repr(row.written)[:50])
def test_a_form_reads_as_what_it_says(row: Written) -> None:
    reading = read_decomposition(row.written)
    assert (reading.text, reading.form, reading.references) == (row.reads, row.form, row.references)
    assert reading.doubt is None
    assert read_decomposition(reading.text).text == reading.text


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
    written, reads = row.example.split(" → ")
    mark = "?" if row in QUESTIONS else "."
    assert without_sentences([written + mark])[0].lower() == reads


@pytest.mark.parametrize("row", WORDINGS, ids=lambda row: row.example)
def test_a_wording_reads_as_its_row_says(row: Phrasing) -> None:
    written, reads = row.example.split(" → ")
    before = ["number of dogs", "number of cats"] if row.needs_numbers else ["dogs", "cats"]
    assert usual_wording([*before, written])[2] == reads


def test_long_thoughts_do_not_make_an_answer_too_long() -> None:
    thoughts = "1. I wonder about this.\n" * 5_000
    reading = read_decomposition(f"<think>{thoughts}</think>\n1. cubes\n2. number of #1")
    assert reading.steps == ("cubes", "number of #1")
    assert read_decomposition("<think>hm</think>\n```\n1. cubes\n```").wrapped_in == ("thoughts", "code fence")
    with pytest.raises(QdmrSyntaxError, match="characters"):
        read_decomposition(thoughts)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        *((value, f"not {type(value).__name__}") for value in (None, b"return cubes", 3)),
        *((value, "there are no steps") for value in ([], [1, 2], {}, {"answer": 3}, [["a", "b"], ["c"]])),
    ],
)
def test_values_without_steps_are_an_error_of_ours(value: object, reason: str) -> None:
    with pytest.raises(QdmrSyntaxError, match=reason):
        read_decomposition(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "step"), [(" \n ", ""), ("```\n```", ""), ("[]", "[]"), ("1.", "1"), ("Steps:", "Steps")]
)
def test_a_text_without_steps_is_one_step_of_what_is_left(text: str, step: str) -> None:
    reading = read_decomposition(text)
    assert (reading.text, reading.form) == (f"return {step}", "one step")


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("The question asks for the number\nHere is more about it.", "several lines"),
        ("the " * 41, "more than 40 words"),
        ("number of #1", "refers to others"),
    ],
)
def test_what_is_read_as_one_step_by_mistake_is_doubted(text: str, doubt: str) -> None:
    assert doubt in (read_decomposition(text).doubt or "")


def test_a_wrong_reference_stays_wrong() -> None:
    with pytest.raises(QdmrSyntaxError, match="refers to #7"):
        _ = read_decomposition("1. cubes\n2. [1] that are red\n3. number of [7]").qdmr


def test_the_reference_texts_are_break_text(shared_path: Path) -> None:
    path = shared_path / "reference"
    for name in ("lf_em_a.jsonl", "lf_em_b.jsonl"):
        for line in (path / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for text in (row["prediction"], row["gold"]):
                assert read_decomposition(text) == Reading(text, BREAK_FORM)


# In these rows, other steps may stand in the place of these.
STEPS = ("cubes", "#1 that are red", "number of #2")
TEMPLATES = [
    row.written
    for row in FORMS
    if isinstance(row.written, str) and row.form != BREAK_FORM and row.references == "#1"
    if all(row.written.count(step) == 1 for step in STEPS)
]


def with_steps(template: str, steps: list[str]) -> str:
    return re.sub("|".join(STEPS), lambda match: steps[STEPS.index(match[0])], template)


@pytest.mark.parametrize("template", TEMPLATES)
def test_gold_scores_the_same_in_every_form(shared_path: Path, template: str) -> None:
    golds = [each for each in read_break_csv(shared_path / "break" / "dev.csv") if each.steps == len(STEPS)]
    for example in golds[::40]:
        gold = (example.decomposition or "").replace('"', "").replace("'", "")
        steps = [part.strip().removeprefix("return").strip() for part in gold.split(";")]
        expected = [lf_em(example.question, gold, gold, strict=strict).verdict for strict in (False, True)]
        for style in (r"#\1", r"[\1]", r"{\1}", r"step \1", r"S\1"):
            text = read_decomposition(with_steps(template, [re.sub(r"#(\d+)", style, step) for step in steps])).text
            found = [lf_em(example.question, text, gold, strict=strict).verdict for strict in (False, True)]
            assert found == expected, text

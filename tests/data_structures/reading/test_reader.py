from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.reading import BREAK_FORM, Reading, read_decomposition
from qdecomp.files import read_break_csv
from tests.data_structures.reading.writers import REFERENCES, WRITERS, in_style
from tests.data_structures.reading.written_forms import FORMS, Written
from tests.strategies import written_qdmrs

# All of Break's development questions would take minutes; each of them was once scored in every form.
_ONE_OF = 40


@pytest.mark.parametrize("row", FORMS, ids=lambda row: repr(row.written)[:50])
def test_a_form_reads_as_what_it_says(row: Written) -> None:
    reading = read_decomposition(row.written)
    assert (reading.text, reading.form, reading.references) == (row.reads, row.form, row.references)
    assert reading.doubt is None
    assert read_decomposition(reading.text).text == reading.text


def test_every_wrapping_is_named() -> None:
    reading = read_decomposition("<think>hm</think>\nHere is the decomposition:\n```\n1. cubes\n2. number of #1\n```")
    assert reading.text == "return cubes ;return number of #1"
    assert reading.wrapped_in == ("thoughts", "code fence")


def test_long_thoughts_do_not_make_an_answer_too_long() -> None:
    thoughts = "1. I wonder about this.\n" * 5_000
    assert read_decomposition(f"<think>{thoughts}</think>\n1. cubes\n2. number of #1").steps == (
        "cubes",
        "number of #1",
    )
    with pytest.raises(QdmrSyntaxError, match="characters"):
        read_decomposition(thoughts)


@pytest.mark.parametrize("value", [None, b"return cubes", 3, 2.5, object()])
def test_what_is_no_decomposition_is_an_error_of_ours(value: object) -> None:
    with pytest.raises(QdmrSyntaxError, match=f"not {type(value).__name__}"):
        read_decomposition(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [[], [1, 2], {}, {"answer": 3}, [["a", "b"], ["c"]]])
def test_values_without_steps_are_an_error_of_ours(value: object) -> None:
    with pytest.raises(QdmrSyntaxError, match="there are no steps"):
        read_decomposition(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("", ""),
        (" \n ", ""),
        ("```\n```", ""),
        ("[]", "[]"),
        ("1.", "1"),
        ("- ", "-"),
        ("{}", "{}"),
        ("**", "**"),
        ("Steps:", "Steps"),
    ],
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


@given(st.text(alphabet="ab #123.[]{}()\"'\n-*`:;,?|<>\\", max_size=60))
def test_any_text_is_read_as_one_line(text: str) -> None:
    reading = read_decomposition(text)
    assert "\n" not in reading.text or reading.form == BREAK_FORM or not reading.text.strip()


@given(written_qdmrs().map(str))
def test_break_text_is_left_as_it_is(text: str) -> None:
    assert read_decomposition(text) == Reading(text, BREAK_FORM)


@pytest.mark.parametrize("name", WRITERS)
def test_gold_scores_the_same_in_every_form(shared_path: Path, name: str) -> None:
    examples = read_break_csv(shared_path / "break" / "dev.csv")[::_ONE_OF]
    for example in examples:
        gold = example.decomposition or ""
        steps = [part.strip().removeprefix("return").strip() for part in gold.split(";")]
        expected = [lf_em(example.question, gold, gold, strict=strict).verdict for strict in (False, True)]
        for written in (steps, *(in_style(steps, style) for style in REFERENCES)):
            text = read_decomposition(WRITERS[name](written)).text
            found = [lf_em(example.question, text, gold, strict=strict).verdict for strict in (False, True)]
            assert found == expected, text


def test_the_reference_texts_are_break_text(shared_path: Path) -> None:
    path = shared_path / "reference"
    for name in ("lf_em_a.jsonl", "lf_em_b.jsonl"):
        for line in (path / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            for text in (row["prediction"], row["gold"]):
                assert read_decomposition(text) == Reading(text, BREAK_FORM)


@pytest.mark.parametrize(("text", "refers_to"), [("a\n#0000000001 b", "#1"), ("a\n#" + "9" * 1500, "#" + "9" * 9)])
def test_long_numbers_of_steps_are_read_whole(text: str, refers_to: str) -> None:
    assert refers_to in read_decomposition(text).text

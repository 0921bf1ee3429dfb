from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import DataError, QDecompError, QdmrSyntaxError
from qdecomp.data_structures.lf_em import lf_em, normalized_text
from qdecomp.data_structures.qdmr import Qdmr, format_qdmr
from tests.strategies import written_qdmrs

QUESTION = "Which two large cities have the most rivers and more red cubes than guests arrived at the last game?"


def test_lists_and_texts_in_other_forms_are_read() -> None:
    gold = "return cubes ;return #1 that are red ;return number of #2"
    for written in (
        ["cubes", "#1 that are red", "number of #2"],
        ("red cubes", "number of #1"),
        {"steps": ["red cubes", "number of #1"]},
        "1. red cubes\n2. number of [1]",
    ):
        assert lf_em(QUESTION, written, gold).verdict
        assert lf_em(QUESTION, gold, written).verdict
    assert lf_em(QUESTION, [], gold).error == "prediction: there are no steps in this list; give a list of strings"


@pytest.mark.parametrize("value", [None, b"return cubes"])
def test_what_cannot_be_a_decomposition_is_an_error_of_ours(value: object) -> None:
    name = type(value).__name__
    with pytest.raises(DataError, match=f"prediction: a decomposition must be a string or a list of steps, not {name}"):
        lf_em(QUESTION, value, "return cubes")  # type: ignore[arg-type]
    with pytest.raises(DataError, match=f"gold: .* not {name}"):
        lf_em(QUESTION, "return cubes", value)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=f"the question must be a string, not {name}"):
        lf_em(value, "return cubes", "return cubes")  # type: ignore[arg-type]


EQUAL, LOOSELY, DIFFERENT = (True, True), (True, False), (False, False)
# A prediction, gold and the two verdicts, for questions that have the words. The pairs are our own; the verdicts follow
# from the paper (inflections, synonyms and stop words are equal, filters are merged into what they filter, independent
# steps may be in any order) and from the table of what is strict in docs/scoring.md.
VERDICTS = [
    # removed and normalised words
    ("city", "the cities", EQUAL),
    ("zero cubes", "0 cubes", EQUAL),
    ("guests; #1 that arrive", "guests; #1 that arrived", EQUAL),
    ("Cubes", "cubes", EQUAL),
    ("cubes; if #1 is equal to 2", "cubes; if #1 is equal to two", EQUAL),
    ("size of cubes; largest of #1", "size of cubes; highest of #1", EQUAL),
    ("cubes", "spheres", DIFFERENT),
    # merged steps
    ("large cities", "cities; #1 that are large", EQUAL),
    ("rivers; #1 in cities; #2 that are large", "large rivers in cities", EQUAL),
    ("rivers; names of #1", "names of rivers", EQUAL),
    ("cities", "cities; #1 that are large", DIFFERENT),
    # order of steps and of members
    ("cubes; rivers; #1 , #2", "rivers; cubes; #1 , #2", EQUAL),
    (
        "rivers; cubes; number of #2; number of #1; which is highest of #3 , #4",
        "cubes; rivers; number of #1; number of #2; which is highest of #3 , #4",
        EQUAL,
    ),
    ("cubes; rivers; difference of #1 and #2", "cubes; rivers; difference of #2 and #1", DIFFERENT),
    ("cubes; red cubes; #2 besides #1", "cubes; red cubes; #1 besides #2", DIFFERENT),
    # other operators, properties and arguments
    ("size of cubes; lowest of #1", "size of cubes; highest of #1", DIFFERENT),
    ("size of cubes; average of #1", "size of cubes; sum of #1", DIFFERENT),
    ("cubes; size of #1; number of #2", "cubes; size of #1; number of #2 for each #1", DIFFERENT),
    ("cubes; size of #1; #1 where #2 is more than 12", "cubes; size of #1; #1 where #2 is more than 10", DIFFERENT),
    ("cubes; #1 sorted by size", "cubes; #1 sorted by name", DIFFERENT),
    # a shared step is copied into each of its users
    (
        "cubes; #1 that are red; size of #1; #2 where #3 is highest",
        "cubes; red cubes; size of #1; #2 where #3 is highest",
        EQUAL,
    ),
    # the same step twice is one step
    ("cubes; cubes; #1 , #2", "cubes; #1 , #1", EQUAL),
    # what the published metric overlooks
    ("cubes that are not red", "cubes that are red", LOOSELY),
    ("the last game", "the most game", LOOSELY),
    ("cubes; second largest of #1", "cubes; largest of #1", LOOSELY),
    ("cubes; size of #1; #1 where #2 is not the same as 3", "cubes; size of #1; #1 where #2 is the same as 3", LOOSELY),
    ("most cubes", "more cubes", LOOSELY),
    ("flights; #1 from denver", "return flights; #1 from denver", LOOSELY),
]


@pytest.mark.parametrize(("prediction", "gold", "verdicts"), VERDICTS)
def test_verdicts(prediction: str, gold: str, verdicts: tuple[bool, bool]) -> None:
    prediction, gold = (f"return {steps}".replace("; ", " ;return ") for steps in (prediction, gold))
    found = tuple(lf_em(QUESTION, prediction, gold, strict=strict).verdict for strict in (False, True))
    assert found == verdicts
    assert lf_em(QUESTION, gold, gold).verdict


def test_steps_that_the_published_rules_cannot_read() -> None:
    text = "return rivers ;return cities ;return age of #1 in #2"
    result = lf_em(QUESTION, text, text)
    assert not result
    assert result.error == (
        "prediction: step 3: the published rules have no operator for it; "
        "gold: step 3: the published rules have no operator for it"
    )
    assert lf_em(QUESTION, text, text, strict=True).verdict


def test_errors_are_told_apart_from_wrong_answers() -> None:
    wrong = lf_em(QUESTION, "return cubes", "return rivers")
    assert (wrong.verdict, wrong.error) == (False, None)
    broken = lf_em(QUESTION, "", "return rivers")
    assert (broken.verdict, broken.error, broken.prediction_normalized) == (False, "prediction: there is no step", None)
    assert broken.gold_normalized == "SELECT[](){river}"


@given(written_qdmrs(), st.booleans())
def test_reflexive_on_everything_that_converts(qdmr: Qdmr, strict: bool) -> None:
    assert lf_em(QUESTION, qdmr, qdmr, strict=strict).verdict


@given(written_qdmrs(), st.randoms(use_true_random=False), st.booleans())
def test_unchanged_by_renumbering_steps(qdmr: Qdmr, random: object, strict: bool) -> None:
    order = list(range(1, len(qdmr) + 1))
    random.shuffle(order)  # type: ignore[attr-defined]
    new_number = {old: new for new, old in enumerate(order, start=1)}
    steps = tuple(qdmr.steps[old - 1].renumbered(new_number) for old in order)
    assert lf_em(QUESTION, Qdmr(steps), qdmr, strict=strict).verdict


@given(written_qdmrs(), st.booleans())
def test_a_text_is_compared_as_its_logical_form_is(qdmr: Qdmr, strict: bool) -> None:
    def outcome(decomposition: object) -> str:
        try:
            return normalized_text(QUESTION, decomposition, strict=strict)  # type: ignore[arg-type]
        except QDecompError as error:
            return str(error)

    assert outcome(format_qdmr(qdmr)) == outcome(to_logical_form(qdmr)) == outcome(qdmr)


def test_steps_without_words_are_left_out() -> None:
    text = normalized_text("", "return cubes ;return ;return number of #1")
    assert text == "SELECT[](){cubes}; AGGREGATE[count](arg=#1){}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "return",
        "return cubes ;return #3",
        "return #2 ;return #1",
        "return cubes ;return " + "x " * 300,
        "; ".join(["return cubes"] * 101),
    ],
)
def test_what_is_no_decomposition_is_refused_as_by_the_conversion(text: str) -> None:
    with pytest.raises(QdmrSyntaxError) as expected:
        to_logical_form(text)
    with pytest.raises(QdmrSyntaxError) as found:
        normalized_text(QUESTION, text)
    assert str(found.value) == str(expected.value)


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=200))
@settings(max_examples=200)
def test_any_input_gives_a_result(question: str, prediction: str, gold: str) -> None:
    result = lf_em(question, prediction, gold)
    assert (result.error is None) == (result.prediction_normalized is not None and result.gold_normalized is not None)


@pytest.mark.parametrize("name", ["lf_em_a.jsonl", "lf_em_b.jsonl"])
def test_the_verdicts_are_those_of_the_published_metric(shared_path: Path, name: str) -> None:
    lines = (shared_path / "reference" / name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    equal = sum(lf_em(row["question"], row["prediction"], row["gold"]).verdict == row["lf_em"] for row in rows)
    assert equal / len(rows) >= 0.99

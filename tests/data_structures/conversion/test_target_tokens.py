from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.target_tokens import by_level, text_from_target_tokens, to_target_tokens
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.files import read_break_csv

QUESTION = "Which of O'Brien's field-goals of 1,000 yards did Amy Lee see in the U.S.?"


def row(decomposition: str, question: str = QUESTION, copy_inflections: bool = False) -> str:
    return " ".join(to_target_tokens(parse_qdmr(decomposition), question, copy_inflections=copy_inflections))


@pytest.mark.parametrize(
    ("decomposition", "expected"),
    [
        ("return Goals ;return #1 of Amy", "goals ; #1 of amy"),
        ("return O'Brien's goals", "o'brien 's goals"),
        ("return field-goals in the U.S.", "field - goals in the u.s."),
        ("return goals ;return #1 of 1,000 yards", "goals ; #1 of 1,000 yards"),
        ("return goals ;return #1 of 2,000 yards", "goals ; #1 of 2 , 000 yards"),
    ],
)
def test_words_are_split_as_the_question_splits_them(decomposition: str, expected: str) -> None:
    assert row(decomposition) == expected


@pytest.mark.parametrize(
    ("question", "tokens", "expected"),
    [
        (QUESTION, "goals ; #1 of amy lee", "return goals ;return #1 of Amy Lee"),
        (QUESTION, "o'brien 's field - goals", "return O'Brien's field-goals"),
        (QUESTION, "which goals", "return which goals"),
        (QUESTION, "goals ; ; #1 ;", "return goals ;return #1"),
        (QUESTION, "", ""),
        # A capital at the beginning may be only that.
        ("Paris Hilton sings", "paris", "return Paris"),
        ("Paris is where?", "paris", "return paris"),
        ("The Hague is where?", "the", "return the"),
        ("Paris and Paris", "paris", "return Paris"),
        ("NASA rockets", "nasa", "return NASA"),
        ("mail to Amy@example.com", "amy @ example . com", "return Amy@example.com"),
    ],
)
def test_the_way_back_spells_as_the_question(question: str, tokens: str, expected: str) -> None:
    assert text_from_target_tokens(tokens.split(), question) == expected


@pytest.mark.parametrize(
    ("question", "decomposition", "expected"),
    [
        ("Which city has the most rivers?", "return cities ;return river of #1", "city ; rivers of #1"),
        # words that decide what a step means stay
        ("What is the phone number of the firm?", "return firm ;return numbers of #1", "firm ; numbers of #1"),
        ("Was it red?", "return thing ;return is #1 red", "thing ; is #1 red"),
        ("Which roads are high?", "return roads ;return the highest of #1", "roads ; the highest of #1"),
    ],
)
def test_an_inflection_becomes_the_question_s_word(question: str, decomposition: str, expected: str) -> None:
    assert row(decomposition, question, copy_inflections=True) == expected


@given(
    st.lists(
        st.sampled_from(["goals", "of", "o'brien", "'s", "#1", "1,000", "u.s.", "amy", "which", ";", "zebra"]),
        min_size=1,
    )
)
def test_the_way_back_is_read_to_the_same_row(tokens: list[str]) -> None:
    text = text_from_target_tokens(tokens, QUESTION)
    try:
        qdmr = parse_qdmr(text)
    except QDecompError:  # "#1" in the first step, or no step
        return
    kept = " ".join(tokens).split(";")
    assert row(text) == " ; ".join(" ".join(step.split()) for step in kept if step.strip())
    assert text_from_target_tokens(to_target_tokens(qdmr, QUESTION), QUESTION) == text


@pytest.mark.parametrize("copy_inflections", [False, True])
def test_lf_em_hardly_sees_a_difference_on_break(shared_path: Path, copy_inflections: bool) -> None:
    same = total = 0
    for example in read_break_csv(shared_path / "break" / "dev.csv"):
        gold = example.decomposition or ""
        if not lf_em(example.question, gold, gold):
            continue
        tokens = to_target_tokens(parse_qdmr(gold), example.question, copy_inflections=copy_inflections)
        same += lf_em(example.question, text_from_target_tokens(tokens, example.question), gold).verdict
        total += 1
    assert same >= 0.999 * total


@pytest.mark.parametrize(
    ("decomposition", "expected"),
    [
        (
            "return cubes ;return number of #1 ;return balls ;return number of #3 ;return difference of #4 and #2",
            "return cubes ;return balls ;return number of #1 ;return number of #2 ;return difference of #4 and #3",
        ),
        ("return cubes ;return red #1 ;return number of #2", "return cubes ;return red #1 ;return number of #2"),
        # What is asked for is the last step, also where another step needs more steps.
        ("return cubes ;return red #1 ;return balls", "return cubes ;return red #1 ;return balls"),
    ],
)
def test_steps_by_level(decomposition: str, expected: str) -> None:
    assert str(by_level(parse_qdmr(decomposition))) == expected


def test_the_order_of_steps_has_no_meaning(project_root: Path) -> None:
    changed = 0
    for example in read_break_csv(project_root / "data" / "train.csv"):
        qdmr = parse_qdmr(example.decomposition or "")
        ordered = by_level(qdmr)
        assert by_level(ordered) == ordered
        assert lf_em(example.question, ordered, qdmr).verdict
        changed += ordered != qdmr
    assert changed

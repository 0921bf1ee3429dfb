from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.qdmr import Qdmr, Step, parse_qdmr, reference_number
from tests.strategies import words


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("return flights ;return #1 from  denver", ["flights", "#1 from denver"]),
        ("return a;;return #1 b ;", ["a", "#1 b"]),
        ('"return a ;return #1"', ["a", "#1"]),
        ("a ; #1 b", ["a", "#1 b"]),
        ("return x ;return #1's age", ["x", "#1 's age"]),
        ("return x ;return #1,#1", ["x", "#1 , #1"]),
        ("returnwhen was it ;returnreturn #1", ["when was it", "#1"]),
        ("return returns of x ;returned touchdowns", ["returns of x", "returned touchdowns"]),
        ("RETURN a\t;return\n#1", ["a", "#1"]),
        # "return" as a word of the question
        ("return return flights ;return return of #1", ["return flights", "return of #1"]),
        ("return the return on investment ;return return", ["the return on investment", "return"]),
        # quotes around the whole, and those of words
        ('"x" and "y"', ['"x" and "y"']),
        ("“return movies called “x”;return #1”", ["movies called “x”", "#1"]),
        ("'cubes'", ["cubes"]),
        ("'a' ;return \"b\"", ["'a'", '"b"']),
        ("'", ["'"]),
        ("return # 1 things", ["# 1 things"]),
        ("return #2 that are red ;return cubes", ["#2 that are red", "cubes"]),
        # an empty step was counted by the references behind it
        ("return a ;return ;return #1 used most ;return id of #3", ["a", "#1 used most", "id of #2"]),
        ("return a ;return ;return b ;return #03 of #01", ["a", "b", "#2 of #1"]),
    ],
)
def test_dirty_text_is_read(text: str, steps: list[str]) -> None:
    assert [step.text for step in parse_qdmr(text).steps] == steps


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        ("", None, "there is no step"),
        (" ; ; ", None, "there is no step"),
        ("return", None, "there is no step"),
        ("return a ;return #2 b", 2, "refers to itself"),
        ("return #1's age of (#1) ;return y", 1, "refers to itself"),
        ("return a ;return #3 b", 2, "refers to #3, but there are 2 steps"),
        ("return a ;return #0", 2, "refers to #0"),
        ("return #2 a ;return #1 b", 1, "form a cycle"),
        ("return a ;return #" + "9" * 1500, 2, "refers to"),
        ("return a ;return " + "b" * 5000, 2, "5,000 characters; at most 2,000 are allowed"),
    ],
)
def test_what_cannot_be_understood_names_the_step(text: str, step: int | None, reason: str) -> None:
    with pytest.raises(QdmrSyntaxError, match=reason) as caught:
        parse_qdmr(text)
    assert caught.value.step == step


@pytest.mark.parametrize("tokens", [(), ("a b",), ("a;b",), ("#1's",), ("",)])
def test_a_step_has_only_tokens_that_read_back(tokens: tuple[str, ...]) -> None:
    with pytest.raises(QdmrSyntaxError):
        Step(tokens)


@pytest.mark.parametrize(("token", "number"), [("#13", 13), ("#0000000012", 12), ("#0", 0), ("#00", 0)])
def test_zeros_before_a_number_change_nothing(token: str, number: int) -> None:
    assert reference_number(token) == number


@st.composite
def any_qdmrs(draw: st.DrawFn) -> Qdmr:
    """Decompositions of any tokens that a step may have."""
    tokens = st.one_of(
        words, st.sampled_from(["return", "RETURN", "returnreturn", "returns", "#", ",", '"', "'", "“", "”"])
    )
    steps: list[Step] = []
    for number in range(1, draw(st.integers(1, 5)) + 1):
        references = st.integers(1, number - 1).map(lambda n: f"#{'0' * (n % 3)}{n}") if number > 1 else st.nothing()
        drawn = draw(st.lists(st.one_of(tokens, references), min_size=1, max_size=5))
        try:
            steps.append(Step(tuple(drawn)))
        except QdmrSyntaxError:
            steps.append(Step(("return",)))
    return Qdmr(tuple(steps))


@settings(max_examples=200)
@given(any_qdmrs())
def test_every_value_reads_back(qdmr: Qdmr) -> None:
    assert parse_qdmr(str(qdmr)) == qdmr

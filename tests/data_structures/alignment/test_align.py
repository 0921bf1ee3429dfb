from __future__ import annotations

import random
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.alignment.align import align, solve_alignment
from qdecomp.data_structures.alignment.candidates import (
    AlignmentProblem,
    StepCandidates,
    make_problem,
)
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import AlignmentError, QDecompError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files import read_break_csv
from tests.data_structures.alignment.dense_alignment import cost_of, dense_optimum


@pytest.mark.parametrize(
    ("question", "decomposition", "resources", "expected"),
    [
        # the paper's examples
        (
            "if there is water and there are water buffalo in it",
            "return water buffalo ;return #1 that are in it",
            "",
            ["water:7 buffalo:8", "it:10"],
        ),
        (
            "Show the name of the teams , and the name of drivers in each team",
            "return teams ;return names of #1 ;return drivers of #1 ;return #3 that are in it ;return names of #3",
            "",
            ["teams:5", "name:2", "drivers:11", "in:12", "name:9"],
        ),
        # an exact word is preferred
        ("a cube or big red cubes", "return cubes", "", ["cubes:5"]),
        # by inflection, and by the lexicon
        ("which two cities lie in Ohio", "return city in Ohio ;return 2 #1", "", ["cities:2 Ohio:5", "two:1"]),
        # each token goes to one step if it can
        (
            "red cubes or red balls",
            "return red cubes ;return red balls ;return #1 , #2",
            "",
            ["red:0 cubes:1", "red:3 balls:4", "or:2"],
        ),
        # steps without words are shown by words of the question
        ("How many cubes are there", "return cubes ;return number of #1", "", ["cubes:2", "many:1"]),
        # a word that shows a step is not shared
        (
            "Are there more cubes",
            "return cubes ;return number of #1 ;return number of #1 ;return sum of #2 and #3",
            "",
            ["cubes:3", "", "", ""],
        ),
        # of equal steps, the first is shown by the only word
        (
            "How many pets live there , cats and dogs",
            "return cats ;return dogs ;return number of #2 ;return number of #1 ;return sum of #3 and #4",
            "",
            ["cats:6", "dogs:8", "many:1", "", ""],
        ),
        # a resource word stands in for what the question lacks
        (
            "Which of the two is smaller",
            "return which of two ;return size of #1",
            "date size",
            ["two:3", "size:8"],
        ),
        # a phrase of resource words stays together
        (
            "Is one dog looking at it",
            "return dogs ;return number of #1 ;return if #2 is at least one",
            "at least one",
            ["dog:2", "", "at:7 least:8 one:9"],
        ),
        # a token of several words is one token
        ("more than 1,000 men", "return men ;return #1 that are 1,000", "", ["men:3", "1,000:2"]),
        ("cubes", "return cubes", "", ["cubes:0"]),
    ],
)
def test_the_words_that_each_step_is_aligned_with(
    question: str, decomposition: str, resources: str, expected: list[str]
) -> None:
    tokens = (*question.split(), "[RSC]", *resources.split())
    alignment = align(to_logical_form(decomposition), tokens)
    assert [" ".join(f"{tokens[i]}:{i}" for i in positions) for positions in alignment.steps] == expected


def test_words_that_nothing_is_equivalent_to_are_reported():
    form = to_logical_form("return red cubes ;return #1 that are shiny")
    alignment = align(form, ["are", "there", "cubes"])
    assert alignment.missing == ((0, "red"), (1, "shiny"))


def test_a_selection_without_any_word_is_our_error():
    form = to_logical_form("return balls ;return number of #1")
    with pytest.raises(AlignmentError, match="step 1: it selects by words that the question does not have: balls"):
        align(form, ["how", "many", "cubes"])


@pytest.mark.parametrize("limit", ["_WALL_SECONDS", "_DETERMINISTIC_SECONDS"])
@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_without_time_for_the_solver_each_word_takes_its_cheapest_token(monkeypatch, limit, seconds):
    monkeypatch.setattr(sys.modules[align.__module__], limit, seconds)
    form = to_logical_form("return city town ;return city town of #1")
    alignment = align(form, ["city", "town", "city", "town"])
    assert all({position % 2 for position in positions} == {0, 1} for positions in alignment.steps)


def test_one_budget_for_all_parts_of_a_question():
    """Sixteen parts, each of which keeps the solver busy for as long as it may."""
    shuffle = random.Random(0).shuffle
    question, steps = [], []
    for part in "abcdefghijklmnop":
        words = [f"q{part}a", f"q{part}b"]
        for _ in range(6):
            shuffle(words)
            question += words
        for number in range(6):
            shuffle(words)
            steps.append(" ".join(words) + (f" of #{len(steps)}" if number else ""))
    form = to_logical_form(";".join(steps))
    started = time.process_time()
    alignment = align(form, question)
    assert time.process_time() - started < 4
    assert all(alignment.steps)


positions = st.integers(0, 6)


@st.composite
def problems(draw: st.DrawFn) -> AlignmentProblem:
    """Small problems with every kind of choice; needs of one step never share a candidate with its anchors."""
    steps = []
    for number in range(draw(st.integers(1, 4))):
        needs = draw(st.lists(st.sets(positions, min_size=1, max_size=3), max_size=2))
        content = set().union(*needs)
        anchors = draw(st.sets(positions, max_size=3)) - content
        exact = draw(st.sets(positions, max_size=3))
        references = draw(st.sets(st.integers(0, number - 1), max_size=2)) if number else set()
        steps.append(
            StepCandidates(
                tuple(tuple(sorted(need)) for need in needs),
                tuple(sorted(anchors)),
                frozenset(draw(st.sets(positions, max_size=3)) & anchors),
                frozenset(exact),
                tuple(sorted(references)),
                (),
            )
        )
    pairs = draw(st.sets(st.tuples(positions, positions).filter(lambda pair: pair[0] < pair[1]), max_size=6))
    return AlignmentProblem(7, tuple(steps), tuple(sorted(pairs)))


@given(problems())
@settings(max_examples=75, deadline=None)
def test_the_pruned_program_has_the_optimum_of_the_dense_one(problem):
    assert cost_of(problem, solve_alignment(problem)) == dense_optimum(problem)


def test_on_real_questions_the_pruned_program_has_the_optimum_of_the_dense_one(shared_path):
    examples = random.Random(4).sample(read_break_csv(shared_path / "break" / "train.csv"), 160)
    compared = 0
    for example in examples:
        try:
            form = to_logical_form(example.decomposition)
        except QDecompError:
            continue
        problem = make_problem(form, (*tokenize(example.question), *PRESETS["default"].words))
        assert cost_of(problem, solve_alignment(problem)) == dense_optimum(problem), example.question_id
        compared += 1
    assert compared >= 150

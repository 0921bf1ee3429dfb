from __future__ import annotations

import random
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from qdecomp.data_structures.alignment.align import WEIGHTS, align, solve_alignment
from qdecomp.data_structures.alignment.candidates import (
    AlignmentProblem,
    StepCandidates,
    content_words,
    make_problem,
)
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import AlignmentError, QDecompError
from qdecomp.data_structures.logical_form import parse_logical_form, parse_step
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files import read_break_csv
from tests.data_structures.alignment.dense_alignment import cost_of, dense_optimum


def aligned(question: str, decomposition: str, resources: str = "") -> list[str]:
    """The words that each step is aligned with, with their positions."""
    tokens = (*question.split(), "[RSC]", *resources.split())
    alignment = align(to_logical_form(parse_qdmr(decomposition)), tokens)
    assert alignment.optimal
    return [" ".join(f"{tokens[i]}:{i}" for i in positions) for positions in alignment.steps]


def test_the_paper_water_buffalo():
    question = "if there is water and there are water buffalo in it"
    assert aligned(question, "return water buffalo ;return #1 that are in it")[0] == "water:7 buffalo:8"


def test_the_paper_drivers_and_name():
    question = "Show the name of the teams , and the name of drivers in each team"
    steps = aligned(
        question,
        "return teams ;return names of #1 ;return drivers of #1 ;return #3 that are in it ;return names of #3",
    )
    assert steps[1] == "name:2"
    assert steps[4] == "name:9"


def test_an_exact_word_is_preferred():
    assert aligned("a cube or big red cubes", "return cube") == ["cube:1"]
    assert aligned("a cube or big red cubes", "return cubes") == ["cubes:5"]


def test_equivalent_words_align_by_inflection_and_by_the_lexicon():
    assert aligned("which two cities lie in Ohio", "return city in Ohio ;return 2 #1") == ["cities:2 Ohio:5", "two:1"]


def test_each_token_goes_to_one_step_if_it_can():
    steps = aligned("red cubes or red balls", "return red cubes ;return red balls ;return #1 , #2")
    assert steps[:2] == ["red:0 cubes:1", "red:3 balls:4"]


def test_steps_without_words_are_shown_by_words_of_the_question():
    steps = aligned("How many cubes are there", "return cubes ;return number of #1")
    assert steps == ["cubes:2", "many:1"]
    steps = aligned(
        "Which state has the longest river", "return states ;return river of #1 ;return #1 where #2 is highest"
    )
    assert steps[2] == "longest:4"


def test_a_word_that_shows_a_step_is_not_shared():
    steps = aligned(
        "Are there more cubes", "return cubes ;return number of #1 ;return number of #1 ;return sum of #2 and #3"
    )
    assert steps[1:] == ["", "", ""]


def test_a_resource_word_stands_in_for_what_the_question_lacks():
    steps = aligned("Which of the two is smaller", "return which of two ;return size of #1", "date size")
    assert steps[1] == "size:8"
    assert aligned("What is its size", "return its size", "size") == ["its:2 size:3"]


def test_a_phrase_of_resource_words_stays_together():
    question = "Is one dog looking at it"
    steps = "return dogs ;return number of #1 ;return if #2 is at least one"
    assert aligned(question, steps, "at least one")[2] == "at:7 least:8 one:9"
    assert aligned("Is at least one dog here", steps, "at least one")[2] == "at:1 least:2 one:3"


def test_of_equal_steps_the_first_is_shown_by_the_only_word():
    steps = "return cats ;return dogs ;return number of #2 ;return number of #1 ;return sum of #3 and #4"
    assert aligned("How many pets live there , cats and dogs", steps)[2:] == ["many:1", "", ""]


def test_words_that_nothing_is_equivalent_to_are_reported():
    form = to_logical_form(parse_qdmr("return red cubes ;return #1 that are shiny"))
    alignment = align(form, ["are", "there", "cubes"])
    assert alignment.missing == ((0, "red"), (1, "shiny"))


def test_a_selection_without_any_word_is_our_error():
    form = to_logical_form(parse_qdmr("return balls ;return number of #1"))
    with pytest.raises(AlignmentError, match="step 1: it selects by words that the question does not have: balls"):
        align(form, ["how", "many", "cubes"])


def test_a_token_of_several_words_is_one_token():
    assert aligned("more than 1,000 men", "return men ;return #1 that are 1,000") == ["men:3", "1,000:2"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("FILTER[](sub=#1, condition=from the Toronto-based)", ("toronto", "based")),
        ("COMPARATIVE[more](sub=#1, attribute=#2, condition=more than 100)", ("100",)),
        ("BOOLEAN[](sub=#1, condition=is not red)", ("not", "red")),
        ("GROUP[count](key=#1 here, value=goals)", ("goals",)),
        ("AGGREGATE[count](arg=#1)", ()),
    ],
)
def test_content_is_what_operator_and_property_do_not_say(step, words):
    assert content_words(parse_step(step)) == words


def test_two_runs_give_the_same_alignment():
    question = tokenize("List flights from a city to a city and flights from a city to a town with flights to a city")
    form = to_logical_form(
        parse_qdmr("return flights ;return cities ;return #1 to #2 ;return #3 to city ;return flights")
    )
    assert len({align(form, question) for _ in range(5)}) == 1


def test_the_best_alignment_so_far_is_flagged_when_time_is_up(monkeypatch):
    class StoppedSolver(cp_model.CpSolver):
        def solve(self, *args):
            super().solve(*args)
            return cp_model.FEASIBLE

    question = ["city", "town", "city", "town", "city", "town"]
    form = to_logical_form(parse_qdmr("return city town ;return city town of #1 ;return town city of #2"))
    best = align(form, question)
    monkeypatch.setattr(cp_model, "CpSolver", StoppedSolver)
    stopped = align(form, question)
    assert (best.optimal, stopped.optimal) == (True, False)
    assert stopped.steps == best.steps


@pytest.mark.parametrize("limit", ["_WALL_SECONDS", "_DETERMINISTIC_SECONDS"])
@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_without_time_for_the_solver_each_word_takes_its_cheapest_token(monkeypatch, limit, seconds):
    monkeypatch.setattr(sys.modules[align.__module__], limit, seconds)
    form = to_logical_form(parse_qdmr("return city town ;return city town of #1"))
    alignment = align(form, ["city", "town", "city", "town"])
    assert not alignment.optimal
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
    form = to_logical_form(parse_qdmr(";".join(steps)))
    started = time.process_time()
    alignment = align(form, question)
    assert time.process_time() - started < 4
    assert not alignment.optimal
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
@settings(max_examples=150, deadline=None)
def test_the_pruned_program_has_the_optimum_of_the_dense_one(problem):
    chosen, optimal = solve_alignment(problem)
    assert optimal
    assert cost_of(problem, chosen) == dense_optimum(problem)


def test_on_real_questions_the_pruned_program_has_the_optimum_of_the_dense_one(shared_path):
    examples = random.Random(4).sample(read_break_csv(shared_path / "break" / "train.csv"), 520)
    compared = 0
    for example in examples:
        try:
            form = to_logical_form(parse_qdmr(example.decomposition))
        except QDecompError:
            continue
        problem = make_problem(form, (*tokenize(example.question), *PRESETS["default"].words))
        chosen, optimal = solve_alignment(problem)
        assert optimal, example.question_id
        assert cost_of(problem, chosen) == dense_optimum(problem), example.question_id
        compared += 1
    assert compared >= 500


def test_each_weight_outweighs_the_weaker_ones():
    sizes = [
        *(abs(weight) for weight in (WEIGHTS.token, WEIGHTS.anchor, WEIGHTS.shows_property, WEIGHTS.sequence)),
        *(abs(weight) for weight in (WEIGHTS.reference, WEIGHTS.exact, WEIGHTS.position, WEIGHTS.step)),
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert WEIGHTS.shared == WEIGHTS.token


def test_one_step_and_one_token():
    assert align(parse_logical_form(["SELECT[](sub=cubes)"]), ("cubes",)).steps == ((0,),)

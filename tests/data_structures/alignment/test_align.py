from __future__ import annotations

import random
import sys
from itertools import chain, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.sat.python import cp_model

from qdecomp.data_structures.alignment.align import WEIGHTS, TokenChoice, align, solve_alignment
from qdecomp.data_structures.alignment.candidates import AlignmentProblem, StepCandidates, make_problem
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files import read_break_csv


@pytest.mark.parametrize(
    ("question", "decomposition", "expected"),
    [
        # the paper's examples
        (
            "if there is water and there are water buffalo in it",
            "water buffalo; #1 that are in it",
            "water:7 buffalo:8; it:10",
        ),
        (
            "Show the name of the teams , and the name of drivers in each team",
            "teams; names of #1; drivers of #1; #3 that are in it; names of #3",
            "teams:5; name:2; drivers:11; in:12; name:9",
        ),
        # an exact word is preferred
        ("a cube or big red cubes", "cubes", "cubes:5"),
        # by inflection, and by the lexicon
        ("which two cities lie in Ohio", "city in Ohio; 2 #1", "cities:2 Ohio:5; two:1"),
        # each token goes to one step if it can
        ("red cubes or red balls", "red cubes; red balls; #1 , #2", "red:0 cubes:1; red:3 balls:4; or:2"),
        # steps without words are shown by words of the question
        ("How many cubes are there", "cubes; number of #1", "cubes:2; many:1"),
        # a word that shows a step is not shared
        ("Are there more cubes", "cubes; number of #1; number of #1; sum of #2 and #3", "cubes:3; ; ; "),
        # of equal steps, the first is shown by the only word
        (
            "How many pets live there , cats and dogs",
            "cats; dogs; number of #2; number of #1; sum of #3 and #4",
            "cats:6; dogs:8; many:1; ; ",
        ),
        # a resource word stands in for what the question lacks
        ("Which of the two is smaller [RSC] date size", "which of two; size of #1", "two:3; size:8"),
        # a phrase of resource words stays together
        (
            "Is one dog looking at it [RSC] at least one",
            "dogs; number of #1; if #2 is at least one",
            "dog:2; ; at:7 least:8 one:9",
        ),
        # a token of several words is one token
        ("more than 1,000 men", "men; #1 that are 1,000", "men:3; 1,000:2"),
        ("cubes", "cubes", "cubes:0"),
    ],
)
def test_the_words_that_each_step_is_aligned_with(question: str, decomposition: str, expected: str) -> None:
    tokens = question.split()
    alignment = align(to_logical_form(decomposition), tokens)
    assert "; ".join(" ".join(f"{tokens[i]}:{i}" for i in positions) for positions in alignment.steps) == expected


def test_words_that_nothing_is_equivalent_to_are_reported():
    form = to_logical_form("return red cubes ;return #1 that are shiny")
    alignment = align(form, ["are", "there", "cubes"])
    assert alignment.missing == ((0, "red"), (1, "shiny"))


def test_a_selection_without_any_word_is_our_error():
    form = to_logical_form("return balls ;return number of #1")
    with pytest.raises(GraphError, match="step 1: it selects by words that the question does not have: balls"):
        align(form, ["how", "many", "cubes"])


@pytest.mark.parametrize("limit", ["_WALL_SECONDS", "_DETERMINISTIC_SECONDS"])
@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_without_time_for_the_solver_each_word_takes_its_cheapest_token(monkeypatch, limit, seconds):
    monkeypatch.setattr(sys.modules[align.__module__], limit, seconds)
    form = to_logical_form("return city town ;return city town of #1")
    alignment = align(form, ["city", "town", "city", "town"])
    assert all({position % 2 for position in positions} == {0, 1} for positions in alignment.steps)


def test_one_budget_for_all_parts_of_a_question(monkeypatch):
    """Sixteen parts, each of which keeps the solver busy for as long as it may."""
    solve, taken = cp_model.CpSolver.solve, []

    def timed_solve(solver, model):
        status = solve(solver, model)
        taken.append(solver.response_proto.deterministic_time)
        return status

    monkeypatch.setattr(cp_model.CpSolver, "solve", timed_solve)
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
    alignment = align(form, question)
    assert 0 < sum(taken) < 1.1 * sys.modules[align.__module__]._DETERMINISTIC_SECONDS
    assert all(alignment.steps)


def cost_of(problem: AlignmentProblem, chosen: frozenset[TokenChoice]) -> int:
    """What an alignment costs, term by term; raises AssertionError for one that breaks a rule."""
    tokens = {k: {i for step, i in chosen if step == k} for k in range(len(problem.steps))}
    cost = 0
    for k, step in enumerate(problem.steps):
        content = {i for need in step.needs for i in need}
        assert all(tokens[k] & set(need) for need in step.needs), "a need is not met"
        anchors = tokens[k] - content
        assert len(anchors) <= 1, "two anchors"
        assert anchors <= set(step.anchors), "a token that is no candidate"
        assert all(i not in tokens[other] for i in anchors for other in tokens if other != k), "an anchor is shared"
        cost += WEIGHTS.token * len(tokens[k] & content) + WEIGHTS.anchor * len(anchors)
        cost += WEIGHTS.shows_property * len(anchors & step.shows_property)
        cost += WEIGHTS.exact * len(tokens[k] & step.exact)
        cost += WEIGHTS.position * sum(tokens[k]) + WEIGHTS.step * k * len(tokens[k])
    for i in set().union(*tokens.values()):
        cost += WEIGHTS.shared * (sum(i in tokens[k] for k in tokens) - 1)
    for left, right in problem.neighbours:
        for k, other in product(tokens, repeat=2):
            if left in tokens[k] and right in tokens[other]:
                cost += pair_gain(problem, k, other)
    return cost


def pair_gain(problem: AlignmentProblem, k: int, other: int) -> int:
    if k == other:
        return WEIGHTS.sequence
    related = other in problem.steps[k].references or k in problem.steps[other].references
    return WEIGHTS.reference if related else 0


def dense_optimum(problem: AlignmentProblem) -> int:
    """The cost of the best alignment, proved by the solver with the program exactly as defined, without any pruning.

    There is a variable for every step and every token, whether the token is a candidate or not, and for every pair of
    steps at every pair of tokens.
    """
    model = cp_model.CpModel()
    candidates = [i for step in problem.steps for positions in (*step.needs, step.anchors) for i in positions]
    steps, places = range(len(problem.steps)), range(1 + max([*chain(*problem.neighbours), *candidates], default=0))
    content = {(k, i): model.new_bool_var("") for k in steps for i in places}
    anchor = {(k, i): model.new_bool_var("") for k in steps for i in places}
    costs = []
    for k in steps:
        step = problem.steps[k]
        candidates = {i for need in step.needs for i in need}
        for i in places:
            if i not in candidates:
                model.add(content[k, i] == 0)
            if i not in step.anchors or i in candidates:
                model.add(anchor[k, i] == 0)
            rest = WEIGHTS.position * i + WEIGHTS.step * k + (WEIGHTS.exact if i in step.exact else 0)
            costs.append((WEIGHTS.token + rest) * content[k, i])
            shows_property = WEIGHTS.shows_property if i in step.shows_property else 0
            costs.append((WEIGHTS.anchor + shows_property + rest) * anchor[k, i])
        for need in step.needs:
            model.add(sum(content[k, i] for i in need) >= 1)
        model.add(sum(anchor[k, i] for i in places) <= 1)
    for i in places:
        users = sum(content[k, i] for k in steps)
        for k in steps:
            others = sum(content[other, i] + anchor[other, i] for other in steps if other != k)
            model.add(others == 0).only_enforce_if(anchor[k, i])
        further = model.new_int_var(0, len(problem.steps), "")
        model.add(further >= users - 1)
        costs.append(WEIGHTS.shared * further)
    for left, right in problem.neighbours:
        for k, other in product(steps, repeat=2):
            both = model.new_bool_var("")
            model.add(both <= content[k, left] + anchor[k, left])
            model.add(both <= content[other, right] + anchor[other, right])
            costs.append(pair_gain(problem, k, other) * both)
    model.minimize(sum(costs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value)


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
    return AlignmentProblem(tuple(steps), tuple(sorted(pairs)))


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

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.constraints import EdgeChoice, is_possible, token_kinds
from qdecomp.decoding.scores import Scores
from tests.data_structures.graph_strategies import TOKENS
from tests.decoding.decoding_examples import LABELS, problem, random_problem


@pytest.fixture
def scores():
    return Scores(*random_problem(np.random.default_rng(0), TOKENS, LABELS).arguments)


def label_probabilities(scores, head, dependent):
    return scores.labels_of([head], [dependent])[0]


def test_labels_may_come_from_a_function_that_is_asked_for_few_pairs():
    tokens, edges, labels, names = random_problem(np.random.default_rng(0), TOKENS, LABELS).arguments
    asked = []

    def of_pairs(heads, dependents):
        asked.extend(zip(heads, dependents, strict=True))
        return np.asarray(labels)[heads, dependents]

    table, function = Scores(tokens, edges, labels, names), Scores(tokens, edges, of_pairs, names)
    assert function.candidates(2.0, 1000) == table.candidates(2.0, 1000)
    assert function.greedy() == table.greedy()
    assert function.graph_of(function.greedy()) == table.graph_of(table.greedy())
    assert 0 < len(set(asked)) < len(tokens) ** 2


def test_the_score_is_the_logarithm_of_the_probability(scores):
    choices = [EdgeChoice(3, 4, "filter-sub"), EdgeChoice(7, 4, "duplicate&filter-sub")]
    labels = {(choice.head, choice.dependent): LABELS.index(choice.label) for choice in choices}
    expected = 0.0
    for pair in product(range(len(TOKENS)), repeat=2):
        probability = scores.edges[pair]
        chosen = probability * label_probabilities(scores, *pair)[labels[pair]] if pair in labels else 1 - probability
        expected += np.log(chosen)
    assert scores.log_score(scores.graph_of(choices)) == pytest.approx(expected)


def test_tags_of_a_label_may_stand_in_any_order():
    found = problem((0, 1, "group-value&group-key", 0.9), tokens=("a", "b"), labels=("group-value&group-key",))
    scores = Scores(*found.arguments)
    graph = DependencyGraph(("a", "b"), (Edge(0, 1, "group-key"), Edge(0, 1, "group-value")))
    assert scores.graph_of(scores.greedy()) == graph
    assert scores.log_score(graph) == pytest.approx(np.log(0.9) + 3 * np.log(0.999), abs=1e-3)


def cost_by_hand(scores, head, dependent, label):
    kinds = token_kinds(TOKENS)
    edge = scores.edges[head, dependent]
    options = {
        name: np.log(edge * label_probabilities(scores, head, dependent)[index])
        for index, name in enumerate(LABELS)
        if is_possible(kinds[head], kinds[dependent], head < dependent, name)
    }
    return max([np.log(1 - edge), *options.values()]) - options[label]


@pytest.mark.parametrize("bound", [0.5, 2.0, float("inf")])
def test_candidates_are_the_possible_choices_that_cost_little(scores, bound):
    kinds = token_kinds(TOKENS)
    found = scores.candidates(bound, limit=100_000)
    assert found.complete_below == bound
    costs = {(c.head, c.dependent, c.label): cost for c, cost in zip(found.choices, found.costs, strict=True)}
    expected = {
        (head, dependent, label): cost
        for head, dependent, label in product(range(len(TOKENS)), range(len(TOKENS)), LABELS)
        if head != dependent
        and is_possible(kinds[head], kinds[dependent], head < dependent, label)
        and (cost := cost_by_hand(scores, head, dependent, label)) < bound
    }
    assert costs == pytest.approx(expected)
    assert found.without_edges == pytest.approx(
        sum({(c.head, c.dependent): costs[c.head, c.dependent, c.label] + c.gain for c in found.choices}.values())
    )


def test_too_many_candidates_are_cut_at_the_dearest(scores):
    every = scores.candidates(5.0, limit=100_000)
    few = scores.candidates(5.0, limit=50)
    assert len(few.choices) == 50
    assert sorted(few.costs) == sorted(every.costs)[:50]
    assert few.complete_below == sorted(every.costs)[50]


def test_some_choices_are_candidates_whatever_they_cost():
    scores = Scores(*problem((3, 4, "filter-sub", 0.9), otherwise=1e-6).arguments)
    wanted = EdgeChoice(0, 1, "union-sub")
    assert wanted not in scores.candidates(1.0, limit=1).choices
    assert scores.candidates(1.0, limit=1, also=[wanted]).choices == (wanted,)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -0.1, 1.1])
@pytest.mark.parametrize("which", ["edge", "label"])
def test_what_is_no_probability_is_an_error(value, which):
    found = problem((3, 4, "filter-sub", 0.9))
    (found.edges if which == "edge" else found.label_probabilities)[2, 2] = value
    with pytest.raises(DataError, match=f"the {which} probabilities are not all numbers from 0 to 1"):
        Scores(*found.arguments)
    if which == "label":
        function = lambda heads, dependents: found.label_probabilities[heads, dependents]  # noqa: E731
        with pytest.raises(DataError, match="the label probabilities are not all"):
            Scores(found.tokens, found.edges, function, LABELS).labels_of([2], [2])


def test_wrong_shapes_are_an_error():
    found = problem((3, 4, "filter-sub", 0.9))
    with pytest.raises(DataError, match=r"edge probabilities have the shape \(11, 11\); .* need \(2, 2\)"):
        Scores(("a", "b"), found.edges, found.label_probabilities, LABELS)
    with pytest.raises(DataError, match=r"label probabilities have the shape"):
        Scores(TOKENS, found.edges, found.label_probabilities, LABELS[1:])

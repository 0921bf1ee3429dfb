from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import GraphError
from qdecomp.decoding import graph_program
from qdecomp.decoding.constraints import CONSTRAINTS, EdgeChoice, is_possible, token_kinds
from qdecomp.decoding.coverage import Coverage, coverage_of
from qdecomp.decoding.decoder import GreedyDecoder
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.decoding.scores import Scores
from qdecomp.decoding.validity import broken_constraints
from qdecomp.parsers.decomposition import decomposition_from_decoded
from tests.data_structures.graph_strategies import DUM_1, DUP_1, TOKENS, triples
from tests.decoding.decoding_examples import LABELS, Problem, means_something, problem, problems, random_problem

# For each constraint: edges with their probabilities, and which of them the most probable valid graph has.
MENDED = {
    "possible edges": ([(3, 2, "span", 0.9), (3, 4, "filter-sub", 0.9)], [1]),
    "span chains": ([(2, 4, "span", 0.9), (3, 4, "span", 0.6)], [0]),
    "last token": ([(2, 3, "span", 0.9), (2, 4, "filter-sub", 0.6)], [0]),
    "one operator": ([(3, 4, "filter-sub", 0.9), (3, 2, "project-sub", 0.6)], [0]),
    "single arguments": ([(3, 4, "filter-sub", 0.9), (3, 2, "filter-sub", 0.6)], [0]),
    "complete arguments": ([(1, 4, "comparison-arg[max]", 0.9), (1, 3, "comparison-arg[max]", 0.4)], [0, 1]),
    "copies": ([(DUP_1, 4, "filter-sub", 0.9), (DUP_1, 3, "duplicate", 0.4)], [0, 1]),
    "words": ([(3, DUM_1, "filter-sub", 0.9), (4, DUM_1, "span", 0.4)], [0, 1]),
    "unused steps": ([(1, 3, "aggregate-arg[count]", 0.9), (3, 4, "filter-sub", 0.9), (1, 4, "unused", 0.6)], [0, 1]),
    "one root": ([(3, 4, "filter-sub", 0.9), (1, 2, "filter-sub", 0.9), (1, 3, "filter-condition", 0.3)], [0, 1, 2]),
    "no cycle": ([(1, 3, "aggregate-arg[count]", 0.9), (3, 4, "filter-sub", 0.9), (4, 3, "filter-sub", 0.8)], [0, 1]),
    "some edge": ([(3, 4, "filter-sub", 0.4)], [0]),
}


def test_every_constraint_has_an_example():
    # Greedy decoding gives a pair one label, so it cannot break that constraint.
    assert CONSTRAINTS.keys() - {"one label"} == MENDED.keys()


def decode(*edges, otherwise=0.001, **options):
    return IlpDecoder(**options).decode(*problem(*edges, otherwise=otherwise).arguments)


@pytest.mark.parametrize("name", MENDED)
def test_what_greedy_decoding_breaks_is_mended(name):
    edges, kept = MENDED[name]
    assert name in broken_constraints(GreedyDecoder().decode(*problem(*edges).arguments).graph)
    decoded = decode(*edges)
    assert triples(decoded.graph) == sorted(edges[number][:3] for number in kept)
    assert decoded == decode(*edges)


@pytest.mark.parametrize("name", MENDED)
def test_without_time_the_greedy_graph_is_repaired(name, caplog):
    assert means_something(decode(*MENDED[name][0], time_limit=0).graph)
    assert "repaired" in caplog.text


def test_a_pair_gets_one_label():
    found = problem((3, 4, "filter-sub", 0.9), (4, 3, "filter-sub", 0.9))
    found.label_probabilities[3, 4] = found.label_probabilities[4, 3] = 1 / len(LABELS)
    edges = IlpDecoder().decode(*found.arguments).graph.edges
    assert len({(edge.head, edge.dependent) for edge in edges}) == len(edges)


def test_a_valid_greedy_graph_is_taken_without_the_solver(monkeypatch):
    monkeypatch.setattr(graph_program, "solve_graph", lambda *_: pytest.fail("the solver was asked"))
    decoded = decode((3, 4, "filter-sub", 0.9), (1, 3, "aggregate-arg[count]", 0.8))
    assert triples(decoded.graph) == [(1, 3, "aggregate-arg[count]"), (3, 4, "filter-sub")]


def test_edges_and_graph_carry_scores():
    decoded = decode((3, 4, "filter-sub", 0.9), (3, 2, "filter-sub", 0.6))
    assert [edge.score for edge in decoded.graph.edges] == [pytest.approx(0.9, abs=1e-3)]
    assert decoded.score == pytest.approx(np.log(0.9) + np.log(0.4) + 119 * np.log(0.999), abs=1e-2)


def test_an_improbable_edge_is_found_when_everything_else_is_worse():
    # Beyond the first bound: nothing but the edge with a probability of 0.002 makes one graph of both halves.
    halves = [(3, 4, "filter-sub", 0.999999), (1, 2, "filter-sub", 0.999999)]
    decoded = decode(*halves, (1, 3, "filter-condition", 0.002), otherwise=1e-7)
    assert (1, 3, "filter-condition") in triples(decoded.graph)
    assert len(decoded.graph.edges) == 3


def test_a_graph_is_found_where_no_edge_is_valid_alone():
    found = problem((0, 1, "union-sub", 0.9), tokens=("a", "b", "c"), labels=("union-sub",), otherwise=1e-4)
    assert triples(IlpDecoder().decode(*found.arguments).graph) == [(0, 1, "union-sub"), (0, 2, "union-sub")]


def test_a_label_may_be_two_tags():
    decoded = decode((DUP_1, 4, "duplicate&filter-sub", 0.9), (3, 2, "filter-sub", 0.6))
    assert triples(decoded.graph) == [(DUP_1, 4, "duplicate"), (DUP_1, 4, "filter-sub")]


def best_by_enumeration(found: Problem, pairs: list[tuple[int, int]], coverage: Coverage) -> tuple[float, float]:
    """The best score of a graph with edges at some pairs only: of all graphs, and of those that mean something."""
    scores = Scores(*found.arguments)
    kinds = token_kinds(found.tokens)
    options = []
    for head, dependent in pairs:
        labels = [
            label
            for label in found.labels
            if head != dependent and is_possible(kinds[head], kinds[dependent], head < dependent, label)
        ]
        options.append([None, *(EdgeChoice(head, dependent, label) for label in labels)])
    empty = scores.log_score(DependencyGraph(found.tokens))
    totals = np.zeros(1)
    for row in options:
        gains = [0.0 if choice is None else scores.log_score(scores.graph_of([choice])) - empty for choice in row]
        totals = (totals[:, None] + gains).ravel()
    combinations = list(product(*options))
    order = np.argsort(-totals)
    best = -np.inf
    for number in order:
        if totals[number] <= best:
            break
        graph = scores.graph_of([choice for choice in combinations[number] if choice is not None])
        if means_something(graph):
            best = max(best, totals[number] - coverage.cost(graph.labels()))
    return float(empty + totals[order[0]]), float(empty + best)


@pytest.mark.parametrize(
    ("labels", "count", "penalty"),
    [
        (("span", "duplicate", "unused", "filter-sub", "union-sub", "aggregate-arg[count]"), 6, 0.0),
        (("span", "filter-sub"), 4, 1.5),
    ],
)
@pytest.mark.parametrize("seed", range(14))
def test_all_graphs_with_edges_at_few_pairs_are_no_better(seed, labels, count, penalty):
    found = random_problem(np.random.default_rng(seed), TOKENS, labels, pairs=count)
    pairs = [(int(head), int(dependent)) for head, dependent in zip(*np.nonzero(found.edges), strict=True)]
    greatest, best = best_by_enumeration(found, pairs, coverage_of(TOKENS, penalty))
    decoded = IlpDecoder(coverage_penalty=penalty).decode(*found.arguments)
    if greatest - best < 20:
        # No edge at another pair is worth it: each costs more than 20.
        assert decoded.score == pytest.approx(best, abs=0.01)
    assert means_something(decoded.graph)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_every_decoded_graph_says_a_decomposition(found):
    try:
        decoded = IlpDecoder(time_limit=0.2).decode(*found.arguments)
    except GraphError:
        scores = Scores(*found.arguments)
        alone = [scores.graph_of([choice]) for choice in scores.candidates(float("inf"), 10_000).choices]
        assert not any(map(means_something, alone))
    else:
        assert means_something(decoded.graph)
        assert np.isfinite(decoded.score)


def test_with_too_little_time_there_is_the_same_valid_graph_each_time():
    found = random_problem(np.random.default_rng(5), TOKENS, LABELS)
    for seconds in (1e-6, 0.3):
        first, second = (IlpDecoder(time_limit=seconds).decode(*found.arguments) for _ in range(2))
        assert first == second
        assert [edge.score for edge in first.graph.edges] == [edge.score for edge in second.graph.edges]
        assert means_something(first.graph)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_probabilities_are_decoded(probability):
    decoded = decode(otherwise=probability)
    assert means_something(decoded.graph)
    assert np.isfinite(decoded.score)


def test_candidates_are_the_next_most_probable_valid_graphs() -> None:
    """One edge in either direction is valid; both form a cycle, and none says nothing."""
    decoded = IlpDecoder(candidates=5).decode(
        ["red", "cubes"], [[0, 0.9], [0.8, 0]], [[[1], [1]], [[1], [1]]], ["filter-sub"]
    )
    assert [(edge.head, edge.dependent) for edge in decoded.graph.edges] == [(0, 1)]
    ((other, score),) = decoded.others
    assert [(edge.head, edge.dependent) for edge in other.edges] == [(1, 0)]
    assert score == pytest.approx(math.log(0.1 * 0.8), abs=1e-4)
    assert decoded.score == pytest.approx(math.log(0.9 * 0.2), abs=1e-4)
    found = decomposition_from_decoded("red cubes", decoded)
    assert [each.text for each in found.candidates] == [found.text, "return red ;return #1 cubes"]


def test_a_graph_that_is_valid_at_once_has_candidates_too() -> None:
    decoded = IlpDecoder(candidates=2).decode(
        ["red", "cubes"], [[0, 0.9], [0.3, 0]], [[[0.9, 0.1]] * 2] * 2, ["filter-sub", "project-sub"]
    )
    assert [graph.edges[0].tag for graph, _ in decoded.others] == ["project-sub"]


COVERED = {
    "small at little cost": ([(2, 3, "span", 0.4)], 1.0, [(2, 3), (3, 4)]),
    "small at a higher cost": ([(2, 3, "span", 0.2)], 1.0, [(3, 4)]),
    "no penalty": ([(2, 3, "span", 0.4)], 0.0, [(3, 4)]),
    "only what is valid": ([(4, 2, "span", 0.4)], 1.0, [(3, 4)]),
}


@pytest.mark.parametrize("name", COVERED)
def test_a_word_that_is_left_out_costs_the_penalty(name):
    """The greedy graph is valid and says "red cubes", but not "small"; other words are free."""
    more, penalty, expected = COVERED[name]
    found = problem((3, 4, "filter-sub", 0.9), *more)
    decoded = IlpDecoder(coverage_penalty=penalty).decode(*found.arguments)
    assert [edge[:2] for edge in triples(decoded.graph)] == expected
    unsaid = penalty if len(expected) == 1 else 0.0
    assert decoded.score == pytest.approx(Scores(*found.arguments).log_score(decoded.graph) - unsaid)


def test_the_penalty_also_counts_where_the_greedy_graph_is_mended():
    # Two filters of one step: the more probable one leaves out "small".
    filters = [(3, 4, "filter-sub", 0.9), (3, 2, "filter-sub", 0.8)]
    for penalty in (0.0, 0.5):
        assert triples(decode(*filters, coverage_penalty=penalty).graph) == [(3, 4, "filter-sub")]
    decoded = decode(*filters, (2, 4, "span", 0.2), coverage_penalty=2.0, candidates=2)
    assert triples(decoded.graph) == [(2, 4, "span"), (3, 4, "filter-sub")]
    assert decoded.score > decoded.others[0][1]

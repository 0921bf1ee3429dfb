from __future__ import annotations

import numpy as np
import pytest

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.decoding import DECODERS, make_decoder, with_candidates
from qdecomp.decoding.ilp import IlpDecoder
from qdecomp.parsers.decomposition import decomposition_from_decoded
from tests.data_structures.graph_strategies import TOKENS, triples
from tests.decoding.decoding_examples import LABELS, means_something, problem, random_problem


def decoded(name, found, **options):
    return make_decoder(name, **options).decode(*found.arguments)


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_takes_a_valid_greedy_graph_as_it_is(name):
    found = decoded(name, problem((3, 4, "filter-sub", 0.9), (1, 3, "aggregate-arg[count]", 0.51), (2, 3, "span", 0.5)))
    assert triples(found.graph) == [(1, 3, "aggregate-arg[count]"), (3, 4, "filter-sub")]
    assert [edge.score for edge in found.graph.edges] == pytest.approx([0.51, 0.9], abs=1e-3)


def test_settings_may_be_an_object_and_options_count_more():
    settings = {"type": "ilp", "time_limit": 0.5}
    assert make_decoder(settings) == IlpDecoder(0.5)
    assert make_decoder(settings, time_limit=3) == IlpDecoder(3)
    assert settings == {"type": "ilp", "time_limit": 0.5}
    assert with_candidates(IlpDecoder(3), 2) == IlpDecoder(3, candidates=2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("lp", "there is no decoder 'lp'; choose from greedy, greedy_valid, ilp, projection"),
        ({"type": "lp"}, "there is no decoder 'lp'"),
        (3, "there is no decoder 3"),
        ({"type": ["ilp"]}, r"there is no decoder \['ilp'\]"),
        ({"time_limit": 2}, "there is no decoder None"),
        ({"type": "greedy", "time_limit": 2}, "decoder 'greedy': there is no option 'time_limit'; known options: none"),
        ({"type": "ilp", "time": 2}, "decoder 'ilp': there is no option 'time'; known options: time_limit"),
        ({"type": "ilp", "time_limit": "long"}, "the time limit is 'long'; give seconds, 0 or more"),
        ({"type": "ilp", "time_limit": -1.0}, "the time limit is -1.0"),
        ({"type": "ilp", "time_limit": float("nan")}, "the time limit is nan"),
        ({"type": "ilp", "candidates": -1}, "candidates is -1"),
        ({"type": "ilp", "coverage_penalty": -1}, "coverage_penalty is '-1'"),
    ],
)
def test_a_wrong_option_is_an_error(settings, message):
    with pytest.raises(DataError, match=message):
        make_decoder(settings)


def test_greedy_decoding_gives_one_graph():
    with pytest.raises(DataError, match="candidates need the decoder 'ilp'"):
        with_candidates(make_decoder("greedy"), 3)


def test_nothing_keeps_a_greedy_graph_from_being_invalid():
    found = problem((3, 3, "span", 0.9), (4, 3, "nonsense", 0.9))
    assert triples(decoded("greedy", found).graph) == [(3, 3, "span"), (4, 3, "nonsense")]


@pytest.mark.parametrize(("tokens", "labels"), [((), LABELS), (("cubes",), LABELS), (TOKENS, ())])
def test_where_there_are_no_edges_the_graph_is_empty(tokens, labels):
    found = decoded("greedy", problem(tokens=tokens, labels=labels))
    assert found.graph == DependencyGraph(tokens)
    assert found.score == pytest.approx(len(tokens) ** 2 * np.log(0.999))


@pytest.mark.parametrize(
    ("tokens", "labels"), [((), LABELS), (("cubes",), LABELS), (TOKENS, ()), (TOKENS, ("nonsense",))]
)
@pytest.mark.parametrize("name", ["greedy_valid", "ilp"])
def test_where_no_graph_is_valid_the_error_says_so(name, tokens, labels):
    with pytest.raises(GraphError, match="no valid graph"):
        decoded(name, problem(tokens=tokens, labels=labels))


def test_of_two_edges_that_contradict_each_other_the_more_probable_one_stays():
    found = problem((3, 4, "filter-sub", 0.9), (3, 2, "project-sub", 0.6), (1, 3, "aggregate-arg[count]", 0.8))
    assert triples(decoded("greedy_valid", found).graph) == [(1, 3, "aggregate-arg[count]"), (3, 4, "filter-sub")]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_left_of_any_graph_means_something(seed):
    found = random_problem(np.random.default_rng(seed), TOKENS, LABELS, pairs=30)
    assert means_something(decoded("greedy_valid", found).graph)


def test_projection_reads_what_greedy_decoding_refuses():
    # A fork, two roots and a filter without what it filters.
    edges = [(2, 4, "span", 0.9), (3, 4, "span", 0.9), (1, 3, "aggregate-arg[count]", 0.9)]
    found = problem(*edges, (0, 2, "filter-condition", 0.8))
    strict, soft = decoded("greedy", found), decoded("projection", found)
    assert (strict.graph, strict.score) == (soft.graph, soft.score)
    assert decomposition_from_decoded("how many small red cubes", strict).logical_form is None
    assert "number of #1" in str(decomposition_from_decoded("how many small red cubes", soft).text)


def test_a_contradiction_is_a_prediction_with_a_reason():
    found = problem((3, 4, "filter-sub", 0.9), (3, 2, "project-sub", 0.9))
    prediction = decomposition_from_decoded("", decoded("projection", found))
    assert prediction.text is None
    assert prediction.error == "projection: two operators on one node: project and filter at token 3 'red'"

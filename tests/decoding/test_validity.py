from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.edge_tags import split_tags
from qdecomp.data_structures.errors import QDecompError
from qdecomp.decoding.constraints import EdgeChoice
from qdecomp.decoding.validity import broken_constraints, drop_broken_choices, is_valid
from qdecomp.files import read_break_csv
from tests.data_structures.graph_strategies import DUM_1, DUP_1, SEPARATOR, graph
from tests.decoding.decoding_examples import LABELS, means_something, token_lists


@st.composite
def choices(draw, tokens, labels=LABELS, most=7):
    if not tokens:
        return []
    place = st.integers(0, len(tokens) - 1)
    gain = st.floats(0, 5)
    found = draw(st.lists(st.builds(EdgeChoice, place, place, st.sampled_from(labels), gain), max_size=most))
    return list({(choice.head, choice.dependent): choice for choice in found}.values())


def graph_of(tokens, chosen):
    edges = [(choice.head, choice.dependent, tag) for choice in chosen for tag in split_tags(choice.label)]
    return graph(*edges, tokens=tokens)


@st.composite
def graphs(draw):
    tokens = draw(token_lists(more_words=(";",)))
    return graph_of(tokens, draw(choices(tokens)))


LABELS_THAT_GO_TOGETHER = (
    ("filter-sub", "filter-condition", "span", "union-sub", "duplicate&filter-sub"),
    ("superlative-sub[max]", "superlative-attribute[max]", "span", "duplicate", "unused"),
    ("arithmetic-left[diff]", "arithmetic-right[diff]", "unused", "span"),
    ("aggregate-arg[count]", "project-sub", "span", "duplicate", "comparison-arg[max]"),
)


@st.composite
def graphs_that_are_almost_valid(draw):
    """What is left of many edges without blame, then perhaps one edge less or more."""
    tokens = draw(token_lists().filter(len))
    labels = draw(st.sampled_from(LABELS_THAT_GO_TOGETHER))
    kept = list(drop_broken_choices(tokens, draw(choices(tokens, labels, most=25))))
    change = draw(st.sampled_from(["nothing", "less", "more"]))
    if change == "less" and kept:
        del kept[draw(st.integers(0, len(kept) - 1))]
    elif change == "more":
        pairs = {(choice.head, choice.dependent) for choice in kept}
        kept += [more for more in draw(choices(tokens, labels, most=1)) if (more.head, more.dependent) not in pairs]
    return graph_of(tokens, kept)


@settings(deadline=None)
@given(graphs() | graphs_that_are_almost_valid())
def test_the_constraints_are_what_conversion_needs(graph):
    assert is_valid(graph) == means_something(graph)


@settings(deadline=None)
@given(st.data())
def test_what_is_left_is_valid(data):
    tokens = data.draw(token_lists())
    all_choices = data.draw(choices(tokens))
    kept = drop_broken_choices(tokens, all_choices)
    assert set(kept) <= set(all_choices)
    if kept:
        assert is_valid(graph_of(tokens, kept))


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        # besides those that test_ilp.py mends
        ("possible edges", [(3, 3, "filter-sub")]),
        ("possible edges", [(3, SEPARATOR, "filter-sub")]),
        ("possible edges", [(3, 4, "duplicate")]),
        ("possible edges", [(3, 4, "no-such-tag")]),
        ("possible edges", [(DUP_1, 4, "duplicate"), (DUP_1, DUM_1, "duplicate")]),
        ("span chains", [(2, 3, "span"), (2, 4, "span")]),
        ("last token", [(2, 3, "span"), (4, 2, "filter-sub")]),
        ("one operator", [(3, 4, "superlative-sub[max]"), (3, 2, "superlative-attribute[min]")]),
        ("complete arguments", [(3, 4, "filter-condition")]),
        ("complete arguments", [(DUM_1, 4, "arithmetic-left[diff]")]),
        ("copies", [(4, DUP_1, "span")]),
        ("one root", [(1, 3, "aggregate-arg[count]"), (3, 4, "unused")]),
    ],
)
def test_a_broken_constraint_is_named(name, edges):
    assert name in broken_constraints(graph(*edges))


@pytest.mark.parametrize(
    "edges",
    [
        [(2, 3, "span"), (3, 4, "filter-sub")],
        [(DUP_1, 4, "duplicate"), (DUP_1, 4, "filter-sub")],
        [(3, 4, "filter-sub"), (3, 2, "filter-condition")],
        [(3, 4, "superlative-sub[max]")],
        [(DUM_1, 4, "arithmetic-left[diff]"), (DUM_1, 3, "arithmetic-right[diff]")],
        [(4, DUM_1, "span"), (3, DUM_1, "filter-sub")],
        [(3, 4, "filter-sub"), (3, 1, "unused")],
    ],
)
def test_a_graph_that_says_something_breaks_no_constraint(edges):
    assert broken_constraints(graph(*edges)) == ()


def broken_gold_graphs(path, limit=None):
    counted, broken = 0, []
    for example in read_break_csv(path)[:limit]:
        try:
            graph = convert(example.question, example.decomposition).graph
        except QDecompError:
            continue
        counted += 1
        if broken_constraints(graph):
            broken.append(example.question_id)
    assert counted
    return broken, counted


def test_the_graphs_of_the_sample_set_are_valid(project_root):
    assert broken_gold_graphs(project_root / "data" / "dev.csv")[0] == []


def test_the_graphs_of_break_are_valid(shared_path):
    broken, counted = broken_gold_graphs(shared_path / "break" / "dev.csv", limit=500)
    # People also write a difference with one operand.
    assert len(broken) <= 0.002 * counted

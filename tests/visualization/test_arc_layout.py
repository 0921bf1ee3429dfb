from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.visualization.arc_layout import ArcLayout, Metrics, lay_out_arcs
from tests.data_structures.graph_strategies import dependency_graphs
from tests.visualization.examples import GRAPHS, LONG, SPECIAL_TOKENS, graph_of

CELLS = Metrics(token_width=len, label_width=len, token_gap=1, special_gap=4, end_gap=1, label_margin=1)


def row(graph: DependencyGraph) -> ArcLayout:
    (layout,) = lay_out_arcs(graph, CELLS)
    return layout


def check(layout: ArcLayout) -> None:
    """Words in order, ends apart, arcs of a level beside each other, labels on their arcs and off the others."""
    for left, right in zip(layout.tokens, layout.tokens[1:], strict=False):
        assert left.left + left.width < right.left
    ends = [end for arc in layout.arcs for end in (arc.start, arc.end)]
    assert len(set(ends)) == len(ends)
    for arc in layout.arcs:
        assert 1 <= arc.level <= layout.levels
        assert min(arc.left, arc.label_left) >= 0
        assert max(arc.right, arc.label_left + arc.label_width) <= layout.width
        if arc.edge.head != arc.edge.dependent:
            assert arc.left < arc.label_left
            assert arc.label_left + arc.label_width < arc.right
            for other in (other for other in layout.arcs if other.level > arc.level):
                for leg in (other.left, other.right):
                    assert not arc.label_left <= leg < arc.label_left + arc.label_width
    for one, other in combinations(layout.arcs, 2):
        if one.level == other.level:
            assert one.right < other.left or other.right < one.left
            left, right = sorted((one, other), key=lambda arc: arc.label_left)
            assert left.label_left + left.label_width <= right.label_left


@given(dependency_graphs())
def test_any_graph_is_laid_out_without_overlaps(graph: DependencyGraph) -> None:
    layout = row(graph)
    assert sorted(arc.edge for arc in layout.arcs) == list(graph.edges)
    check(layout)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_hard_graphs_are_laid_out_without_overlaps(graph: DependencyGraph) -> None:
    check(row(graph))


def test_arcs_from_one_word_do_not_cross() -> None:
    layout = row(graph_of("a b c d e", (2, 0, "span"), (2, 1, "span"), (2, 3, "span"), (2, 4, "span")))
    by_dependent = {arc.edge.dependent: arc for arc in layout.arcs}
    assert by_dependent[1].start < by_dependent[0].start < by_dependent[4].start < by_dependent[3].start
    assert [by_dependent[place].level for place in (0, 1, 3, 4)] == [2, 1, 1, 2]


def test_only_special_tokens_with_edges_are_shown_and_stand_apart() -> None:
    tokens = row(SPECIAL_TOKENS).tokens
    assert [token.text for token in tokens] == ["red", "cubes", "and", "balls", "flights", "[DUP]", "[DUM]"]
    assert [token.is_special for token in tokens] == [False] * 4 + [True] * 3
    assert [token.text for token in tokens if not token.is_linked] == ["cubes", "and"][1:]
    assert tokens[4].left - tokens[3].left - tokens[3].width >= CELLS.special_gap


def test_words_move_apart_no_more_than_labels_need() -> None:
    assert row(graph_of("a b")).width == 3
    assert row(graph_of("a b", (0, 1, "span"))).width == len("span") + 2 * CELLS.label_margin + 1
    assert row(LONG).width < 40 * 14

from __future__ import annotations

import pytest
from hypothesis import given

from qdecomp.data_structures.alignment.align import Alignment
from qdecomp.data_structures.conversion.lf_to_sdg import (
    logical_form_from_span_graph,
    phrase_of,
    span_graph_from_logical_form,
)
from qdecomp.data_structures.conversion.qdmr_to_lf import to_qdmr
from qdecomp.data_structures.errors import GraphError, QDecompError
from qdecomp.data_structures.operators import Operator
from tests.data_structures.graph_strategies import span_graph, span_graphs

WORDS = ("how", "many", "red", "cubes", "balls", "100", "name")


@pytest.mark.parametrize(
    ("nodes", "edges", "last"),
    [
        ([(3,), (2,)], [(1, 0, "filter-sub")], "FILTER[](sub=#1, condition=red)"),
        ([(3,), (6,)], [(1, 0, "project-sub")], "PROJECT[](sub=#1, projection=name of)"),
        ([(3,), (1,)], [(1, 0, "aggregate-arg[count]")], "AGGREGATE[count](arg=#1)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-right[diff]")], "ARITHMETIC[diff](left=100, right=#1)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-left[diff]")], "ARITHMETIC[diff](left=#1, right=100)"),
        ([(3,), (5,)], [(1, 0, "arithmetic-arg[sum]")], "ARITHMETIC[sum](arg=#1, arg=100)"),
        ([(3,), (4,)], [(1, 0, "discard-sub")], "DISCARD[](sub=#1, exclude=balls)"),
        ([(3,), (4,)], [(1, 0, "discard-exclude")], "DISCARD[](sub=balls, exclude=#1)"),
        ([(3,), (6,)], [(1, 0, "group-key")], "GROUP[](key=#1, value=name)"),
        ([(3,), (6,)], [(1, 0, "sort-sub")], "SORT[](sub=#1, order=name)"),
        ([(3,), (4,), ()], [(2, 0, "union-sub"), (2, 1, "union-sub")], "UNION[](sub=#1, sub=#2)"),
        (
            [(3,), (4,), (5,)],
            [(2, 0, "comparative-sub[more]"), (2, 1, "comparative-attribute[more]")],
            "COMPARATIVE[more](sub=#1, attribute=#2, condition=100)",
        ),
        (
            [(3,), (4,), (2,)],
            [(2, 0, "comparative-sub"), (2, 1, "comparative-attribute")],
            "COMPARATIVE[](sub=#1, attribute=#2, condition=is red)",
        ),
        ([(3,), (4,), (2,)], [(2, 0, "filter-sub"), (2, 1, "filter-condition")], "FILTER[](sub=#1, condition=red #2)"),
        (
            [(3,), (4,), (6,)],
            [(2, 0, "intersection-intersect"), (2, 1, "intersection-intersect")],
            "INTERSECTION[](intersect=#1, intersect=#2, projection=name)",
        ),
    ],
)
def test_words_go_to_the_argument_without_reference(nodes, edges, last):
    assert str(logical_form_from_span_graph(span_graph(nodes, *edges, tokens=WORDS)).steps[-1]) == last


@pytest.mark.parametrize(
    ("nodes", "edges", "reason"),
    [
        ([(), (2,)], [(1, 0, "filter-sub")], "step 1: select needs sub; it has 0"),
        ([(3,), (2,)], [(1, 0, "filter-condition")], "step 2: filter needs sub; it has 0"),
        ([(3,), ()], [(1, 0, "union-sub")], "step 2: union needs 2 times sub; it has 1"),
        ([(3,), ()], [(1, 0, "superlative-sub[max]")], "step 2: superlative needs attribute; it has 0"),
        ([(3,), ()], [(1, 0, "arithmetic-left[diff]")], "step 2: arithmetic needs 2 operands"),
    ],
)
def test_a_missing_argument_is_our_error(nodes, edges, reason):
    with pytest.raises(GraphError, match=reason):
        logical_form_from_span_graph(span_graph(nodes, *edges, tokens=WORDS))


@given(span_graphs())
def test_any_span_graph_has_a_logical_form_and_a_text_or_gives_our_error(sdg):
    try:
        form = logical_form_from_span_graph(sdg)
    except QDecompError:
        return
    assert len(form) == len(sdg.nodes)
    assert span_graph_from_logical_form(form, Alignment(sdg.nodes), sdg.tokens) == sdg
    assert len(to_qdmr(form)) == len(form)


@pytest.mark.parametrize(
    ("question", "positions", "operator", "phrase"),
    [
        ("flights from the big city", (3, 4), Operator.FILTER, "from the big city"),
        ("flights the city", (2,), Operator.FILTER, "city"),
        ("University of Michigan", (0, 2), Operator.SELECT, "University of Michigan"),
        ("University and Michigan", (0, 2), Operator.SELECT, "University Michigan"),
        ("the names of drivers", (1,), Operator.PROJECT, "names of"),
        ("drivers and their names", (3,), Operator.PROJECT, "names of"),
        ("players that played for teams", (0, 2, 3), Operator.PROJECT, "players played for"),
        ("When did they die", (0, 3), Operator.PROJECT, "When die"),
        ("the share count", (1, 2), Operator.PROJECT, "share count in"),
        ("a nose - to - nose kiss", (1, 3, 5), Operator.FILTER, "nose-to-nose"),
        ("the letter 'a '", (1, 2), Operator.SELECT, "letter 'a"),
        ("the letter ' a '", (1, 3), Operator.SELECT, "letter 'a"),
        ("1,000 men", (0, 1), Operator.SELECT, "1 , 000 men"),
        ("the #1 hit", (1, 2), Operator.SELECT, "# 1 hit"),
        ("red cubes [RSC] size one", (0, 3), Operator.FILTER, "red size"),
        ("red", (), Operator.PROJECT, "of"),
        ("red", (), Operator.FILTER, ""),
    ],
)
def test_phrases(question, positions, operator, phrase):
    assert phrase_of(question.split(), positions, operator) == tuple(phrase.split())


def test_a_preposition_before_an_adjective_belongs_to_the_noun():
    question = ["left", "of", "the", "brown", "ball"]
    assert phrase_of(question, (3,), Operator.FILTER, others={4}) == ("brown",)
    assert phrase_of(question, (4,), Operator.FILTER, others={3}) == ("ball",)
    assert phrase_of(question, (3,), Operator.FILTER, others={0}) == ("of", "the", "brown")
    assert phrase_of(["in", "front", "of", "it"], (1,), Operator.FILTER, before_reference=True) == ("in", "front", "of")

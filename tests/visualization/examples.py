"""Graphs and decompositions that are hard to draw."""

from __future__ import annotations

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.special_tokens import PRESETS

HOSTILE = "<script>alert('1')</script>&\"x\""
SPECIAL = PRESETS["default"].appended


def graph_of(question: str, *edges: tuple[int, int, str]) -> DependencyGraph:
    """A graph over a question's words; positions after them are special tokens, the first of which is ``[RSC]``."""
    return DependencyGraph((*question.split(), *SPECIAL), tuple(Edge(*edge) for edge in edges))


TWO_EDGES = graph_of(
    "which is larger , cubes or red balls",
    (2, 4, "comparison-arg[max]"),
    (2, 4, "group-key[count]"),
    (4, 2, "filter-sub"),
    (2, 6, "comparison-arg[max]"),
    (6, 7, "span"),
)
SPECIAL_TOKENS = graph_of(
    "red cubes and balls",
    (0, 1, "filter-sub"),
    (4 + 15, 0, "duplicate"),
    (4 + 15, 3, "filter-sub"),
    (4 + 20, 5, "span"),
)
LONG = graph_of(
    " ".join(f"word{number}" for number in range(40)),
    *((place, place + 1, "span") for place in range(0, 30, 2)),
    *((place, place - 9, "comparative-attribute[more-than-2]") for place in range(12, 40, 5)),
    (39, 0, "intersection-projection"),
    (0, 39, "boolean-sub[if-exists]"),
)
SCRIPTS = graph_of(
    "どのくらいの 面積 ? כמה נהרות יש ? كم عدد الأنهار 👩‍👩‍👧‍👦 🏔️ WWWWMMMM ﬁne naïve",
    (0, 1, "project-sub"),
    (3, 4, "aggregate-arg[count]"),
    (4, 5, "span"),
    (7, 9, "aggregate-arg[count]"),
    (10, 11, "union-sub"),
    (12, 13, "filter-sub"),
)
MARKUP = graph_of(f"is {HOSTILE} red ? {'a' * 200}", (1, 2, "filter-sub"), (4, 2, "<b>&"), (2, 2, "nonsense"))

GRAPHS = {
    "two edges": TWO_EDGES,
    "special tokens": SPECIAL_TOKENS,
    "long": LONG,
    "scripts": SCRIPTS,
    "markup": MARKUP,
    "no edge": graph_of("what is it ?"),
    "no word": DependencyGraph(()),
}

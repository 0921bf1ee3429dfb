"""What is above a limit is refused with one line that names the limit; what is at the limit is accepted."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from string import ascii_lowercase

import pytest

from qdecomp import lf_em, parse_qdmr
from qdecomp.data_structures import limits
from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import parse_tag
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.logical_form import parse_logical_form
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.tokenization import question_words


def chained(steps: int) -> str:
    return "return cubes" + "".join(f" ;return #{number} that are red" for number in range(1, steps))


def chained_form(steps: int) -> list[str]:
    return ["SELECT[](sub=cubes)", *(f"AGGREGATE[count](arg=#{number})" for number in range(1, steps))]


def crowded(edges: int) -> DependencyGraph:
    size = limits.MOST_TOKENS
    pairs = ((number % size, number // size) for number in range(edges))
    return DependencyGraph(("cube",) * size, tuple(Edge(head, dependent, "span") for head, dependent in pairs))


def spans(nodes: int) -> SpanGraph:
    tag = parse_tag("filter-sub")
    return SpanGraph(("cubes",), ((0,),) * nodes, tuple(SpanEdge(node, node - 1, tag) for node in range(1, nodes)))


ALLOWED_AND_NAMED: list[tuple[Callable[[int], object], int, str]] = [
    (lambda count: question_words("x" * count), limits.LONGEST_QUESTION, "characters"),
    (lambda count: question_words("x " * count), limits.MOST_WORDS, "words"),
    (lambda count: parse_qdmr("return cubes".ljust(count)), limits.LONGEST_DECOMPOSITION, "characters"),
    (lambda count: parse_qdmr(chained(count)), limits.MOST_STEPS, "steps"),
    (lambda count: parse_qdmr("return " + "a " * count), limits.MOST_STEP_WORDS, "words"),
    (lambda count: parse_qdmr("return " + "a" * count), limits.LONGEST_STEP, "characters"),
    (lambda count: parse_logical_form(chained_form(count)), limits.MOST_STEPS, "steps"),
    (lambda count: parse_logical_form(f"SELECT[](sub={'a ' * count})"), limits.MOST_STEP_WORDS, "words"),
    (lambda count: parse_logical_form(f"SELECT[](sub={'a' * count})"), limits.LONGEST_STEP, "characters"),
    (lambda count: DependencyGraph(("cube",) * count), limits.MOST_TOKENS, "tokens"),
    (crowded, limits.MOST_EDGES, "edges"),
    (spans, limits.MOST_STEPS, "nodes"),
]


@pytest.mark.parametrize(("build", "limit", "what"), ALLOWED_AND_NAMED)
def test_a_limit_is_allowed_and_one_more_is_refused(build: Callable[[int], object], limit: int, what: str) -> None:
    assert build(limit)
    with pytest.raises(QDecompError) as refused:
        build(limit + 1)
    assert f"{limit + 1:,} {what}; at most {limit:,} are allowed" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_words_that_repeat_everywhere_are_refused_before_the_solver_sees_them() -> None:
    steps = "".join(f" ;return cube #{number} ball" for number in range(1, 60))
    with pytest.raises(QDecompError, match="ways to align words; at most 1,000 are allowed"):
        convert("cube ball " * 80, f"return cube{steps}")


def test_long_texts_are_not_remembered() -> None:
    """Caches are bounded by the size of what is in them, not only by the number of entries."""
    draw = random.Random(0)

    def long_step() -> str:
        return " ".join("".join(draw.choices(ascii_lowercase, k=8)) for _ in range(190))

    lf_em("which cubes have cities", "return a", "return b", strict=True)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(12):
        steps = ";".join(long_step() for _ in range(5))
        lf_em("which cubes " * 100, steps, f"{steps} cubes")
        lf_em("which cities", steps, f"{steps} cubes", strict=True)
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 600_000

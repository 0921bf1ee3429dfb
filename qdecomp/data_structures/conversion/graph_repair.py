"""Repairs of predicted graphs: what has one obvious reading is changed to it, and every change is reported.

What has no obvious reading (a tie between two operators, a cycle of edges whose scores are unknown, a missing argument)
is left as it is, and :func:`~qdecomp.data_structures.conversion.sdg_to_dg.to_span_graph` says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeVar

from qdecomp.data_structures.conversion.sdg_to_dg import fault_of, nodes_of
from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, EdgeTag, format_tag, parse_tag
from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.operators import OPERATORS
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN

_T = TypeVar("_T")


def repair(graph: DependencyGraph) -> tuple[DependencyGraph, tuple[str, ...]]:
    """The graph with what has one obvious reading changed to it, and a sentence for each change."""
    notes: list[str] = []
    for change in _CHANGES:
        graph = DependencyGraph(graph.tokens, tuple(change(graph, notes)))
    return graph, tuple(notes)


def _name(graph: DependencyGraph, edge: Edge) -> str:
    return f"the {edge.tag} edge from {graph.describe(edge.head)} to {graph.describe(edge.dependent)}"


def _without_senseless_edges(graph: DependencyGraph, notes: list[str]) -> Sequence[Edge]:
    reasons = {edge: _senseless(graph, edge) for edge in graph.edges}
    notes += [f"dropped {_name(graph, edge)}: {reason}" for edge, reason in reasons.items() if reason]
    return [edge for edge, reason in reasons.items() if not reason]


def _senseless(graph: DependencyGraph, edge: Edge) -> str | None:
    try:
        if edge.tag not in STRUCTURAL_TAGS:
            parse_tag(edge.tag)
    except GraphError as error:
        return fault_of(graph, edge) or error.reason
    return fault_of(graph, edge)


def _with_straight_spans(graph: DependencyGraph, notes: list[str]) -> Iterator[Edge]:
    """Tokens that span edges connect, in whatever way, are one node: chain them from left to right."""
    present = {(edge.head, edge.dependent) for edge in graph.edges if edge.tag == SPAN}
    wanted = {pair for node in nodes_of(graph) for pair in pairwise(node)}
    yield from (edge for edge in graph.edges if edge.tag != SPAN or (edge.head, edge.dependent) in wanted)
    yield from (Edge(left, right, SPAN) for left, right in wanted - present)
    if present != wanted:
        notes.append("made one chain from left to right of tokens that span edges connect in another way")


def _without_empty_copies(graph: DependencyGraph, notes: list[str]) -> Sequence[Edge]:
    """A [DUP] that copies nothing leaves its chain; if its node has nothing else, a free [DUM] takes its place."""
    copying = {edge.head for edge in graph.edges if edge.tag == DUPLICATE}
    used = {token for edge in graph.edges for token in (edge.head, edge.dependent)}
    free = [place for place, token in enumerate(graph.tokens) if token == DUMMY and place not in used]
    edges = list(graph.edges)
    for node in nodes_of(graph):
        empty = {token for token in node if graph.tokens[token] == DUPLICATE_TOKEN and token not in copying}
        rest = [token for token in node if token not in empty]
        if not empty or not (rest or free):
            continue
        kept = rest or [free.pop(0)]
        edges = [edge for edge in edges if edge.tag != SPAN or edge.head not in node]
        edges += [Edge(left, right, SPAN) for left, right in pairwise(kept)]
        edges = [_moved(edge, dict.fromkeys(empty, kept[-1])) for edge in edges]
        names = ", ".join(map(graph.describe, sorted(empty)))
        notes.append(f"left {names} out: it copies no token")
    return edges


def _moved(edge: Edge, new: dict[int, int]) -> Edge:
    return replace(edge, head=new.get(edge.head, edge.head), dependent=new.get(edge.dependent, edge.dependent))


def _at_representatives(graph: DependencyGraph, notes: list[str]) -> Iterator[Edge]:
    """An edge at any token of a node is an edge of the node, and belongs to its last token."""
    last = {token: node[-1] for node in nodes_of(graph) for token in node}
    for edge in graph.edges:
        moved = edge if edge.tag in (SPAN, DUPLICATE) else _moved(edge, last)
        if moved.head == moved.dependent:
            notes.append(f"dropped {_name(graph, edge)}: both are in one node")
            continue
        if moved != edge:
            notes.append(f"moved {_name(graph, edge)} to the last tokens of the nodes")
        yield moved


def _with_one_operator(graph: DependencyGraph, notes: list[str]) -> Iterator[Edge]:
    """Of several operators on a node, the one with the higher sum of scores, or with more edges, stays."""
    for head, edges in _by_head(graph).items():
        tags = {edge: parse_tag(edge.tag) for edge in edges}
        operator = _favourite(edges, [tags[edge].operator for edge in edges])
        if operator is None:
            yield from edges
            continue
        kept = [edge for edge in edges if tags[edge].operator == operator]
        reason = f"most edges of {graph.describe(head)} say {operator}"
        notes += [f"dropped {_name(graph, edge)}: {reason}" for edge in edges if edge not in kept]
        properties = _favourite(kept, [tags[edge].properties for edge in kept])
        for edge in kept:
            if properties is None or tags[edge].properties == properties:
                yield edge
            else:
                tag = format_tag(EdgeTag(operator, tags[edge].argument, properties))
                notes.append(f"made {_name(graph, edge)} a {tag} edge, as the others of its node")
                yield replace(edge, tag=tag)
    yield from (edge for edge in graph.edges if edge.tag in STRUCTURAL_TAGS)


def _by_head(graph: DependencyGraph) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = {}
    for edge in graph.edges:
        if edge.tag not in STRUCTURAL_TAGS:
            found.setdefault(edge.head, []).append(edge)
    return found


def _favourite(edges: Sequence[Edge], values: Sequence[_T]) -> _T | None:
    """The value with the most weight; None for a tie."""
    scored = all(edge.score is not None for edge in edges)
    weights: dict[_T, float] = {}
    for edge, value in zip(edges, values, strict=True):
        weights[value] = weights.get(value, 0.0) + ((edge.score or 0.0) if scored else 1.0)
    best = [value for value, weight in weights.items() if weight == max(weights.values())]
    return best[0] if len(best) == 1 else None


def _without_cycles(graph: DependencyGraph, notes: list[str]) -> Sequence[Edge]:
    """In a cycle of edges with scores, the weakest edge goes."""
    edges = list(graph.edges)
    while (cycle := _cycle(edges)) and all(edge.score is not None for edge in cycle):
        weakest = min(cycle, key=lambda edge: (edge.score or 0.0, edge))
        notes.append(f"dropped {_name(graph, weakest)}: the weakest of a cycle")
        edges.remove(weakest)
    return edges


def _cycle(edges: Iterable[Edge]) -> list[Edge]:
    references = [edge for edge in edges if edge.tag not in STRUCTURAL_TAGS]
    targets: dict[int, set[int]] = {}
    for edge in references:
        targets.setdefault(edge.head, set()).add(edge.dependent)
    try:
        TopologicalSorter(targets).prepare()
    except CycleError as error:
        # The path goes from a dependent to its head.
        steps = set(pairwise(error.args[1]))
        return [edge for edge in references if (edge.dependent, edge.head) in steps]
    return []


def _with_one_root(graph: DependencyGraph, notes: list[str]) -> Sequence[Edge]:
    """Of several roots, the one that reaches the most nodes stays, with the nodes that it reaches."""
    members = {node[-1]: node for node in nodes_of(graph)}
    references = [edge for edge in graph.edges if edge.tag not in STRUCTURAL_TAGS]
    referred_to = {edge.dependent for edge in references}
    roots = sorted(members.keys() - referred_to)
    reached = {root: _reachable(graph, root, referred_to) for root in roots}
    largest = max((len(nodes) for nodes in reached.values()), default=0)
    best = [root for root in roots if len(reached[root]) == largest]
    if len(best) != 1:
        return graph.edges
    kept = {token for node in reached[best[0]] for token in members[node]}
    needless = [graph.describe(node) for node in members if node not in reached[best[0]]]
    notes += [f"dropped the node of {name}: the answer does not need it" for name in needless]
    edges = [edge for edge in graph.edges if edge.head in kept]
    wrong = [edge for edge in edges if edge.tag == UNUSED and (edge.head != best[0] or edge.dependent in referred_to)]
    notes.extend(f"dropped {_name(graph, edge)}: it is not from the root to an unused node" for edge in wrong)
    return [edge for edge in edges if edge not in wrong]


def _reachable(graph: DependencyGraph, root: int, referred_to: set[int]) -> set[int]:
    nodes = [root]
    for node in nodes:
        for edge in graph.edges:
            is_way = edge.tag not in STRUCTURAL_TAGS or (
                edge.tag == UNUSED and node == root and edge.dependent not in referred_to
            )
            if edge.head == node and is_way and edge.dependent not in nodes:
                nodes.append(edge.dependent)
    return set(nodes)


def _with_needed_argument(graph: DependencyGraph, notes: list[str]) -> Iterator[Edge]:
    """A step whose only reference fills a different argument from the one that the step requires."""
    for edges in _by_head(graph).values():
        tags = [parse_tag(edge.tag) for edge in edges]
        needed = [name for name, count in OPERATORS[tags[0].operator].required.items() if count == 1]
        if len(edges) == 1 and len(needed) == 1 and tags[0].argument != needed[0]:
            tag = format_tag(replace(tags[0], argument=needed[0]))
            notes.append(f"made {_name(graph, edges[0])} a {tag} edge: its only reference")
            yield replace(edges[0], tag=tag)
        else:
            yield from edges
    yield from (edge for edge in graph.edges if edge.tag in STRUCTURAL_TAGS)


_CHANGES: tuple[Callable[[DependencyGraph, list[str]], Iterable[Edge]], ...] = (
    _without_senseless_edges,
    _with_straight_spans,
    _without_empty_copies,
    _at_representatives,
    _with_one_operator,
    _without_cycles,
    _with_one_root,
    _with_needed_argument,
)

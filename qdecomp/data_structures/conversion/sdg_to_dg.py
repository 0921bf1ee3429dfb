"""Span graph to dependency graph and back.

A node's tokens are chained from left to right by ``span`` edges, and its rightmost token stands for it. A token that
several nodes share stays with the first of them; each other one takes one ``[DUP]`` token with a ``duplicate`` edge to
every token that it shares. A node without tokens takes a ``[DUM]``; so does the only node of a graph with one token,
which otherwise would have no edge. Placeholders are taken in the order of the nodes, so that equal questions give
equal graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, UNUSED, format_tag, parse_tag
from qdecomp.data_structures.errors import GraphError, Reason
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph
from qdecomp.data_structures.special_tokens import DUMMY, DUPLICATE_TOKEN, SEPARATOR, SpecialTokens

_STAGE = "dependency graph"


def to_dependency_graph(graph: SpanGraph, special: SpecialTokens) -> DependencyGraph:
    """Project a span graph onto single tokens; too few placeholders are a :class:`GraphError`."""
    question = graph.question_tokens
    if graph.tokens[len(question) :] != special.words:
        raise GraphError(_STAGE, "the span graph was made with other resource words")
    representatives, edges, needed = _project_nodes(graph, special.duplicates)
    if needed[0] > special.duplicates or needed[1] > special.dummies:
        token = DUPLICATE_TOKEN if needed[0] > special.duplicates else DUMMY
        template = f"too few {token} tokens: needs {{}} {DUPLICATE_TOKEN} and {{}} {DUMMY}, there are {{}} and {{}}"
        raise GraphError(_STAGE, Reason(template, *needed, special.duplicates, special.dummies))
    for edge in graph.edges:
        edges.append(Edge(representatives[edge.source], representatives[edge.target], format_tag(edge.tag)))
    edges.extend(Edge(representatives[graph.root], representatives[node], UNUSED) for node in graph.unused)
    return DependencyGraph((*question, *special.appended), tuple(edges))


def placeholders_needed(graph: SpanGraph) -> tuple[int, int]:
    """How many ``[DUP]`` and ``[DUM]`` tokens a span graph takes."""
    return _project_nodes(graph, 0)[2]


def _project_nodes(graph: SpanGraph, duplicates: int) -> tuple[list[int], list[Edge], tuple[int, int]]:
    """The position that stands for each node, the edges inside of nodes, and how many placeholders they take."""
    representatives: list[int] = []
    edges: list[Edge] = []
    owned: set[int] = set()
    copies = dummies = 0
    for positions in graph.nodes:
        chain = [position for position in positions if position not in owned]
        shared = [position for position in positions if position in owned]
        owned.update(chain)
        if shared:
            copy = len(graph.tokens) + copies
            copies += 1
            edges.extend(Edge(copy, position, DUPLICATE) for position in shared)
            chain.append(copy)
        if not chain or (len(graph.nodes) == 1 and len(chain) == 1):
            chain.append(len(graph.tokens) + duplicates + dummies)
            dummies += 1
        edges.extend(Edge(left, right, SPAN) for left, right in pairwise(chain))
        representatives.append(chain[-1])
    if len(graph.nodes) == 1 and not edges:
        raise GraphError(_STAGE, "the only step has no token in the question")
    return representatives, edges, (copies, dummies)


def to_span_graph(graph: DependencyGraph) -> SpanGraph:
    """Read the steps off a dependency graph; one that means nothing is a :class:`GraphError` that says why."""
    _check_edges(graph)
    members = chains(graph)
    node_of = {chain[-1]: number for number, chain in enumerate(members)}
    edges = list(_references(graph, node_of))
    root = _root(graph, members, node_of, edges)
    copies: dict[int, list[int]] = {}
    for edge in graph.edges:
        if edge.tag == DUPLICATE:
            copies.setdefault(edge.head, []).append(edge.dependent)
    words_end = graph.words_end
    nodes = [
        tuple(word for token in chain for word in copies.get(token, [token] if token < words_end else []))
        for chain in members
    ]
    order = [number for number in range(len(nodes)) if number != root] + [root]
    place = {old: new for new, old in enumerate(order)}
    return SpanGraph(
        graph.tokens[:words_end],
        tuple(nodes[number] for number in order),
        tuple(SpanEdge(place[edge.source], place[edge.target], edge.tag) for edge in edges),
    )


def chains(graph: DependencyGraph) -> list[tuple[int, ...]]:
    """The tokens of each node, from left to right; nodes are sorted by their last token, which stands for them."""
    following: dict[int, int] = {}
    preceding: dict[int, int] = {}
    used: set[int] = set()
    for edge in graph.edges:
        used.add(edge.head)
        if edge.tag != DUPLICATE:
            used.add(edge.dependent)
        if edge.tag != SPAN:
            continue
        if edge.head in following or edge.dependent in preceding:
            fork = edge.head if edge.head in following else edge.dependent
            raise GraphError(_STAGE, Reason("two span edges on one side of token {}", graph.describe(fork)))
        following[edge.head], preceding[edge.dependent] = edge.dependent, edge.head
    found = [[start] for start in used - preceding.keys()]
    for chain in found:
        while chain[-1] in following:
            chain.append(following[chain[-1]])
    return sorted(map(tuple, found), key=lambda chain: chain[-1])


def _check_edges(graph: DependencyGraph) -> None:
    """What a single edge may look like, and that no ``[DUP]`` is left without a token to copy."""
    if not graph.edges:
        raise GraphError(_STAGE, "there is no edge")
    copying = {edge.head for edge in graph.edges if edge.tag == DUPLICATE}
    for edge in graph.edges:
        fault = fault_of(graph, edge)
        if fault is None and edge.tag == SPAN and edge.head > edge.dependent:
            fault = Reason("span edges go to the right")
        if fault is not None:
            where = f"{edge.tag} edge from {graph.describe(edge.head)} to {graph.describe(edge.dependent)}"
            raise GraphError(_STAGE, Reason("{}: {}", where, fault))
        for position in (edge.head, edge.dependent):
            if graph.tokens[position] == DUPLICATE_TOKEN and position not in copying:
                reason = Reason("{} copies no token: it has no duplicate edge", graph.describe(position))
                raise GraphError(_STAGE, reason)


def fault_of(graph: DependencyGraph, edge: Edge) -> Reason | None:
    """Why an edge means nothing, whatever the others are."""
    if edge.head == edge.dependent:
        return Reason("from a token to itself")
    if SEPARATOR in (graph.tokens[edge.head], graph.tokens[edge.dependent]):
        return Reason("the separator takes part in no edge")
    if edge.tag == DUPLICATE and (graph.tokens[edge.head] != DUPLICATE_TOKEN or edge.dependent >= graph.words_end):
        return Reason("must go from a {} to a word", DUPLICATE_TOKEN)
    return None


def _references(graph: DependencyGraph, node_of: dict[int, int]) -> Iterator[SpanEdge]:
    """The edges between nodes; all edges of a node must have one operator and one set of properties."""
    signatures: dict[int, tuple[str, object]] = {}
    for edge in graph.edges:
        if edge.tag in (SPAN, DUPLICATE):
            continue
        for position in (edge.head, edge.dependent):
            if position not in node_of:
                where = graph.describe(position)
                reason = Reason("{} edge at token {}, which is not the last of its node", edge.tag, where)
                raise GraphError(_STAGE, reason)
        if edge.tag == UNUSED:
            continue
        tag = parse_tag(edge.tag)
        first, signature = signatures.setdefault(edge.head, (edge.tag, (tag.operator, tag.properties)))
        if signature != (tag.operator, tag.properties):
            details = first, edge.tag, graph.describe(edge.head)
            raise GraphError(_STAGE, Reason("two operators on one node: {} and {} at token {}", *details))
        yield SpanEdge(node_of[edge.head], node_of[edge.dependent], tag)


def _root(
    graph: DependencyGraph, members: list[tuple[int, ...]], node_of: dict[int, int], edges: list[SpanEdge]
) -> int:
    """The one node that nothing refers to; only its edges may say which other nodes are unused."""
    unused = [edge for edge in graph.edges if edge.tag == UNUSED]
    referred_to = {edge.target for edge in edges}
    roots = sorted(set(node_of.values()) - referred_to - {node_of[edge.dependent] for edge in unused})
    if not roots:
        raise GraphError(_STAGE, "no root: every node is referred to by another, so there is a cycle")
    if len(roots) > 1:
        names = ", ".join(graph.describe(members[number][-1]) for number in roots)
        raise GraphError(_STAGE, Reason("{} roots: nothing refers to the nodes of tokens {}", len(roots), names))
    for edge in unused:
        if node_of[edge.head] != roots[0]:
            reason = Reason("{} edge from {}, which is not the root", UNUSED, graph.describe(edge.head))
            raise GraphError(_STAGE, reason)
        if node_of[edge.dependent] in referred_to:
            raise GraphError(_STAGE, Reason("{} edge to {}, which is used", UNUSED, graph.describe(edge.dependent)))
    return roots[0]

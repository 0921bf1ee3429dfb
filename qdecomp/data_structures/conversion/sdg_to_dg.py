"""Span graph to dependency graph and back.

A node's tokens are chained from left to right by ``span`` edges, and its rightmost token stands for it. A token that
several nodes share stays with the first of them; each other one takes one ``[DUP]`` token with a ``duplicate`` edge to
every token that it shares. A node without tokens takes a ``[DUM]``; so does the only node of a graph with one token,
which otherwise would have no edge. Placeholders are taken in the order of the nodes, so that equal questions give
equal graphs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import DUPLICATE, SPAN, STRUCTURAL_TAGS, UNUSED, EdgeTag, format_tag, parse_tag
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
    ends = {tokens[-1] for tokens in nodes_of(graph)}
    _check_root(graph, ends, _check_references(graph, ends))
    return project(graph)


def _check_edges(graph: DependencyGraph) -> None:
    """What a single edge may look like, that no ``[DUP]`` is left without a token to copy, and that no chain forks."""
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
    seen: set[tuple[str, int]] = set()
    for edge in graph.edges:
        for side in (("from", edge.head), ("to", edge.dependent)) if edge.tag == SPAN else ():
            if side in seen:
                raise GraphError(_STAGE, Reason("two span edges on one side of token {}", graph.describe(side[1])))
            seen.add(side)


def fault_of(graph: DependencyGraph, edge: Edge) -> Reason | None:
    """Why an edge means nothing, whatever the others are."""
    if edge.head == edge.dependent:
        return Reason("from a token to itself")
    if SEPARATOR in (graph.tokens[edge.head], graph.tokens[edge.dependent]):
        return Reason("the separator takes part in no edge")
    if edge.tag == DUPLICATE and (graph.tokens[edge.head] != DUPLICATE_TOKEN or edge.dependent >= graph.words_end):
        return Reason("must go from a {} to a word", DUPLICATE_TOKEN)
    return None


def _check_references(graph: DependencyGraph, ends: set[int]) -> set[int]:
    """The ends that are referred to. Edges join ends of nodes; those of a node have one operator and properties."""
    signatures: dict[int, tuple[str, EdgeTag]] = {}
    referred_to = set()
    for edge in graph.edges:
        if edge.tag in (SPAN, DUPLICATE):
            continue
        for position in (edge.head, edge.dependent):
            if position not in ends:
                where = graph.describe(position)
                reason = Reason("{} edge at token {}, which is not the last of its node", edge.tag, where)
                raise GraphError(_STAGE, reason)
        if edge.tag == UNUSED:
            continue
        tag = parse_tag(edge.tag)
        first, known = signatures.setdefault(edge.head, (edge.tag, tag))
        if (known.operator, known.properties) != (tag.operator, tag.properties):
            details = first, edge.tag, graph.describe(edge.head)
            raise GraphError(_STAGE, Reason("two operators on one node: {} and {} at token {}", *details))
        referred_to.add(edge.dependent)
    return referred_to


def _check_root(graph: DependencyGraph, ends: set[int], referred_to: set[int]) -> None:
    """There is one node that nothing refers to; only its edges may say which other nodes are unused."""
    unused = [edge for edge in graph.edges if edge.tag == UNUSED]
    roots = sorted(ends - referred_to - {edge.dependent for edge in unused})
    if not roots:
        raise GraphError(_STAGE, "no root: every node is referred to by another, so there is a cycle")
    if len(roots) > 1:
        names = ", ".join(map(graph.describe, roots))
        raise GraphError(_STAGE, Reason("{} roots: nothing refers to the nodes of tokens {}", len(roots), names))
    for edge in unused:
        if edge.head != roots[0]:
            reason = Reason("{} edge from {}, which is not the root", UNUSED, graph.describe(edge.head))
            raise GraphError(_STAGE, reason)
        if edge.dependent in referred_to:
            raise GraphError(_STAGE, Reason("{} edge to {}, which is used", UNUSED, graph.describe(edge.dependent)))


def project(graph: DependencyGraph) -> SpanGraph:
    """The span graph that predicted edges say; a :class:`GraphError` if they contradict each other.

    This is the paper's projection (its section on the graph parser). What the paper does not say: of several
    properties, those of the first edge count, as in its published code; edges within a node are dropped; a ``[DUP]``
    without a token to copy is a node without words, and so is the separator; and of several nodes that nothing refers
    to, the last one is the root.

    >>> edges = (Edge(1, 0, "span"), Edge(1, 2, "span"), Edge(3, 1, "aggregate-arg[count]"))
    >>> project(DependencyGraph(("small", "red", "cubes", "number"), edges)).nodes
    ((0, 1, 2), (3,))
    """
    nodes = nodes_of(graph)
    if not nodes:
        raise GraphError("projection", "there is no edge")
    node_of = {token: number for number, tokens in enumerate(nodes) for token in tokens}
    edges = list(_references(graph, node_of))
    roots = set(range(len(nodes))) - {edge.target for edge in edges}
    used_roots = roots - {node_of[edge.dependent] for edge in graph.edges if edge.tag == UNUSED}
    order = sorted(range(len(nodes)), key=lambda number: (number in (used_roots or roots), number))
    place = {old: new for new, old in enumerate(order)}
    return SpanGraph(
        graph.tokens[: graph.words_end],
        tuple(_words(graph, nodes[number]) for number in order),
        tuple(SpanEdge(place[edge.source], place[edge.target], edge.tag) for edge in edges),
    )


def nodes_of(graph: DependencyGraph) -> list[tuple[int, ...]]:
    """The tokens of each node, which ``span`` edges connect; sorted by their last one, which stands for the node.

    A token that is only copied belongs to the nodes of its copies.
    """
    group: dict[int, set[int]] = {}
    for edge in graph.edges:
        for token in (edge.head,) if edge.tag == DUPLICATE else (edge.head, edge.dependent):
            group.setdefault(token, {token})
        if edge.tag == SPAN:
            joined = group[edge.head] | group[edge.dependent]
            group.update(dict.fromkeys(joined, joined))
    return sorted({tuple(sorted(tokens)) for tokens in group.values()}, key=lambda tokens: tokens[-1])


def _references(graph: DependencyGraph, node_of: dict[int, int]) -> Iterator[SpanEdge]:
    """The edges between nodes; a node has one operator, and the properties of its first edge."""
    first: dict[int, EdgeTag] = {}
    for edge in graph.edges:
        if edge.tag in STRUCTURAL_TAGS or node_of[edge.head] == node_of[edge.dependent]:
            continue
        source, tag = node_of[edge.head], parse_tag(edge.tag)
        known = first.setdefault(source, tag)
        if known.operator != tag.operator:
            details = known.operator, tag.operator, graph.describe(edge.head)
            raise GraphError("projection", Reason("two operators on one node: {} and {} at token {}", *details))
        yield SpanEdge(source, node_of[edge.dependent], replace(tag, properties=known.properties))


def _words(graph: DependencyGraph, node: tuple[int, ...]) -> tuple[int, ...]:
    """The words of a node: its own and those that it copies."""
    copied = [edge.dependent for edge in graph.edges if edge.tag == DUPLICATE and edge.head in node]
    found = [*node, *copied]
    return tuple(token for token in found if token < graph.words_end and graph.tokens[token] != SEPARATOR)

"""Dependency and span graphs in other forms: Graphviz's DOT, a CoNLL-U-like table, and ``networkx``.

The text forms can be read back to the same value: ``parse_dot(format_dot(graph)) == graph``, and likewise for the
table, except that the scores of edges are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import format_tag, parse_tag
from qdecomp.data_structures.errors import GraphError, Reason, missing_extra, require_text
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph

if TYPE_CHECKING:
    import networkx

_QUOTED = r'"(?:[^"\\]|\\.)*"'
# Longer numbers cannot name a token, and Python refuses to read very long ones.
_INDEX = "[0-9]{1,9}"
_DOT_NODE = re.compile(rf"\s*({_INDEX}) \[label=({_QUOTED})(?:, tokens=({_QUOTED}))?\];")
_DOT_EDGE = re.compile(rf"\s*({_INDEX}) -> ({_INDEX}) \[label=({_QUOTED})\];")
_PLACES = re.compile(rf"\s*(?:{_INDEX}(?:\s+|\Z))*")
_COLUMNS = 10  # ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC
_NOTHING = "_"


def format_dot(graph: DependencyGraph) -> str:
    """Write a dependency graph for Graphviz, tokens in a row and edges above them.

    >>> print(format_dot(DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub"),))))
    digraph dependency_graph {
      rankdir=LR;
      0 [label="red"];
      1 [label="cubes"];
      0 -> 1 [label="filter-sub"];
    }
    """
    nodes = [f"{place} [label={_quote(token)}];" for place, token in enumerate(graph.tokens)]
    return _dot("dependency_graph", nodes, [(edge.head, edge.dependent, edge.tag) for edge in graph.edges])


def parse_dot(text: str) -> DependencyGraph:
    """Read what :func:`format_dot` wrote."""
    nodes, edges = _parse_dot(text, "dependency_graph")
    return DependencyGraph(tuple(label for label, _ in nodes), tuple(Edge(*edge) for edge in edges))


def format_span_dot(graph: SpanGraph) -> str:
    """Write a span graph for Graphviz: a node shows its words, and the last comment holds all tokens.

    >>> print(format_span_dot(SpanGraph(("red", "cubes"), ((1,), (0,)), (SpanEdge(1, 0, parse_tag("filter-sub")),))))
    digraph span_graph {
      rankdir=LR;
      // red cubes
      0 [label="cubes", tokens="1"];
      1 [label="red", tokens="0"];
      1 -> 0 [label="filter-sub"];
    }
    """
    nodes = [f"// {' '.join(graph.tokens)}"]
    for node, positions in enumerate(graph.nodes):
        places = " ".join(map(str, positions))
        nodes.append(f'{node} [label={_quote(" ".join(graph.words(node)))}, tokens="{places}"];')
    return _dot("span_graph", nodes, [(edge.source, edge.target, format_tag(edge.tag)) for edge in graph.edges])


def parse_span_dot(text: str) -> SpanGraph:
    """Read what :func:`format_span_dot` wrote."""
    nodes, edges = _parse_dot(text, "span_graph")
    comment = re.search(r"^\s*// (.*)$", text, re.MULTILINE)
    places = [places for _, places in nodes if places is not None and _PLACES.fullmatch(places)]
    if comment is None or len(places) < len(nodes):
        raise GraphError("dot", "a span graph has a comment with all tokens, and tokens for each node")
    positions = tuple(tuple(map(int, each.split())) for each in places)
    return SpanGraph(tuple(comment[1].split()), positions, tuple(SpanEdge(s, t, parse_tag(tag)) for s, t, tag in edges))


def _dot(name: str, nodes: Iterable[str], edges: Iterable[tuple[int, int, str]]) -> str:
    arrows = (f"{source} -> {target} [label={_quote(tag)}];" for source, target, tag in edges)
    body = "\n".join(f"  {line}" for line in ("rankdir=LR;", *nodes, *arrows))
    return f"digraph {name} {{\n{body}\n}}"


def _parse_dot(text: str, name: str) -> tuple[list[tuple[str, str | None]], list[tuple[int, int, str]]]:
    """The nodes with their labels and places, and the edges."""
    require_text(text, "a graph in DOT")
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2 or lines[0].split() != ["digraph", name, "{"] or lines[-1].strip() != "}":
        raise GraphError("dot", Reason("expected 'digraph {} {{' … '}}'", name))
    nodes: list[tuple[str, str | None]] = []
    edges: list[tuple[int, int, str]] = []
    for number, line in enumerate(lines[1:-1], start=2):
        if node := _DOT_NODE.fullmatch(line):
            if int(node[1]) != len(nodes):
                raise GraphError("dot", Reason("line {}: expected node {}, got {}", number, len(nodes), node[1]))
            nodes.append((_unquote(node[2]), node[3] and _unquote(node[3])))
        elif edge := _DOT_EDGE.fullmatch(line):
            edges.append((int(edge[1]), int(edge[2]), _unquote(edge[3])))
        elif not line.strip().startswith(("//", "rankdir=")):
            reason = Reason("line {} is neither a node nor an edge of ours: {!r}", number, line.strip()[:80])
            raise GraphError("dot", reason)
    return nodes, edges


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def format_conllu(graph: DependencyGraph) -> str:
    """Write a table with a line per token and CoNLL-U's ten columns, of which ID, FORM and DEPS are filled.

    DEPS holds ``head:tag`` for each incoming edge, separated by ``|``; tokens are counted from 1.

    >>> print(format_conllu(DependencyGraph(("red", "cubes"), (Edge(0, 1, "filter-sub"),))).replace("\\t", " "))
    1 red _ _ _ _ _ _ _ _
    2 cubes _ _ _ _ _ _ 1:filter-sub _
    """
    incoming: dict[int, list[str]] = {}
    for edge in graph.edges:
        incoming.setdefault(edge.dependent, []).append(f"{edge.head + 1}:{edge.tag}")
    rows = (
        (str(place + 1), token, *[_NOTHING] * 6, "|".join(incoming.get(place, ())) or _NOTHING, _NOTHING)
        for place, token in enumerate(graph.tokens)
    )
    return "\n".join("\t".join(row) for row in rows)


def parse_conllu(text: str) -> DependencyGraph:
    """Read what :func:`format_conllu` wrote; lines that begin with ``# `` and the unused columns are ignored."""
    require_text(text, "a table of a graph")
    tokens: list[str] = []
    edges: list[Edge] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("# "):
            continue
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            raise GraphError("table", Reason("line {}: expected {} columns, got {}", number, _COLUMNS, len(cells)))
        if cells[0] != str(len(tokens) + 1):
            raise GraphError("table", Reason("line {}: expected token {}, got {!r}", number, len(tokens) + 1, cells[0]))
        for entry in cells[8].split("|") if cells[8] != _NOTHING else ():
            head, _, tag = entry.partition(":")
            if not re.fullmatch(_INDEX, head):
                raise GraphError("table", Reason("line {}: expected head:tag, got {!r}", number, entry))
            edges.append(Edge(int(head) - 1, len(tokens), tag))
        tokens.append(cells[1])
    return DependencyGraph(tuple(tokens), tuple(edges))


def dependency_graph_to_networkx(graph: DependencyGraph) -> networkx.MultiDiGraph[int]:
    """A ``networkx`` graph: nodes are positions with a ``token``, edges have a ``tag`` and a ``score``."""
    edges = ((edge.head, edge.dependent, {"tag": edge.tag, "score": edge.score}) for edge in graph.edges)
    return _to_networkx(({"token": token} for token in graph.tokens), edges)


def dependency_graph_from_networkx(graph: networkx.MultiDiGraph[int]) -> DependencyGraph:
    """Read what :func:`dependency_graph_to_networkx` made."""
    tokens = [str(_attribute(data, "token")) for data in _networkx_nodes(graph)]
    edges = [Edge(s, t, _attribute(data, "tag"), data.get("score")) for s, t, data in graph.edges(data=True)]
    return DependencyGraph(tuple(tokens), tuple(edges))


def span_graph_to_networkx(graph: SpanGraph) -> networkx.MultiDiGraph[int]:
    """A ``networkx`` graph: nodes have ``positions`` and ``words``, edges a ``tag``, the graph itself ``tokens``."""
    nodes = ({"positions": positions, "words": graph.words(node)} for node, positions in enumerate(graph.nodes))
    edges = ((edge.source, edge.target, {"tag": format_tag(edge.tag)}) for edge in graph.edges)
    return _to_networkx(nodes, edges, tokens=graph.tokens)


def span_graph_from_networkx(graph: networkx.MultiDiGraph[int]) -> SpanGraph:
    """Read what :func:`span_graph_to_networkx` made."""
    nodes = [tuple(_attribute(data, "positions")) for data in _networkx_nodes(graph)]
    edges = [SpanEdge(s, t, parse_tag(_attribute(data, "tag"))) for s, t, data in graph.edges(data=True)]
    return SpanGraph(tuple(_attribute(graph.graph, "tokens")), tuple(nodes), tuple(edges))


def _to_networkx(
    nodes: Iterable[dict[str, Any]], edges: Iterable[tuple[int, int, dict[str, Any]]], **attributes: object
) -> networkx.MultiDiGraph[int]:
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise missing_extra("a networkx graph", "graphs") from None
    graph = MultiDiGraph(**attributes)
    graph.add_nodes_from(enumerate(nodes))
    graph.add_edges_from((source, target, data["tag"], data) for source, target, data in edges)
    return graph


def _networkx_nodes(graph: networkx.MultiDiGraph[int]) -> list[dict[str, Any]]:
    if set(graph.nodes) != set(range(len(graph))):
        raise GraphError("networkx", "the nodes must be the numbers from 0 on")
    return [graph.nodes[node] for node in range(len(graph))]


def _attribute(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise GraphError("networkx", Reason("there is no attribute {!r}", name))
    return data[name]

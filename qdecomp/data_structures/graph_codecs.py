"""Dependency and span graphs in other forms: Graphviz's DOT, a CoNLL-U-like table, and ``networkx``.

The text forms can be read back to the same value: ``parse_dot(format_dot(graph)) == graph``, and likewise for the
table, except that the scores of edges are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import format_tag, parse_tag
from qdecomp.data_structures.errors import GraphError, Reason, missing_extra, require_text
from qdecomp.data_structures.span_graph import SpanEdge, SpanGraph

if TYPE_CHECKING:
    import networkx

__all__ = [
    "dependency_graph_from_networkx",
    "dependency_graph_to_networkx",
    "format_conllu",
    "format_dot",
    "format_span_dot",
    "parse_conllu",
    "parse_dot",
    "parse_span_dot",
    "span_graph_from_networkx",
    "span_graph_to_networkx",
]

_QUOTED = r'"(?:[^"\\]|\\.)*"'
# Longer numbers cannot name a token, and Python refuses to read very long ones.
_INDEX = "[0-9]{1,9}"
_DOT_NODE = re.compile(rf"\s*({_INDEX}) \[label=({_QUOTED})(?:, tokens=({_QUOTED}))?\];")
_DOT_EDGE = re.compile(rf"\s*({_INDEX}) -> ({_INDEX}) \[label=({_QUOTED})\];")
_PLACES = re.compile(rf"\s*(?:{_INDEX}(?:\s+|\Z))*")
_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
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
    lines = [f"{place} [label={_quote(token)}];" for place, token in enumerate(graph.tokens)]
    lines += [f"{edge.head} -> {edge.dependent} [label={_quote(edge.tag)}];" for edge in graph.edges]
    return _dot("dependency_graph", lines)


def parse_dot(text: str) -> DependencyGraph:
    """Read what :func:`format_dot` wrote."""
    nodes, edges = _parse_dot(text, "dependency_graph")
    tokens = [label for label, _ in nodes]
    return DependencyGraph(tuple(tokens), tuple(Edge(head, dependent, tag) for head, dependent, tag in edges))


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
    lines = [f"// {' '.join(graph.tokens)}"]
    for node, positions in enumerate(graph.nodes):
        places = " ".join(map(str, positions))
        lines.append(f'{node} [label={_quote(" ".join(graph.words(node)))}, tokens="{places}"];')
    lines += [f"{edge.source} -> {edge.target} [label={_quote(format_tag(edge.tag))}];" for edge in graph.edges]
    return _dot("span_graph", lines)


def parse_span_dot(text: str) -> SpanGraph:
    """Read what :func:`format_span_dot` wrote."""
    nodes, edges = _parse_dot(text, "span_graph")
    comment = re.search(r"^\s*// (.*)$", text, re.MULTILINE)
    if comment is None or any(places is None or not _PLACES.fullmatch(places) for _, places in nodes):
        raise GraphError("dot", "a span graph has a comment with all tokens, and tokens for each node")
    positions = (tuple(map(int, (places or "").split())) for _, places in nodes)
    return SpanGraph(
        tuple(comment[1].split()),
        tuple(positions),
        tuple(SpanEdge(source, target, parse_tag(tag)) for source, target, tag in edges),
    )


def _dot(name: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"  {line}" for line in ("rankdir=LR;", *lines))
    return f"digraph {name} {{\n{body}\n}}"


def _parse_dot(text: str, name: str) -> tuple[list[tuple[str, str | None]], list[tuple[int, int, str]]]:
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
            nodes.append((_unquote(node[2]), None if node[3] is None else _unquote(node[3])))
        elif edge := _DOT_EDGE.fullmatch(line):
            edges.append((int(edge[1]), int(edge[2]), _unquote(edge[3])))
        elif not line.strip().startswith(("//", "rankdir=")):
            raise GraphError(
                "dot", Reason("line {} is neither a node nor an edge of ours: {!r}", number, line.strip()[:80])
            )
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
        if len(cells) != len(_COLUMNS):
            raise GraphError("table", Reason("line {}: expected {} columns, got {}", number, len(_COLUMNS), len(cells)))
        if cells[0] != str(len(tokens) + 1):
            raise GraphError("table", Reason("line {}: expected token {}, got {!r}", number, len(tokens) + 1, cells[0]))
        edges.extend(_incoming(cells[8], len(tokens), number))
        tokens.append(cells[1])
    return DependencyGraph(tuple(tokens), tuple(edges))


def _incoming(cell: str, dependent: int, line: int) -> Iterator[Edge]:
    if cell == _NOTHING:
        return
    for entry in cell.split("|"):
        head, _, tag = entry.partition(":")
        if not re.fullmatch(r"[0-9]{1,9}", head):
            raise GraphError("table", Reason("line {}: expected head:tag, got {!r}", line, entry))
        yield Edge(int(head) - 1, dependent, tag)


def dependency_graph_to_networkx(graph: DependencyGraph) -> networkx.MultiDiGraph[int]:
    """A ``networkx`` graph: nodes are positions with a ``token``, edges have a ``tag`` and a ``score``."""
    result = _networkx_graph()
    result.add_nodes_from((place, {"token": token}) for place, token in enumerate(graph.tokens))
    for edge in graph.edges:
        result.add_edge(edge.head, edge.dependent, key=edge.tag, tag=edge.tag, score=edge.score)
    return result


def dependency_graph_from_networkx(graph: networkx.MultiDiGraph[int]) -> DependencyGraph:
    """Read what :func:`dependency_graph_to_networkx` made."""
    nodes = _networkx_nodes(graph)
    edges = tuple(
        Edge(head, dependent, _attribute(data, "tag"), data.get("score"))
        for head, dependent, data in graph.edges(data=True)
    )
    return DependencyGraph(tuple(str(_attribute(data, "token")) for data in nodes), edges)


def span_graph_to_networkx(graph: SpanGraph) -> networkx.MultiDiGraph[int]:
    """A ``networkx`` graph: nodes have ``positions`` and ``words``, edges a ``tag``, the graph itself ``tokens``."""
    result = _networkx_graph(tokens=graph.tokens)
    for node, positions in enumerate(graph.nodes):
        result.add_node(node, positions=positions, words=graph.words(node))
    for edge in graph.edges:
        tag = format_tag(edge.tag)
        result.add_edge(edge.source, edge.target, key=tag, tag=tag)
    return result


def span_graph_from_networkx(graph: networkx.MultiDiGraph[int]) -> SpanGraph:
    """Read what :func:`span_graph_to_networkx` made."""
    nodes = _networkx_nodes(graph)
    return SpanGraph(
        tuple(_attribute(graph.graph, "tokens")),
        tuple(tuple(_attribute(data, "positions")) for data in nodes),
        tuple(SpanEdge(s, t, parse_tag(_attribute(data, "tag"))) for s, t, data in graph.edges(data=True)),
    )


def _networkx_graph(**attributes: object) -> networkx.MultiDiGraph[int]:
    try:
        from networkx import MultiDiGraph
    except ImportError:
        raise missing_extra("a networkx graph", "graphs") from None
    return MultiDiGraph(**attributes)


def _networkx_nodes(graph: networkx.MultiDiGraph[int]) -> list[dict[str, Any]]:
    if set(graph.nodes) != set(range(len(graph))):
        raise GraphError("networkx", "the nodes must be the numbers from 0 on")
    return [graph.nodes[node] for node in range(len(graph))]


def _attribute(data: dict[str, Any], name: str) -> Any:
    if name not in data:
        raise GraphError("networkx", Reason("there is no attribute {!r}", name))
    return data[name]

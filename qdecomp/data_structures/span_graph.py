"""Span graphs (SDG): a node per step with the positions of its tokens, and a tagged edge per reference.

The order of steps has no meaning beyond what their references say, so a span graph puts its nodes into one fixed
order (by depth, then by place in the question, the root last): two graphs are equal if they mean the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError
from typing import Any

from qdecomp.data_structures.edge_tags import EdgeTag, format_tag, parse_tag
from qdecomp.data_structures.errors import GraphError, Reason
from qdecomp.data_structures.limits import MOST_EDGES, MOST_STEPS, MOST_TOKENS, above
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import Drawn, levels_of
from qdecomp.data_structures.special_tokens import SEPARATOR, check_tokens, question_length, words_end

_STAGE = "span graph"


@dataclass(frozen=True, slots=True, order=True)
class SpanEdge:
    """A reference from the step ``source`` to the step ``target`` (both counted from 0)."""

    source: int
    target: int
    tag: EdgeTag


@dataclass(frozen=True, slots=True)
class SpanGraph(Drawn):
    """Nodes over the question's tokens, the separator and the resource words; the last node is the root.

    If nothing refers to several nodes, the last of them becomes the root and the others are unused steps.
    """

    tokens: tuple[str, ...]
    nodes: tuple[tuple[int, ...], ...]
    edges: tuple[SpanEdge, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        if reason := above(MOST_TOKENS, len(self.tokens), "tokens") or above(MOST_STEPS, len(self.nodes), "nodes"):
            raise GraphError(_STAGE, reason)
        if reason := above(MOST_EDGES, len(self.edges), "edges"):
            raise GraphError(_STAGE, reason)
        check_tokens(self.tokens, _STAGE)
        if words_end(self.tokens) < len(self.tokens):
            raise GraphError(_STAGE, "a span graph has no placeholders")
        if not self.nodes:
            raise GraphError(_STAGE, "there is no node")
        for number, positions in enumerate(self.nodes, start=1):
            for position in positions:
                if not 0 <= position < len(self.tokens) or self.tokens[position] == SEPARATOR:
                    raise GraphError(_STAGE, Reason("there is no word at position {}", position), number)
        for edge in self.edges:
            if not (0 <= edge.source < len(self.nodes) and 0 <= edge.target < len(self.nodes)):
                reason = Reason("an edge between nodes that do not exist: {}, {}", edge.source, edge.target)
                raise GraphError(_STAGE, reason)
        nodes = tuple(tuple(sorted(set(positions))) for positions in self.nodes)
        order = _canonical_order(nodes, self.edges)
        place = {old: new for new, old in enumerate(order)}
        edges = {SpanEdge(place[edge.source], place[edge.target], edge.tag) for edge in self.edges}
        object.__setattr__(self, "nodes", tuple(nodes[old] for old in order))
        object.__setattr__(self, "edges", tuple(sorted(edges)))
        for number in range(len(self.nodes)):
            self.signature(number)

    @property
    def root(self) -> int:
        """The node of the answer."""
        return len(self.nodes) - 1

    @property
    def unused(self) -> tuple[int, ...]:
        """The nodes that nothing refers to, other than the root."""
        referred_to = {edge.target for edge in self.edges}
        return tuple(node for node in range(self.root) if node not in referred_to)

    @property
    def question_tokens(self) -> tuple[str, ...]:
        """The tokens without the separator and the resource words."""
        return self.tokens[: question_length(self.tokens)]

    def words(self, node: int) -> tuple[str, ...]:
        """The tokens of a node."""
        return tuple(self.tokens[position] for position in self.nodes[node])

    def outgoing(self, node: int) -> tuple[SpanEdge, ...]:
        """The references of a node."""
        return tuple(edge for edge in self.edges if edge.source == node)

    def signature(self, node: int) -> tuple[Operator, tuple[str, ...]]:
        """The operator and the properties that all edges of a node agree on; a node without edges selects."""
        found = {(edge.tag.operator, edge.tag.properties) for edge in self.outgoing(node)}
        if len(found) > 1:
            names = " and ".join(sorted(f"{operator}[{','.join(names)}]" for operator, names in found))
            raise GraphError(_STAGE, Reason("two operators on one node: {}", names), node + 1)
        return found.pop() if found else (Operator.SELECT, ())


def _canonical_order(nodes: Sequence[tuple[int, ...]], edges: Sequence[SpanEdge]) -> list[int]:
    """By level (leaves first), then by token positions, then as given; the root last."""
    targets: dict[int, set[int]] = {node: set() for node in range(len(nodes))}
    for edge in edges:
        targets[edge.source].add(edge.target)
    roots = sorted(set(targets).difference(*targets.values()))
    if not roots:
        raise GraphError(_STAGE, "no root: every node is referred to by another")
    try:
        levels = levels_of(targets)
    except CycleError as error:
        cycle = " → ".join(f"node {node + 1}" for node in reversed(error.args[1]))
        raise GraphError(_STAGE, Reason("a cycle of references: {}", cycle)) from None
    levels[roots[-1]] = len(nodes)
    return sorted(targets, key=lambda node: (levels[node], nodes[node], node))


def span_graph_to_json(graph: SpanGraph) -> dict[str, Any]:
    """A value for ``json.dumps``."""
    return {
        "tokens": list(graph.tokens),
        "nodes": [list(positions) for positions in graph.nodes],
        "edges": [[edge.source, edge.target, format_tag(edge.tag)] for edge in graph.edges],
    }


def span_graph_from_json(value: Mapping[str, Any]) -> SpanGraph:
    """Read what :func:`span_graph_to_json` made."""
    try:
        return SpanGraph(
            tuple(map(str, value["tokens"])),
            tuple(tuple(map(int, positions)) for positions in value["nodes"]),
            tuple(SpanEdge(int(source), int(target), parse_tag(str(tag))) for source, target, tag in value["edges"]),
        )
    except GraphError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise GraphError(_STAGE, Reason("not a span graph in JSON: {}: {}", type(error).__name__, error)) from None

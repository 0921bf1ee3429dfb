"""Dependency graphs (DG): tagged edges between single tokens, as parsers learn and predict them.

A value of this type may be any set of tagged edges;
:func:`~qdecomp.data_structures.conversion.sdg_to_dg.to_span_graph` decides whether it means anything.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from qdecomp.data_structures.edge_tags import join_tags
from qdecomp.data_structures.errors import GraphError, Reason
from qdecomp.data_structures.limits import MOST_EDGES, MOST_TOKENS, above
from qdecomp.data_structures.qdmr import Drawn
from qdecomp.data_structures.special_tokens import check_tokens, question_length, words_end

_STAGE = "dependency graph"


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A tagged edge from the token ``head`` (of the step that refers) to the token ``dependent``."""

    head: int
    dependent: int
    tag: str
    score: float | None = field(default=None, compare=False)  # a parser's probability

    def __post_init__(self) -> None:
        if not self.tag or "|" in self.tag or self.tag.split() != [self.tag]:
            raise GraphError(_STAGE, Reason("not a tag: {!r}", self.tag))


@dataclass(frozen=True, slots=True)
class DependencyGraph(Drawn):
    """The question's tokens followed by the special ones, and edges between their positions (sorted, each once)."""

    tokens: tuple[str, ...]
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        if reason := above(MOST_TOKENS, len(self.tokens), "tokens") or above(MOST_EDGES, len(self.edges), "edges"):
            raise GraphError(_STAGE, reason)
        check_tokens(self.tokens, _STAGE)
        for edge in self.edges:
            if not (0 <= edge.head < len(self.tokens) and 0 <= edge.dependent < len(self.tokens)):
                where = f"{edge.head} → {edge.dependent}"
                raise GraphError(_STAGE, Reason("{} edge {}: there are {} tokens", edge.tag, where, len(self.tokens)))
        object.__setattr__(self, "edges", tuple(sorted(dict.fromkeys(self.edges))))

    @property
    def words_end(self) -> int:
        """Where the ``[DUP]`` and ``[DUM]`` tokens begin."""
        return words_end(self.tokens)

    @property
    def question_tokens(self) -> tuple[str, ...]:
        """The tokens without the special ones."""
        return self.tokens[: question_length(self.tokens)]

    def labels(self) -> dict[tuple[int, int], str]:
        """One label for each pair of tokens (head, dependent) with an edge; several tags are joined."""
        tags: dict[tuple[int, int], list[str]] = {}
        for edge in self.edges:
            tags.setdefault((edge.head, edge.dependent), []).append(edge.tag)
        return {pair: join_tags(names) for pair, names in tags.items()}

    def describe(self, position: int) -> str:
        """A token for messages: its position and its word."""
        return f"{position} {self.tokens[position]!r}"


def dependency_graph_to_json(graph: DependencyGraph) -> dict[str, Any]:
    """A value for ``json.dumps``, as in prediction records."""
    edges = [[edge.head, edge.dependent, edge.tag, edge.score] for edge in graph.edges]
    return {"tokens": list(graph.tokens), "edges": [edge if edge[3] is not None else edge[:3] for edge in edges]}


def dependency_graph_from_json(value: Mapping[str, Any]) -> DependencyGraph:
    """Read what :func:`dependency_graph_to_json` made; an edge is ``[head, dependent, tag]``, perhaps with a score."""
    try:
        edges = tuple(_edge_from_json(*edge) for edge in value["edges"])
        return DependencyGraph(tuple(map(str, value["tokens"])), edges)
    except GraphError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = Reason("not a dependency graph in JSON: {}: {}", type(error).__name__, error)
        raise GraphError(_STAGE, reason) from None


def _edge_from_json(head: Any, dependent: Any, tag: Any, score: Any = None) -> Edge:
    if score is not None and not math.isfinite(score := float(score)):
        raise GraphError(_STAGE, Reason("the score of an edge is {}", score))
    return Edge(int(head), int(dependent), str(tag), score)

"""Break's graph of a decomposition: a node for each step, an edge to each step that it refers to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from qdecomp.evaluation.metrics.break_text import BreakText, flat_text

__all__ = ["StepGraph", "graph_of", "levels_of", "text_of"]


@dataclass(frozen=True, slots=True)
class StepGraph:
    """Labels and edges by node number. The order of both matters for breaking ties."""

    labels: Mapping[int, str]
    edges: Mapping[int, tuple[int, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(self.labels)))
        object.__setattr__(self, "edges", MappingProxyType(dict(self.edges)))

    @property
    def edge_count(self) -> int:
        """How many edges there are."""
        return sum(map(len, self.edges.values()))


def graph_of(text: BreakText) -> StepGraph:
    """The graph of a decomposition. A reference to nothing makes a node without a label.

    The nodes come in the order in which the edges mention them, then those without edges.
    """
    labels = dict(enumerate(text.labels, start=1))
    edges = {step: tuple(dict.fromkeys(targets)) for step, targets in enumerate(text.references, start=1)}
    mentioned = [node for step, targets in edges.items() if targets for node in (step, *targets)]
    order = dict.fromkeys([*mentioned, *labels])
    return StepGraph({node: labels.get(node, "") for node in order}, {node: edges.get(node, ()) for node in order})


def text_of(labels: Mapping[int, str]) -> str | None:
    """The labels as one line in the order of their numbers; None unless the numbers are 1, 2, 3 and so on."""
    numbers = range(1, len(labels) + 1)
    if set(labels) != set(numbers):
        return None
    return flat_text(tuple(labels[number] for number in numbers))


def levels_of(graph: StepGraph) -> dict[int, int] | None:
    """How far each node is from the nodes without edges, by the longest path; None if there is a cycle.

    A node that leads to no such node (it refers to itself, for example) has no level.
    """
    grounded = _grounded(graph)
    inner = {node: [target for target in graph.edges[node] if target in grounded] for node in grounded}
    try:
        order = list(TopologicalSorter(inner).static_order())
    except CycleError:
        return None
    levels: dict[int, int] = {}
    for node in order:
        levels[node] = max((levels[target] + 1 for target in inner[node]), default=0)
    return levels


def _grounded(graph: StepGraph) -> set[int]:
    """The nodes from which some node without edges can be reached."""
    sources: dict[int, list[int]] = {node: [] for node in graph.labels}
    for node, targets in graph.edges.items():
        for target in targets:
            sources[target].append(node)
    waiting = [node for node, targets in graph.edges.items() if not targets]
    grounded = set(waiting)
    while waiting:
        new = [source for source in sources[waiting.pop()] if source not in grounded]
        grounded.update(new)
        waiting.extend(new)
    return grounded

"""A decomposition the way Break's official evaluator reads it, as labels and as a graph, and exact match of such texts.

It is more literal than :func:`~qdecomp.data_structures.qdmr.parse_qdmr`: any text is accepted, empty steps count,
and the letters ``return`` are removed wherever they occur, because Break's published scores depend on that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType

from qdecomp.data_structures.errors import QdmrSyntaxError
from qdecomp.data_structures.qdmr import check_references
from qdecomp.evaluation.metrics import MetricResult

_SEPARATOR = " @@SEP@@ "
_TYPED_REFERENCE = re.compile(r"#(\d+)")

REFERENCE = re.compile(r"@@(\d{1,9})@@")
"""A reference inside a label. No step number has more than nine digits: a longer one is a word."""


def mention(number: int) -> str:
    """The text inside a label that refers to a step."""
    return f"@@{number}@@"


@dataclass(frozen=True, slots=True)
class BreakText:
    """The steps' labels: without ``return``, with references written ``@@2@@``; an ordinary one begins with a space."""

    labels: tuple[str, ...]

    @property
    def flat(self) -> str:
        """The whole as one line, which the metrics compare.

        >>> parse_break_text("return ewr ;return what  does #1 stand for").flat
        'ewr @@SEP@@ what does @@1@@ stand for'
        """
        return flat_text(self.labels)

    @property
    def references(self) -> tuple[tuple[int, ...], ...]:
        """For each step the numbers that it refers to, in order, with repetitions."""
        return tuple(tuple(int(number) for number in REFERENCE.findall(label)) for label in self.labels)

    @property
    def is_empty(self) -> bool:
        """Whether no step has any text."""
        return not any(label.strip() for label in self.labels)

    @property
    def problem(self) -> QdmrSyntaxError | None:
        """Why this is not a decomposition: it is empty, or its references lead nowhere.

        >>> print(parse_break_text("return cubes ;return color of #2").problem)
        step 2: refers to itself (#2)
        """
        if self.is_empty:
            return QdmrSyntaxError("there is no step")
        try:
            check_references(self.references)
        except QdmrSyntaxError as error:
            return error
        return None


def parse_break_text(text: str) -> BreakText:
    """Read any text; the order of the replacements is the official one."""
    parts = " ".join(text.split()).split(";")
    return BreakText(tuple(_TYPED_REFERENCE.sub(r"@@\1@@", part.strip().replace("return", "")) for part in parts))


def flat_text(labels: tuple[str, ...]) -> str:
    """The labels in one line; an empty one leaves only its separators."""
    return _SEPARATOR.join(label.replace("  ", " ").strip() for label in labels)


def exact_match(question: str, prediction: str, gold: str) -> MetricResult:
    """Break's official EM; an empty prediction is wrong.

    >>> exact_match("", "return Large cylinders;return number of  #1", "return large cylinders ;return number of #1")
    MetricResult(value=1.0, error=None, details=mappingproxy({}))
    """
    predicted = parse_break_text(prediction)
    if predicted.is_empty:
        return MetricResult(0.0, f"prediction: {predicted.problem}")
    return MetricResult(float(predicted.flat.lower() == parse_break_text(gold).flat.lower()))


@dataclass(frozen=True, slots=True)
class StepGraph:
    """A node for each step, an edge to each step that it refers to: labels and edges by node number.

    The order of both matters for breaking ties.
    """

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

"""The reader of the graph parsers: questions and their dependency graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allennlp.data import DatasetReader
from allennlp.data.fields import Field

from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.training.break_reader import BreakReader
from qdecomp.training.edges_field import EdgesField

__all__ = ["BreakGraphReader"]


@DatasetReader.register("break_graph")
class BreakGraphReader(BreakReader):
    """Adds ``graph``, an :class:`~qdecomp.training.edges_field.EdgesField`, to questions with gold."""

    needs_graph = True

    def target_fields(
        self, words: Sequence[str], question: str, decomposition: str, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The gold edges, in addition to the targets of another reader that a subclass has."""
        fields = super().target_fields(words, question, decomposition, graph)
        return {**fields, "graph": EdgesField.of_graph(graph)}

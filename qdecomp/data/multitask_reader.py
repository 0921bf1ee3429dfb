"""The reader of parsers that learn both to write decompositions and to predict graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from allennlp.data import DatasetReader
from allennlp.data.fields import Field

from qdecomp.data_structures.dependency_graph import DependencyGraph

from .edges_field import EdgesField
from .seq2seq_reader import BreakSeq2SeqReader

__all__ = ["BreakMultitaskReader"]


@DatasetReader.register("break_multitask")
class BreakMultitaskReader(BreakSeq2SeqReader):
    """Adds ``copy`` as ``break_seq2seq`` does and ``graph`` as ``break_graph`` does."""

    needs_graph = True

    def target_fields(
        self, words: Sequence[str], question: str, decomposition: str, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The tokens to write and the gold edges."""
        fields = super().target_fields(words, question, decomposition, graph)
        return {**fields, "graph": EdgesField.of_graph(graph)}

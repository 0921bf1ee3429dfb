"""The edges of a dependency graph as a field: a list of labelled pairs, not a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from allennlp.data.fields.field import Field
from allennlp.data.vocabulary import Vocabulary
from allennlp.nn.util import batch_tensor_dicts

from qdecomp.data_structures.dependency_graph import DependencyGraph

__all__ = ["EDGE_LABELS", "NO_EDGE", "EdgesField", "to_model_order"]

EDGE_LABELS = "edge_labels"
"""The vocabulary's namespace for the labels of edges; it has neither padding nor unknown labels."""

NO_EDGE = -1
"""What fills the place of an edge that is only padding."""


def to_model_order(position: int, question_length: int, special_count: int) -> int:
    """Where a graph's token is in a model: there the special tokens come first; in a graph they come last.

    >>> [to_model_order(position, 3, 2) for position in range(5)]
    [2, 3, 4, 0, 1]
    """
    return position + special_count if position < question_length else position - question_length


class EdgesField(Field[dict[str, torch.Tensor]]):
    """The gold edges of a question, or a note that they are unknown.

    The tensors are ``edges``, with a row (head, dependent, label) for each pair of tokens that has an edge, positions
    in model order, padded with :data:`NO_EDGE`; and ``known``, which is False if there is no gold graph. A label
    that the vocabulary lacks, which only happens in evaluation, is :data:`NO_EDGE` as well.
    """

    __slots__ = ["_indexed", "_namespace", "labels"]

    def __init__(self, labels: Mapping[tuple[int, int], str] | None, namespace: str = EDGE_LABELS) -> None:
        self.labels = None if labels is None else dict(labels)
        self._namespace = namespace
        self._indexed: list[list[int]] | None = None

    @staticmethod
    def of_graph(graph: DependencyGraph | None) -> EdgesField:
        """The field of a gold graph."""
        if graph is None:
            return EdgesField(None)
        length = len(graph.question_tokens)
        special = len(graph.tokens) - length
        return EdgesField(
            {
                (to_model_order(head, length, special), to_model_order(dependent, length, special)): label
                for (head, dependent), label in graph.labels().items()
            }
        )

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        """Count the labels."""
        for label in (self.labels or {}).values():
            counter[self._namespace][label] += 1

    def index(self, vocab: Vocabulary) -> None:
        """Look up the labels."""
        known = vocab.get_token_to_index_vocabulary(self._namespace)
        self._indexed = [
            [head, dependent, known.get(label, NO_EDGE)] for (head, dependent), label in (self.labels or {}).items()
        ]

    def get_padding_lengths(self) -> dict[str, int]:
        """The number of edges."""
        return {"edges": len(self.labels or {})}

    def as_tensor(self, padding_lengths: dict[str, int]) -> dict[str, torch.Tensor]:
        """``edges`` and ``known``."""
        if self._indexed is None:
            raise ValueError("an EdgesField must be indexed before it is made a tensor")
        padding = [[NO_EDGE] * 3] * (padding_lengths["edges"] - len(self._indexed))
        edges = torch.tensor(self._indexed + padding, dtype=torch.long).view(-1, 3)
        return {"edges": edges, "known": torch.tensor(self.labels is not None)}

    def batch_tensors(self, tensor_list: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """Stack both."""
        return batch_tensor_dicts(tensor_list)

    def empty_field(self) -> EdgesField:
        """A field of an unknown graph."""
        empty = EdgesField(None, self._namespace)
        empty._indexed = []
        return empty

    def human_readable_repr(self) -> Any:
        """The pairs with their labels."""
        return None if self.labels is None else [[*pair, label] for pair, label in self.labels.items()]

    def __len__(self) -> int:
        return len(self.labels or {})

"""The targets of parsers as fields: tokens that a decoder copies or generates, and the edges of a dependency graph."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data.fields.field import Field
from allennlp.data.vocabulary import Vocabulary
from allennlp.nn.util import batch_tensor_dicts

from qdecomp.data_structures.conversion.target_tokens import copied_ids
from qdecomp.data_structures.dependency_graph import DependencyGraph

TARGET_NAMESPACE = "target_tokens"

EDGE_LABELS = "edge_labels"
"""The vocabulary's namespace for the labels of edges; it has neither padding nor unknown labels."""

NO_EDGE = -1
"""What fills the place of an edge that is only padding."""


class _TensorsField(Field[dict[str, torch.Tensor]]):
    """A field of several tensors."""

    __slots__: list[str] = []

    def batch_tensors(self, tensor_list: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """Stack each of the tensors."""
        return batch_tensor_dicts(tensor_list)


class CopyField(_TensorsField):
    """A question's words and, for training, the tokens to write, as ids of one extended vocabulary.

    It is the target vocabulary followed by the question's own words: with ``V`` target tokens, the id of a word that is
    not among them is ``V`` plus its first position in the question. So equal words have equal ids, and 0 is padding. A
    target token that is in neither is the vocabulary's unknown token. Only tokens that cannot be copied are counted.
    """

    __slots__ = ["_source_ids", "_target_ids", "source", "target"]

    def __init__(self, source: Sequence[str], target: Sequence[str] | None = None) -> None:
        self.source = tuple(source)
        self.target = None if target is None else tuple(target)
        self._source_ids: list[int] | None = None
        self._target_ids: list[int] | None = None

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        """Count the tokens that must be generated because they cannot be copied."""
        copyable = set(self.source)
        for token in (START_SYMBOL, END_SYMBOL, *(self.target or ())):
            if token not in copyable:
                counter[TARGET_NAMESPACE][token] += 1

    def index(self, vocab: Vocabulary) -> None:
        """Give every word and token its id in the extended vocabulary."""
        known = vocab.get_token_to_index_vocabulary(TARGET_NAMESPACE)
        size = vocab.get_vocab_size(TARGET_NAMESPACE)
        self._source_ids = copied_ids(self.source, known, size)
        if self.target is not None:
            unknown = vocab.get_token_index(vocab._oov_token, TARGET_NAMESPACE)
            own = dict(zip(self.source, self._source_ids, strict=True))
            tokens = (*self.target, END_SYMBOL)
            self._target_ids = [own[token] if token in own else known.get(token, unknown) for token in tokens]

    def get_padding_lengths(self) -> dict[str, int]:
        """The number of words, and of target tokens with the end token."""
        lengths = {"source": len(self.source)}
        if self.target is not None:
            lengths["target"] = len(self.target) + 1
        return lengths

    def as_tensor(self, padding_lengths: dict[str, int]) -> dict[str, torch.Tensor]:
        """``source_ids`` and, if there is a target, ``target_ids`` with the end token at its end."""
        assert self._source_ids is not None, "a CopyField must be indexed before it is made a tensor"
        tensors = {"source_ids": _padded(self._source_ids, padding_lengths["source"])}
        if self._target_ids is not None:
            tensors["target_ids"] = _padded(self._target_ids, padding_lengths["target"])
        return tensors

    def __len__(self) -> int:
        return len(self.source) if self.target is None else len(self.target) + 1


def _padded(ids: list[int], length: int) -> torch.Tensor:
    return torch.tensor(ids + [0] * (length - len(ids)), dtype=torch.long)


def model_order(size: int, special_count: int) -> list[int]:
    """Where each of a graph's tokens is in a model: there the special tokens come first; in a graph they come last.

    >>> model_order(5, 2)
    [2, 3, 4, 0, 1]
    """
    return [*range(special_count, size), *range(special_count)]


class EdgesField(_TensorsField):
    """The gold edges of a question: ``edges`` and ``known``, which is False if there is no gold graph.

    A row (head, dependent, label) has positions in model order; padding, and a label that the vocabulary lacks, which
    only happens in evaluation, are :data:`NO_EDGE`.
    """

    __slots__ = ["_indexed", "labels"]

    def __init__(self, graph: DependencyGraph | None) -> None:
        self.labels: dict[tuple[int, int], str] | None = None
        if graph is not None:
            order = model_order(len(graph.tokens), len(graph.tokens) - len(graph.question_tokens))
            self.labels = {(order[head], order[to]): label for (head, to), label in graph.labels().items()}
        self._indexed: list[list[int]] | None = None

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        """Count the labels."""
        for label in (self.labels or {}).values():
            counter[EDGE_LABELS][label] += 1

    def index(self, vocab: Vocabulary) -> None:
        """Look up the labels."""
        known = vocab.get_token_to_index_vocabulary(EDGE_LABELS)
        self._indexed = [
            [head, dependent, known.get(label, NO_EDGE)] for (head, dependent), label in (self.labels or {}).items()
        ]

    def get_padding_lengths(self) -> dict[str, int]:
        """The number of edges."""
        return {"edges": len(self.labels or {})}

    def as_tensor(self, padding_lengths: dict[str, int]) -> dict[str, torch.Tensor]:
        """``edges`` and ``known``."""
        assert self._indexed is not None, "an EdgesField must be indexed before it is made a tensor"
        padding = [[NO_EDGE] * 3] * (padding_lengths["edges"] - len(self._indexed))
        edges = torch.tensor(self._indexed + padding, dtype=torch.long).view(-1, 3)
        return {"edges": edges, "known": torch.tensor(self.labels is not None)}

    def __len__(self) -> int:
        return len(self.labels or {})


def label_matrix(edges: torch.Tensor, size: int, none: int) -> torch.Tensor:
    """The label of each pair, ``none`` if there is no edge. Shapes: (batch, edges, 3) to (batch, size, size)."""
    # The rows that are edges and not padding, with the index of their question.
    batch, row = (edges[..., 0] >= 0).nonzero(as_tuple=True)
    head, dependent, label = edges[batch, row].unbind(-1)
    matrix = edges.new_full((edges.size(0), size, size), none)
    matrix[batch, head, dependent] = label
    return matrix


def pair_mask(mask: torch.Tensor) -> torch.Tensor:
    """Which pairs consist of two real tokens. Shapes: (batch, tokens) to (batch, tokens, tokens)."""
    return mask.unsqueeze(1) & mask.unsqueeze(2)

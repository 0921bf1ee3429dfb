"""What a decoder that can copy needs to know about a question: the ids of its words and of the tokens to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data.fields.field import Field
from allennlp.data.vocabulary import Vocabulary
from allennlp.nn.util import batch_tensor_dicts

from qdecomp.data_structures.conversion.target_tokens import copied_ids

__all__ = ["TARGET_NAMESPACE", "CopyField"]

TARGET_NAMESPACE = "target_tokens"


class CopyField(Field[dict[str, torch.Tensor]]):
    """A question's words and, for training, the tokens to write, as ids of one extended vocabulary.

    The extended vocabulary is the target vocabulary followed by the question's own words: with ``V`` target tokens,
    the id of a word that is not among them is ``V`` plus its first position in the question. So equal words have equal
    ids, wherever they come from, and 0 is padding. A target token that is in neither is the vocabulary's unknown token.

    Only tokens that cannot be copied are counted for the target vocabulary: it needs no others. With ``source`` in
    lower case, words are copied regardless of case.
    """

    __slots__ = ["_namespace", "_source_ids", "_target_ids", "source", "target"]

    def __init__(
        self, source: Sequence[str], target: Sequence[str] | None = None, namespace: str = TARGET_NAMESPACE
    ) -> None:
        self.source = tuple(source)
        self.target = None if target is None else tuple(target)
        self._namespace = namespace
        self._source_ids: list[int] | None = None
        self._target_ids: list[int] | None = None

    def count_vocab_items(self, counter: dict[str, dict[str, int]]) -> None:
        """Count the tokens that must be written because they cannot be copied."""
        copyable = set(self.source)
        for token in (START_SYMBOL, END_SYMBOL, *(self.target or ())):
            if token not in copyable:
                counter[self._namespace][token] += 1

    def index(self, vocab: Vocabulary) -> None:
        """Give every word and token its id in the extended vocabulary."""
        known = vocab.get_token_to_index_vocabulary(self._namespace)
        size = vocab.get_vocab_size(self._namespace)
        self._source_ids = copied_ids(self.source, known, size)
        if self.target is not None:
            unknown = vocab.get_token_index(vocab._oov_token, self._namespace)
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
        if self._source_ids is None:
            raise ValueError("a CopyField must be indexed before it is made a tensor")
        tensors = {"source_ids": _padded(self._source_ids, padding_lengths["source"])}
        if self._target_ids is not None:
            tensors["target_ids"] = _padded(self._target_ids, padding_lengths["target"])
        return tensors

    def batch_tensors(self, tensor_list: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
        """Stack each of the tensors."""
        return batch_tensor_dicts(tensor_list)

    def empty_field(self) -> CopyField:
        """A field without words."""
        empty = CopyField((), None if self.target is None else (), self._namespace)
        empty._source_ids, empty._target_ids = [], None if self.target is None else []
        return empty

    def human_readable_repr(self) -> dict[str, Any]:
        """The words and the target tokens."""
        return {"source": list(self.source), "target": None if self.target is None else list(self.target)}

    def __len__(self) -> int:
        return len(self.source) if self.target is None else len(self.target) + 1


def _padded(ids: list[int], length: int) -> torch.Tensor:
    return torch.tensor(ids + [0] * (length - len(ids)), dtype=torch.long)

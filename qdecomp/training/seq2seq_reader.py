"""The reader of parsers that write: questions and their decompositions as sequences of tokens."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from typing import Any

from allennlp.data import DatasetReader
from allennlp.data.fields import Field

from qdecomp.data_structures.conversion.target_tokens import by_level, to_target_tokens
from qdecomp.data_structures.dependency_graph import DependencyGraph
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.training.break_reader import BreakReader
from qdecomp.training.copy_field import CopyField

__all__ = ["BreakSeq2SeqReader"]


@DatasetReader.register("break_seq2seq")
class BreakSeq2SeqReader(BreakReader):
    """Adds ``copy``, a :class:`.CopyField` of the words and, with gold, the tokens to write.

    ``copy_inflections`` is that of :func:`~qdecomp.data_structures.conversion.target_tokens.to_target_tokens`;
    ``order_by_level`` puts the steps into the order of
    :func:`~qdecomp.data_structures.conversion.target_tokens.by_level`.
    """

    def __init__(self, copy_inflections: bool = False, order_by_level: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._copy_inflections = copy_inflections
        self._order_by_level = order_by_level

    def input_fields(self, words: Sequence[str]) -> dict[str, Field[Any]]:
        """The words that can be copied."""
        return {"copy": CopyField(_source(words))}

    def target_fields(
        self, words: Sequence[str], question: str, decomposition: str, graph: DependencyGraph | None
    ) -> dict[str, Field[Any]]:
        """The words with the tokens to write; for a gold text that is not a decomposition, its words as they are."""
        try:
            qdmr = parse_qdmr(decomposition)
            if self._order_by_level:
                qdmr = by_level(qdmr)
            target = to_target_tokens(qdmr, question, copy_inflections=self._copy_inflections)
        except QDecompError:
            target = tokenize(decomposition.lower())
        return {"copy": CopyField(_source(words), target)}


def _source(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)

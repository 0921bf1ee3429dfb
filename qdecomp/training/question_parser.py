"""What all parsers share: the encoder of the question, dropout, and the weights they start with."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from typing import Any, Optional

import torch
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model
from allennlp.nn.initializers import InitializerApplicator

from qdecomp.training.byte_dropout import draw_dropout_by_byte
from qdecomp.training.word_encoder import WordEncoder

__all__ = ["QuestionParser"]


class QuestionParser(Model):
    """The base of the parsers; a subclass calls :meth:`set_up` when all of its parts are there.

    ``dropout`` is the rate on the encoded words. ``byte_dropout`` draws the random numbers of dropout by bytes, which
    is faster on a CPU. ``initializer`` sets the initial weights, such as those of an earlier run.
    """

    default_predictor = "question_decomposition"

    def __init__(
        self,
        vocab: Vocabulary,
        word_encoder: WordEncoder,
        dropout: float,
        byte_dropout: bool = False,
        initializer: Optional[InitializerApplicator] = None,  # noqa: UP045 - AllenNLP builds nothing for "X | None"
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.word_encoder = word_encoder
        self.dropout = torch.nn.Dropout(dropout)
        self._byte_dropout = byte_dropout
        self._initializer = initializer

    def set_up(self) -> None:
        """Prepare all parts of the parser for training."""
        if self._byte_dropout:
            draw_dropout_by_byte(self)
        if self._initializer is not None:
            self._initializer(self)

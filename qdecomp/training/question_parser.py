"""What all parsers share: the encoder of the question, dropout, and the weights they start with."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy.typing as npt
import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models.model import Model
from allennlp.nn.initializers import InitializerApplicator
from torch import Tensor, nn

from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.decoding import Decoder, DecoderSettings
from qdecomp.decoding.scores import LabelProbabilities
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_decoded, failed_decomposition
from qdecomp.training.word_encoder import EncodedWords, WordEncoder

_VALUES_OF_A_BYTE = 256

_BYTES_OF_A_NUMBER = 8

_SMALLEST_NUMBER = -(2**63)


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
        self._candidates = 0

    def encode(self, question: TextFieldTensors, metadata: Sequence[dict[str, Any]]) -> EncodedWords:
        """The states of the tokens of graphs; a :class:`DataError` if the reader appends other tokens."""
        encoded: EncodedWords = self.word_encoder(question)
        if encoded.states.size(1) != max(len(entry["tokens"]) for entry in metadata):
            raise DataError("the reader and the word encoder have different special_tokens")
        return encoded

    def decode_graphs_with(self, decoder: DecoderSettings) -> None:
        """From now on, make graphs with this decoder; an error if predictions are not graphs."""
        raise DataError(f"{type(self).__name__} predicts no graphs, so it takes no decoder")

    def set_options(self, options: Mapping[str, Any]) -> None:
        """From now on, predict with these options: of the decoder ``ilp``, or of the search of a seq2seq parser."""
        self.decode_graphs_with({"type": "ilp", **options})

    def give_candidates(self, count: int) -> None:
        """From now on, give this many of the best decompositions with every prediction."""
        self._candidates = count

    def set_up(self) -> None:
        """Prepare all parts of the parser for training."""
        if self._byte_dropout:
            draw_dropout_by_byte(self)
        if self._initializer is not None:
            self._initializer(self)


def decoded_graph(
    decoder: Decoder,
    entry: dict[str, Any],
    edge_probabilities: npt.ArrayLike,
    label_probabilities: LabelProbabilities,
    labels: Sequence[str],
) -> Decomposition:
    """The decomposition of the graph that the decoder finds for a question, which ``entry`` describes."""
    try:
        decoded = decoder.decode(entry["tokens"], edge_probabilities, label_probabilities, labels)
    except GraphError as error:  # an untrained model may find edges everywhere
        return failed_decomposition(entry["question"], error)
    return decomposition_from_decoded(entry["question"], decoded)


class ByteDropout(nn.Dropout):
    """Dropout by bytes; torch's own on other devices and for rates too close to 0 or 1 for a byte."""

    def forward(self, input: Tensor) -> Tensor:
        """Some elements are set to zero, the others scaled up, so that sums stay the same on average."""
        dropped = round(self.p * _VALUES_OF_A_BYTE)
        if not self.training or input.device.type != "cpu" or not 0 < dropped < _VALUES_OF_A_BYTE:
            return super().forward(input)
        count = input.numel()
        numbers = torch.empty(-(-count // _BYTES_OF_A_NUMBER), dtype=torch.int64).random_(_SMALLEST_NUMBER, None)
        kept = numbers.view(torch.uint8)[:count].view(input.shape) >= dropped
        return input * kept.to(input.dtype).mul_(_VALUES_OF_A_BYTE / (_VALUES_OF_A_BYTE - dropped))


def draw_dropout_by_byte(module: nn.Module) -> None:
    """Replace every dropout in this module with a ``ByteDropout``."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if type(child) is nn.Dropout:
                setattr(parent, name, ByteDropout(child.p))

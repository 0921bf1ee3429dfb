"""What all parsers share: encoder, decoding of graphs, dropout, the weights they start with, and scores in validation.

Scores are plain floats, since the training state of a run is written with them.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Optional

import numpy.typing as npt
import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models.model import Model
from allennlp.nn.initializers import InitializerApplicator
from allennlp.nn.util import dist_reduce_sum
from allennlp.training.metrics import Average, Metric
from torch import Tensor, nn

from qdecomp.data_structures.errors import DataError, GraphError, QDecompError
from qdecomp.data_structures.lf_em import normalized_text
from qdecomp.decoding import Decoder, DecoderSettings, make_decoder, with_candidates
from qdecomp.decoding.scores import LabelProbabilities
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_decoded, failed_decomposition
from qdecomp.training.copy_decoder import CopyDecoder
from qdecomp.training.fields import NO_EDGE, label_matrix
from qdecomp.training.word_encoder import EncodedWords, WordEncoder

Tensors = dict[str, Tensor]
Entries = Sequence[dict[str, Any]]
"""The metadata of a batch of questions."""

_VALUES_OF_A_BYTE = 256
_BYTES_OF_A_NUMBER = 8
_SMALLEST_NUMBER = -(2**63)


class QuestionParser(Model):
    """The base of the parsers; a subclass calls :meth:`set_up` when all of its parts are there.

    A graph parser has ``labels`` and a ``graph_decoder``, a seq2seq parser a ``decoder``. ``dropout`` is the rate on
    the encoded words. With ``byte_dropout``, every dropout draws a random byte for each element, not a float, which is
    faster on a CPU. ``initializer`` sets the initial weights, such as those of an earlier run.
    """

    default_predictor = "question_decomposition"
    predicts_graphs = False
    decoder: CopyDecoder
    graph_decoder: Decoder
    labels: tuple[str, ...]

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
        self._losses: dict[str, Average] = {}
        self._metrics: tuple[Metric, ...] = ()

    def set_up(self) -> None:
        """Prepare all parts of the parser for training."""
        if self._byte_dropout:
            draw_dropout_by_byte(self)
        if self._initializer is not None:
            self._initializer(self)

    def decode_graphs_with(self, decoder: DecoderSettings) -> None:
        """From now on, make graphs with this decoder; an error if predictions are not graphs."""
        if not self.predicts_graphs:
            raise DataError(f"{type(self).__name__} predicts no graphs, so it takes no decoder")
        self.graph_decoder = make_decoder(decoder)

    def set_options(self, options: Mapping[str, Any]) -> None:
        """From now on, predict with these options: of the decoder ``ilp``, or of the search of a seq2seq parser."""
        if self.predicts_graphs:
            self.decode_graphs_with({"type": "ilp", **options})
        else:
            self.decoder.search_options(options)

    def give_candidates(self, count: int) -> None:
        """From now on, give this many of the best decompositions with every prediction; greedy decoding gives one."""
        if self.predicts_graphs:
            self.graph_decoder = with_candidates(self.graph_decoder, count)
        self._candidates = count

    def encode(self, question: TextFieldTensors, metadata: Entries) -> EncodedWords:
        """The states of the tokens of graphs; a :class:`DataError` if the reader appends other tokens."""
        encoded: EncodedWords = self.word_encoder(question)
        if encoded.states.size(1) != max(len(entry["tokens"]) for entry in metadata):
            raise DataError("the reader and the word encoder have different special_tokens")
        return encoded

    def decoded_graph(
        self, entry: dict[str, Any], edge_probabilities: npt.ArrayLike, label_probabilities: LabelProbabilities
    ) -> Decomposition:
        """The decomposition of the graph that the decoder finds for a question, which ``entry`` describes."""
        try:
            decoded = self.graph_decoder.decode(entry["tokens"], edge_probabilities, label_probabilities, self.labels)
        except GraphError as error:  # an untrained model may find edges everywhere
            return failed_decomposition(entry["question"], error)
        return decomposition_from_decoded(entry["question"], decoded)

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """The losses, and outside training the scores of predictions."""
        metrics = {name: float(loss.get_metric(reset)) for name, loss in self._losses.items()}
        for metric in () if self.training else self._metrics:
            metrics.update(metric.get_metric(reset))
        return metrics


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


@lru_cache(maxsize=65536)
def _normalized_gold(question: str, gold: str) -> str | None:
    """The gold side of LF-EM, which is the same in every epoch."""
    try:
        return normalized_text(question, gold)
    except QDecompError:
        return None


class _Counts(Metric):
    """Numbers that batches, on all devices, add to."""

    def __init__(self) -> None:
        self._counts = [0, 0, 0, 0]

    def _totals(self, reset: bool) -> list[float]:
        totals = [float(dist_reduce_sum(count)) for count in self._counts]
        if reset:
            self.reset()
        return totals

    def _add(self, *counts: int) -> None:
        self._counts = [old + new for old, new in zip(self._counts, counts, strict=True)]

    def reset(self) -> None:
        """Forget all batches."""
        self._counts = [0, 0, 0, 0]


@Metric.register("decomposition_scores")
class DecompositionScores(_Counts):
    """LF-EM over predicted decompositions, and the share of predictions that have a logical form (``valid``).

    A question whose gold has no logical form counts as wrong, as everywhere.
    """

    def __call__(self, predictions: Iterable[Decomposition], golds: Iterable[str]) -> None:  # type: ignore[override]
        """Add a batch."""
        for prediction, gold in zip(predictions, golds, strict=True):
            self._add(1, prediction.logical_form is not None, _matches(prediction, gold), 0)

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """``lf_em`` and ``valid``."""
        total, valid, correct, _ = self._totals(reset)
        return {"lf_em": correct / max(total, 1), "valid": valid / max(total, 1)}


def _matches(prediction: Decomposition, gold: str) -> bool:
    """LF-EM of the decomposition's text, as ``qdecomp evaluate`` reads it from a record."""
    if prediction.text is None:
        return False
    expected = _normalized_gold(prediction.question, gold)
    try:
        return expected is not None and normalized_text(prediction.question, prediction.text) == expected
    except QDecompError:
        return False


@Metric.register("edge_scores")
class EdgeScores(_Counts):
    """F1 of predicted edges without their labels (``edge_f1``) and with them (``labeled_f1``)."""

    def __call__(  # type: ignore[override]
        self, predicted: torch.Tensor, graph: Tensors, count: int
    ) -> None:
        """Add the questions of a batch whose gold is known: predicted labels of all pairs, :data:`NO_EDGE` for none.

        A gold label that is not among the ``count`` labels of the vocabulary is still an edge.
        """
        edges, known = graph["edges"], graph["known"]
        gold = label_matrix(edges, predicted.size(1), NO_EDGE - 1)
        gold = gold.masked_fill(gold == NO_EDGE, count)
        predicted, gold = predicted[known], gold[known]
        has_edge, has_gold = predicted >= 0, gold >= 0
        both = has_edge & has_gold
        self._add(*(int(each.sum()) for each in (both, both & (predicted == gold), has_edge, has_gold)))

    def get_metric(self, reset: bool = False) -> dict[str, float]:
        """``edge_f1`` and ``labeled_f1``."""
        found, labeled, predicted, gold = self._totals(reset)
        both_sides = max(predicted + gold, 1)
        return {"edge_f1": 2 * found / both_sides, "labeled_f1": 2 * labeled / both_sides}

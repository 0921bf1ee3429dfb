"""The biaffine graph parser (section 5 of the paper, "BiaffineGP"), after Dozat and Manning (2018).

Four feed-forward networks read the state ``h_i`` of each token ``i`` of the question and its special tokens:

    a_i = FF^edge-from(h_i)      b_j = FF^edge-to(h_j)      p(edge i -> j) = sigmoid(a_i W_edge b_j)
    c_i = FF^label-from(h_i)     d_j = FF^label-to(h_j)     s^t_ij = c_i W_t d_j,   p(t | i -> j) = softmax_t(s_ij)

The paper calls the first network of each pair "dep" and the second "head". The loss is the negative log-likelihood of
the gold edges and of their labels. Greedy inference takes every edge with p > .5, and its most probable label.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward
from allennlp.nn import Activation
from allennlp.training.metrics import Average

from qdecomp.decoding import make_decoder
from qdecomp.decoding.scores import Places
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training.fields import EDGE_LABELS, NO_EDGE, label_matrix, model_order, pair_mask
from qdecomp.training.question_parser import DecompositionScores, EdgeScores, Entries, QuestionParser, Tensors
from qdecomp.training.word_encoder import WordEncoder

# About one pair in two hundred has an edge; a parser that starts from that need not learn it first.
_FIRST_EDGE_SCORE = -5.0


class _Scored(NamedTuple):
    """What the networks say about a batch; tokens are in model order."""

    edge_scores: torch.Tensor  # (batch, tokens, tokens)
    label_from: torch.Tensor  # (batch, tokens, label dimension)
    label_to: torch.Tensor
    pairs: torch.Tensor  # (batch, tokens, tokens): which pairs consist of real tokens


@Model.register("biaffine_graph_parser")
class BiaffineGraphParser(QuestionParser):
    """Reads instances of ``break_graph``; other parameters are those of :class:`QuestionParser`.

    The networks ``edge_from``, ``edge_to``, ``label_from`` and ``label_to`` have ``layers`` layers. Both losses are
    sums over a question divided by the number of gold edges in the batch; that of labels counts ``label_weight`` times.
    ``mode_seeking`` above 0 weights questions by the probability of their gold graphs to this power. ``decoder`` makes
    a graph from the probabilities (:data:`qdecomp.decoding.DecoderSettings`): ``"greedy"`` takes each edge that is more
    probable than not, ``"ilp"`` finds the best valid graph if that one is not.
    """

    predicts_graphs = True

    def __init__(
        self,
        vocab: Vocabulary,
        word_encoder: WordEncoder,
        edge_dim: int = 300,
        label_dim: int = 300,
        layers: int = 3,
        dropout: float = 0.6,
        feed_forward_dropout: float = 0.3,
        label_weight: float = 1.0,
        mode_seeking: float = 0.0,
        decoder: str | dict[str, Any] = "greedy",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, word_encoder, dropout, **kwargs)

        def net(dimension: int) -> FeedForward:
            activation = Activation.by_name("elu")()
            return FeedForward(word_encoder.get_output_dim(), layers, dimension, activation, feed_forward_dropout)

        self.edge_from, self.edge_to = net(edge_dim), net(edge_dim)
        self.label_from, self.label_to = net(label_dim), net(label_dim)
        self.edge_scorer = Biaffine(edge_dim, bias=_FIRST_EDGE_SCORE)
        self.labels = tuple(vocab.get_index_to_token_vocabulary(EDGE_LABELS).values())
        self.label_scorer = Biaffine(label_dim, max(len(self.labels), 1))
        self.graph_decoder = make_decoder(decoder)
        self._label_weight = label_weight
        self._mode_seeking = mode_seeking
        self._losses = {"edge_loss": Average(), "label_loss": Average()}
        self._edges = EdgeScores()
        self._decompositions = DecompositionScores()
        self._metrics = (self._decompositions, self._edges)
        self.set_up()

    def forward(self, question: TextFieldTensors, metadata: Entries, graph: Tensors | None = None) -> dict[str, Any]:
        """``loss`` if there is gold and, unless the parser is in training, ``predictions``."""
        scored = self._score(question, metadata)
        output: dict[str, Any] = {}
        if graph is not None:
            output["loss"] = self._loss(scored, graph)
        if not self.training:
            with torch.no_grad():
                predictions = [self._decode(scored, row, entry) for row, entry in enumerate(metadata)]
            if graph is not None:
                self._measure(predictions, metadata, graph)
            output["predictions"] = predictions
        return output

    def _score(self, question: TextFieldTensors, metadata: Entries) -> _Scored:
        encoded = self.encode(question, metadata)
        states = self.dropout(encoded.states)
        edge_scores = self.edge_scorer.all_pairs(self.edge_from(states), self.edge_to(states)).squeeze(-1)
        return _Scored(edge_scores, self.label_from(states), self.label_to(states), pair_mask(encoded.mask))

    def _loss(self, scored: _Scored, graph: Tensors) -> torch.Tensor:
        edges, known = graph["edges"], graph["known"]
        # An edge whose label the vocabulary lacks is an edge, too.
        gold = label_matrix(edges, scored.edge_scores.size(1), NO_EDGE - 1) >= NO_EDGE
        counted = scored.pairs & known.view(-1, 1, 1)
        edge_losses = torch.nn.functional.binary_cross_entropy_with_logits(
            scored.edge_scores, gold.to(scored.edge_scores.dtype), reduction="none"
        )
        # Shape: (gold edges of the batch with a known label)
        batch, row = (edges[..., 2] != NO_EDGE).nonzero(as_tuple=True)
        head, dependent, label = edges[batch, row].unbind(-1)
        label_scores = self.label_scorer.pairs(scored.label_from[batch, head], scored.label_to[batch, dependent])
        label_losses = torch.nn.functional.cross_entropy(label_scores, label, reduction="none")
        # Shape of both: (questions)
        edge_loss = (edge_losses * counted).sum(dim=(1, 2))
        label_loss = torch.zeros_like(edge_loss).index_add(0, batch, label_losses)
        count = max(len(batch), 1)
        self._losses["edge_loss"](edge_loss.sum().item() / count)
        self._losses["label_loss"](label_loss.sum().item() / count)
        losses = edge_loss + self._label_weight * label_loss
        return (losses * mode_seeking_weights(losses, self._mode_seeking)).sum() / count

    def _decode(self, scored: _Scored, row: int, entry: dict[str, Any]) -> Decomposition:
        """What the decoder makes of a row of the batch: probabilities in the order of a graph, labels on demand."""
        tokens = entry["tokens"]
        order = model_order(len(tokens), self.word_encoder.special_count)
        label_from, label_to = scored.label_from[row, order], scored.label_to[row, order]

        def label_probabilities(heads: Places, dependents: Places) -> npt.NDArray[np.floating]:
            probabilities = self.label_scorer.pairs(label_from[heads], label_to[dependents]).softmax(-1)
            return probabilities.cpu().numpy()

        edge_probabilities = scored.edge_scores[row][order][:, order].sigmoid().cpu().numpy()
        return self.decoded_graph(entry, edge_probabilities, label_probabilities)

    def _measure(self, predictions: Sequence[Decomposition], metadata: Entries, graph: Tensors) -> None:
        size = max(len(entry["tokens"]) for entry in metadata)
        predicted = torch.full((len(predictions), size, size), NO_EDGE, device=graph["edges"].device)
        numbers = {label: number for number, label in enumerate(self.labels)}
        for row, prediction in enumerate(predictions):
            if prediction.predicted_graph is not None:
                order = model_order(len(prediction.predicted_graph.tokens), self.word_encoder.special_count)
                for (head, dependent), label in prediction.predicted_graph.labels().items():
                    predicted[row, order[head], order[dependent]] = numbers[label]
        self._edges(predicted, graph, len(self.labels))
        self._decompositions(predictions, [entry["decomposition"] for entry in metadata])


class Biaffine(torch.nn.Module):
    """``outputs`` scores for a pair of vectors x, y: ``[x 1] W [y 1]`` with a matrix W for each output.

    The matrices start as zeros, except for ``bias``, the score of every pair before training.
    """

    def __init__(self, dimension: int, outputs: int = 1, bias: float = 0.0) -> None:
        super().__init__()
        self.outputs = outputs
        # As one matrix, so that the first halves of all products are one multiplication.
        self.weight = torch.nn.Parameter(torch.zeros(dimension + 1, outputs * (dimension + 1)))
        with torch.no_grad():
            self.weight.view(dimension + 1, outputs, dimension + 1)[-1, :, -1] = bias

    def all_pairs(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Scores of every pair. Shapes: twice (batch, tokens, dimension) to (batch, tokens, tokens, outputs)."""
        batch, tokens, _ = first.shape
        # Shape: (batch, tokens * outputs, dimension + 1)
        half = (_with_one(first) @ self.weight).view(batch, tokens * self.outputs, second.size(-1) + 1)
        scores = torch.bmm(half, _with_one(second).transpose(1, 2))
        return scores.view(batch, tokens, self.outputs, tokens).transpose(2, 3)

    def pairs(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """Scores of given pairs. Shapes: twice (pairs, dimension) to (pairs, outputs)."""
        half = (_with_one(first) @ self.weight).view(len(first), self.outputs, second.size(-1) + 1)
        return torch.bmm(half, _with_one(second).unsqueeze(-1)).squeeze(-1)


def _with_one(vectors: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(vectors, (0, 1), value=1.0)


def mode_seeking_weights(losses: torch.Tensor, power: float) -> torch.Tensor:
    """For each question, the probability of its annotation to this power, relative to the mean of the batch.

    ``losses`` are the negative logarithms of these probabilities. With a power of 0, all weights are 1.

    >>> mode_seeking_weights(torch.tensor([0.0, 10.0]), 0.0).tolist()
    [1.0, 1.0]
    """
    return torch.softmax(-power * losses.detach(), dim=0) * len(losses)

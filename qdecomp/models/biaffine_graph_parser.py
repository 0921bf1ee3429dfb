"""The biaffine graph parser: for every pair of tokens, whether there is an edge between them, and its label."""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Optional

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward
from allennlp.nn import Activation, InitializerApplicator
from allennlp.training.metrics import Average

from qdecomp.data.edges_field import EDGE_LABELS, NO_EDGE, from_model_order, to_model_order
from qdecomp.data_structures.dependency_graph import DependencyGraph, Edge
from qdecomp.data_structures.edge_tags import split_tags
from qdecomp.data_structures.errors import DataError, GraphError
from qdecomp.data_structures.prediction import Prediction, failed_prediction, prediction_from_graph
from qdecomp.decoding import Decoded, DecoderSettings, make_decoder, prediction_from_decoded, with_candidates
from qdecomp.decoding.greedy import GreedyDecoder
from qdecomp.decoding.validity import is_valid
from qdecomp.modules.biaffine import Biaffine
from qdecomp.modules.byte_dropout import draw_dropout_by_byte
from qdecomp.modules.graph_targets import edge_matrix, label_matrix, pair_mask
from qdecomp.modules.word_encoder import WordEncoder
from qdecomp.training.metrics import DecompositionScores, EdgeScores

__all__ = ["BiaffineGraphParser"]

_THRESHOLD = 0.5
# About one pair in two hundred has an edge; a parser that starts from there need not learn it first.
_FIRST_EDGE_SCORE = -5.0


class _Scored(NamedTuple):
    """What the networks say about a batch; tokens are in model order."""

    edge_scores: torch.Tensor
    """Shape: (batch, tokens, tokens)."""
    label_from: torch.Tensor
    """Shape: (batch, tokens, label dimension)."""
    label_to: torch.Tensor
    pairs: torch.Tensor
    """Which pairs are of real tokens. Shape: (batch, tokens, tokens)."""


@Model.register("biaffine_graph_parser")
class BiaffineGraphParser(Model):
    """Scores an edge from token i to token j by ``from(i) W to(j)``, and each of its labels in the same way.

    The four nets ``edge_from``, ``edge_to``, ``label_from`` and ``label_to`` have ``layers`` layers; those for edges
    have the size ``edge_dim``, those for labels ``label_dim``. ``dropout`` is for the encoded words,
    ``feed_forward_dropout`` for the nets. ``label_weight`` is the weight of the labels' loss. Both losses are sums
    over a question divided by the number of gold edges in the batch.

    An edge is predicted where its probability is above one half, with the most probable label. Where such a graph is
    not valid, ``decoder`` may find a better one: ``"ilp"`` does, or ``{"type": "ilp", "time_limit": 0.5}``, see
    :data:`qdecomp.decoding.DecoderSettings`. ``byte_dropout`` draws the random numbers of dropout by bytes, which is
    faster on a CPU. ``initializer`` says what weights begin with, such as those of an earlier training.
    """

    default_predictor = "question_decomposition"

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
        decoder: str | dict[str, Any] = "greedy",
        byte_dropout: bool = False,
        initializer: Optional[InitializerApplicator] = None,  # noqa: UP045 - AllenNLP builds nothing for "X | None"
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.word_encoder = word_encoder
        self.dropout = torch.nn.Dropout(dropout)

        def net(dimension: int) -> FeedForward:
            activation = Activation.by_name("elu")()
            return FeedForward(word_encoder.get_output_dim(), layers, dimension, activation, feed_forward_dropout)

        self.edge_from, self.edge_to = net(edge_dim), net(edge_dim)
        self.label_from, self.label_to = net(label_dim), net(label_dim)
        self.edge_scorer = Biaffine(edge_dim, bias=_FIRST_EDGE_SCORE)
        self.labels = tuple(vocab.get_index_to_token_vocabulary(EDGE_LABELS).values())
        self.label_scorer = Biaffine(label_dim, max(len(self.labels), 1))
        self.decode_graphs_with(decoder)
        self._label_weight = label_weight
        self._losses = {"edge_loss": Average(), "label_loss": Average()}
        self._edges = EdgeScores()
        self._decompositions = DecompositionScores()
        if byte_dropout:
            draw_dropout_by_byte(self)
        if initializer is not None:
            initializer(self)

    def decode_graphs_with(self, decoder: DecoderSettings) -> None:
        """From now on, use this decoder."""
        self.decoder = make_decoder(decoder)
        self._all_decoded = False

    def give_candidates(self, count: int) -> None:
        """From now on, give so many of the best decompositions with every prediction; greedy decoding gives one."""
        self.decoder = with_candidates(self.decoder, count)
        self._all_decoded = count > 0

    def forward(
        self,
        question: TextFieldTensors,
        metadata: Sequence[dict[str, Any]],
        graph: dict[str, torch.Tensor] | None = None,
    ) -> dict[str, Any]:
        """``loss`` where there is gold, and, unless the parser is in training, ``predictions``."""
        scored = self._score(question, metadata)
        output: dict[str, Any] = {}
        if graph is not None:
            output["loss"] = self._loss(scored, graph)
        if not self.training:
            with torch.no_grad():
                output["predictions"] = self._predict(scored, metadata, graph)
        return output

    def _score(self, question: TextFieldTensors, metadata: Sequence[dict[str, Any]]) -> _Scored:
        encoded = self.word_encoder(question)
        if encoded.states.size(1) != max(len(entry["tokens"]) for entry in metadata):
            raise DataError("the reader and the word encoder do not have the same special_tokens")
        states = self.dropout(encoded.states)
        edge_scores = self.edge_scorer.all_pairs(self.edge_from(states), self.edge_to(states)).squeeze(-1)
        return _Scored(edge_scores, self.label_from(states), self.label_to(states), pair_mask(encoded.mask))

    def _loss(self, scored: _Scored, graph: dict[str, torch.Tensor]) -> torch.Tensor:
        edges, known = graph["edges"], graph["known"]
        gold = edge_matrix(edges, scored.edge_scores.size(1))
        counted = scored.pairs & known.view(-1, 1, 1)
        edge_losses = torch.nn.functional.binary_cross_entropy_with_logits(
            scored.edge_scores, gold.to(scored.edge_scores.dtype), reduction="none"
        )
        # Shape: (gold edges of the batch with a known label)
        batch, row = (edges[..., 2] != NO_EDGE).nonzero(as_tuple=True)
        head, dependent, label = edges[batch, row].unbind(-1)
        label_scores = self._label_scores(scored, batch, head, dependent)
        count = max(len(batch), 1)
        edge_loss = (edge_losses * counted).sum() / count
        label_loss = torch.nn.functional.cross_entropy(label_scores, label, reduction="sum") / count
        self._losses["edge_loss"](edge_loss.item())
        self._losses["label_loss"](label_loss.item())
        return edge_loss + self._label_weight * label_loss

    def _label_scores(
        self, scored: _Scored, batch: torch.Tensor, head: torch.Tensor, dependent: torch.Tensor
    ) -> torch.Tensor:
        """Scores of all labels for some pairs. Shape: (pairs, labels)."""
        return self.label_scorer.pairs(scored.label_from[batch, head], scored.label_to[batch, dependent])

    def _predict(
        self, scored: _Scored, metadata: Sequence[dict[str, Any]], graph: dict[str, torch.Tensor] | None
    ) -> list[Prediction]:
        edge_probabilities = torch.sigmoid(scored.edge_scores)
        batch, head, dependent = ((edge_probabilities > _THRESHOLD) & scored.pairs).nonzero(as_tuple=True)
        label_log_probabilities, label = self._label_scores(scored, batch, head, dependent).log_softmax(-1).max(-1)
        # The logarithm of the probability of the whole graph.
        certainty = torch.nn.functional.logsigmoid(scored.edge_scores.abs()) * scored.pairs
        scores = certainty.sum((1, 2)).index_add(0, batch, label_log_probabilities)
        probabilities = edge_probabilities[batch, head, dependent] * label_log_probabilities.exp()
        rows: list[list[tuple[int, int, str, float]]] = [[] for _ in metadata]
        found = zip(*(t.tolist() for t in (batch, head, dependent, label, probabilities)), strict=True)
        for question, first, second, number, probability in found:
            rows[question].append((first, second, self.labels[number], probability))
        predictions = []
        for question, (entry, score) in enumerate(zip(metadata, scores.tolist(), strict=True)):
            try:
                greedy = prediction_from_graph(self._graph(entry["tokens"], rows[question]), score)
            except GraphError as error:  # an untrained model may find edges everywhere
                greedy = failed_prediction(error)
            predictions.append(self._better(greedy, scored, question, entry["tokens"]))
        if graph is not None:
            self._measure(predictions, (batch, head, dependent, label), metadata, graph, scored)
        return predictions

    def _better(self, greedy: Prediction, scored: _Scored, question: int, tokens: Sequence[str]) -> Prediction:
        """What the decoder makes of a question whose greedy graph is not valid."""
        is_good = not self._all_decoded and greedy.graph is not None and is_valid(greedy.graph)
        if isinstance(self.decoder, GreedyDecoder) or is_good:
            return greedy
        try:
            decoded = self._decode(scored, question, tokens)
        except GraphError as error:
            return replace(greedy, error=str(error))
        return prediction_from_decoded(decoded)

    def _decode(self, scored: _Scored, question: int, tokens: Sequence[str]) -> Decoded:
        """Let the decoder look at all probabilities of one question, in the order of a graph."""
        special, size = self.word_encoder.special_count, len(tokens)
        order = [to_model_order(position, size - special, special) for position in range(size)]
        label_scores = self.label_scorer.all_pairs(
            scored.label_from[question : question + 1, order], scored.label_to[question : question + 1, order]
        )
        edge_scores = scored.edge_scores[question][order][:, order]
        return self.decoder.decode(
            tokens, edge_scores.sigmoid().cpu().numpy(), label_scores[0].softmax(-1).cpu().numpy(), self.labels
        )

    def _graph(self, tokens: Sequence[str], edges: Sequence[tuple[int, int, str, float]]) -> DependencyGraph:
        special = self.word_encoder.special_count
        length = len(tokens) - special
        return DependencyGraph(
            tuple(tokens),
            tuple(
                Edge(
                    from_model_order(head, length, special),
                    from_model_order(dependent, length, special),
                    tag,
                    round(probability, 4),
                )
                for head, dependent, label, probability in edges
                for tag in split_tags(label)
            ),
        )

    def _measure(
        self,
        predictions: Sequence[Prediction],
        edges: tuple[torch.Tensor, ...],
        metadata: Sequence[dict[str, Any]],
        graph: dict[str, torch.Tensor],
        scored: _Scored,
    ) -> None:
        batch, head, dependent, label = edges
        predicted = torch.full_like(scored.pairs, NO_EDGE, dtype=torch.long)
        predicted[batch, head, dependent] = label
        known = graph["known"]
        # A gold label that is not in the vocabulary is an edge all the same, with a label that nobody can predict.
        gold_edges = edge_matrix(graph["edges"], predicted.size(1))
        gold = label_matrix(graph["edges"], predicted.size(1), NO_EDGE)
        gold = torch.where(gold_edges & (gold == NO_EDGE), len(self.labels), gold)
        self._edges(predicted[known], gold[known])
        self._decompositions(
            [entry["question"] for entry in metadata], predictions, [entry["decomposition"] for entry in metadata]
        )

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Both losses; outside of training LF-EM, the share of valid graphs, and F1 of edges, too."""
        metrics = {name: float(loss.get_metric(reset)) for name, loss in self._losses.items()}
        if not self.training:
            metrics.update(self._decompositions.get_metric(reset))
            metrics.update(self._edges.get_metric(reset))
        return metrics

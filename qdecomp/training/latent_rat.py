"""Latent-RAT (section 5 of the paper): a seq2seq parser whose encoder also learns the dependency graph of the question.

Its relation-aware layers (:mod:`qdecomp.training.relation_aware`) compute a relation ``r_ij`` for each pair of tokens.
For the relations ``R^K`` of keys and, in the same way, ``R^V`` of values, a linear layer gives a score of every label,
NONE among them:

    S^K = R^K W^K + b^K,      Loss^K = CE(S^K)

The graph's loss is ``Loss^K + Loss^V``, summed over the layers; the loss of the parser is that of the decoder plus
``graph_weight`` (100 in the paper) times that of the graph. The probability of a label is the normalised product of the
two softmax distributions of the last layer.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from allennlp.common.lazy import Lazy
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model
from allennlp.training.metrics.average import Average
from torch import Tensor, nn

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import DecoderSettings, make_decoder, with_candidates
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training.copy_decoder import CopyDecoder
from qdecomp.training.copynet import make_copy_decoder, written_predictions
from qdecomp.training.fields import EDGE_LABELS, NO_EDGE, label_matrix, model_order, pair_mask
from qdecomp.training.metrics import DecompositionScores, EdgeScores
from qdecomp.training.question_parser import QuestionParser, decoded_graph
from qdecomp.training.relation_aware import RelationAwareEncoder, Relations
from qdecomp.training.word_encoder import EncodedWords, WordEncoder

_HEADS = ("decoder", "graph")

# The probability of no edge before anything has been learned.
_FIRST_NONE = 0.99

_NOT_COUNTED = -1


@Model.register("latent_rat")
class LatentRat(QuestionParser):
    """Reads instances of ``break_multitask``; all other parameters are those of :class:`QuestionParser`.

    # Parameters

    vocab : `Vocabulary`
    word_encoder : `WordEncoder`
    relation_encoder : `RelationAwareEncoder`
        The layers on top of the encoder; their size comes from it.
    decoder : `CopyDecoder`
        It reads what the relation-aware layers give.
    graph_weight : `float`
        The factor of the graph's loss (per pair of tokens), relative to the decoder's (per question).
    predict_with : `str`
        ``decoder`` gives the decoder's decompositions, ``graph`` those of the predicted graphs. In validation both are
        scored, and ``lf_em`` is that of the one named here.
    graph_decoder : `str` or `dict`
        How a graph is made from probabilities: the name of a decoder, or an object such as
        ``{"type": "ilp", "time_limit": 0.5}``, see :data:`qdecomp.decoding.DecoderSettings`.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        word_encoder: WordEncoder,
        relation_encoder: Lazy[RelationAwareEncoder],
        decoder: Lazy[CopyDecoder],
        dropout: float = 0.1,
        graph_weight: float = 100.0,
        predict_with: str = "decoder",
        graph_decoder: str | dict[str, Any] = "greedy",
        **kwargs: Any,
    ) -> None:
        super().__init__(vocab, word_encoder, dropout, **kwargs)
        if predict_with not in _HEADS:
            raise DataError(f"predict_with must be one of {', '.join(_HEADS)}, not {predict_with!r}")
        dim = word_encoder.get_output_dim()
        self.relation_encoder = relation_encoder.construct(dim=dim)
        self.decoder = make_copy_decoder(decoder, vocab, dim)
        self.labels = tuple(vocab.get_index_to_token_vocabulary(EDGE_LABELS).values())
        self.relation_labels = RelationLabels(self.relation_encoder.head_dim, len(self.labels))
        self.graph_decoder = make_decoder(graph_decoder)
        self._graph_weight = graph_weight
        self._predict_with = predict_with
        self._losses = {"decoder_loss": Average(), "graph_loss": Average()}
        self._edges = EdgeScores()
        self._decompositions = {head: DecompositionScores() for head in _HEADS}
        self.set_up()

    def decode_graphs_with(self, decoder: DecoderSettings) -> None:
        """From now on, use this decoder for graphs; an error if predictions are not graphs."""
        if self._predict_with != "graph":
            raise DataError("this Latent-RAT predicts with its text decoder; set model.predict_with to graph")
        self.graph_decoder = make_decoder(decoder)

    def set_options(self, options: Mapping[str, Any]) -> None:
        """From now on, predict with these options: of the search, or of ``ilp`` if predictions are graphs."""
        if self._predict_with == "graph":
            super().set_options(options)
        else:
            self.decoder.search_options(options)

    def give_candidates(self, count: int) -> None:
        """From now on, give this many of the best decompositions with every prediction."""
        if self._predict_with == "graph":
            self.graph_decoder = with_candidates(self.graph_decoder, count)
        else:
            super().give_candidates(count)

    def forward(
        self,
        question: TextFieldTensors,
        copy: dict[str, Tensor],
        metadata: Sequence[dict[str, Any]],
        graph: dict[str, Tensor] | None = None,
    ) -> dict[str, Any]:
        """``loss`` if there is gold and, unless the parser is in training, ``predictions``."""
        encoded = self.encode(question, metadata)
        states, relations = self.relation_encoder(self.dropout(encoded.states), encoded.mask)
        memory = self.decoder.memory(states, encoded.mask, copy["source_ids"])
        output: dict[str, Any] = {}
        if graph is not None:
            decoder_loss = self.decoder(memory, copy["target_ids"]).mean()
            output["loss"] = decoder_loss + self._graph_loss(relations, graph, encoded)
            self._losses["decoder_loss"](float(decoder_loss.detach()))
        if not self.training:
            predictions: dict[str, list[Decomposition]] = {}
            with torch.no_grad():
                if graph is not None or self._predict_with == "decoder":
                    questions = [entry["question"] for entry in metadata]
                    predictions["decoder"] = written_predictions(self.decoder, memory, questions, self._candidates)
                if graph is not None or self._predict_with == "graph":
                    predictions["graph"] = self._graphs(relations[-1], encoded, metadata, graph)
            output["predictions"] = predictions[self._predict_with]
            if graph is not None:
                self._measure(predictions, metadata)
        return output

    def _graph_loss(self, relations: Sequence[Relations], graph: dict[str, Tensor], encoded: EncodedWords) -> Tensor:
        gold = label_matrix(graph["edges"], encoded.mask.size(1), self.relation_labels.none)
        counted = pair_mask(encoded.mask) & graph["known"].view(-1, 1, 1)
        loss = self.relation_labels.loss(relations, gold, counted)
        self._losses["graph_loss"](float(loss.detach()))
        return self._graph_weight * loss

    def _graphs(
        self,
        relations: Relations,
        encoded: EncodedWords,
        metadata: Sequence[dict[str, Any]],
        graph: dict[str, Tensor] | None,
    ) -> list[Decomposition]:
        """The graphs of the most probable labels, made valid if the decoder of graphs does that."""
        probabilities = self.relation_labels.log_probabilities(relations).exp()
        if graph is not None:
            labels = probabilities.argmax(dim=-1)
            none = ~pair_mask(encoded.mask) | (labels == self.relation_labels.none)
            self._edges(labels.masked_fill(none, NO_EDGE), graph, len(self.labels))
        labelled, none = probabilities[..., :-1], probabilities[..., -1]
        likeliest = labelled.amax(dim=-1)
        # Above one half exactly if some label is more probable than none.
        edges = likeliest / (likeliest + none)
        labelled = labelled / labelled.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(labelled.dtype).tiny)
        predictions = []
        for row, entry in enumerate(metadata):
            order = torch.tensor(model_order(len(entry["tokens"]), encoded.special_count), device=edges.device)
            pairs = (row, order[:, None], order)
            arrays = (edges[pairs].cpu().numpy(), labelled[pairs].cpu().numpy())
            predictions.append(decoded_graph(self.graph_decoder, entry, *arrays, self.labels))
        return predictions

    def _measure(self, predictions: dict[str, list[Decomposition]], metadata: Sequence[dict[str, Any]]) -> None:
        for head, found in predictions.items():
            self._decompositions[head](found, [entry["decomposition"] for entry in metadata])

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Both losses; outside training also LF-EM and valid outputs, LF-EM of each head, and the F1 of edges."""
        metrics = {name: float(loss.get_metric(reset)) for name, loss in self._losses.items()}
        if not self.training:
            scores = {head: metric.get_metric(reset) for head, metric in self._decompositions.items()}
            metrics.update(scores[self._predict_with])
            metrics.update({f"{head}_lf_em": score["lf_em"] for head, score in scores.items()})
            metrics.update(self._edges.get_metric(reset))
        return metrics


class RelationLabels(nn.Module):
    """``S = R W + b`` for keys and for values; the label ``none`` comes after the others."""

    def __init__(self, head_dim: int, num_labels: int) -> None:
        super().__init__()
        self.none = num_labels
        self.keys = nn.Linear(head_dim, num_labels + 1)
        self.values = nn.Linear(head_dim, num_labels + 1)
        # Nearly all pairs have no edge. Starting from that saves the steps in which nothing else would be learned.
        for linear in (self.keys, self.values):
            nn.init.constant_(linear.bias[-1:], math.log(_FIRST_NONE / (1 - _FIRST_NONE) * max(num_labels, 1)))

    def loss(self, layers: Sequence[Relations], gold: Tensor, counted: Tensor) -> Tensor:
        """The mean cross entropy over the counted pairs, summed over keys, values and layers.

        ``gold`` has the label of each pair, below 0 if it is unknown, and ``counted`` says which pairs count. Both are
        (batch, tokens, tokens).
        """
        counted = counted & (gold >= 0)
        labels = gold.masked_fill(~counted, _NOT_COUNTED).flatten()
        losses = [
            nn.functional.cross_entropy(
                score(relations).flatten(0, 2), labels, ignore_index=_NOT_COUNTED, reduction="sum"
            )
            for layer in layers
            for score, relations in ((self.keys, layer.keys), (self.values, layer.values))
        ]
        return torch.stack(losses).sum() / counted.sum().clamp(min=1)

    def log_probabilities(self, relations: Relations) -> Tensor:
        """The logarithm of the product of both distributions, normalised: (batch, tokens, tokens, labels + 1)."""
        by_key = self.keys(relations.keys).log_softmax(dim=-1)
        by_value = self.values(relations.values).log_softmax(dim=-1)
        return (by_key + by_value).log_softmax(dim=-1)

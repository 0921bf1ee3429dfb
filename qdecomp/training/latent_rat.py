"""Latent-RAT (section 5 of the paper): a seq2seq parser whose encoder also learns the dependency graph of the question.

Its relation-aware layers compute relations ``r_ij`` from the states ``h`` of tokens ``i`` and ``j``. In each head:

    r^K_ij = FF^K(h_i - h_j)                  r^V_ij = FF^V(h_i - h_j)
    e_ij = h_i W_Q (h_j W_K + r^K_ij)^T / sqrt(d_head)
    z_i = sum_j softmax_j(e_ij) (h_j W_V + r^V_ij)

A relation has the size of a head, and all heads share it. A network has ReLU between its layers but not after the
last, so that a relation can have either sign.

For the relations ``R^K`` of keys and, in the same way, ``R^V`` of values, a linear layer gives a score of every label,
NONE among them:

    S^K = R^K W^K + b^K,      Loss^K = CE(S^K)

The graph's loss is ``Loss^K + Loss^V``, summed over the layers; the loss of the parser is that of the decoder plus
``graph_weight`` (100 in the paper) times that of the graph. The probability of a label is the normalised product of the
two softmax distributions of the last layer.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

import torch
from allennlp.common.from_params import FromParams
from allennlp.common.lazy import Lazy
from allennlp.data.fields.text_field import TextFieldTensors
from allennlp.data.vocabulary import Vocabulary
from allennlp.models.model import Model
from allennlp.training.metrics.average import Average
from torch import Tensor, nn

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import DecoderSettings, make_decoder
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.training.copy_decoder import CopyDecoder
from qdecomp.training.copynet import written_predictions
from qdecomp.training.fields import EDGE_LABELS, NO_EDGE, label_matrix, model_order, pair_mask
from qdecomp.training.question_parser import DecompositionScores, EdgeScores, Entries, QuestionParser, Tensors
from qdecomp.training.word_encoder import EncodedWords, WordEncoder

_HEADS = ("decoder", "graph")

# The probability of no edge before anything has been learned.
_FIRST_NONE = 0.99


class Relations(NamedTuple):
    """The relations of one layer, for keys and for values: each (batch, tokens, tokens, head_dim)."""

    keys: Tensor
    values: Tensor


class RelationNet(nn.Module):
    """A feed-forward network over the differences of all pairs of states.

    One dropout mask serves all pairs of a question. It is multiplied into the weights of the layer that reads what is
    dropped: random numbers for every pair, and a pass over all pairs, would take longer than the network itself.
    """

    def __init__(self, input_dim: int, hidden_dim: int, output_dim: int, num_layers: int, dropout: float) -> None:
        super().__init__()
        if num_layers < 2:
            raise DataError(f"relations.relation_layers must be 2 or more, not {num_layers}")
        self._dropout = dropout
        self.first = nn.Linear(input_dim, hidden_dim)
        sizes = [hidden_dim] * (num_layers - 1) + [output_dim]
        self.others = nn.ModuleList(nn.Linear(size, following) for size, following in pairwise(sizes))

    def forward(self, states: Tensor) -> Tensor:
        """From (batch, tokens, input_dim) to (batch, tokens, tokens, output_dim)."""
        batch, tokens, _ = states.shape
        projected = nn.functional.linear(states, self.first.weight)
        pairs = (projected + self.first.bias)[:, :, None] - projected[:, None]
        values = pairs.relu_().view(batch, tokens * tokens, -1)
        # ReLU is done in place, since nothing else needs its input, and memory limits the length of questions.
        for number, layer in enumerate(cast("list[nn.Linear]", self.others), start=1):
            values = torch.baddbmm(layer.bias, values, self._weights(layer, batch))
            if number < len(self.others):
                values.relu_()
        return values.view(batch, tokens, tokens, -1)

    def _weights(self, layer: nn.Linear, batch: int) -> Tensor:
        """The transposed weights for each question, (batch, input, output), with some of their inputs dropped."""
        weights = layer.weight.t().expand(batch, -1, -1)
        if not self.training or not self._dropout:
            return weights
        return weights * nn.functional.dropout(torch.ones_like(weights[:, :, :1]), self._dropout)


class RelationAwareLayer(nn.Module):
    """A transformer layer with relations in its attention; normalisation comes after each of its two parts."""

    def __init__(
        self, dim: int, num_heads: int, feed_forward_dim: int, relation_dim: int, relation_layers: int, dropout: float
    ) -> None:
        super().__init__()
        if dim % num_heads:
            raise DataError(f"states of size {dim} cannot be split into {num_heads} heads; change relations.num_heads")
        self.head_dim = dim // num_heads
        self._num_heads = num_heads
        net = (dim, relation_dim, self.head_dim, relation_layers, dropout)
        self.key_relations, self.value_relations = RelationNet(*net), RelationNet(*net)
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim) for _ in range(4))
        self.attention_norm, self.feed_forward_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(
            nn.Linear(dim, feed_forward_dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(feed_forward_dim, dim)
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Relations]:
        """New states (batch, tokens, dim) and the relations that were used; ``mask`` is (batch, tokens)."""
        relations = Relations(self.key_relations(states), self.value_relations(states))
        attended = self.output(self.attend(states, mask, relations))
        states = self.attention_norm(states + self.dropout(attended))
        states = self.feed_forward_norm(states + self.dropout(self.feed_forward(states)))
        return states, relations

    def attend(self, states: Tensor, mask: Tensor, relations: Relations) -> Tensor:
        """The attention itself, before its output projection."""
        # (batch, heads, tokens, head_dim)
        shape = (*states.shape[:2], self._num_heads, self.head_dim)
        projected = (linear(states) for linear in (self.query, self.key, self.value))
        query, key, value = (each.view(shape).transpose(1, 2) for each in projected)
        # Relations have no dimension for heads: all heads of a token form one matrix. (batch, tokens, heads, tokens)
        by_relation = query.transpose(1, 2).matmul(relations.keys.transpose(2, 3))
        scores = query.matmul(key.transpose(2, 3)) + by_relation.transpose(1, 2)
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf) * self.head_dim**-0.5
        attention = self.dropout(scores.softmax(dim=-1))
        from_values = attention.matmul(value).transpose(1, 2)  # (batch, tokens, heads, head_dim)
        from_relations = attention.transpose(1, 2).matmul(relations.values)
        return (from_values + from_relations).flatten(2)


class RelationAwareEncoder(nn.Module, FromParams):
    """A stack of relation-aware layers over states of size ``dim``; ``tied`` ones share their parameters.

    Their own feed-forward networks have four times that size if ``feed_forward_dim`` is None.
    """

    def __init__(
        self,
        dim: int,
        num_layers: int = 4,
        num_heads: int = 8,
        tied: bool = True,
        feed_forward_dim: int | None = None,
        relation_dim: int = 96,
        relation_layers: int = 3,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self._num_layers = num_layers
        self.layers = nn.ModuleList(
            RelationAwareLayer(dim, num_heads, feed_forward_dim or 4 * dim, relation_dim, relation_layers, dropout)
            for _ in range(1 if tied else num_layers)
        )
        self.head_dim = dim // num_heads

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, list[Relations]]:
        """States after the last layer, and the relations of every layer."""
        relations = []
        for number in range(self._num_layers):
            layer = cast(RelationAwareLayer, self.layers[number % len(self.layers)])
            states, used = layer(states, mask)
            relations.append(used)
        return states, relations


@Model.register("latent_rat")
class LatentRat(QuestionParser):
    """Reads instances of ``break_multitask``; other parameters are those of :class:`QuestionParser`.

    ``graph_weight`` is the factor of the graph's loss (per pair of tokens), relative to the decoder's (per question).
    With ``predict_with``, ``decoder`` gives the decoder's decompositions, ``graph`` those of the graphs that
    ``graph_decoder`` makes (:data:`qdecomp.decoding.DecoderSettings`). In validation both are scored, and ``lf_em`` is
    that of the one named here.
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
        self.decoder = decoder.construct(vocab=vocab, encoder_dim=dim)
        self.labels = tuple(vocab.get_index_to_token_vocabulary(EDGE_LABELS).values())
        self.relation_labels = RelationLabels(self.relation_encoder.head_dim, len(self.labels))
        self.graph_decoder = make_decoder(graph_decoder)
        self._graph_weight = graph_weight
        self._predict_with = predict_with
        self.predicts_graphs = predict_with == "graph"
        self._losses = {"decoder_loss": Average(), "graph_loss": Average()}
        self._edges = EdgeScores()
        self._decompositions = {head: DecompositionScores() for head in _HEADS}
        self._metrics = (self._edges,)
        self.set_up()

    def decode_graphs_with(self, decoder: DecoderSettings) -> None:
        """From now on, use this decoder for graphs; an error if predictions are not graphs."""
        if not self.predicts_graphs:
            raise DataError("this Latent-RAT predicts with its text decoder; set model.predict_with to graph")
        super().decode_graphs_with(decoder)

    def forward(
        self, question: TextFieldTensors, copy: Tensors, metadata: Entries, graph: Tensors | None = None
    ) -> dict[str, Any]:
        """``loss`` if there is gold and, unless the parser is in training, ``predictions``."""
        encoded = self.encode(question, metadata)
        states, relations = self.relation_encoder(self.dropout(encoded.states), encoded.mask)
        memory = self.decoder.memory(states, encoded.mask, copy["source_ids"])
        output: dict[str, Any] = {}
        if graph is not None:
            gold = label_matrix(graph["edges"], encoded.mask.size(1), self.relation_labels.none)
            counted = pair_mask(encoded.mask) & graph["known"].view(-1, 1, 1)
            losses = {
                "decoder_loss": self.decoder(memory, copy["target_ids"]).mean(),
                "graph_loss": self.relation_labels.loss(relations, gold, counted),
            }
            output["loss"] = losses["decoder_loss"] + self._graph_weight * losses["graph_loss"]
            for name, loss in losses.items():
                self._losses[name](float(loss.detach()))
        if not self.training:
            predictions: dict[str, list[Decomposition]] = {}
            with torch.no_grad():
                if graph is not None or self._predict_with == "decoder":
                    questions = [entry["question"] for entry in metadata]
                    predictions["decoder"] = written_predictions(self.decoder, memory, questions, self._candidates)
                if graph is not None or self._predict_with == "graph":
                    predictions["graph"] = self._graphs(relations[-1], encoded, metadata, graph)
            output["predictions"] = predictions[self._predict_with]
            for head, found in predictions.items() if graph is not None else ():
                self._decompositions[head](found, [entry["decomposition"] for entry in metadata])
        return output

    def _graphs(
        self, relations: Relations, encoded: EncodedWords, metadata: Entries, graph: Tensors | None
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
            order = torch.tensor(
                model_order(len(entry["tokens"]), self.word_encoder.special_count), device=edges.device
            )
            pairs = (row, order[:, None], order)
            arrays = (edges[pairs].cpu().numpy(), labelled[pairs].cpu().numpy())
            predictions.append(self.decoded_graph(entry, *arrays))
        return predictions

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Both losses; outside training also LF-EM and valid outputs, LF-EM of each head, and the F1 of edges."""
        metrics = super().get_metrics(reset)
        if not self.training:
            scores = {head: metric.get_metric(reset) for head, metric in self._decompositions.items()}
            metrics.update(scores[self._predict_with])
            metrics.update({f"{head}_lf_em": score["lf_em"] for head, score in scores.items()})
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
        labels = gold.masked_fill(~counted, NO_EDGE).flatten()
        losses = [
            nn.functional.cross_entropy(score(relations).flatten(0, 2), labels, ignore_index=NO_EDGE, reduction="sum")
            for layer in layers
            for score, relations in ((self.keys, layer.keys), (self.values, layer.values))
        ]
        return torch.stack(losses).sum() / counted.sum().clamp(min=1)

    def log_probabilities(self, relations: Relations) -> Tensor:
        """The logarithm of the product of both distributions, normalised: (batch, tokens, tokens, labels + 1)."""
        by_key = self.keys(relations.keys).log_softmax(dim=-1)
        by_value = self.values(relations.values).log_softmax(dim=-1)
        return (by_key + by_value).log_softmax(dim=-1)

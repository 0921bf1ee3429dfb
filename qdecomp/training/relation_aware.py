"""Self-attention whose relations between tokens are computed from the tokens' states.

With states ``h``, for tokens ``i`` and ``j`` and each head:

    r^K_ij = FF^K(h_i - h_j)                  r^V_ij = FF^V(h_i - h_j)
    e_ij = h_i W_Q (h_j W_K + r^K_ij)^T / sqrt(d_head)
    z_i = sum_j softmax_j(e_ij) (h_j W_V + r^V_ij)

A relation has the size of a head and all heads share it (in the paper's setting a head has 768 / 8 = 96 numbers, which
is the size of the feed-forward networks). A network has ReLU between its layers but not after the last, so that a
relation can have either sign. Its first layer is linear, so the difference can be taken after it, between tokens, and
only the later layers run over pairs.
"""

# AllenNLP reads the annotations of constructors, so they may not be postponed.

from itertools import pairwise
from typing import NamedTuple, cast

import torch
from allennlp.common.from_params import FromParams
from torch import Tensor, nn


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
            raise ValueError("a network over differences must have at least two layers")
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
        self,
        dim: int,
        num_heads: int,
        feed_forward_dim: int,
        relation_dim: int,
        relation_layers: int,
        dropout: float,
    ) -> None:
        super().__init__()
        if dim % num_heads:
            raise ValueError(f"states of size {dim} cannot be split into {num_heads} heads")
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
        query, key, value = (self._heads(linear(states)) for linear in (self.query, self.key, self.value))
        # Relations have no dimension for heads: all heads of a token form one matrix. (batch, tokens, heads, tokens)
        by_relation = query.transpose(1, 2).matmul(relations.keys.transpose(2, 3))
        scores = query.matmul(key.transpose(2, 3)) + by_relation.transpose(1, 2)
        scores = scores.masked_fill(~mask[:, None, None, :], -torch.inf) * self.head_dim**-0.5
        attention = self.dropout(scores.softmax(dim=-1))
        from_values = attention.matmul(value).transpose(1, 2)  # (batch, tokens, heads, head_dim)
        from_relations = attention.transpose(1, 2).matmul(relations.values)
        return (from_values + from_relations).flatten(2)

    def _heads(self, states: Tensor) -> Tensor:
        return states.view(*states.shape[:2], self._num_heads, self.head_dim).transpose(1, 2)


class RelationAwareEncoder(nn.Module, FromParams):
    """A stack of relation-aware layers.

    # Parameters

    dim : `int`
        The size of the states, both input and output.
    num_layers, num_heads : `int`
        How many layers, and how many heads each has.
    tied : `bool`
        Whether the layers share their parameters.
    feed_forward_dim : `int`, optional
        The size of the layers' own feed-forward networks; by default four times that of the states.
    relation_dim, relation_layers : `int`
        The size and the depth of the networks that compute relations.
    dropout : `float`
        The rate of every dropout.
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

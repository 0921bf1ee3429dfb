from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from qdecomp.training.relation_aware import RelationAwareEncoder, RelationAwareLayer, RelationNet, Relations

DIM, HEADS, TOKENS = 12, 3, 5


@pytest.fixture
def states() -> Tensor:
    torch.manual_seed(1)
    return torch.randn(2, TOKENS, DIM)


@pytest.fixture
def mask() -> Tensor:
    return torch.tensor([[True] * 5, [True, True, True, False, False]])


def new_layer() -> RelationAwareLayer:
    torch.manual_seed(0)
    return RelationAwareLayer(DIM, HEADS, 7, relation_dim=6, relation_layers=3, dropout=0.1)


def relation_by_hand(net: RelationNet, left: Tensor, right: Tensor) -> Tensor:
    """The net over the difference of two states, layer by layer."""
    value = net.first(left - right)
    for layer in net.others:
        value = layer(value.relu())
    return value


def attention_by_hand(layer: RelationAwareLayer, states: Tensor, length: int) -> Tensor:
    """The formulas of the paper for one question, one number after the other."""
    size = DIM // HEADS
    rows = []
    for i in range(length):
        parts = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            query = layer.query(states[i])[part]
            scores = []
            for j in range(length):
                relation = relation_by_hand(layer.key_relations, states[i], states[j])
                scores.append(float(query @ (layer.key(states[j])[part] + relation)) / math.sqrt(size))
            weights = [math.exp(score) / sum(math.exp(other) for other in scores) for score in scores]
            total = torch.zeros(size)
            for j in range(length):
                relation = relation_by_hand(layer.value_relations, states[i], states[j])
                total = total + weights[j] * (layer.value(states[j])[part] + relation)
            parts.append(total)
        rows.append(torch.cat(parts))
    return torch.stack(rows)


def test_relations_are_nets_over_differences(states: Tensor) -> None:
    net = new_layer().key_relations.eval()
    relations = net(states)
    assert relations.shape == (2, TOKENS, TOKENS, DIM // HEADS)
    for i in range(TOKENS):
        for j in range(TOKENS):
            torch.testing.assert_close(relations[1, i, j], relation_by_hand(net, states[1, i], states[1, j]))


@torch.no_grad()
def test_attention_is_that_of_the_formulas(states: Tensor, mask: Tensor) -> None:
    layer = new_layer().eval()
    relations = Relations(layer.key_relations(states), layer.value_relations(states))
    attended = layer.attend(states, mask, relations)
    for row in range(2):
        length = int(mask[row].sum())
        by_hand = attention_by_hand(layer, states[row], length)
        torch.testing.assert_close(attended[row, :length], by_hand, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_layer_adds_attention_and_a_feed_forward_net_and_normalises(states: Tensor) -> None:
    layer = new_layer().eval()
    result, _ = layer(states[:1], torch.ones(1, TOKENS, dtype=torch.bool))
    middle = layer.attention_norm(states[0] + layer.output(attention_by_hand(layer, states[0], TOKENS)))
    expected = layer.feed_forward_norm(middle + layer.feed_forward(middle))
    torch.testing.assert_close(result[0], expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_padding_changes_nothing(states: Tensor, mask: Tensor) -> None:
    encoder = RelationAwareEncoder(DIM, num_heads=HEADS).eval()
    padded, relations = encoder(states, mask)
    alone, relations_alone = encoder(states[1:, :3], mask[1:, :3])
    torch.testing.assert_close(padded[1:, :3], alone)
    assert len(relations) == len(relations_alone) == 4
    torch.testing.assert_close(relations[3].values[1:, :3, :3], relations_alone[3].values)


def test_tied_layers_have_the_parameters_of_one(states: Tensor, mask: Tensor) -> None:
    def parameters(tied: bool) -> int:
        encoder = RelationAwareEncoder(DIM, num_layers=4, num_heads=HEADS, tied=tied)
        assert len(encoder(states, mask)[1]) == 4
        return sum(parameter.numel() for parameter in encoder.parameters())

    assert parameters(tied=False) == 4 * parameters(tied=True)


@torch.no_grad()
def test_tied_layers_apply_one_layer_again_and_again(states: Tensor, mask: Tensor) -> None:
    encoder = RelationAwareEncoder(DIM, num_layers=3, num_heads=HEADS, tied=True).eval()
    expected = states
    for _ in range(3):
        expected, _ = encoder.layers[0](expected, mask)
    torch.testing.assert_close(encoder(states, mask)[0], expected)


def test_dropout_is_that_of_the_values_between_layers_shared_by_all_pairs_of_a_question() -> None:
    torch.manual_seed(0)
    net = RelationNet(4, 50, 30, num_layers=2, dropout=0.5).train()
    layer = net.others[0]
    weights = net._weights(layer, batch=2)
    kept = weights / layer.weight.t()
    assert set(kept.round(decimals=4).unique().tolist()) == {0.0, 2.0}
    assert (kept.std(dim=2) < 1e-4).all()
    assert not torch.equal(weights[0], weights[1])
    values = torch.rand(2, 7, 50)
    torch.testing.assert_close(values.matmul(weights), (values * kept[:, :, 0][:, None]).matmul(layer.weight.t()))


def test_every_parameter_gets_a_gradient(states: Tensor, mask: Tensor) -> None:
    encoder = RelationAwareEncoder(DIM, num_heads=HEADS)
    encoder(states, mask)[0][mask].pow(2).mean().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())


@pytest.mark.parametrize(("heads", "layers"), [(5, 3), (3, 1)])
def test_sizes_that_do_not_fit_are_refused(heads: int, layers: int) -> None:
    with pytest.raises(ValueError, match=r"heads|two layers"):
        RelationAwareEncoder(DIM, num_heads=heads, relation_layers=layers)

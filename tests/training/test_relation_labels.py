from __future__ import annotations

import math

import pytest
import torch

from qdecomp.training.latent_rat import RelationLabels
from qdecomp.training.relation_aware import Relations

TOKENS, DIM, LABELS = 3, 4, 5


def relations(count: int) -> list[Relations]:
    torch.manual_seed(3)
    return [Relations(*torch.randn(2, 2, TOKENS, TOKENS, DIM)) for _ in range(count)]


@pytest.fixture
def head() -> RelationLabels:
    torch.manual_seed(0)
    return RelationLabels(DIM, LABELS)


def test_the_loss_is_that_of_a_loop_over_pairs_layers_keys_and_values(head: RelationLabels) -> None:
    layers = relations(2)
    gold = torch.randint(0, LABELS + 1, (2, TOKENS, TOKENS))
    gold[0, 1, 2] = -1
    counted = torch.rand(2, TOKENS, TOKENS) > 0.3
    total, count = 0.0, 0
    for question in range(2):
        for i in range(TOKENS):
            for j in range(TOKENS):
                label = int(gold[question, i, j])
                if not counted[question, i, j] or label < 0:
                    continue
                count += 1
                for layer in layers:
                    for linear, relation in ((head.keys, layer.keys), (head.values, layer.values)):
                        scores = linear(relation[question, i, j]).tolist()
                        total -= math.log(math.exp(scores[label]) / sum(math.exp(score) for score in scores))
    assert float(head.loss(layers, gold, counted).detach()) == pytest.approx(total / count, rel=1e-5)


def test_without_pairs_the_loss_is_zero(head: RelationLabels) -> None:
    gold = torch.zeros(2, TOKENS, TOKENS, dtype=torch.long)
    loss = head.loss(relations(1), gold, torch.zeros_like(gold, dtype=torch.bool))
    loss.backward()
    assert float(loss.detach()) == 0.0


def test_a_prediction_is_the_product_of_both_distributions(head: RelationLabels) -> None:
    layer = relations(1)[0]
    probabilities = head.log_probabilities(layer).exp()
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(2, TOKENS, TOKENS))
    product = head.keys(layer.keys).softmax(dim=-1) * head.values(layer.values).softmax(dim=-1)
    torch.testing.assert_close(probabilities, product / product.sum(dim=-1, keepdim=True))
    assert torch.equal(probabilities.argmax(dim=-1), product.argmax(dim=-1))


def test_at_first_no_pair_has_an_edge(head: RelationLabels) -> None:
    nothing = Relations(*torch.zeros(2, 1, TOKENS, TOKENS, DIM))
    with torch.no_grad():
        assert (head.keys(nothing.keys).softmax(dim=-1)[..., head.none] > 0.95).all()
        assert (head.log_probabilities(nothing).argmax(dim=-1) == head.none).all()

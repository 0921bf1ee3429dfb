from __future__ import annotations

import numpy as np
import pytest
import torch

from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.layers import LayerNorm, Weights, attend, elu, gelu, sigmoid, softmax

STATES = np.random.default_rng(0).normal(0, 3, (40, 24)).astype(np.float32)
STATES[0, :4] = (0, -0.0, 60, -60)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (gelu, torch.nn.functional.gelu),
        (elu, torch.nn.functional.elu),
        (sigmoid, torch.sigmoid),
        (softmax, lambda states: torch.softmax(states, -1)),
    ],
)
def test_functions_are_those_of_torch(ours, theirs):
    found = ours(STATES.copy())
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, theirs(torch.tensor(STATES)).numpy(), atol=2e-6)


def test_layer_norm_is_that_of_torch():
    weight, bias = STATES[1], STATES[2]
    expected = torch.nn.functional.layer_norm(*map(torch.tensor, (STATES,)), (24,), *map(torch.tensor, (weight, bias)))
    np.testing.assert_allclose(LayerNorm(weight, bias, 1e-5)(STATES), expected.numpy(), atol=1e-5)


def test_attention_stays_within_a_question():
    queries, keys, values = STATES[:10], STATES[10:25], STATES[25:40]
    together = attend(queries, keys, values, 4, [slice(0, 4), slice(4, 10)], [slice(0, 7), slice(7, 15)])
    alone = attend(queries[4:], keys[7:], values[7:], 4, [slice(0, 6)], [slice(0, 8)])
    np.testing.assert_allclose(together[4:], alone, atol=1e-6)
    by_hand = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(part).view(-1, 4, 6).transpose(0, 1) for part in (queries[:4], keys[:7], values[:7]))
    )
    np.testing.assert_allclose(together[:4], by_hand.transpose(0, 1).reshape(4, 24).numpy(), atol=1e-5)


def test_weights_are_found_by_name_and_number():
    weights = Weights({"a.layer.10.bias": STATES[0], "a.layer.2.bias": STATES[1], "a.norm": STATES[2]})
    assert [layer["bias"][0] for layer in weights.within("a").numbered("layer")] == [STATES[1][0], STATES[0][0]]
    with pytest.raises(DataError, match=r"the weights have no a\.missing"):
        weights.within("a")["missing"]

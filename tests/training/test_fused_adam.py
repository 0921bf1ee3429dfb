from __future__ import annotations

import pytest
import torch
from allennlp.training.optimizers import AdamOptimizer

from qdecomp.training.trainer import FusedAdam


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_its_steps_are_those_of_adam(decay: float) -> None:
    torch.manual_seed(0)
    start, data = torch.randn(5, 4), torch.randn(20, 3, 4)
    results = []
    for make in (AdamOptimizer, FusedAdam):
        parameters = {"encoder.x": torch.nn.Parameter(start.clone()), "other": torch.nn.Parameter(start.clone())}
        groups = [(["encoder"], {"lr": 1e-4})]
        optimizer = make(list(parameters.items()), groups, lr=1e-2, weight_decay=decay)
        for batch in data:
            optimizer.zero_grad()
            sum(value.matmul(batch.t()).sin().sum() for value in parameters.values()).backward()
            optimizer.step()
        results.append(parameters)
    for name in ("encoder.x", "other"):
        torch.testing.assert_close(results[1][name], results[0][name])
        assert not torch.equal(results[1][name], start)
    small, large = ((results[1][name] - start).abs().max() for name in ("encoder.x", "other"))
    assert small < large / 10

from __future__ import annotations

import pytest
import torch

from qdecomp.training.question_parser import ByteDropout, draw_dropout_by_byte


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_rate_is_kept_and_so_is_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    dropped = ByteDropout(rate)(torch.ones(300, 1001))
    assert float((dropped == 0).float().mean()) == pytest.approx(round(256 * rate) / 256, abs=0.005)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)
    assert len(dropped.unique()) == 2


def test_every_byte_of_a_number_is_as_random_as_the_others() -> None:
    torch.manual_seed(0)
    by_byte = ByteDropout(0.5)(torch.ones(20_000, 8)).mean(dim=0)
    torch.testing.assert_close(by_byte, torch.ones(8), atol=0.04, rtol=0)


def test_the_gradient_is_dropped_where_the_value_is() -> None:
    values = torch.randn(7, 5, requires_grad=True)
    dropped = ByteDropout(0.4)(values)
    dropped.sum().backward()
    assert values.grad is not None
    torch.testing.assert_close(values.grad, (dropped / values).detach())


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    values = torch.ones(50, 3).t()  # not contiguous
    torch.manual_seed(4)
    first, second = ByteDropout(0.5)(values), ByteDropout(0.5)(values)
    torch.manual_seed(4)
    assert torch.equal(ByteDropout(0.5)(values), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(("rate", "mean"), [(0.0, 1.0), (0.0001, 1.0), (1.0, 0.0)])
def test_rates_that_a_byte_cannot_draw_are_torchs(rate: float, mean: float) -> None:
    assert float(ByteDropout(rate)(torch.ones(100)).mean()) == pytest.approx(mean, abs=0.02)


def test_nothing_is_dropped_outside_of_training_or_of_nothing() -> None:
    values = torch.randn(4, 4)
    assert torch.equal(ByteDropout(0.5).eval()(values), values)
    assert ByteDropout(0.5)(torch.ones(0, 3)).shape == (0, 3)


def test_all_dropouts_of_a_module_are_replaced() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.2))
    module = torch.nn.ModuleDict({"inner": inner, "list": torch.nn.ModuleList([torch.nn.Dropout(0.3)])})
    draw_dropout_by_byte(module)
    assert [(type(each), each.p) for each in module.modules() if isinstance(each, torch.nn.Dropout)] == [
        (ByteDropout, 0.2),
        (ByteDropout, 0.3),
    ]

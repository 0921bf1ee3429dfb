"""Weights by the probability of whole annotations: their mean is one, and probable annotations count more."""

from __future__ import annotations

import pytest
import torch

from qdecomp.training.biaffine_parser import mode_seeking_weights


def test_without_a_power_every_question_counts_the_same() -> None:
    assert mode_seeking_weights(torch.tensor([0.1, 3.0, 90.0]), 0.0).tolist() == [1.0, 1.0, 1.0]


def test_weights_are_the_probabilities_to_the_power_by_their_mean() -> None:
    probabilities = torch.tensor([0.9, 0.5, 0.01])
    expected = probabilities.sqrt() / probabilities.sqrt().mean()
    assert mode_seeking_weights(-probabilities.log(), 0.5).tolist() == pytest.approx(expected.tolist())


def test_questions_that_are_far_off_do_not_overflow() -> None:
    weights = mode_seeking_weights(torch.tensor([1e6, 1e6 + 1]), 1.0)
    assert weights.isfinite().all()
    assert float(weights.sum()) == pytest.approx(2.0)


def test_a_parser_that_may_choose_one_of_two_annotations_settles_on_the_commoner() -> None:
    annotations = torch.tensor([1.0, 1.0, 1.0, 0.0, 0.0])

    def trained(power: float) -> float:
        score = torch.zeros((), requires_grad=True)
        optimizer = torch.optim.SGD([score], lr=0.5)
        for _ in range(300):
            optimizer.zero_grad()
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                score.expand(len(annotations)), annotations, reduction="none"
            )
            (losses * mode_seeking_weights(losses, power)).mean().backward()
            optimizer.step()
        return float(score.detach().sigmoid())

    assert trained(0.0) == pytest.approx(0.6, abs=1e-3)
    assert trained(1.0) > 0.95

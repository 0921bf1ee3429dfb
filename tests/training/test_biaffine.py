from __future__ import annotations

import torch

from qdecomp.training.biaffine_parser import Biaffine


def _scorer(outputs: int) -> Biaffine:
    torch.manual_seed(0)
    scorer = Biaffine(5, outputs)
    torch.nn.init.normal_(scorer.weight)
    return scorer


def test_scores_are_those_of_the_formula() -> None:
    scorer, first, second = _scorer(3), torch.randn(2, 4, 5), torch.randn(2, 4, 5)
    matrices = scorer.weight.view(6, 3, 6)
    scores = scorer.all_pairs(first, second)
    assert scores.shape == (2, 4, 4, 3)
    for question in range(2):
        for i in range(4):
            for j in range(4):
                x = torch.cat([first[question, i], torch.ones(1)])
                y = torch.cat([second[question, j], torch.ones(1)])
                for output in range(3):
                    expected = x @ matrices[:, output] @ y
                    torch.testing.assert_close(scores[question, i, j, output], expected, rtol=1e-4, atol=1e-4)


def test_given_pairs_have_the_scores_of_all_pairs() -> None:
    scorer, first, second = _scorer(3), torch.randn(2, 4, 5), torch.randn(2, 4, 5)
    question, i, j = torch.tensor([0, 1, 1]), torch.tensor([3, 0, 2]), torch.tensor([1, 2, 2])
    given = scorer.pairs(first[question, i], second[question, j])
    torch.testing.assert_close(given, scorer.all_pairs(first, second)[question, i, j], rtol=1e-4, atol=1e-4)


def test_no_pairs_have_no_scores() -> None:
    assert _scorer(3).pairs(torch.zeros(0, 5), torch.zeros(0, 5)).shape == (0, 3)


def test_before_training_every_score_is_the_bias() -> None:
    scores = Biaffine(5, 2, bias=-3.0).all_pairs(torch.randn(1, 3, 5), torch.randn(1, 3, 5))
    assert (scores == -3.0).all()

"""The ranker learns from lists of plans which of them are right."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from qdecomp.parsers.network import Inputs, ranker_inputs
from qdecomp.parsers.search import Hypothesis
from qdecomp.training.ranker import PlanRanker, RankedList, batches, collate, list_loss, logits_of

UNKNOWN, SEPARATOR, FIRST = 1, 2, 5


def inputs_of(source_ids: list[int], *plans: tuple[int, ...]) -> Inputs:
    hypotheses = [Hypothesis(plan, -0.5 * rank, True, (-0.1,) * len(plan)) for rank, plan in enumerate(plans)]
    return ranker_inputs(source_ids, hypotheses, FIRST, UNKNOWN, SEPARATOR)


def test_plans_are_read_with_their_words() -> None:
    found = inputs_of([3, 5, 6, 5], (5, 2, 7, 3), (4,))
    assert found["tokens"].tolist() == [[1, 2, 1, 3], [4, 1, 1, 1]]
    assert found["steps"].tolist() == [[0, 1, 1, 1], [0, 0, 0, 0]]
    assert found["written"].tolist() == [[1, 1, 1, 1], [1, 0, 0, 0]]
    assert found["places"][0].tolist() == [[0, 0.5, 0, 0.5], [0] * 4, [0] * 4, [1, 0, 0, 0]]
    assert found["uses"].tolist() == [[1, 1, 0, 1], [0, 0, 0, 0]]
    assert found["plans"][:, 2].tolist() == [0, -0.25]


def test_the_loss_of_a_list_is_that_of_its_right_plans() -> None:
    logits = torch.tensor([0.3, -0.2, 1.5, 0.7])
    right, lists = torch.tensor([0.0, 1.0, 1.0, 1.0]), torch.tensor([0, 0, 1, 1])
    # The second list has nothing to choose.
    expected = -torch.log_softmax(logits[:2], dim=0)[1] / 2
    assert list_loss(logits, right, lists, calibrated=0).item() == pytest.approx(expected.item())
    odds = torch.nn.functional.binary_cross_entropy_with_logits(logits, right)
    assert list_loss(logits, right, lists).item() == pytest.approx((expected + 0.5 * odds).item())


def test_padding_changes_nothing() -> None:
    lists = [some_list(random.Random(seed)) for seed in range(8)]
    torch.manual_seed(3)
    model = PlanRanker(FIRST, 4, size=16, heads=2).eval()
    together = logits_of(model, lists)
    for each, found in zip(lists, together, strict=True):
        assert logits_of(model, [each])[0] == pytest.approx(found, abs=1e-5)


def some_list(chance: random.Random) -> RankedList:
    """Two plans, one of which leaves out a word of the question; it comes first as often as not."""
    count = chance.randrange(3, 7)
    source_ids = list(range(FIRST, FIRST + count))
    whole, short = tuple(chance.sample(source_ids, count)), tuple(chance.sample(source_ids, count - 1))
    plans, right = ((whole, short), [1.0, 0.0]) if chance.random() < 0.5 else ((short, whole), [0.0, 1.0])
    states = np.random.default_rng(chance.randrange(1_000)).standard_normal((count, 4)).astype(np.float16)
    return RankedList(states, inputs_of(source_ids, *plans), np.array(right, dtype=np.float32))


def test_it_learns_to_prefer_plans_with_all_words() -> None:
    chance = random.Random(7)
    torch.manual_seed(7)
    model = PlanRanker(FIRST, 4, size=16, heads=2, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    lists = [some_list(chance) for _ in range(256)]
    for _ in range(6):
        model.train()
        for batch in batches(lists, 16, chance):
            words, mask, given, right, numbers = collate(batch)
            optimizer.zero_grad()
            list_loss(model(words, mask, given), right, numbers).backward()
            optimizer.step()
    unseen = [some_list(chance) for _ in range(64)]
    chosen = [each.right[found.argmax()] for each, found in zip(unseen, logits_of(model, unseen), strict=True)]
    assert np.mean(chosen) > 0.9

from __future__ import annotations

import pytest
import torch

from qdecomp.parsers.decomposition import decomposition_from_text, failed_decomposition
from qdecomp.training.fields import NO_EDGE
from qdecomp.training.question_parser import ByteDropout, DecompositionScores, EdgeScores, draw_dropout_by_byte


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_rate_is_kept_and_so_is_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    dropped = ByteDropout(rate)(torch.ones(300, 1001))
    assert float((dropped == 0).float().mean()) == pytest.approx(round(256 * rate) / 256, abs=0.005)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)
    assert len(dropped.unique()) == 2


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


def test_all_dropouts_of_a_module_are_replaced() -> None:
    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.2))
    module = torch.nn.ModuleDict({"inner": inner, "list": torch.nn.ModuleList([torch.nn.Dropout(0.3)])})
    draw_dropout_by_byte(module)
    assert [(type(each), each.p) for each in module.modules() if isinstance(each, torch.nn.Dropout)] == [
        (ByteDropout, 0.2),
        (ByteDropout, 0.3),
    ]


QUESTION = "How many red cubes are there?"
GOLD = "return cubes ;return #1 that are red ;return number of #2"


def test_lf_em_and_valid_outputs() -> None:
    scores = DecompositionScores()
    predictions = [
        decomposition_from_text(QUESTION, "return red cubes ;return number of #1"),
        decomposition_from_text(QUESTION, "return cubes"),
    ]
    predictions += [failed_decomposition(QUESTION, "no reason"), decomposition_from_text(QUESTION, "return #1")]
    scores(predictions, [GOLD] * 4)
    assert scores.get_metric() == {"lf_em": 0.25, "valid": 0.5}


def test_a_gold_without_a_logical_form_cannot_be_matched() -> None:
    scores = DecompositionScores()
    scores([decomposition_from_text(QUESTION, "return #1")], ["return #1"])
    assert scores.get_metric(reset=True) == {"lf_em": 0.0, "valid": 0.0}
    assert scores.get_metric() == {"lf_em": 0.0, "valid": 0.0}


def test_edges_with_and_without_labels() -> None:
    scores = EdgeScores()
    # Two questions; the second has no gold graph. The label of the edge from 1 to 0 is not in the vocabulary.
    edges = torch.tensor([[[0, 1, 2], [1, 0, NO_EDGE]], [[NO_EDGE] * 3] * 2])
    predicted = torch.tensor([[[NO_EDGE, 2], [4, 5]], [[1, 1], [1, 1]]])
    scores(predicted, {"edges": edges, "known": torch.tensor([True, False])}, 6)
    metrics = scores.get_metric(reset=True)
    assert metrics == {"edge_f1": 2 * 2 / 5, "labeled_f1": 2 * 1 / 5}
    assert all(type(value) is float for value in metrics.values())
    assert scores.get_metric() == {"edge_f1": 0.0, "labeled_f1": 0.0}

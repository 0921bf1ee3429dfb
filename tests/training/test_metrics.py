from __future__ import annotations

import torch

from qdecomp.parsers.decomposition import decomposition_from_text, failed_decomposition
from qdecomp.training.fields import NO_EDGE
from qdecomp.training.metrics import DecompositionScores, EdgeScores

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

"""The biaffine parser: its scores, what it learns, its decoding, and weights of questions in its loss."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import make_decoder
from qdecomp.training.biaffine_parser import Biaffine, mode_seeking_weights
from tests.training.parser_test_case import ParserTestCase

NO_DROPOUT = {"model.dropout": 0.0, "model.feed_forward_dropout": 0.0}
INSIDE = {"dataset_reader.token_indexers.pieces.special_tokens": "default", "model.word_encoder.special_layers": 0}


class TestBiaffineGraphParser(ParserTestCase):
    config = "biaffine_graph_parser_minilm"
    overrides: ClassVar[dict[str, Any]] = {
        **NO_DROPOUT,
        "model.edge_dim": 48,
        "model.label_dim": 24,
        "data_loader.batch_sampler.weights": {},
    }

    def test_it_trains_and_is_the_same_after_saving_and_loading(self) -> None:
        self.ensure_model_can_train_save_and_load(self.param_file)

    @pytest.mark.parametrize("special", [{}, INSIDE], ids=["outside", "inside"])
    def test_predictions_do_not_depend_on_the_batch(self, special: dict[str, Any]) -> None:
        self.load(**special)
        self.overfit(steps=15, lr=4e-3)
        self.check_batch_predictions()

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "special",
        [INSIDE, {"model.word_encoder.mix_layers": True}],
        ids=["inside", "outside with mixed layers"],
    )
    def test_it_learns_ten_rows_by_heart(self, special: dict[str, Any]) -> None:
        self.load(**special)
        metrics = self.learn_by_heart("lf_em", "valid", "labeled_f1", "edge_f1")
        assert metrics["lf_em"] == metrics["valid"] == metrics["labeled_f1"] == metrics["edge_f1"] == 1.0
        for prediction in self.predictions():
            assert prediction.graph is not None
            assert prediction.score is not None
            assert prediction.score <= 0
            assert all(edge.score is not None and 0.25 < edge.score <= 1 for edge in prediction.graph.edges)

    def scored_batch(self, steps: int) -> tuple[dict[str, Any], dict[str, Any], Any]:
        """All rows, the output of a model that was trained for some steps, and its scores."""
        self.load()
        self.overfit(steps=steps, lr=4e-3)
        batch = self.dataset.as_tensor_dict()
        with torch.no_grad():
            return batch, self.model(**batch), self.model._score(batch["question"], batch["metadata"])

    def test_the_loss_is_that_of_a_loop_over_pairs(self) -> None:
        batch, output, scored = self.scored_batch(steps=5)
        with torch.no_grad():
            labels = self.model.label_scorer.all_pairs(scored.label_from, scored.label_to).log_softmax(-1)
        expected, count = 0.0, 0
        for question, entry in enumerate(batch["metadata"]):
            gold = {(head, to): label for head, to, label in batch["graph"]["edges"][question].tolist() if head >= 0}
            count += len(gold)
            for head in range(len(entry["tokens"])):
                for to in range(len(entry["tokens"])):
                    score = scored.edge_scores[question, head, to]
                    expected -= float(torch.nn.functional.logsigmoid(score if (head, to) in gold else -score))
                    if (head, to) in gold:
                        expected -= float(labels[question, head, to, gold[head, to]])
        assert float(output["loss"]) == pytest.approx(expected / count, rel=1e-4)

    def test_seeking_the_mode_gives_questions_less_loss_that_are_far_from_gold(self) -> None:
        batch, output, _ = self.scored_batch(steps=5)
        self.model._mode_seeking = 0.1
        with torch.no_grad():
            weighted = self.model(**batch)["loss"]
        assert 0.0 < float(weighted) < float(output["loss"])

    def test_the_ilp_decoder_leaves_no_invalid_graph(self) -> None:
        self.load(**{"model.decoder": "ilp"})
        self.overfit(steps=8, lr=4e-3)
        by_ilp = self.predictions()
        self.model.graph_decoder = make_decoder("greedy")
        assert not all(prediction.logical_form is not None for prediction in self.predictions())
        assert all(prediction.logical_form is not None for prediction in by_ilp)

    def test_questions_without_a_gold_graph_cost_nothing_but_are_scored(self) -> None:
        self.load()
        batch = self.dataset.as_tensor_dict()
        batch["graph"]["edges"][:] = -1
        batch["graph"]["known"][:] = False
        self.model.eval()
        assert float(self.model(**batch)["loss"].detach()) == 0.0
        assert self.model._decompositions._counts[0] == 10

    def test_in_training_it_does_not_predict(self) -> None:
        self.load()
        self.model.train()
        assert set(self.model(**self.dataset.as_tensor_dict())) == {"loss"}
        assert set(self.model.get_metrics()) == {"edge_loss", "label_loss"}

    def test_a_reader_with_other_special_tokens_is_noticed(self) -> None:
        self.load(**{"dataset_reader.special_tokens": "paper"})
        with pytest.raises(DataError, match="special_tokens"):
            self.model(**self.dataset.as_tensor_dict())


def test_scores_are_those_of_the_formula() -> None:
    torch.manual_seed(0)
    scorer, one = Biaffine(5, outputs=3), torch.ones(2, 4, 1)
    torch.nn.init.normal_(scorer.weight)
    first, second = torch.randn(2, 2, 4, 5)
    x, y = (torch.cat([side, one], dim=-1) for side in (first, second))
    expected = torch.einsum("bix,xoy,bjy->bijo", x, scorer.weight.view(6, 3, 6), y)
    torch.testing.assert_close(scorer.all_pairs(first, second), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(scorer.pairs(first[0], second[0]), expected[0].diagonal().T, rtol=1e-4, atol=1e-4)


def test_weights_are_the_probabilities_to_the_power_by_their_mean() -> None:
    probabilities = torch.tensor([0.9, 0.5, 0.01])
    expected = probabilities.sqrt() / probabilities.sqrt().mean()
    assert mode_seeking_weights(-probabilities.log(), 0.5).tolist() == pytest.approx(expected.tolist())

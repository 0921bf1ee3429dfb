from __future__ import annotations

from typing import Any, ClassVar

import torch

from qdecomp.data_structures.lf_em import lf_em
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class TestCopyNetBert(ParserTestCase):
    config = "copynet_bert_minilm"
    overrides: ClassVar[dict[str, Any]] = SMALL_WRITER

    def test_it_trains_and_is_the_same_after_saving_and_loading(self) -> None:
        self.ensure_model_can_train_save_and_load(self.param_file)

    def test_it_learns_ten_rows_by_heart_and_knows_them_in_every_batch(self) -> None:
        self.load()
        metrics = self.learn_by_heart("lf_em", "valid")
        assert metrics == {"lf_em": 1.0, "valid": 1.0}
        for instance, prediction in zip(self.instances, self.predictions(), strict=True):
            metadata = instance["metadata"].metadata
            assert prediction.decomposition is not None
            assert lf_em(metadata["question"], prediction.decomposition, metadata["decomposition"])
            assert prediction.graph is None
            assert prediction.score is not None
            assert prediction.score <= 0
        self.check_batch_predictions()

    def test_every_output_of_an_untrained_model_is_a_decomposition(self) -> None:
        self.load()
        torch.nn.init.normal_(self.model.decoder._generate.bias, std=3.0)
        assert all(prediction.error is None for prediction in self.predictions())

    def test_in_training_it_does_not_predict(self) -> None:
        self.load()
        self.model.train()
        assert set(self.model(**self.dataset.as_tensor_dict())) == {"loss"}
        assert self.model.get_metrics() == {}

from __future__ import annotations

from typing import Any, ClassVar

import pytest
import torch
from allennlp.common.util import END_SYMBOL

from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.training.fields import TARGET_NAMESPACE
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class TestCopyNetBert(ParserTestCase):
    config = "copynet_bert_minilm"
    overrides: ClassVar[dict[str, Any]] = SMALL_WRITER

    def test_it_trains_and_is_the_same_after_saving_and_loading(self) -> None:
        self.ensure_model_can_train_save_and_load(self.param_file)

    @pytest.mark.slow
    def test_it_learns_ten_rows_by_heart_and_knows_them_in_every_batch(self) -> None:
        self.load()
        metrics = self.learn_by_heart("lf_em", "valid")
        assert metrics == {"lf_em": 1.0, "valid": 1.0}
        for instance, prediction in zip(self.instances, self.predictions(), strict=True):
            metadata = instance["metadata"].metadata
            assert prediction.text is not None
            assert lf_em(metadata["question"], prediction.text, metadata["decomposition"])
            assert prediction.predicted_graph is None
            assert prediction.score is not None
            assert prediction.score <= 0
        self.check_batch_predictions()

    def test_candidates_are_the_best_first_and_begin_with_the_decomposition(self) -> None:
        self.load()
        with torch.no_grad():
            self.model.decoder._generate.bias[self.vocab.get_token_index(END_SYMBOL, TARGET_NAMESPACE)] += 2.0
        single = self.predictions()
        self.model.give_candidates(3)
        for one, many in zip(single, self.predictions(), strict=True):
            assert not one.candidates
            assert many.text == one.text == many.candidates[0].text
            scores = [each.score for each in many.candidates]
            assert scores == sorted(scores, reverse=True)
            assert len({each.text for each in many.candidates}) == len(many.candidates) == 3
            known = {*tokenize(many.question.lower()), *self.model.decoder.tokens, "return"}
            for each in many.candidates:
                assert set(each.text.lower().replace(";", " ").split()) <= known

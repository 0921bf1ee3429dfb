"""A bundled seq2seq parser says what CopyNet-BERT in torch says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from allennlp.common import Params

from qdecomp.data_structures.conversion.target_tokens import copied_ids
from qdecomp.decoding.coverage import uncovered_words
from qdecomp.parsers.bundle import Seq2SeqConfig, read_config
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.network import Ranker, ranker_inputs
from qdecomp.parsers.parser import load
from qdecomp.parsers.seq2seq import SearchSettings, Seq2SeqParser
from qdecomp.training.bundling import add_ranker, bundle_parts, write_bundle
from qdecomp.training.copynet import written_predictions
from qdecomp.training.ranker import PlanRanker, RankedList, logits_of
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class TestBundledSeq2Seq(ParserTestCase):
    config = "copynet_bert_minilm"
    overrides: ClassVar[dict[str, Any]] = SMALL_WRITER

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """The bundle of a model that knows ten rows by heart."""
        self.load()
        self.learn_by_heart("lf_em")
        write_bundle(tmp_path / "bundle", *self.parts(), card="A card.")
        return tmp_path / "bundle"

    def parts(self) -> Any:
        return bundle_parts(self.model, "tiny", Params.from_file(self.param_file).as_dict())

    @property
    def questions(self) -> list[str]:
        return [entry["question"] for entry in self.dataset.as_tensor_dict()["metadata"]]

    def test_predictions_are_the_same(self, folder: Path) -> None:
        expected = self.predictions()
        plain = list(load(folder).pipe(self.questions, batch_size=3))
        assert [each.text for each in plain] == [each.text for each in expected]
        assert [each.logical_form for each in plain] == [each.logical_form for each in expected]
        for ours, theirs in zip(plain, expected, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=0.1)
        # A penalty so high that the number of words left out decides.
        self.model.decoder.coverage_penalty = 50.0
        expected = self.predictions()
        found = list(load(folder, coverage_penalty=50.0).pipe(self.questions))
        unsaid = [len(uncovered_words(*pair)) for pair in self.plans(found)]
        assert unsaid == [len(uncovered_words(*pair)) for pair in self.plans(expected)]
        for ours, theirs, words, before in zip(found, expected, unsaid, self.plans(plain), strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1.0)
            assert words <= len(uncovered_words(*before))

    def plans(self, predictions: list[Decomposition]) -> list[tuple[str, str]]:
        return [(question, each.text or "") for question, each in zip(self.questions, predictions, strict=True)]

    def test_candidates_are_the_same(self, folder: Path) -> None:
        batch = self.dataset.as_tensor_dict()
        with torch.no_grad():
            encoded = self.model.word_encoder(batch["question"])
            memory = self.model.decoder.memory(encoded.states, encoded.mask, batch["copy"]["source_ids"])
            expected = written_predictions(self.model.decoder, memory, self.questions, candidates=3)
        found = load(folder, candidates=3).predict(self.questions)
        for ours, theirs in zip(found, expected, strict=True):
            scores, model_scores = (
                {candidate.text: candidate.score for candidate in prediction.candidates}
                for prediction in (ours, theirs)
            )
            # Candidates that say the same are one candidate, so there may be fewer than three. Those behind the first
            # are next to impossible for a model that knows the rows by heart: which of them come differs by rounding.
            assert 1 <= len(scores) == len(ours.candidates) <= 3
            assert next(iter(scores)) == next(iter(model_scores)) == ours.text
            assert list(scores.values()) == sorted(scores.values(), reverse=True)
            assert scores[ours.text] == pytest.approx(model_scores[ours.text], abs=0.1)

    @pytest.fixture
    def ranker(self) -> PlanRanker:
        """A ranker that knows nothing, but has opinions."""
        torch.manual_seed(1)
        model = PlanRanker(len(self.model.decoder.tokens), self.model.word_encoder.get_output_dim(), 32, heads=2)
        torch.nn.init.normal_(model.logit.weight)
        return model.eval()

    def test_the_network_of_a_ranker_says_what_torch_says(self, folder: Path, ranker: PlanRanker) -> None:
        add_ranker(folder, folder, ranker)
        config = read_config(folder)
        assert isinstance(config, Seq2SeqConfig)
        assert config.ranker == {"heads": 2}
        parser = Seq2SeqParser(folder, config, SearchSettings(candidates=4))
        states = {source.question: words for source, words in parser.word_states(self.questions)}
        network = Ranker(folder, config.tokens, config.unknown)
        unknown, separator = config.tokens.index(config.unknown), config.tokens.index(";")
        expected, found = [], []
        for source, plans in parser.candidates(self.questions):
            ids = copied_ids(source.words, {token: number for number, token in enumerate(config.tokens)}, 1_000)
            words = states[source.question]
            inputs = ranker_inputs(ids, plans.hypotheses, len(config.tokens), unknown, separator)
            ranked_list = RankedList(words.astype(np.float16), inputs, np.zeros(len(plans.hypotheses), np.float32))
            expected += logits_of(ranker, [ranked_list])[0].tolist()
            found += network(words, ids, plans.hypotheses)
        # Its matrices and what they are multiplied with are quantised.
        assert np.abs(np.subtract(found, expected)).mean() < 0.1 * np.std(expected)

    def test_the_answer_is_the_plan_that_is_most_likely_right(self, folder: Path, ranker: PlanRanker) -> None:
        add_ranker(folder, folder, ranker)
        answers = list(load(folder).pipe(self.questions))
        for answer in answers:
            assert answer.score is not None
            assert answer.score <= 0
            assert answer.confidence is None
        for count in (1, 3, 9):
            others = list(load(folder, candidates=count).pipe(self.questions))
            assert [(each.text, each.score) for each in others] == [(each.text, each.score) for each in answers]
            assert all(each.candidates[0].text == each.text and len(each.candidates) <= count for each in others)

"""A bundled parser says what its model in torch says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from allennlp.common import Params

from qdecomp.decoding import make_decoder
from qdecomp.decoding.coverage import uncovered_words
from qdecomp.parsers.bundle import GraphConfig, Seq2SeqConfig, read_config
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.graph import GraphParser
from qdecomp.parsers.network import Ranker, ranker_inputs
from qdecomp.parsers.parser import load
from qdecomp.parsers.seq2seq import SearchSettings, Seq2SeqParser
from qdecomp.training.bundling import add_ranker, bundle_parts, write_bundle
from qdecomp.training.copynet import written_predictions
from qdecomp.training.ranker import PlanRanker, RankedList, logits_of
from tests.training.parser_test_case import SMALL_WRITER, ParserTestCase


class BundledTestCase(ParserTestCase):
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


class TestBundledGraphParser(BundledTestCase):
    config = "biaffine_graph_parser_minilm"
    overrides: ClassVar[dict[str, Any]] = {
        "model.dropout": 0.0,
        "model.feed_forward_dropout": 0.0,
        "model.edge_dim": 48,
        "model.label_dim": 24,
        "model.word_encoder.special_layers": 2,
    }

    def test_rounded_weights_are_near_and_probabilities_nearly_the_same(self, folder: Path) -> None:
        _, weights, _ = self.parts()
        state = self.model.state_dict()
        rounded = {name: value for name, value in weights.items() if value.dtype == np.int8}
        assert "word_encoder.transformer.embeddings.word_embeddings.weight" in rounded
        for name, value in rounded.items():
            step = np.abs(state[name].numpy()).max(axis=1, keepdims=True) / 127
            floats = value * weights[f"{name}.factors"][:, None]
            assert (np.abs(floats - state[name].numpy()) <= 0.501 * step).all()
        config = read_config(folder)
        assert isinstance(config, GraphConfig)
        parser = GraphParser(folder, config, make_decoder("greedy"))
        batch = self.dataset.as_tensor_dict()
        self.model.eval()
        with torch.no_grad():
            scored = self.model._score(batch["question"], batch["metadata"])
            labels = self.model.label_scorer.all_pairs(scored.label_from, scored.label_to).softmax(-1)
        special = len(config.special_tokens.appended)
        for number, entry in enumerate(batch["metadata"]):
            words = entry["tokens"][:-special]
            # The words first and then the special tokens.
            order = [*range(special, special + len(words)), *range(special)]
            tokens, edges, found = parser.scored(words, parser.pieces(words))
            assert tokens == tuple(entry["tokens"])
            expected = scored.edge_scores[number][order][:, order].sigmoid().numpy()
            np.testing.assert_allclose(edges, expected, atol=0.03)
            likely = expected > 0.5
            assert likely.any()
            np.testing.assert_allclose(found[likely], labels[number][order][:, order].numpy()[likely], atol=0.05)

    def test_predictions_are_the_same_in_any_batch(self, folder: Path) -> None:
        expected = self.predictions()
        parser = load(folder, decoder="greedy")
        found = list(parser.pipe(self.questions, batch_size=3))
        assert [_without_scores(each) for each in found] == [_without_scores(each) for each in expected]
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=0.1)
        for size in (1, 32):
            assert list(parser.pipe(self.questions, batch_size=size)) == found
        assert len(list(load(folder, decoder="ilp", time_limit=0.2).pipe(self.questions))) == len(self.questions)


def _without_scores(prediction: Decomposition) -> Any:
    graph = prediction.predicted_graph
    edges = None if graph is None else [(edge.head, edge.dependent, edge.tag) for edge in graph.edges]
    return prediction.text, prediction.logical_form, edges, prediction.error


class TestBundledSeq2Seq(BundledTestCase):
    config = "copynet_bert_minilm"
    overrides: ClassVar[dict[str, Any]] = SMALL_WRITER

    def test_predictions_are_the_same(self, folder: Path) -> None:
        expected = self.predictions()
        plain = list(load(folder).pipe(self.questions, batch_size=3))
        assert [each.text for each in plain] == [each.text for each in expected]
        assert [each.logical_form for each in plain] == [each.logical_form for each in expected]
        for ours, theirs in zip(plain, expected, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=0.1)
        self.check_candidates(folder)
        # A penalty so high that the number of words left out decides.
        self.model.decoder.search_options({"coverage_penalty": 50.0})
        expected = self.predictions()
        found = list(load(folder, coverage_penalty=50.0).pipe(self.questions))
        unsaid = [len(uncovered_words(*pair)) for pair in self.plans(found)]
        assert unsaid == [len(uncovered_words(*pair)) for pair in self.plans(expected)]
        for ours, theirs, words, before in zip(found, expected, unsaid, self.plans(plain), strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=1.0)
            assert words <= len(uncovered_words(*before))

    def plans(self, predictions: list[Decomposition]) -> list[tuple[str, str]]:
        return [(question, each.text or "") for question, each in zip(self.questions, predictions, strict=True)]

    def check_candidates(self, folder: Path) -> None:
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

    def test_a_ranker_says_what_torch_says_and_chooses_the_answer(self, folder: Path) -> None:
        # It knows nothing, but has opinions.
        torch.manual_seed(1)
        ranker = PlanRanker(len(self.model.decoder.tokens), self.model.word_encoder.get_output_dim(), 32, heads=2)
        torch.nn.init.normal_(ranker.logit.weight)
        ranker.eval()
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
            words = states[source.question]
            inputs = ranker_inputs(source.ids, plans.hypotheses, len(config.tokens), unknown, separator)
            ranked_list = RankedList(words.astype(np.float16), inputs, np.zeros(len(plans.hypotheses), np.float32))
            expected += logits_of(ranker, [ranked_list])[0].tolist()
            found += network(words, source.ids, plans.hypotheses)
        # Its matrices and what they are multiplied with are quantised.
        assert np.abs(np.subtract(found, expected)).mean() < 0.1 * np.std(expected)
        answers = list(load(folder).pipe(self.questions))
        for answer in answers:
            assert answer.score is not None
            assert answer.score <= 0
            assert answer.confidence is None
        for count in (1, 3, 9):
            others = list(load(folder, candidates=count).pipe(self.questions))
            assert [(each.text, each.score) for each in others] == [(each.text, each.score) for each in answers]
            assert all(each.candidates[0].text == each.text and len(each.candidates) <= count for each in others)

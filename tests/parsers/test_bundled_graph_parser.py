"""A bundled graph parser says what the model in torch says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import make_decoder
from qdecomp.parsers.bundle import GraphConfig, read_config
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.graph import GraphParser
from qdecomp.parsers.parser import load
from qdecomp.training.bundling import bundle_parts, write_bundle
from tests.training.parser_test_case import ParserTestCase


class TestBundledGraphParser(ParserTestCase):
    config = "biaffine_graph_parser_minilm"
    overrides: ClassVar[dict[str, Any]] = {
        "model.dropout": 0.0,
        "model.feed_forward_dropout": 0.0,
        "model.edge_dim": 48,
        "model.label_dim": 24,
        "model.word_encoder.special_layers": 2,
    }

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """The bundle of a model that knows ten rows by heart."""
        self.load()
        self.learn_by_heart("lf_em")
        write_bundle(tmp_path / "bundle", *bundle_parts(self.model, "tiny", self.params()), card="A card.")
        return tmp_path / "bundle"

    def params(self) -> dict[str, Any]:
        from allennlp.common import Params

        return Params.from_file(self.param_file).as_dict()

    def test_probabilities_are_nearly_the_same(self, folder: Path) -> None:
        """Of edges and of labels, for the words first and then the special tokens."""
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
        questions = [entry["question"] for entry in self.dataset.as_tensor_dict()["metadata"]]
        found = list(parser.pipe(questions, batch_size=3))
        assert [_without_scores(each) for each in found] == [_without_scores(each) for each in expected]
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.score == pytest.approx(theirs.score, abs=0.1)
        for size in (1, 32):
            assert list(parser.pipe(questions, batch_size=size)) == found
        assert len(list(load(folder, decoder="ilp", time_limit=0.2).pipe(questions))) == len(questions)
        with pytest.raises(DataError, match="no decoder 'magic'"):
            load(folder, decoder="magic")
        with pytest.raises(DataError, match="decoder 'ilp'"):
            load(folder, decoder="ilp", patience=3)

    def test_rounded_weights_are_near(self, folder: Path) -> None:
        _, weights, _ = bundle_parts(self.model, "tiny", self.params())
        state = self.model.state_dict()
        rounded = {name: value for name, value in weights.items() if value.dtype == np.int8}
        assert "word_encoder.transformer.embeddings.word_embeddings.weight" in rounded
        for name, value in rounded.items():
            step = np.abs(state[name].numpy()).max(axis=1, keepdims=True) / 127
            floats = value * weights[f"{name}.factors"][:, None]
            assert (np.abs(floats - state[name].numpy()) <= 0.501 * step).all()


def _without_scores(prediction: Decomposition) -> Any:
    graph = prediction.predicted_graph
    edges = None if graph is None else [(edge.head, edge.dependent, edge.tag) for edge in graph.edges]
    return prediction.text, prediction.logical_form, edges, prediction.error

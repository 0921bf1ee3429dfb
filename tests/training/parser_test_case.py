"""What the tests of all parsers share: a config of the project with a tiny encoder and ten rows of the sample set."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from allennlp.common import Params
from allennlp.common.testing import ModelTestCase

import qdecomp.training.plugin  # noqa: F401
from qdecomp.parsers.decomposition import Decomposition

# One row in forty: ten shapes of questions from different sources.
_ROWS = slice(1, None, 40)

SMALL_WRITER: dict[str, Any] = {
    "vocabulary.min_count.target_tokens": 1,
    "model.dropout": 0.0,
    "model.decoder.dropout": 0.0,
    "model.decoder.hidden_dim": 48,
    "model.decoder.embedding_dim": 16,
    "model.decoder.max_steps": 60,
}
"""Overrides that make a parser with a decoder of texts small enough to learn ten rows at once."""


class ParserTestCase(ModelTestCase):
    """A model test whose ``param_file`` is ``config``, changed as ``overrides`` says."""

    config: ClassVar[str]
    overrides: ClassVar[dict[str, Any]] = {}

    @pytest.fixture(autouse=True)
    def _files(self, tiny_encoder: Path, tmp_path: Path, project_root: Path) -> None:
        with open(project_root / "data" / "train.csv", encoding="utf-8", newline="") as stream:
            header, *rows = csv.reader(stream)
        self.rows_file = tmp_path / "rows.csv"
        with open(self.rows_file, "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([header, *rows[_ROWS][:10]])
        overrides = {
            "train_data_path": str(self.rows_file),
            "validation_data_path": str(self.rows_file),
            "settings.encoder": str(tiny_encoder),
            "settings.epochs": 2,
            "settings.transformer_dropout": 0.0,
            "settings.freeze_embeddings": False,
            **self.overrides,
        }
        source = project_root / "training_config" / f"{self.config}.jsonnet"
        self.param_file = str(tmp_path / "config.json")
        params = Params.from_file(str(source), params_overrides=overrides).as_dict()
        # No sampler, which would shuffle: the base class compares batches.
        params["data_loader"] = {"batch_size": 10}
        Params(params).to_file(self.param_file)

    def load(self, **overrides: Any) -> None:
        """Make the model and index the ten rows."""
        Params.from_file(self.param_file, params_overrides=overrides).to_file(self.param_file)
        self.set_up_model(Path(self.param_file), self.rows_file, seed=1)

    def learn_by_heart(self, *names: str, rounds: int = 10) -> dict[str, float]:
        """Train on the ten rows until these metrics are perfect, or for that many rounds; give all metrics."""
        for _ in range(rounds):
            metrics = self.overfit(steps=60, lr=4e-3)
            if all(metrics[name] == 1.0 for name in names):
                break
        return metrics

    def overfit(self, steps: int, lr: float) -> dict[str, float]:
        """Train on the ten rows for some steps, and give the metrics on them."""
        batch = self.dataset.as_tensor_dict()
        optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.model.train()
        for _ in range(steps):
            optimizer.zero_grad()
            self.model(**batch)["loss"].backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
        self.model.eval()
        with torch.no_grad():
            self.model(**batch)
        metrics: dict[str, float] = self.model.get_metrics(reset=True)
        return metrics

    def assert_fields_equal(self, field1: Any, field2: Any, name: str, tolerance: float = 1e-6) -> None:
        """As in the base class; of predictions, all but the scores must be equal, and these almost."""
        if isinstance(field1, Decomposition):
            assert replace(field1, score=None, margin=None) == replace(field2, score=None, margin=None), name
            super().assert_fields_equal(field1.score, field2.score, f"{name}.score", max(tolerance, 1e-4))
        else:
            super().assert_fields_equal(field1, field2, name, tolerance)

    def predictions(self) -> list[Decomposition]:
        """What the model says about the ten questions."""
        self.model.eval()
        return [output["predictions"] for output in self.model.forward_on_instances(self.instances)]

    def check_batch_predictions(self) -> None:
        """Predictions must not depend on the other questions of a batch; their padding differs."""
        self.model.eval()
        together = self.predictions()
        alone = [self.model.forward_on_instance(instance)["predictions"] for instance in self.instances]
        self.assert_fields_equal(together, alone, "predictions")

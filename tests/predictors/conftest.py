"""A parser that has seen the sample set once, for all tests of predictors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.predictors import Predictor

import qdecomp.allennlp_plugin  # noqa: F401
from qdecomp.predictors.question_decomposition import QuestionDecompositionPredictor


@pytest.fixture(scope="session")
def archive(tiny_encoder: Path, project_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its archive."""
    folder = tmp_path_factory.mktemp("trained")
    overrides: dict[str, Any] = {
        "dataset_reader.token_indexers.pieces.encoder": str(tiny_encoder),
        "dataset_reader.token_indexers.pieces.max_pieces": 256,
        "dataset_reader.cache_folder": str(folder / "cache"),
        "model.word_encoder.encoder": str(tiny_encoder),
        "model.edge_dim": 24,
        "model.label_dim": 12,
        "train_data_path": str(project_root / "data" / "dev.csv"),
        "validation_data_path": str(project_root / "data" / "dev.csv"),
        "trainer.num_epochs": 1,
    }
    config = project_root / "training_config" / "demo.jsonnet"
    train_model(Params.from_file(str(config), params_overrides=overrides), str(folder / "run"))
    return folder / "run" / "model.tar.gz"


@pytest.fixture
def predictor(archive: Path) -> QuestionDecompositionPredictor:
    """Its predictor."""
    result = Predictor.from_path(archive)
    assert isinstance(result, QuestionDecompositionPredictor)
    return result

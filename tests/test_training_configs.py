"""Every config builds: reader, vocabulary, model, optimizer and all, with a tiny encoder in the place of its own."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import Instance, Token
from allennlp.data.fields import TextField
from allennlp.data.samplers import BatchSampler

import qdecomp.allennlp_bridge.plugin  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = sorted((ROOT / "training_config").glob("*.jsonnet"))

ENCODER_KEYS = ("dataset_reader.token_indexers.pieces.encoder", "model.word_encoder.encoder")


def _params(path: Path, **overrides: Any) -> Params:
    return Params.from_file(str(path), params_overrides=overrides)


def test_there_are_configs() -> None:
    assert len(CONFIGS) >= 3


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_it_builds(path: Path, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    params = _params(path, **dict.fromkeys(ENCODER_KEYS, str(tiny_encoder)))
    patterns = [pattern for group in params["trainer"]["optimizer"]["parameter_groups"] for pattern in group[0]]
    prepare_environment(params)
    trained = TrainModel.from_params(params, serialization_dir=str(tmp_path / "run"), local_rank=0)
    parameters = [name for name, parameter in trained.model.named_parameters() if parameter.requires_grad]
    # A pattern that matches nothing is only a warning for AllenNLP, and its learning rate would not be used.
    for pattern in patterns:
        assert any(re.search(pattern, name) for name in parameters), pattern


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_it_is_short_and_says_what_it_is(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30
    assert lines[0].startswith("// ")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_it_is_chosen_on_lf_em_and_survives_a_kill(path: Path) -> None:
    trainer = _params(path)["trainer"]
    assert trainer["validation_metric"] == "+lf_em"
    assert trainer["checkpointer"]["type"] == "durable"
    assert trainer["learning_rate_scheduler"]["cut_frac"] == 0.06


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_validation_draws_no_random_numbers(path: Path) -> None:
    """So that a resumed training, which does not repeat the validations before, goes on with the same numbers."""
    loader = _params(path)["validation_data_loader"].as_dict()
    assert set(loader) == {"batch_sampler"}
    sampler = BatchSampler.from_params(Params(loader["batch_sampler"]))
    instances = [Instance({"question": TextField([Token("word")] * length)}) for length in range(1, 200)]
    state = random.getstate()
    assert len(list(sampler.get_batch_indices(instances))) > 1
    assert random.getstate() == state


@pytest.mark.parametrize("name", ["biaffine_graph_parser", "copynet_bert", "latent_rat"])
def test_the_papers_settings(name: str) -> None:
    params = _params(ROOT / "training_config" / f"{name}.jsonnet").as_dict()
    assert params["model"]["word_encoder"]["encoder"] == "bert-base-uncased"
    assert params["dataset_reader"]["token_indexers"]["pieces"]["encoder"] == "bert-base-uncased"
    optimizer = params["trainer"]["optimizer"]
    assert optimizer["lr"] == 1e-3
    assert optimizer["parameter_groups"][0][1]["lr"] == 5e-5
    assert params["data_loader"]["batch_sampler"]["batch_size"] == 32
    assert params["trainer"]["num_epochs"] == (80 if name == "biaffine_graph_parser" else 25)


def test_a_continued_training_begins_with_the_weights_of_the_first(
    tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIRST_RUN", str(tmp_path / "first"))
    trained = {}
    for name in ("copynet_bert_minilm", "continued/copynet_bert_minilm"):
        path = ROOT / "training_config" / f"{name}.jsonnet"
        params = _params(path, **dict.fromkeys(ENCODER_KEYS, str(tiny_encoder)))
        prepare_environment(params)
        folder = tmp_path / name.partition("/")[0]
        trained[name] = TrainModel.from_params(params, serialization_dir=str(folder), local_rank=0).model
        if name == "copynet_bert_minilm":
            for weight in trained[name].parameters():
                torch.nn.init.normal_(weight.data)
            trained[name].vocab.save_to_files(str(tmp_path / "first" / "vocabulary"))
            torch.save(trained[name].state_dict(), tmp_path / "first" / "best.th")
    first, continued = (dict(model.named_parameters()) for model in trained.values())
    assert first.keys() == continued.keys()
    for name, weight in first.items():
        assert torch.equal(weight, continued[name]), name

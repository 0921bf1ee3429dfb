"""Every config builds: reader, vocabulary, model, optimizer and all, with a tiny encoder in place of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment

import qdecomp.training.plugin  # noqa: F401
from qdecomp.training.bundling import bundle_parts, read_weights, write_bundle
from qdecomp.training.trainer import DurableCheckpointer

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "training_config"
CONFIGS = sorted(path.stem for path in FOLDER.glob("*.jsonnet"))

ENCODER_KEYS = ("dataset_reader.token_indexers.pieces.encoder", "model.word_encoder.encoder")


@pytest.fixture(scope="module")
def build(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TrainModel]:
    """What AllenNLP makes of a config, on the sample set."""

    def run(name: str, **overrides: Any) -> TrainModel:
        folder = tmp_path_factory.mktemp("run")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(ROOT)
            patch.setenv("QDECOMP_CACHE", str(folder / "cache"))
            params = Params.from_file(
                FOLDER / f"{name}.jsonnet", {**dict.fromkeys(ENCODER_KEYS, str(tiny_encoder)), **overrides}
            )
            prepare_environment(params)
            # Not for the model: the command starts a process for each device.
            params.pop("distributed", None)
            (folder / "run").mkdir()
            params.to_file(str(folder / "run" / "config.json"))
            return TrainModel.from_params(params, serialization_dir=str(folder / "run"), local_rank=0)

    return run


@pytest.fixture(scope="module", params=CONFIGS)
def built(request: pytest.FixtureRequest, build: Callable[..., TrainModel]) -> TrainModel:
    """The training run of a config."""
    return build(request.param)


def test_the_encoder_learns_more_slowly_than_what_is_new(built: TrainModel) -> None:
    # A pattern that matches nothing is only a warning for AllenNLP, and its learning rate would not be used.
    pretrained = {id(weight) for weight in built.model.word_encoder.transformer.parameters()}
    rates: dict[bool, set[float]] = {True: set(), False: set()}
    for group in built.trainer.optimizer.param_groups:
        for weight in group["params"]:
            rates[id(weight) in pretrained].add(_peak(group))
    assert max(rates[True]) < min(rates[False])
    trained = {id(weight) for group in built.trainer.optimizer.param_groups for weight in group["params"]}
    assert trained >= {id(weight) for weight in built.model.parameters() if weight.requires_grad}


def _peak(group: dict[str, Any]) -> float:
    """The highest learning rate of a group, which its schedule begins below."""
    return float(group.get("initial_lr", group["lr"]))


def test_every_config_has_checkpoints_that_survive_a_kill(built: TrainModel) -> None:
    assert isinstance(built.trainer._checkpointer, DurableCheckpointer)


def test_the_learning_rate_rises_at_first_and_falls_then(built: TrainModel) -> None:
    scheduler = built.trainer._learning_rate_scheduler
    group = built.trainer.optimizer.param_groups[-1]
    rates = []
    for _ in range(built.trainer._num_epochs):
        for _ in range(scheduler.num_steps_per_epoch):
            scheduler.step_batch()
            rates.append(group["lr"])
        scheduler.step()
    highest = rates.index(max(rates))
    assert highest <= max(2, 0.1 * len(rates))
    assert rates[: highest + 1] == sorted(rates[: highest + 1])
    assert rates[highest:] == sorted(rates[highest:], reverse=True)
    assert rates[-1] < 0.1 * max(rates)


@pytest.mark.parametrize(
    ("built", "epochs"),
    [("biaffine_graph_parser", 80), ("copynet_bert", 25), ("latent_rat", 25)],
    indirect=["built"],
)
def test_the_papers_parsers_are_trained_as_in_its_appendix(built: TrainModel, epochs: int) -> None:
    trainer = built.trainer
    assert {_peak(group) for group in trainer.optimizer.param_groups if group["params"]} == {5e-5, 1e-3}
    assert trainer.data_loader.batch_sampler.batch_size == 32
    assert trainer._num_epochs == epochs


EXAMPLES: dict[str, Callable[[TrainModel], bool]] = {
    "several_gpus": lambda run: run.trainer.data_loader.batch_sampler.batch_size == 16,
    "tensorboard": lambda run: type(run.trainer._callbacks[0]).__name__ == "TensorBoardCallback",
    "wandb": lambda run: run.trainer._callbacks[0]._wandb_kwargs["project"] == "qdecomp",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_built(name: str, build: Callable[..., TrainModel]) -> None:
    assert EXAMPLES[name](build(f"examples/{name}"))
    distributed = Params.from_file(FOLDER / "examples" / f"{name}.jsonnet").as_dict().get("distributed")
    assert distributed == ({"cuda_devices": [0, 1]} if name == "several_gpus" else None)


def test_mixed_precision_is_for_gpus(build: Callable[..., TrainModel]) -> None:
    assert {each.stem for each in FOLDER.glob("examples/*.jsonnet")} == {*EXAMPLES, "mixed_precision"}
    with pytest.raises(ValueError, match=r"(?i)amp requires .*cuda"):
        build("examples/mixed_precision")


def test_a_continued_training_begins_with_the_weights_of_the_first(
    build: Callable[..., TrainModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build("copynet_bert_minilm").model
    for weight in first.parameters():
        torch.nn.init.normal_(weight.data)
    first.vocab.save_to_files(str(tmp_path / "vocabulary"))
    torch.save(first.state_dict(), tmp_path / "best.th")
    monkeypatch.setenv("FIRST_RUN", str(tmp_path))
    continued = dict(build("continued/copynet_bert_minilm").model.named_parameters())
    assert continued.keys() == dict(first.named_parameters()).keys()
    for name, weight in first.named_parameters():
        assert torch.equal(weight, continued[name]), name


def test_a_graph_parser_continues_from_a_bundle_that_knows_fewer_labels(
    build: Callable[..., TrainModel], tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_rows = tmp_path / "few.csv"
    few_rows.write_text("".join((ROOT / "data" / "train.csv").read_text().splitlines(keepends=True)[:5]))
    first = build("biaffine_graph_parser_minilm", train_data_path=str(few_rows)).model
    torch.nn.init.normal_(first.label_scorer.weight.data)
    params = {"model": {"word_encoder": {"encoder": str(tiny_encoder), "special_tokens": "default"}}}
    write_bundle(tmp_path / "bundle", *bundle_parts(first, "few", params), card="A card.")
    monkeypatch.setenv("BUNDLE", str(tmp_path / "bundle"))
    continued = build("continued/biaffine_graph_parser_from_bundle").model
    assert continued.labels[: len(first.labels)] == first.labels
    assert len(continued.labels) > len(first.labels)
    known = first.label_scorer.weight.size(1)
    assert not continued.label_scorer.weight[:, known:].any()
    continued.label_scorer.weight.data = continued.label_scorer.weight.data[:, :known]
    for name, stored in read_weights(tmp_path / "bundle").items():
        assert torch.equal(continued.state_dict()[name], torch.from_numpy(stored)), name

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common.params import Params
from allennlp.models.archival import load_archive
from allennlp.training.checkpointer import Checkpointer
from allennlp.training.gradient_descent_trainer import GradientDescentTrainer
from allennlp.training.optimizers import AdamOptimizer
from allennlp.training.trainer import Trainer, TrainerCheckpoint

import qdecomp.training.plugin  # noqa: F401
from qdecomp.training.trainer import STARTS_ANEW, DurableCheckpointer, FusedAdam


class FakeTrainer(Trainer):
    """Gives a prescribed state."""

    def __init__(self, state: TrainerCheckpoint) -> None:
        super().__init__()
        self.state = state

    def get_checkpoint_state(self) -> TrainerCheckpoint:
        return self.state


def state_after(epochs: int, batches: int = 0, *, is_best: bool = False, **more: Any) -> TrainerCheckpoint:
    training = {
        "epochs_completed": epochs,
        "batches_in_epoch_completed": batches,
        "metric_tracker": {"is_best_so_far": is_best},
        "best_model_filename": None,
    }
    return TrainerCheckpoint({"weight": torch.tensor([float(epochs), float(batches)])}, training | more)


def save(folder: Path, *states: TrainerCheckpoint, **options: Any) -> DurableCheckpointer:
    checkpointer = DurableCheckpointer(folder, **options)
    for state in states:
        checkpointer.save_checkpoint(FakeTrainer(state))
    return checkpointer


def load(folder: Path) -> TrainerCheckpoint:
    state = DurableCheckpointer(folder).load_checkpoint()
    assert state is not None
    return state


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_newest_checkpoint_comes_back_and_old_ones_go(tmp_path: Path) -> None:
    save(tmp_path, state_after(1), state_after(1, 5), state_after(2), keep_most_recent_by_count=2)
    assert names(tmp_path) == {
        f"{kind}_state_{moment}.th" for kind in ("model", "training") for moment in ("e1_b5", "e2_b0")
    }
    state = load(tmp_path)
    assert state.model_state["weight"].tolist() == [2, 0]
    assert state.trainer_state["epochs_completed"] == 2


def test_half_of_a_pair_is_no_checkpoint(tmp_path: Path) -> None:
    checkpointer = save(tmp_path, state_after(1), state_after(2))
    (tmp_path / "training_state_e2_b0.th").unlink()
    assert load(tmp_path).trainer_state["epochs_completed"] == 1
    assert checkpointer.find_latest_checkpoint() == (
        str(tmp_path / "model_state_e1_b0.th"),
        str(tmp_path / "training_state_e1_b0.th"),
    )


@pytest.mark.parametrize("content", [b"", b"garbage", None])
@pytest.mark.parametrize("kind", ["model", "training"])
def test_a_file_that_cannot_be_read_is_set_aside_for_the_one_before(
    tmp_path: Path, kind: str, content: bytes | None
) -> None:
    save(tmp_path, state_after(1), state_after(2))
    broken = tmp_path / f"{kind}_state_e2_b0.th"
    broken.write_bytes(broken.read_bytes()[:-50] if content is None else content)
    assert load(tmp_path).trainer_state["epochs_completed"] == 1
    assert not broken.exists()
    assert broken.with_name(broken.name + ".unreadable").exists()


def test_where_nothing_can_be_read_training_starts_from_the_beginning_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, state_after(1), state_after(2))
    before = names(tmp_path)
    for path in tmp_path.glob("model_state_*"):
        path.write_bytes(b"garbage")
    assert DurableCheckpointer(tmp_path).load_checkpoint() is None
    assert names(tmp_path) == {f"{name}.unreadable" for name in before}
    assert STARTS_ANEW in caplog.text


@pytest.mark.parametrize("override", [{}, {"keep_most_recent_by_count": 1}, {"type": "default"}])
def test_an_override_of_the_trainer_does_not_lose_it(tmp_path: Path, override: dict[str, Any]) -> None:
    made = Checkpointer.from_params(Params(override), serialization_dir=str(tmp_path))
    assert isinstance(made, DurableCheckpointer)


def test_a_write_that_fails_leaves_the_old_files_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, state_after(1))
    before = names(tmp_path)

    def full_disk(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        save(tmp_path, state_after(2))
    assert names(tmp_path) == before


def test_what_a_killed_write_left_is_removed(tmp_path: Path) -> None:
    save(tmp_path, state_after(1))
    before = names(tmp_path)
    (tmp_path / ".model_state_e2_b0.th.abcdef.tmp").write_bytes(b"half")
    load(tmp_path)
    assert names(tmp_path) == before


def test_best_weights_that_were_not_written_are_written_when_it_goes_on(tmp_path: Path) -> None:
    save(tmp_path, state_after(1, is_best=True))
    state = load(tmp_path)
    best = tmp_path / "best.th"
    assert state.trainer_state["best_model_filename"] == str(best)
    assert torch.load(best)["weight"].tolist() == [1, 0]


@pytest.mark.parametrize("later", [state_after(2), state_after(1, 3, is_best=True)])
def test_best_weights_of_an_earlier_epoch_stay(tmp_path: Path, later: TrainerCheckpoint) -> None:
    torch.save({"weight": "those of epoch 1"}, tmp_path / "best.th")
    later.trainer_state["best_model_filename"] = "under/another/name/best.th"
    save(tmp_path, later)
    assert load(tmp_path).trainer_state["best_model_filename"] == str(tmp_path / "best.th")
    assert torch.load(tmp_path / "best.th") == {"weight": "those of epoch 1"}


def test_types_that_torch_refuses_are_made_plain(tmp_path: Path) -> None:
    callback = {
        "score": numpy.float64(0.5),
        "counts": defaultdict(int, a=numpy.int64(2)),
        "recent": deque([numpy.float32(1), 2]),
        "pair": (numpy.bool_(True), "x"),
    }
    save(tmp_path, state_after(1, callbacks=[callback]))
    assert load(tmp_path).trainer_state["callbacks"] == [
        {"score": 0.5, "counts": {"a": 2}, "recent": [1.0, 2], "pair": (True, "x")}
    ]


def test_random_numbers_go_on_where_they_were(tmp_path: Path) -> None:
    save(tmp_path, state_after(1))
    expected = torch.rand(3)
    torch.manual_seed(0)
    load(tmp_path)
    assert torch.rand(3).equal(expected)


@pytest.mark.slow
def test_a_training_killed_at_any_write_recovers_to_the_same_result(
    tmp_path: Path, tiny_config: dict[str, Any], write_config: Callable[[dict[str, Any]], Path], project_root: Path
) -> None:
    output = subprocess.run(
        [sys.executable, "-m", "tests.training.kill_everywhere", write_config(tiny_config), tmp_path],
        cwd=project_root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    kills = json.loads(output.splitlines()[-1])
    changes = {kill["change"] for kill in kills}
    assert {
        "open config.json",
        "os.rename training_state_e2_b0.th",
        "os.link best.th",
        "open model.tar.gz",
    } <= changes

    expected = result_of(tmp_path / "uninterrupted")
    for kill in kills:
        folder = Path(kill["folder"])
        killed, recovered = (
            folder.with_suffix(f".{run}.log").read_text(encoding="utf-8") for run in ("killed", "recovered")
        )
        assert kill["killed"] == -signal.SIGKILL, f"{kill['change']}:\n{killed}"
        assert kill["recovered"] == 0, f"{kill['change']}:\n{recovered}"
        assert (STARTS_ANEW in recovered) == (kill["newest"] is None), kill["change"]
        # Of the two epochs, those of the checkpoint are not trained again.
        assert recovered.count(" - Validating\n") == 2 - (kill["newest"] or 0), kill["change"]
        assert result_of(folder) == expected, kill["change"]
        assert not list(folder.glob(".*")), kill["change"]


def result_of(folder: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """The weights in the archive, and how good they are."""
    weights = load_archive(folder / "model.tar.gz").model.state_dict()
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    best = {name: value for name, value in metrics.items() if name.startswith("best_")}
    return {name: tensor.tolist() for name, tensor in weights.items()}, best


class Killed(BaseException):
    """Nothing may handle it."""


@pytest.fixture
def parser_params(tmp_path: Path, tiny_encoder: Path, project_root: Path) -> Callable[..., Params]:
    """A config of the project, with its own loaders, for a small encoder and some rows."""
    rows = (project_root / "data" / "dev.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:81]
    (tmp_path / "rows.csv").write_text("".join(rows), encoding="utf-8")
    overrides = {
        "settings.encoder": str(tiny_encoder),
        "settings.edge_dim": 12,
        "settings.label_dim": 6,
        "train_data_path": str(tmp_path / "rows.csv"),
        "validation_data_path": str(tmp_path / "rows.csv"),
    }

    def read(**more: Any) -> Params:
        config = project_root / "training_config" / "demo.jsonnet"
        return Params.from_file(config, params_overrides=overrides | (more or {"trainer.num_epochs": 3}))

    return read


@pytest.mark.slow
def test_a_resumed_training_of_a_parser_equals_one_that_went_through(
    tmp_path: Path, parser_params: Callable[..., Params], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    train_model(parser_params(), tmp_path / "uninterrupted")
    train_epoch = GradientDescentTrainer._train_epoch

    def killed_in_the_last_epoch(trainer: GradientDescentTrainer, epoch: int) -> dict[str, float]:
        if epoch == 2:
            raise Killed
        return train_epoch(trainer, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(GradientDescentTrainer, "_train_epoch", killed_in_the_last_epoch)
        with pytest.raises(Killed):
            train_model(parser_params(), tmp_path / "killed")
    assert not (tmp_path / "killed" / "metrics_epoch_2.json").exists()
    train_model(parser_params(), tmp_path / "killed", recover=True)
    for name in ("training_loss", "validation_loss", "validation_edge_f1"):
        values = [metrics_of_last_epoch(tmp_path / folder)[name] for folder in ("killed", "uninterrupted")]
        assert values[0] == values[1], name
    assert result_of(tmp_path / "killed") == result_of(tmp_path / "uninterrupted")


def metrics_of_last_epoch(folder: Path) -> dict[str, float]:
    metrics: dict[str, float] = json.loads((folder / "metrics_epoch_2.json").read_text(encoding="utf-8"))
    return metrics


@pytest.mark.slow
def test_two_processes_killed_while_they_train_recover(
    tmp_path: Path,
    tiny_config: dict[str, Any],
    write_config: Callable[[dict[str, Any]], Path],
    allennlp: Callable[..., subprocess.Popen[str]],
    stopped_before: Callable[[str], AbstractContextManager[None]],
) -> None:
    tiny_config["distributed"] = {"cuda_devices": [-1, -1]}
    tiny_config["trainer"]["num_epochs"] = 5
    arguments = ("train", write_config(tiny_config), "-s", tmp_path / "out")

    with stopped_before("_state_e3_b0.th"):
        process = allennlp(*arguments)
    while process.poll() is None and not (tmp_path / "out" / "training_state_e2_b0.th").exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    output, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL, output
    # As if it had been killed while it wrote the vocabulary.
    (tmp_path / "out" / "vocabulary" / "tokens.txt").write_text("x\n", encoding="utf-8")

    process = allennlp(*arguments, "--recover")
    output, _ = process.communicate()
    assert process.returncode == 0, output
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["epoch"] == 4
    vocabulary = load_archive(tmp_path / "out" / "model.tar.gz").model.vocab
    assert set(vocabulary.get_token_to_index_vocabulary("tokens")) == {"@@PADDING@@", "@@UNKNOWN@@", *"xyzab"}


@pytest.mark.slow
def test_a_parser_is_trained_by_two_processes(
    tmp_path: Path, parser_params: Callable[..., Params], allennlp: Callable[..., subprocess.Popen[str]]
) -> None:
    params = parser_params(**{"trainer.num_epochs": 1}).as_dict()
    params["distributed"] = {"cuda_devices": [-1, -1]}
    (tmp_path / "config.json").write_text(json.dumps(params), encoding="utf-8")
    process = allennlp("train", tmp_path / "config.json", "-s", tmp_path / "out")
    output, _ = process.communicate()
    assert process.returncode == 0, output
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text(encoding="utf-8"))
    assert 0 <= metrics["validation_lf_em"] <= 1
    assert metrics["training_edge_loss"] > 0


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_its_steps_are_those_of_adam(decay: float) -> None:
    torch.manual_seed(0)
    start, data = torch.randn(5, 4), torch.randn(20, 3, 4)
    results = []
    for make in (AdamOptimizer, FusedAdam):
        parameters = {"encoder.x": torch.nn.Parameter(start.clone()), "other": torch.nn.Parameter(start.clone())}
        groups = [(["encoder"], {"lr": 1e-4})]
        optimizer = make(list(parameters.items()), groups, lr=1e-2, weight_decay=decay)
        for batch in data:
            optimizer.zero_grad()
            sum(value.matmul(batch.t()).sin().sum() for value in parameters.values()).backward()
            optimizer.step()
        results.append(parameters)
    for name in ("encoder.x", "other"):
        torch.testing.assert_close(results[1][name], results[0][name])
        assert not torch.equal(results[1][name], start)
    small, large = ((results[1][name] - start).abs().max() for name in ("encoder.x", "other"))
    assert small < large / 10

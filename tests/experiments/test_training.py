"""The job of a training run: once for the same inputs, anew for others, and resumed after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import training
from experiments.cells import rows_files
from experiments.settings import PARTS, Settings
from qdecomp.data_structures.errors import DataError
from tests.experiments.conftest import FakeAllennlp


def run(settings: Settings, tmp_path: Path, **changes: Any) -> dict[str, Any]:
    for rows in rows_files("train_5", 7, settings):
        (tmp_path / rows).parent.mkdir(parents=True, exist_ok=True)
        if not (tmp_path / rows).exists():
            (tmp_path / rows).write_text("rows", encoding="utf-8")
    overrides = training.overrides_of("copynet", "train_5", 7, settings, tmp_path) | changes
    training.train(settings.parsers["copynet"].config, overrides, tmp_path, tmp_path / "cell")
    trained: dict[str, Any] = json.loads((tmp_path / "cell" / "trained.json").read_text(encoding="utf-8"))
    return trained


def test_a_finished_cell_is_not_trained_again(settings: Settings, fake: FakeAllennlp, tmp_path: Path) -> None:
    first = run(settings, tmp_path)
    (tmp_path / "cell" / "trained.json").unlink()
    assert run(settings, tmp_path)["fingerprint"] == first["fingerprint"]
    assert len(fake.calls) == 1


def test_other_rows_or_settings_are_another_training(settings: Settings, fake: FakeAllennlp, tmp_path: Path) -> None:
    run(settings, tmp_path)
    run(settings, tmp_path, **{"settings.encoder": "bert-base-uncased"})
    run(settings, tmp_path, **{"trainer.num_epochs": 9})
    for rows in rows_files("train_5", 7, settings):
        (tmp_path / rows).write_text("other rows", encoding="utf-8")
        run(settings, tmp_path, **{"trainer.num_epochs": 9})
    assert len(fake.calls) == 5
    assert not any("--recover" in call for call in fake.calls)


def test_a_killed_training_is_recovered(settings: Settings, fake: FakeAllennlp, tmp_path: Path) -> None:
    fake.error = lambda number, _: DataError("killed") if number == 1 else None
    with pytest.raises(DataError, match="killed"):
        run(settings, tmp_path)
    run(settings, tmp_path)
    assert ["--recover" in call for call in fake.calls] == [False, True]


def test_a_budget_is_kept_and_nothing_is_chosen_on_dev(settings: Settings, tmp_path: Path) -> None:
    overrides = training.overrides_of("copynet", "train_5", 7, settings, tmp_path)
    assert overrides["trainer.num_epochs"] * overrides["data_loader.batches_per_epoch"] == 2 * PARTS
    assert overrides["validation_data_path"] == str(tmp_path / "splits" / "held_out" / "holdout.csv")
    assert overrides["trainer.patience"] == 2
    assert overrides["settings.seed"] == 7


def test_what_a_training_took_and_found_is_kept(settings: Settings, fake: FakeAllennlp, tmp_path: Path) -> None:
    fake.metrics = lambda _: {"best_epoch": 3, "epoch": 4, "best_validation_lf_em": 0.25}
    trained = run(settings, tmp_path)
    assert trained["minutes"] == 0.0
    assert (trained["best_part"], trained["last_part"], trained["held_out_lf_em"]) == (3, 4, 0.25)


def test_a_failure_shows_the_end_of_the_log(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"exit code 3(?s:.)*the last line"):
        training.run_logged(["-c", "print('the last line'); exit(3)"], tmp_path, tmp_path / "log.txt")

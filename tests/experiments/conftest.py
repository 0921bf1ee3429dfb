"""Settings on the sample set, and predictions whose scores are known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from experiments import training, tuning
from experiments.cells import Cell
from experiments.settings import SYSTEMS, Settings, read_size
from experiments.verdicts import score_cell
from qdecomp.files import BreakExample, read_break_csv


@dataclass
class FakeAllennlp:
    """Replaces the command: records its arguments and leaves what a training run leaves, even if it is killed."""

    metrics: Callable[[dict[str, Any]], dict[str, float]] = lambda overrides: {}
    """What is found with these overrides."""
    error: Callable[[int, dict[str, Any]], BaseException | None] = lambda number, overrides: None
    """How a call, of this number from 1, ends."""
    calls: list[list[str]] = field(default_factory=list)

    def __call__(self, arguments: Sequence[str], base: Path, log: Path, keep_open: Sequence[int] = ()) -> None:
        self.calls.append(list(arguments))
        overrides = json.loads(arguments[arguments.index("--overrides") + 1])
        run = Path(arguments[arguments.index("-s") + 1])
        run.mkdir(parents=True, exist_ok=True)
        (run / "metrics.json").write_text(json.dumps(self.metrics(overrides)), encoding="utf-8")
        (run / "model.tar.gz").touch()
        if error := self.error(len(self.calls), overrides):
            raise error


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeAllennlp:
    fake = FakeAllennlp()
    for module in (training, tuning):
        monkeypatch.setattr(module, "run_logged", fake)
    return fake


@pytest.fixture
def size_file(project_root: Path, tmp_path: Path) -> Callable[..., Path]:
    """Write the settings of the smoke size with some changed; None leaves one out."""

    def write(**changes: Any) -> Path:
        text = (project_root / "experiments" / "sizes" / "smoke.yaml").read_text(encoding="utf-8")
        values = {key: value for key, value in (yaml.safe_load(text) | changes).items() if value is not None}
        path = tmp_path / f"size_{len(list(tmp_path.glob('size_*.yaml')))}.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        return path

    return write


@pytest.fixture
def settings(size_file: Callable[..., Path]) -> Settings:
    return read_size(str(size_file(seeds=[7, 8], percentages=[5, 100], sources=["GEO", "DROP"])))


@pytest.fixture
def predict(settings: Settings, tmp_path: Path) -> Callable[..., Path]:
    """Write a cell's predictions for the sample's development questions, and the verdicts on them.

    The cell is SYSTEM/SPLIT/SEED. The predictions are the gold where it is ``right``, else ``wrong``.
    """

    def write(
        name: str,
        right: Callable[[int, BreakExample], bool],
        wrong: str = "return nonsense",
        base: Path = tmp_path,
        settings: Settings = settings,
    ) -> Path:
        system, split, seed = name.split("/")
        cell = Cell(SYSTEMS[system], split, int(seed))
        path = base / cell.predictions
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as stream:
            for number, example in enumerate(read_break_csv(settings.dev)):
                text = example.decomposition if right(number, example) else wrong
                stream.write(json.dumps({"question_id": example.question_id, "decomposition": text}) + "\n")
        score_cell(cell, settings, base)
        return path

    return write

"""Verdicts of cells: a file of them stands for the predictions, and only for those of the same training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.results import NOT_RUN, to_markdown
from experiments.settings import Settings, read_size
from experiments.tables import agreement, domain_generalisation, length, sample_complexity
from experiments.verdicts import add_verdicts, read_verdicts
from qdecomp.data_structures.errors import DataError
from qdecomp.files import BreakExample

Predict = Callable[..., Path]


def every_third(number: int, _: BreakExample) -> bool:
    return number % 3 == 0


@pytest.fixture
def kept(settings: Settings, predict: Predict, tmp_path: Path) -> Settings:
    """Settings with the verdicts of five cells, whose predictions are in ``run``."""
    predict("copynet/train_5/7", every_third, base=tmp_path / "run")
    predict("copynet/train_5/8", lambda number, _: number % 2 == 0, base=tmp_path / "run")
    predict("latent_rat/train_5/7", lambda number, example: example.source == "GEO", base=tmp_path / "run")
    predict("copynet/train_100/7", lambda number, _: True, base=tmp_path / "run")
    predict("copynet/without_GEO/7", every_third, base=tmp_path / "run")
    path = tmp_path / "verdicts.jsonl"
    assert add_verdicts(path, settings, tmp_path / "run") == 5
    return settings.model_copy(update={"verdicts": path})


@pytest.mark.parametrize("table", [sample_complexity, domain_generalisation, length])
def test_tables_of_verdicts_are_those_of_the_predictions(
    table: object, kept: Settings, settings: Settings, tmp_path: Path
) -> None:
    of_predictions = table(settings, tmp_path / "run")  # type: ignore[operator]
    of_verdicts = table(kept, tmp_path / "empty")  # type: ignore[operator]
    assert of_verdicts == of_predictions
    assert of_verdicts != table(settings, tmp_path / "empty")  # type: ignore[operator]


def test_a_parser_without_a_source_has_verdicts_for_that_source_only(kept: Settings) -> None:
    cells = read_verdicts(kept)
    assert len(cells["copynet", "without_GEO", 7].verdicts["lf_em"]) == 8
    assert len(cells["copynet", "train_5", 7].verdicts["lf_em"]) == 83
    assert cells["copynet", "train_5", 7].verdicts["lf_em"].startswith("100100")


def test_predictions_of_the_run_come_first(kept: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("copynet/train_5/7", lambda number, _: False, base=tmp_path / "other")
    entries = sample_complexity(kept.model_copy(update={"seeds": [7]}), tmp_path / "other").blocks[0].entries
    assert entries[0].value == 0.0


def test_what_needs_predictions_is_not_made_of_verdicts(kept: Settings, tmp_path: Path) -> None:
    assert f"CopyNet-BERT, BiaffineGP, Latent-RAT: {NOT_RUN}" in to_markdown(agreement(kept, tmp_path / "empty"))


def test_a_second_run_adds_its_cells(kept: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("biaffine/train_5/7", every_third, base=tmp_path / "second")
    predict("copynet/train_5/7", lambda number, _: False, base=tmp_path / "second")
    assert kept.verdicts is not None
    assert add_verdicts(kept.verdicts, kept, tmp_path / "second") == 2
    cells = read_verdicts(kept)
    assert len(cells) == 6
    assert cells["copynet", "train_5", 7].verdicts["lf_em"] == "0" * 83


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder": "all-MiniLM-L6-v2"}, "was trained with another config, other settings or other rows"),
        ({"dev": "train.csv"}, "was asked other questions than those of"),
    ],
)
def test_verdicts_of_something_else_are_refused(
    change: dict[str, str], message: str, kept: Settings, project_root: Path
) -> None:
    values = {key: project_root / "data" / each if key == "dev" else each for key, each in change.items()}
    with pytest.raises(DataError, match=message):
        read_verdicts(kept.model_copy(update=values))


def test_a_file_of_something_else_is_refused(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(json.dumps({"question_id": "GEO_1"}) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="these are not verdicts of experiments"):
        read_verdicts(settings.model_copy(update={"verdicts": path}))


def test_the_kept_verdicts_are_those_of_the_configs_and_settings(project_root: Path, shared_path: Path) -> None:
    rows = {name: shared_path / "break" / f"{name}.csv" for name in ("train", "dev")}
    verdicts = project_root / "experiments" / "kept_verdicts" / "cpu.jsonl"
    settings = read_size("cpu", training=False, train=rows["train"], dev=rows["dev"], verdicts=verdicts)
    assert len(read_verdicts(settings)) == len(verdicts.read_text(encoding="utf-8").splitlines())


def test_verdicts_of_a_parser_that_the_settings_do_not_train_are_left_out(kept: Settings) -> None:
    parsers = {name: parser for name, parser in kept.parsers.items() if name != "latent_rat"}
    assert {system for system, _, _ in read_verdicts(kept.model_copy(update={"parsers": parsers}))} == {"copynet"}

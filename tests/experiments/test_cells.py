"""Which cells an experiment has, where their files are, and which of them a run makes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.cells import EXPERIMENTS, Cell, cells_of, is_wanted, questions_file, rows_file, timed_cells
from experiments.settings import Given, Settings
from experiments.systems import SYSTEMS


def names(experiment: str, settings: Settings) -> set[str]:
    return {f"{cell.system.name} {cell.split} {cell.run}" for cell in cells_of(experiment, settings)}


def test_the_cells_of_each_experiment(settings: Settings) -> None:
    assert len(cells_of("sample_complexity", settings)) == 4 * 2 * 2
    assert len(cells_of("domain_generalisation", settings)) == 4 * 3 * 2
    assert "latent_rat without_DROP seed_8" in names("domain_generalisation", settings)
    # The graph parser with two decoders would agree with itself.
    assert {cell.system.name for cell in cells_of("agreement", settings)} == {"copynet", "biaffine", "latent_rat"}
    for experiment in EXPERIMENTS[3:]:
        assert {cell.split for cell in cells_of(experiment, settings)} == {"train_100"}


def test_files(settings: Settings) -> None:
    cell = Cell(SYSTEMS["biaffine_ilp"], "train_5", 7)
    # One training for both ways to decode.
    assert cell.training == "runs/biaffine/train_5/seed_7/trained.json"
    assert cell.predictions == "predictions/biaffine_ilp/train_5/seed_7.jsonl"
    assert rows_file("train_5", 7) == "splits/seed_7/train_5.csv"
    assert rows_file("without_GEO", 7) == rows_file("without_GEO", 8) == "splits/left_out/GEO/train.csv"


def test_a_parser_trained_without_a_source_is_asked_only_its_questions(settings: Settings) -> None:
    assert questions_file("without_GEO", settings) == "splits/questions/GEO/left_out.csv"
    assert questions_file("train_5", settings) == str(settings.dev)


@pytest.mark.parametrize(
    ("only", "wanted"),
    [((), True), (("biaffine/train_5/*",), True), (("*/seed_7",), True), (("copynet/*", "*/seed_8"), False)],
)
def test_patterns_choose_what_is_trained(settings: Settings, only: tuple[str, ...], wanted: bool) -> None:
    cell = Cell(SYSTEMS["biaffine_ilp"], "train_5", 7)
    assert is_wanted(cell, replace(settings, only=only)) is wanted
    assert not is_wanted(cell, replace(settings, only=only, training=False))


def test_a_given_cell_stands_for_all_seeds_and_is_never_trained(settings: Settings) -> None:
    archive = Given("biaffine", "train_100", Path("/elsewhere/model.tar.gz"))
    predictions = Given("copynet", "train_100", Path("/elsewhere/copynet.jsonl"))
    changed = replace(settings, given=(archive, predictions), training=False)
    by_system = {cell.system.name: cell for cell in cells_of("length", changed)}
    assert [by_system[name].run for name in ("copynet", "biaffine", "biaffine_ilp")] == ["given"] * 3
    assert by_system["latent_rat"].run == "seed_8"
    wanted = [cell.system.name for cell in cells_of("length", changed) if is_wanted(cell, changed)]
    assert wanted == ["copynet", "biaffine", "biaffine_ilp"]
    # Predictions cannot be timed.
    assert [cell.system.name for cell in timed_cells(changed)] == ["biaffine", "biaffine_ilp", "latent_rat"]

"""Which cells an experiment has, where their files are, and which of them a run makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.cells import EXPERIMENTS, Cell, cells_of, is_wanted, questions_file, rows_files, timed_cells
from experiments.settings import SYSTEMS, Given, Settings


def names(experiment: str, settings: Settings) -> set[str]:
    return {f"{cell.system.name} {cell.split} {cell.run}" for cell in cells_of(experiment, settings)}


def test_the_cells_of_each_experiment(settings: Settings) -> None:
    assert len(cells_of("sample_complexity", settings)) == 5 * 2 * 2
    assert len(cells_of("domain_generalisation", settings)) == 5 * 3 * 2
    assert "latent_rat without_DROP seed_8" in names("domain_generalisation", settings)
    # The graph parser with several decoders would agree with itself.
    assert {cell.system.name for cell in cells_of("agreement", settings)} == {"copynet", "biaffine", "latent_rat"}
    for experiment in EXPERIMENTS[3:]:
        assert {cell.split for cell in cells_of(experiment, settings)} == {"train_100"}


def test_files(settings: Settings) -> None:
    cell = Cell(SYSTEMS["biaffine_ilp"], "train_5", 7)
    # One training for both ways to decode.
    assert cell.training == "runs/biaffine/train_5/seed_7/trained.json"
    assert cell.predictions == "predictions/biaffine_ilp/train_5/seed_7.jsonl"
    held_out = "splits/held_out/holdout.csv"
    assert rows_files("train_5", 7, settings) == ("splits/seed_7/train_5.csv", held_out)
    assert rows_files("all_sources", 7, settings) == ("splits/held_out/fit.csv", held_out)
    without = ("splits/without/GEO/train.csv", "splits/held_out_without/GEO/train.csv")
    assert rows_files("without_GEO", 7, settings) == rows_files("without_GEO", 8, settings) == without


def test_without_held_out_rows_weights_are_chosen_on_the_development_rows(settings: Settings) -> None:
    changed = settings.model_copy(update={"held_out": None})
    assert rows_files("train_5", 7, changed)[1] == rows_files("without_GEO", 7, changed)[1] == str(settings.dev)
    assert rows_files("all_sources", 7, changed)[0] == str(settings.train)


def test_larger_shares_may_have_one_seed_only(settings: Settings) -> None:
    changed = settings.model_copy(update={"one_seed_from": 20})
    found = {(cell.split, cell.seed) for cell in cells_of("sample_complexity", changed)}
    assert found == {("train_5", 7), ("train_5", 8), ("train_100", 7)}
    assert {cell.seed for cell in cells_of("domain_generalisation", changed)} == {7}


def test_budgets_by_share_compare_sources_with_a_run_of_the_same_budget(settings: Settings) -> None:
    parsers = {name: each.model_copy(update={"updates": {"sources": 5}}) for name, each in settings.parsers.items()}
    splits = {
        cell.split for cell in cells_of("domain_generalisation", settings.model_copy(update={"parsers": parsers}))
    }
    assert splits == {"all_sources", "without_GEO", "without_DROP"}


def test_a_parser_trained_without_a_source_is_asked_only_its_questions(settings: Settings) -> None:
    assert questions_file("without_GEO", settings) == "splits/questions/GEO/left_out.csv"
    assert questions_file("train_5", settings) == str(settings.dev)


@pytest.mark.parametrize(
    ("only", "wanted"),
    [((), True), (("biaffine/train_5/*",), True), (("*/seed_7",), True), (("copynet/*", "*/seed_8"), False)],
)
def test_patterns_choose_what_is_trained(settings: Settings, only: tuple[str, ...], wanted: bool) -> None:
    cell = Cell(SYSTEMS["biaffine_ilp"], "train_5", 7)
    assert is_wanted(cell, settings.model_copy(update={"only": only})) is wanted
    assert not is_wanted(cell, settings.model_copy(update={"only": only, "training": False}))


def test_a_given_cell_stands_for_all_seeds_and_is_never_trained(settings: Settings) -> None:
    archive = Given(name="biaffine", split="train_100", path=Path("/elsewhere/model.tar.gz"))
    predictions = Given(name="copynet", split="train_100", path=Path("/elsewhere/copynet.jsonl"))
    changed = settings.model_copy(update={"given": [archive, predictions], "training": False})
    by_system = {cell.system.name: cell for cell in cells_of("length", changed)}
    assert [by_system[name].run for name in ("copynet", "biaffine", "biaffine_strict", "biaffine_ilp")] == ["given"] * 4
    assert by_system["latent_rat"].run == "seed_8"
    wanted = [cell.system.name for cell in cells_of("length", changed) if is_wanted(cell, changed)]
    assert wanted == ["copynet", "biaffine", "biaffine_strict", "biaffine_ilp"]
    # Predictions cannot be timed.
    assert [cell.system.name for cell in timed_cells(changed)] == [
        "biaffine",
        "biaffine_strict",
        "biaffine_ilp",
        "latent_rat",
    ]

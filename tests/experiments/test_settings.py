"""What the settings accept, and that a mistake in them is one line before anything starts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from experiments.settings import Settings, read_size
from experiments.training import check_configs
from qdecomp.data_structures.errors import DataError


@pytest.mark.parametrize("size", ["smoke", "cpu", "paper"])
def test_every_size_can_be_read_and_the_configs_take_its_settings(
    size: str, project_root: Path, tmp_path: Path
) -> None:
    data = {name: project_root / "data" / f"{name}.csv" for name in ("train", "dev")}
    settings = read_size(size, training=False, **data)
    check_configs(settings, tmp_path)
    assert set(settings.parsers) == {"copynet", "biaffine", "latent_rat"}
    assert settings.expects is not None
    assert "GPU" in settings.expects or size != "paper"
    assert (settings.parsers["copynet"].updates is None) == (size == "paper")
    if size != "smoke":
        assert settings.percentages == [1, 5, 10, 20, 50, 100]
        assert len(settings.sources) == 8


def test_the_budgets_of_the_cpu_size_grow_with_the_rows(project_root: Path) -> None:
    data = {name: project_root / "data" / f"{name}.csv" for name in ("train", "dev")}
    settings = read_size("cpu", training=False, **data)
    for parser in settings.parsers.values():
        budgets = [parser.budget(f"train_{percentage}") or 0 for percentage in settings.percentages]
        assert budgets == sorted(set(budgets))
        assert parser.budget("without_GEO") == parser.budget("all_sources")
        assert parser.patience is not None
    named = {name for pattern in settings.queue for name in settings.parsers if fnmatch(name, pattern.split("/")[0])}
    assert named == set(settings.parsers)


def test_settings_survive_their_file(size_file: Callable[..., Path], tmp_path: Path) -> None:
    archive = tmp_path / "model.tar.gz"
    archive.touch()
    settings = read_size(str(size_file()), given=[f"copynet@train_20={archive}"], only=["biaffine/*"], verdicts=archive)
    assert Settings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"percentage": [1]}, "there is no setting percentage; did you mean percentages"),
        ({"seeds": None}, "seeds is missing"),
        ({"seeds": 7}, "seeds: Input should be a valid list, not 7"),
        ({"percentages": [3]}, "percentages.0: Input should be 1, 5, 10, 20, 50 or 100, not 3"),
        ({"sources": ["GEO", "YELP"]}, r"data/train.csv: has no rows of YELP.*it has ACADEMIC, ATIS"),
        ({"encoder": "./no-such-encoder"}, "encoder './no-such-encoder': there is no such folder"),
        ({"train": "nowhere.csv"}, "there is no file nowhere.csv; name yours with --train FILE"),
        (
            {"parsers": {"bart": {"config": "training_config/demo.jsonnet"}}},
            "there is no parser 'bart'; there are copynet",
        ),
        ({"parsers": {"copynet": {"updates": 8}}}, "parsers.copynet.config is missing"),
        ({"parsers": {"copynet": {"config": "training_config/no.jsonnet"}}}, "there is no file training_config/no"),
        (
            {"parsers": {"copynet": {"config": "training_config/demo.jsonnet", "updates": 7}}},
            "updates.*: Input should be a multiple of 5, not 7",
        ),
        (
            {"parsers": {"copynet": {"config": "training_config/demo.jsonnet", "updates": {"train_20": 5}}}},
            "parsers.copynet.updates has no budget for train_100, sources",
        ),
        (
            {"parsers": {"copynet": {"config": "training_config/demo.jsonnet", "batchsize": 7}}},
            "no setting parsers.copynet.batchsize; did you mean parsers.copynet.batch_size",
        ),
    ],
)
def test_a_wrong_setting_is_named(size_file: Callable[..., Path], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_size(str(size_file(**changes)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"given": ["copynet"]}, "say NAME=FILE"),
        ({"given": ["bart=model.tar.gz"]}, "there is no parser 'bart'"),
        ({"given": ["biaffine_ilp=model.tar.gz"]}, "there is no parser 'biaffine_ilp'"),
        ({"given": ["bart=predictions.jsonl"]}, "there is no system 'bart'"),
        ({"given": ["copynet=nowhere.jsonl"]}, "there is no file nowhere.jsonl"),
        ({"changes": ["copynet.settings.lr"]}, "say PARSER.KEY=VALUE"),
        ({"changes": ["settings=5"]}, "say PARSER.KEY=VALUE"),
        ({"changes": ["bart.settings.lr=5"]}, "there is no parser 'bart'; there are copynet, biaffine, latent_rat"),
    ],
)
def test_what_the_command_line_says_is_checked(
    size_file: Callable[..., Path], options: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_size(str(size_file()), **options)


def test_settings_are_changed_on_the_command_line(size_file: Callable[..., Path]) -> None:
    changes = ["copynet.settings.lr=5e-4", "copynet.settings.encoder=some/folder", "copynet.settings.source_weights={}"]
    parsers = read_size(str(size_file()), changes=changes).parsers
    changed = {"settings.lr": 5e-4, "settings.encoder": "some/folder", "settings.source_weights": {}}
    assert changed.items() <= parsers["copynet"].overrides.items()
    assert parsers["biaffine"] == read_size(str(size_file())).parsers["biaffine"]


def test_a_setting_that_the_config_does_not_have(size_file: Callable[..., Path], tmp_path: Path) -> None:
    parser = {"config": "training_config/demo.jsonnet", "overrides": {"settings.ecnoder_lr": 1e-4}}
    settings = read_size(str(size_file(parsers={"biaffine": parser})))
    with pytest.raises(
        DataError, match=r"parsers.biaffine: .*no setting 'ecnoder_lr'.*closest is 'encoder_lr'"
    ) as caught:
        check_configs(settings, tmp_path)
    assert "\n" not in str(caught.value)


def test_a_size_that_there_is_not_is_named() -> None:
    with pytest.raises(DataError, match=r"there is no size 'huge'.*; there are cpu, paper, smoke"):
        read_size("huge")


def test_the_command_says_it_in_one_line(project_root: Path) -> None:
    command = [sys.executable, "-m", "experiments", "lenght"]
    result = subprocess.run(command, cwd=project_root, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "there is no experiment 'lenght'; there are sample_complexity" in result.stderr

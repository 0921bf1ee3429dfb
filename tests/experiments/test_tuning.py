"""The search for hyper-parameters: what may be tried, that it goes on after a kill, and what it writes."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from experiments.tuning import parse_searched, tune
from qdecomp.data_structures.errors import DataError
from tests.experiments.conftest import FakeAllennlp

pytest.importorskip("optuna", reason="Optuna is not installed; make install installs it")


class Killed(BaseException):
    """Nothing may handle it."""


RATE = "trainer.optimizer.lr"


def fails_above(rate: float) -> Callable[[int, dict[str, Any]], BaseException | None]:
    error = DataError("the end of the log:\nthe loss is not a number")
    return lambda _, overrides: error if overrides[RATE] > rate else None


@pytest.fixture
def search(
    tmp_path: Path, tiny_config: dict[str, Any], write_config: Callable[[dict[str, Any]], Path], fake: FakeAllennlp
) -> Callable[..., str]:
    """Run the command with a range for the learning rate, of which .01 is best, and two values for dropout."""
    fake.metrics = lambda overrides: {"best_validation_accuracy": 1 - abs(overrides[RATE] - 0.01)}
    config = write_config(tiny_config)

    def run(*options: str, out: str = "out", rate: str = "1e-4..0.5 log") -> str:
        arguments = [str(config), "--out", str(tmp_path / out), "--search", f"{RATE}={rate}"]
        arguments += ["--search", "model.dropout=0.1,0.3", *options]
        result = CliRunner().invoke(tune, arguments, catch_exceptions=False, standalone_mode=False)
        return result.output

    return run


def test_the_best_settings_and_all_trials_are_written(
    search: Callable[..., str], fake: FakeAllennlp, tmp_path: Path
) -> None:
    output = search("--trials", "6", "--overrides", '{"trainer.num_epochs": 1}')
    rows = list(csv.DictReader((tmp_path / "out" / "trials.csv").open(encoding="utf-8")))
    assert len(rows) == len(fake.calls) == 6
    best = json.loads((tmp_path / "out" / "best.json").read_text(encoding="utf-8"))
    assert best["best_validation_accuracy"] == pytest.approx(
        max(float(row["best_validation_accuracy"]) for row in rows)
    )
    assert best["overrides"]["trainer.num_epochs"] == 1
    assert best["overrides"]["model.dropout"] in (0.1, 0.3)
    # Only the weights of the best trial stay.
    assert len(list((tmp_path / "out" / "runs").glob("*/run/model.tar.gz"))) == 1
    assert "allennlp train" in output.splitlines()[-1]


def test_it_goes_on_after_a_kill_and_with_more_trials(
    search: Callable[..., str], fake: FakeAllennlp, tmp_path: Path
) -> None:
    fake.error = lambda number, _: Killed() if number == 2 else None
    with pytest.raises(Killed):
        search("--trials", "3")
    search("--trials", "3")
    # The training that was killed is recovered, with its settings, and none is repeated.
    assert ["--recover" in call for call in fake.calls] == [False, False, True, False]
    assert fake.calls[1][-1] == fake.calls[2][-2]
    search("--trials", "4")
    assert len(fake.calls) == 5
    search("--trials", "4")
    assert len(fake.calls) == 5
    assert len((tmp_path / "out" / "trials.csv").read_text(encoding="utf-8").splitlines()) == 1 + 4


def test_a_trial_that_fails_is_a_row_but_the_first_one_stops_the_search(
    search: Callable[..., str], fake: FakeAllennlp, tmp_path: Path
) -> None:
    fake.error = fails_above(0.0)
    with pytest.raises(DataError, match="the loss is not a number"):
        search("--trials", "3")
    fake.error = fails_above(0.005)
    output = search("--trials", "8", "--seed", "1", out="other")
    rows = (tmp_path / "other" / "trials.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + 8
    assert any(row.startswith("failed,") for row in rows)
    assert "failed: the loss is not a number" in output


@pytest.mark.parametrize("options", [("--seed", "2"), ("--overrides", '{"trainer.num_epochs": 3}')])
def test_a_folder_holds_one_search(search: Callable[..., str], fake: FakeAllennlp, options: tuple[str, str]) -> None:
    search("--trials", "1")
    with pytest.raises(DataError, match="holds a search with another config, other settings or another seed"):
        search("--trials", "2", *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--search", "model.colour.red=1..2"), "--overrides: .*model.colour.red"),
        (("--overrides", "[1]"), "not a JSON object"),
    ],
)
def test_what_cannot_be_searched_is_said_at_once(
    search: Callable[..., str], fake: FakeAllennlp, options: tuple[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        search(*options)
    assert fake.calls == []


@pytest.mark.parametrize(
    "text", ["lr", "lr=", "=1..2", "lr=2..1", "lr=0..1 log", "lr=a..b", "lr=1..2 step 0", "lr=true..false", "lr=greedy"]
)
def test_a_wrong_search_is_one_line(text: str) -> None:
    with pytest.raises(DataError, match=r"--search .*: say KEY=LOW\.\.HIGH") as error:
        parse_searched(text)
    assert "\n" not in str(error.value)

"""The calibration of a parser is fitted on rows with gold, and stored with the parser."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from qdecomp import load
from qdecomp.cli.calibrate import command, store, stored_calibration
from qdecomp.data_structures.errors import DataError
from qdecomp.parsers.bundle import BUNDLED, CARD, read_config, write_config
from qdecomp.parsers.calibration import Calibration

QUESTION = "How many red cubes are left of the ball?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(BUNDLED, tmp_path / "parser")
    return tmp_path / "parser"


def test_it_is_fitted_stored_and_used(folder: Path, project_root: Path) -> None:
    gold = str(project_root / "data" / "dev.csv")
    result = CliRunner().invoke(command, ["--parser", str(folder), "--gold", gold, "--check", gold])
    assert result.exit_code == 0, result.output
    assert result.output.count("expected calibration error") == 2
    stored = read_config(folder).calibration
    assert json.loads(result.output.splitlines()[-1]) == stored
    card = (folder / CARD).read_text(encoding="utf-8")
    assert "plans for `dev.csv`, the mean distance" in card
    assert "](calibration.svg)" in card
    assert (folder / "calibration.svg").read_text(encoding="utf-8").count("<svg") == 1
    before, after = (load(source).parse(QUESTION) for source in (BUNDLED, folder))
    assert after.steps == before.steps
    assert after.confidence == after.to_dict()["confidence"]
    assert after.confidence != before.confidence


def test_two_kinds_of_questions_have_a_file_each(folder: Path, project_root: Path) -> None:
    data = project_root / "data"
    golds = ["--gold", str(data / "dev.csv"), "--gold", str(data / "everyday.csv")]
    result = CliRunner().invoke(command, ["--parser", str(folder), *golds])
    assert result.exit_code == 0, result.output
    assert "dev.csv (fitted on it)" in result.output
    assert "everyday.csv (fitted on it)" in result.output
    kind = stored_calibration(folder).kind
    assert kind is not None
    assert len(kind.weights) == 384
    found = load(folder).parse(QUESTION)
    assert found.kind is not None
    assert 0 < found.kind < 1
    for wrong in ([*golds, "--gold", str(data / "train.csv")], golds[:2] * 2):
        result = CliRunner().invoke(command, ["--parser", str(folder), *wrong])
        assert "one file, or two with different kinds" in str(result.exception)


def test_the_stored_calibration_can_be_measured_and_a_dry_run_writes_nothing(folder: Path, project_root: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    gold = str(project_root / "data" / "dev.csv")
    result = CliRunner().invoke(command, ["--parser", str(folder), "--check", gold, "--dry-run"])
    assert result.exit_code == 0, result.output
    assert result.output.count("expected calibration error") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_there_is_to_do_must_be_said(folder: Path) -> None:
    result = CliRunner().invoke(command, ["--parser", str(folder)])
    assert "give --gold" in str(result.exception)
    write_config(folder, replace(read_config(folder), calibration=None))
    with pytest.raises(DataError, match="it has no calibration; give --gold"):
        stored_calibration(folder)


def test_a_consensus_is_calibrated_too(tmp_path: Path) -> None:
    path = tmp_path / "consensus.json"
    value = {"kind": "consensus", "parsers": [{"parser": "minilm_break", "candidates": 1}]}
    path.write_text(json.dumps(value), encoding="utf-8")
    store(path, Calibration({}, 0.0))
    assert load(path).parse(QUESTION).confidence == 0.5
    refused = load(path, min_confidence=0.6).parse(QUESTION)
    assert not refused
    assert refused.error == "the confidence 0.50 is below 0.6"


def test_an_archive_has_no_place_for_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a bundled parser or a consensus"):
        store(tmp_path / "model.tar.gz", Calibration({}, 0.0))

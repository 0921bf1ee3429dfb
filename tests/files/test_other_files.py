"""No command overwrites a file that it reads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import require_other_files
from tests.cli_runs import refusal

GOLD = "question_id,question_text,decomposition\nA_1,how many cubes ?,return cubes ;return number of #1\n"
RECORD = json.dumps({"question_id": "A_1", "question": "how many cubes ?", "decomposition": "return cubes"}) + "\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "predictions.jsonl").write_text(RECORD)
    (tmp_path / "link.csv").symlink_to("gold.csv")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "index.html").write_text(GOLD)
    (tmp_path / "model.tar.gz").write_bytes(b"weights")
    os.link(tmp_path / "predictions.jsonl", tmp_path / "hard.jsonl")
    return tmp_path


SCORED = ("--gold", "gold.csv", "--predictions", "predictions.jsonl")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("evaluate", *SCORED, "--json", "link.csv"), "--json"),
        (("evaluate", *SCORED, "--details", "hard.jsonl"), "--details"),
        (("evaluate", *SCORED, "--details", "new", "--json", "new"), "--details"),
        (("report", "--gold", "page/index.html", *SCORED[2:], "--output", "page"), "--output"),
        (("convert", "--input", "gold.csv", "--output", "new", "--json", "./gold.csv"), "--json"),
        (("parse", "--input", "gold.csv", "--output", "gold.csv", "--overwrite"), "--output"),
        (("render", "--input", "predictions.jsonl", "--gold", "gold.csv", "--output", "link.csv"), "--output"),
        (("parse", "cubes ?", "--parser", "model.tar.gz", "--output", "model.tar.gz"), "--output"),
    ],
)
def test_no_command_writes_over_what_it_reads(
    files: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], option: str
) -> None:
    monkeypatch.chdir(files)
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    assert option in refusal(*arguments)
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["new.txt", "/dev/null"])
def test_other_files_and_devices_are_fine(files: Path, name: str) -> None:
    before = (files / "gold.csv").read_bytes()
    require_other_files({"--output": files / name}, [files / "gold.csv", Path("/dev/null"), None])
    assert (files / "gold.csv").read_bytes() == before


def test_a_folder_holds_what_is_below_it(files: Path) -> None:
    with pytest.raises(DataError, match=r"--output would overwrite .*link\.csv, which is an input"):
        require_other_files({"--output": files}, [files / "link.csv"])


@pytest.mark.slow
def test_allennlp_predict_does_not_either(files: Path) -> None:
    manager: Callable[..., object] = pytest.importorskip("qdecomp.training.commands").PredictManager
    path = str(files / "gold.csv")
    with pytest.raises(DataError, match="--output-file would overwrite"):
        manager(None, path, path, 1, False, False)
    assert (files / "gold.csv").read_text() == GOLD

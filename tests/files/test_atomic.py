"""Files are there whole or not at all, and no command overwrites one that it reads."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import require_other_files, write_folder_atomically, write_text_atomically
from tests.cli_runs import refusal


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.txt"
    with write_text_atomically(path) as stream:
        stream.write("one")
    with pytest.raises(ZeroDivisionError), write_text_atomically(path) as stream:
        stream.write(f"two {1 / 0}")
    assert path.read_text() == "one"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_appears_whole_and_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "report"
    write_folder_atomically(folder, {"a.txt": "ä\r\n", "b.txt": "1"})
    assert (folder / "a.txt").read_bytes() == "ä\r\n".encode()
    write_folder_atomically(folder, {"a.txt": "2", "b.txt": "", "c.txt": "3"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.txt": "2", "b.txt": "", "c.txt": "3"}
    assert [path.name for path in folder.parent.iterdir()] == ["report"]


def test_a_folder_that_cannot_be_written_leaves_nothing_and_keeps_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_folder_atomically(folder, {"a.txt": "old"})
    with pytest.raises(DataError, match="cannot be written"):
        write_folder_atomically(folder, {"a.txt": "new", "a.txt/folder.txt": "x"})
    assert (folder / "a.txt").read_text() == "old"
    assert [path.name for path in folder.rglob("*")] == ["a.txt"]


def test_a_folder_with_other_files_and_a_file_in_its_place_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(DataError, match=r"holds other files, such as thesis\.txt"):
        write_folder_atomically(tmp_path, {"a.txt": ""})
    with pytest.raises(DataError, match="this is a file"):
        write_folder_atomically(tmp_path / "thesis.txt", {"a.txt": ""})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def write_and_die(folder: Path, count: int) -> None:
    """Write the new files, and die when that many changes to the disk are made."""

    def hook(event: str, arguments: object) -> None:
        nonlocal count
        if event in {"open", "os.rename", "os.truncate", "os.mkdir", "os.remove"}:
            count -= 1
            if count < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    write_folder_atomically(folder, {"index.html": "new", "data.csv": "new"})


def test_a_kill_at_any_moment_leaves_whole_files_and_the_next_run_clears_up(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    seen = []
    for count in range(100):
        write_folder_atomically(folder, {"index.html": "old", "data.csv": "old"})
        run = multiprocessing.get_context("fork").Process(target=write_and_die, args=(folder, count))
        run.start()
        run.join()
        seen.append((folder / "index.html").read_text() + (folder / "data.csv").read_text())
        if run.exitcode == 0:
            break
        assert run.exitcode == -signal.SIGKILL
    # The page, which shows the data, is the last one that changes.
    assert list(dict.fromkeys(seen)) == ["oldold", "oldnew", "newnew"]
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "index.html"]


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    with write_text_atomically(tmp_path / "out") as stream:
        stream.write("one")
        with pytest.raises(DataError, match="another run is writing"), write_text_atomically(tmp_path / "out"):
            pass
    assert (tmp_path / "out").read_text() == "one"


# What is read.

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


def test_other_files_and_devices_are_fine_but_not_what_is_below_a_folder(files: Path) -> None:
    for name in ("new.txt", "/dev/null"):
        require_other_files({"--output": files / name}, [files / "gold.csv", Path("/dev/null"), None])
    with pytest.raises(DataError, match=r"--output would overwrite .*link\.csv, which is an input"):
        require_other_files({"--output": files}, [files / "link.csv"])


@pytest.mark.slow
def test_allennlp_predict_does_not_either(files: Path) -> None:
    manager: Callable[..., object] = pytest.importorskip("qdecomp.training.commands").PredictManager
    path = str(files / "gold.csv")
    with pytest.raises(DataError, match="--output-file would overwrite"):
        manager(None, path, path, 1, False, False)
    assert (files / "gold.csv").read_text() == GOLD

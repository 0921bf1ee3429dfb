from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import write_folder_atomically, write_text_atomically


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.txt"
    with write_text_atomically(path) as stream:
        stream.write("one")
    with pytest.raises(ZeroDivisionError), write_text_atomically(path) as stream:
        stream.write(f"two {1 / 0}")
    assert path.read_text() == "one"
    assert list(path.parent.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="cannot be written"), write_text_atomically(tmp_path / "file" / "out"):
        pass


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
        write_folder_atomically(folder, {"a.txt": "new", "no/such/folder.txt": "x"})
    assert (folder / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_folder_with_other_files_and_a_file_in_its_place_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(DataError, match=r"holds other files, such as thesis\.txt"):
        write_folder_atomically(tmp_path, {"a.txt": ""})
    with pytest.raises(DataError, match="this is a file"):
        write_folder_atomically(tmp_path / "thesis.txt", {"a.txt": ""})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def kill_at_every_change(folder: Path) -> list[str]:
    """What the file a.txt of the folder holds if overwriting it is killed before each of its changes."""
    program = (
        "import os, signal, sys\n"
        "from qdecomp.files import write_folder_atomically\n"
        "left = int(sys.argv[2])\n"
        "def hook(event, arguments):\n"
        "    global left\n"
        "    if event in {'open', 'ctypes.dlopen', 'os.rename', 'os.mkdir', 'os.remove', 'os.rmdir'}:\n"
        "        left -= 1\n"
        "        if left < 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(hook)\n"
        "write_folder_atomically(sys.argv[1], {'a.txt': 'new', 'b.txt': 'new'})\n"
    )
    seen = []
    for count in range(100):
        write_folder_atomically(folder, {"a.txt": "old", "b.txt": "old"})
        code = subprocess.run([sys.executable, "-c", program, str(folder), str(count)]).returncode
        seen.append((folder / "a.txt").read_text() + (folder / "b.txt").read_text())
        if code == 0:
            return seen
        assert code == -signal.SIGKILL
    raise AssertionError("a hundred changes were not enough")


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="folders cannot be exchanged here")
def test_a_kill_at_any_moment_leaves_the_old_folder_or_the_new_one(tmp_path: Path) -> None:
    seen = kill_at_every_change(tmp_path / "report")
    assert set(seen) == {"oldold", "newnew"}
    assert seen == sorted(seen, reverse=True)


def test_where_folders_cannot_be_exchanged_files_are_replaced_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "report"
    write_folder_atomically(folder, {"a.txt": "old", "b.txt": "old", "c.txt": "old"})
    monkeypatch.setattr("qdecomp.files.writing.atomic.exchange", lambda new, old: False)
    with pytest.raises(DataError, match="holds other files"):
        write_folder_atomically(folder, {"a.txt": "new", "b.txt": "new"})
    write_folder_atomically(folder, {"a.txt": "new", "b.txt": "new", "c.txt": "", "d.txt": "new"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "a.txt": "new",
        "b.txt": "new",
        "c.txt": "",
        "d.txt": "new",
    }
    assert [path.name for path in tmp_path.iterdir()] == ["report"]

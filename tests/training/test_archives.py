from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.training import archives
from qdecomp.training.archives import unpacked

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, len(content) if kind == tarfile.REGTYPE else 0
    return info, content


def archive_of(path: Path, *members: Member) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def test_files_are_there_until_the_end(tmp_path: Path, temporary: Path) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json", b"{}"), member("vocabulary/tokens.txt"))
    with unpacked(path) as folder:
        assert (folder / "config.json").read_text() == "{}"
        assert (folder / "vocabulary" / "tokens.txt").is_file()
    assert list(temporary.iterdir()) == []


def test_a_folder_is_given_as_it_is(tmp_path: Path) -> None:
    with unpacked(tmp_path) as folder:
        assert folder == tmp_path
    assert tmp_path.is_dir()


@pytest.mark.parametrize(
    "bad",
    [
        member("/tmp/outside"),
        member("../outside"),
        member("a/../../outside"),
        member("C:\\outside"),
        member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("link", kind=tarfile.LNKTYPE, link="../outside"),
        member("device", kind=tarfile.CHRTYPE),
        member("pipe", kind=tarfile.FIFOTYPE),
    ],
    ids=lambda each: each[0].name,
)
def test_nothing_is_written_outside(tmp_path: Path, temporary: Path, bad: Member) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json"), bad)
    with pytest.raises(DataError, match="a link, a device or outside") as caught, unpacked(path):
        pass
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["temporary", "x.tar.gz"]


def test_a_file_behind_a_link_is_not_overwritten(tmp_path: Path, temporary: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = member("a", kind=tarfile.SYMTYPE, link=str(tmp_path))
    path = archive_of(tmp_path / "x.tar.gz", link, member("a/victim", b"yours"))
    with pytest.raises(DataError), unpacked(path):
        pass
    assert victim.read_text() == "mine"


def test_a_bomb_is_given_up_in_the_middle(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "_ALWAYS_ALLOWED", 100_000)
    path = archive_of(tmp_path / "x.tar.gz", member("zeros", bytes(10_000_000)))
    with pytest.raises(DataError, match="far more"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


def test_too_many_files_are_refused(tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ARCHIVE_FILES", 5)
    path = archive_of(tmp_path / "x.tar.gz", *(member(f"{number}") for number in range(6)))
    with pytest.raises(DataError, match="more than 5 files"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"no archive at all",
        lambda data: gzip.compress(b"no archive at all"),
        lambda data: gzip.compress(b"x" * 2000),
        lambda data: data[:40] + bytes(20) + data[60:],
    ],
)
def test_a_damaged_archive_is_one_line(tmp_path: Path, temporary: Path, damage: Callable[[bytes], bytes]) -> None:
    path = archive_of(tmp_path / "x.tar.gz", member("config.json", bytes(range(256)) * 400))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError) as caught, unpacked(path) as folder:
        # An archive without any file is found out when its config is looked for.
        raise DataError("no config" if not list(folder.iterdir()) else "was read")
    assert "was read" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(temporary.iterdir()) == []

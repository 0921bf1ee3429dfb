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
    with pytest.raises(DataError, match="a link, a device, sparse or outside") as caught, unpacked(path):
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


def sparse_archive(path: Path, kind: str, size: int) -> Path:
    """An archive of a few bytes whose only file claims to be mostly a hole of this size."""
    info = tarfile.TarInfo("weights.th")
    if kind == "gnu":
        info.type, info.size = tarfile.GNUTYPE_SPARSE, 0
        header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
        # One piece of no bytes at the end, and the real size.
        for place, number in ((386, size), (398, 0), (483, size)):
            header[place : place + 12] = b"%011o\0" % number
        header[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(header))[0]
        content = bytes(header)
    else:
        info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.numblocks": "1"}
        info.pax_headers |= {"GNU.sparse.map": f"{size},0", "GNU.sparse.size": str(size)}
        content = info.tobuf(tarfile.PAX_FORMAT)
    path.write_bytes(gzip.compress(content + bytes(1024)))
    return path


@pytest.mark.parametrize("kind", ["gnu", "pax"])
def test_a_sparse_file_is_refused(tmp_path: Path, temporary: Path, kind: str) -> None:
    path = sparse_archive(tmp_path / "x.tar.gz", kind, 2_500_000_000)
    assert path.stat().st_size < 1000
    with tarfile.open(path) as archive:
        (found,) = archive
        assert found.issparse()
        assert found.size == 2_500_000_000
    with pytest.raises(DataError, match="sparse"), unpacked(path):
        pass
    assert list(temporary.iterdir()) == []


def test_a_size_that_a_member_claims_is_enough_to_refuse_it(tmp_path: Path, temporary: Path) -> None:
    info = tarfile.TarInfo("weights.th")
    info.size = 10**11
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf() + bytes(1024)))
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

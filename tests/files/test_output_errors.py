from __future__ import annotations

import json
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.atomic import write_folder_atomically, write_text_atomically
from qdecomp.files.outputs import format_record, resume_records


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file can have more than ten bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_an_error_of_the_body_is_not_one_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other"), write_text_atomically(tmp_path / "out"):
        (tmp_path / "other").read_text()
    with pytest.raises(FileNotFoundError, match="other"), resume_records(tmp_path / "lines", ["a"]):
        (tmp_path / "other").read_text()
    with pytest.raises(TimeoutError), resume_records(tmp_path / "lines", ["a"]):
        raise TimeoutError
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_an_error_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="out: cannot be written"), write_text_atomically(tmp_path / "out") as stream:
        stream.write("x" * 100_000)
    lines = resume_records(tmp_path / "lines", ["a"])
    with pytest.raises(DataError, match="lines: cannot be written"), lines as writer:
        writer.write(format_record({"key": "a", "text": "x" * 100_000}))
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


def test_half_of_a_character_is_written_as_an_escape(tmp_path: Path) -> None:
    value = {"key": "a", "text": "cubes \ud800"}
    with write_text_atomically(tmp_path / "text") as stream:
        json.dump(value, stream, ensure_ascii=False)
    with resume_records(tmp_path / "lines", ["a"]) as writer:
        writer.write(format_record(value))
    write_folder_atomically(tmp_path / "folder", {"x.json": json.dumps(value, ensure_ascii=False)})
    for path in (tmp_path / "text", tmp_path / "lines", tmp_path / "folder" / "x.json"):
        assert json.loads(path.read_text(encoding="utf-8")) == value

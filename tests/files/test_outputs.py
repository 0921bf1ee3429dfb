"""Records of runs that are stopped and resumed, in every kind of file and place."""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv
from qdecomp.files.atomic import write_folder_atomically, write_text_atomically
from qdecomp.files.outputs import format_record, resume_records
from tests.cli_runs import json_lines, run_qdecomp
from tests.files.resumed_runs import records_of, write_records

KEYS = ["a", "b", "c"]
RECORDS: list[dict[str, Any]] = [
    {"question_id": "1", "question": "how many größer ?", "decomposition": "return x", "logical_form": ["x"],
     "graph": {"tokens": ["x"], "edges": [[1, 0, "span", 0.5]]}, "score": -0.25, "error": None, "key": "a"},
    {"question_id": "2", "question": "half a character \ud800", "decomposition": None, "logical_form": None,
     "graph": None, "score": None, "error": "no word", "warnings": ["odd"], "key": "b"},
    {"question_id": "3", "question": "", "decomposition": "return y", "logical_form": [], "graph": None,
     "score": 1e-300, "error": None, "confidence": 0.1, "candidates": [{"score": -1}], "key": "c"},
]  # fmt: skip


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import fsspec

    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    yield
    fsspec.filesystem("memory").store.clear()


def places(tmp_path: Path) -> list[str]:
    names = ("out.parquet", "out.jsonl.gz", "out.jsonl.bz2", "out.jsonl.xz", "out.jsonl")
    return [
        *(str(tmp_path / "new" / name) for name in names),
        *(f"memory://folder/{name}" for name in names),
        f"file://{tmp_path}/elsewhere/out.jsonl.gz",
    ]


def write(path: str, keys: list[str] = KEYS, stop_at: int | None = None, **options: Any) -> list[str]:
    return write_records(RECORDS, path, keys, stop_at, **options)


def readable(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.replace("\ud800", "\\ud800") if isinstance(value, str) else value for name, value in record.items()
    }


@pytest.mark.parametrize("number", range(11))
def test_what_is_written_is_read_back_and_a_stopped_run_goes_on(tmp_path: Path, number: int) -> None:
    path = places(tmp_path)[number]
    with pytest.raises(KeyboardInterrupt):
        write(path, stop_at=2)
    unfinished = [each.parent.name for each in tmp_path.rglob("*.unfinished")]
    assert unfinished == ([] if path.endswith("new/out.jsonl") else ["cache" if "://" in path else "new"])
    if not path.endswith("new/out.jsonl"):
        with pytest.raises(DataError, match="there is no such file"):
            records_of(path)
    assert write(path) == ["a", "b"]
    is_parquet = path.endswith("parquet")
    assert [readable(each) for each in records_of(path)] == [readable(each) for each in RECORDS]
    assert is_parquet or records_of(path) == RECORDS
    # Nothing is left next to it, and a complete file is left alone.
    assert not list(tmp_path.rglob("*.unfinished"))
    assert write(path) == KEYS
    with pytest.raises(DataError, match="made from other input or with other settings"):
        write(path, ["a", "x", "c"])
    assert write(path, overwrite=True) == []


def test_equal_records_are_equal_bytes_and_plain_gzip(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl.gz", tmp_path / "other.jsonl.gz"
    for path in (one, other):
        write(str(path))
    assert one.read_bytes() == other.read_bytes()
    assert [json.loads(line)["key"] for line in gzip.decompress(one.read_bytes()).splitlines()] == KEYS


def test_a_command_reads_and_writes_every_kind(tmp_path: Path, project_root: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    sample = project_root / "data" / "dev.csv"
    source = tmp_path / "some.csv"
    source.write_text("".join(sample.read_text(encoding="utf-8").splitlines(keepends=True)[:6]), encoding="utf-8")

    convert = ("convert", "--processes", 1, "--input")
    assert run_qdecomp(*convert, source, "--output", plain) == 0
    assert run_qdecomp(*convert, source, "--output", "memory://graphs.parquet") == 0
    assert records_of("memory://graphs.parquet") == records_of(str(plain))

    # The same rows as a remote table, and as Parquet that another program wrote.
    import fsspec
    import pyarrow
    from pyarrow import parquet

    rows = [
        {"question_id": row.question_id, "question_text": row.question, "decomposition": row.decomposition}
        for row in read_break_csv(source)
    ]
    with fsspec.open("memory://break.parquet", "wb") as stream:
        parquet.write_table(pyarrow.Table.from_pylist(rows), stream)
    again = tmp_path / "again.jsonl"
    assert run_qdecomp(*convert, "memory://break.parquet", "--output", again) == 0
    assert again.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize(
    ("path", "missing", "reason"),
    [
        ("out.parquet", "pyarrow", "a Parquet file needs more packages: pip install 'question-decomposition[files]'"),
        (
            "memory://out.jsonl",
            "fsspec.core",
            "a remote file needs more packages: pip install 'question-decomposition[files]'",
        ),
    ],
)
def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, missing: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(DataError) as error:
        write(path)
    assert reason in str(error.value)
    assert not list(tmp_path.rglob("out*"))
    (tmp_path / "in.parquet").write_bytes(b"PAR1 and so on")
    with pytest.raises(DataError, match="needs more packages"):
        records_of("in.parquet" if missing == "pyarrow" else path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nothing://x/y.jsonl", "cannot be read .*nothing"),
        ("memory://nowhere.jsonl", "there is no such file"),
        ("broken.parquet", "broken.parquet: this Parquet file cannot be read"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(DataError, match=reason) as error:
        records_of(path)
    assert "\n" not in str(error.value)


# JSON lines, which grow as records arrive.


def keys_of(path: Path) -> list[str]:
    return [record["key"] for record in json_lines(path)]


@given(cut=st.integers(min_value=0))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_was_cut_anywhere_is_completed(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "new" / "out.jsonl"
    path.unlink(missing_ok=True)
    write(str(path))
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)])
    write(str(path))
    assert path.read_bytes() == whole


def test_a_last_line_of_rubbish_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write(str(path), KEYS[:2])
    with path.open("ab") as stream:
        stream.write(b"\0\0\0\n")
    write(str(path))
    assert keys_of(path) == KEYS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"key": "x"}\n', "line 1 was made from other input or with other settings"),
        ('{"key": "a"}\n[]\n{"key": "c"}\n', "line 2 is not a record of qdecomp"),
        ("".join(f'{{"key": "{key}"}}\n' for key in "abcd"), "line 4 was made from other input"),
        ("question_id,question_text\n1,2\n", "line 1 is not a record of qdecomp"),
    ],
)
def test_a_file_of_others_is_not_touched(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        write(str(path))
    assert path.read_text() == text
    write(str(path), overwrite=True)
    assert keys_of(path) == KEYS


def test_two_runs_do_not_write_one_file_and_what_is_written_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with resume_records(path, KEYS) as writer:
        writer.write(format_record({"key": "a"}))
        with pytest.raises(DataError, match="another run is writing"):
            resume_records(path, KEYS).__enter__()
    assert keys_of(path) == ["a"]


def test_a_place_that_cannot_be_written_is_one_line_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "out", "/dev/full"):
        with pytest.raises(DataError, match=f"{place}: cannot be written"), resume_records(place, KEYS) as writer:
            writer.write(format_record({"key": "a"}))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(pipe.read_text().splitlines()))
    reader.start()
    assert write(str(pipe)) == []
    reader.join()
    assert [json.loads(line)["key"] for line in found] == KEYS
    assert pipe.is_fifo()


# Errors.


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

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qdecomp.cli import main
from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv
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

    def convert(*arguments: str) -> None:
        with pytest.raises(SystemExit) as end:
            main(["convert", "--processes", "1", *arguments])
        assert end.value.code == 0

    convert("--input", str(source), "--output", str(plain))
    convert("--input", str(source), "--output", "memory://graphs.parquet")
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
    convert("--input", "memory://break.parquet", "--output", str(again))
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

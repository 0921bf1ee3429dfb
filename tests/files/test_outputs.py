"""Records of runs that are stopped and resumed, in every kind of file and place."""

from __future__ import annotations

import errno
import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, read_json_lines
from qdecomp.files.atomic import write_text_atomically
from qdecomp.files.outputs import format_record, write_records
from qdecomp.files.sources import MANIFEST, part_name, read_manifest
from tests.cli_runs import json_lines, run_qdecomp

KEYS = [f"key {number}" for number in range(8)]
RECORDS: list[dict[str, Any]] = [
    {"question_id": "1", "question": "how many größer ?", "decomposition": "return x", "logical_form": ["x"],
     "graph": {"tokens": ["x"], "edges": [[1, 0, "span", 0.5]]}, "score": -0.25, "error": None, "key": "key 0"},
    {"question_id": "2", "question": "half a character \ud800", "decomposition": None, "logical_form": None,
     "graph": None, "score": None, "error": "no word", "warnings": ["odd"], "key": "key 1"},
    {"question_id": "3", "question": "", "decomposition": "return y", "logical_form": [], "graph": None,
     "score": 1e-300, "error": None, "confidence": 0.1, "candidates": [{"score": -1}], "key": "key 2"},
    *({"question_id": key, "question": "what ?", "decomposition": None, "logical_form": None, "graph": None,
       "score": None, "error": "no plan", "key": key} for key in KEYS[3:]),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import fsspec

    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    yield
    fsspec.filesystem("memory").store.clear()


def write(path: object, keys: list[str] = KEYS, stop_at: int | None = None, **options: Any) -> list[str]:
    """Write the missing records; return the keys of those that were already there."""
    found: list[str] = []

    def missing(done: int) -> Iterator[bytes]:
        assert done == len(found)
        for number, record in enumerate(RECORDS[done : len(keys)], start=done):
            if number == stop_at:
                raise KeyboardInterrupt
            yield format_record(record)

    kept = write_records(str(path), keys, missing, on_record=lambda record: found.append(record["key"]), **options)
    assert kept == len(found)
    return found


def write_parts(folder: object, keys: list[str] = KEYS, stop_at: int | None = None, **options: Any) -> list[str]:
    """Write the missing records, three in a part."""
    return write(f"{folder}/", keys, stop_at, **{"part_rows": 3, **options})


def records_of(path: object) -> list[Any]:
    """What readers of the path find."""
    return [record for _, record in read_json_lines(str(path))]


def readable(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records as Parquet keeps them."""
    return [json.loads(json.dumps(record).replace("\\ud800", "\\\\ud800")) for record in records]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    "name",
    [
        *("out.jsonl", "out.parquet", "out.jsonl.gz", "out.jsonl.bz2", "out.jsonl.xz"),
        *("memory://folder/out.jsonl", "memory://folder/out.jsonl.gz", "memory://folder/out.parquet"),
        "file://{}/out.jsonl.gz",
    ],
)
def test_what_is_written_is_read_back_and_a_stopped_run_goes_on(tmp_path: Path, name: str) -> None:
    path = name.format(tmp_path) if "://" in name else str(tmp_path / "new" / name)
    with pytest.raises(KeyboardInterrupt):
        write(path, stop_at=2)
    unfinished = [each.parent.name for each in tmp_path.rglob("*.unfinished")]
    assert unfinished == ([] if name == "out.jsonl" else ["cache" if "://" in path else "new"])
    if name != "out.jsonl":
        with pytest.raises(DataError, match="there is no such file"):
            records_of(path)
    assert write(path) == KEYS[:2]
    assert records_of(path) == (readable(RECORDS) if path.endswith("parquet") else RECORDS)
    # Nothing is left next to it, and a complete file is left alone.
    assert not list(tmp_path.rglob("*.unfinished*"))
    assert write(path) == KEYS
    with pytest.raises(DataError, match="made from other input or with other settings"):
        write(path, [KEYS[0], "x", *KEYS[2:]])
    before = [found.read_bytes() for found in tmp_path.glob("*/out.*")]
    assert write(path, overwrite=True) == []
    assert [found.read_bytes() for found in tmp_path.glob("*/out.*")] == before


def test_a_place_without_rights_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(place: str) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", place)

    monkeypatch.setattr("qdecomp.files.sources._LOCAL.exists", refuse)
    with pytest.raises(DataError, match=r"^mine/q.csv: cannot be read \(Permission denied\)$"):
        records_of("mine/q.csv")


def test_a_command_reads_what_another_program_wrote_and_writes_every_kind(tmp_path: Path, project_root: Path) -> None:
    import fsspec
    import pyarrow
    from pyarrow import parquet

    rows = read_break_csv(project_root / "data" / "dev.csv")[:5]
    (tmp_path / "rows.csv").write_text(
        "question_id,question_text,decomposition\n"
        + "".join(f'{row.question_id},"{row.question}","{row.decomposition}"\n' for row in rows)
    )
    table = {name: [getattr(row, name) for row in rows] for name in ("question_id", "question", "decomposition")}
    with fsspec.open("memory://break.parquet", "wb") as stream:
        parquet.write_table(pyarrow.table(table), stream)
    convert = ("convert", "--processes", 1, "--input")
    assert run_qdecomp(*convert, tmp_path / "rows.csv", "--output", tmp_path / "plain.jsonl") == 0
    assert run_qdecomp(*convert, "memory://break.parquet", "--output", "memory://graphs.parquet") == 0
    assert records_of("memory://graphs.parquet") == records_of(tmp_path / "plain.jsonl")


@pytest.mark.parametrize(
    ("path", "missing", "what"),
    [("out.parquet", "pyarrow", "a Parquet file"), ("memory://out.jsonl", "fsspec.core", "a remote file")],
)
def test_without_the_extra_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, missing: str, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(DataError, match=rf"{what} needs more packages: pip install 'question-decomposition\[files\]'"):
        write(path)
    assert not list(tmp_path.rglob("out*"))
    (tmp_path / "in.parquet").write_bytes(b"PAR1 and so on")
    read = "in.parquet" if missing == "pyarrow" else path
    with pytest.raises(DataError, match=f"^{read}: {what} needs more packages"):
        records_of(read)


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


@given(cut=st.integers(min_value=0), rubbish=st.sampled_from([b"", b"\0\0\0\n"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_a_file_that_was_cut_anywhere_is_completed(tmp_path: Path, cut: int, rubbish: bytes) -> None:
    path = tmp_path / "new" / "out.jsonl"
    path.unlink(missing_ok=True)
    write(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: cut % (len(whole) + 1)] + rubbish)
    write(path)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"key": "x"}\n', "line 1 was made from other input or with other settings"),
        ('{"key": "key 0"}\n[]\n{"key": "c"}\n', "line 2 is not a record of qdecomp"),
        ("".join(f'{{"key": "key {number}"}}\n' for number in range(9)), "line 9 was made from other input"),
        ("question_id,question_text\n1,2\n", "line 1 is not a record of qdecomp"),
        ("my only note\n", "line 1 is not a record of qdecomp"),
        ('{"mine": 1}', r"line 1 was made from other input or with other settings; .* overwrite it \(--overwrite\)"),
    ],
)
def test_a_file_of_others_is_not_touched(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=reason):
        write(path)
    assert path.read_text() == text
    write(path, overwrite=True)
    assert records_of(path) == RECORDS


@pytest.mark.parametrize("name", ["out.jsonl", "out/"])
def test_two_runs_do_not_write_to_one_output(tmp_path: Path, name: str) -> None:
    def missing(done: int) -> Iterator[bytes]:
        yield format_record(RECORDS[0])
        with pytest.raises(DataError, match="another run is writing to it"):
            write(f"{tmp_path}/{name}")

    write_records(f"{tmp_path}/{name}", KEYS, missing)
    assert records_of(tmp_path / name) == RECORDS[:1]


def write_text(path: object) -> None:
    with write_text_atomically(str(path)) as stream:
        stream.writelines(f'{{"key": "{key}"}}\n' for key in KEYS)


@pytest.mark.parametrize("writer", [write, write_text])
def test_a_place_that_cannot_be_written_is_one_line_and_a_pipe_is_written_to(
    tmp_path: Path, writer: Callable[[object], object]
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "out", "/dev/full"):
        with pytest.raises(DataError, match=f"{place}: cannot be written"):
            writer(place)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.extend(pipe.read_text().splitlines()))
    reader.start()
    writer(pipe)
    reader.join()
    assert [json.loads(line)["key"] for line in found] == KEYS
    assert pipe.is_fifo()


def test_an_error_of_the_work_is_not_one_of_the_output(tmp_path: Path) -> None:
    def missing(done: int) -> Iterator[bytes]:
        yield (tmp_path / "other").read_bytes()

    with pytest.raises(FileNotFoundError, match="other"):
        write_records(tmp_path / "lines", KEYS, missing)
    with pytest.raises(FileNotFoundError, match="other"), write_text_atomically(tmp_path / "out"):
        (tmp_path / "other").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


def test_a_full_disk_is_an_error_of_the_output(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        with pytest.raises(DataError, match="out: cannot be written"), write_text_atomically(tmp_path / "out") as text:
            text.write("x" * 100_000)
        with pytest.raises(DataError, match="lines: cannot be written"):
            write(tmp_path / "lines")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


# Folders of parts.


@pytest.mark.parametrize("place", ["out", "out.jsonl.gz", "out.parquet", "memory://bucket/out"])
@pytest.mark.parametrize("stop_at", [0, 1, 3, 5, 8])
def test_a_stopped_run_keeps_what_it_has_and_the_folder_reads_as_one_file(
    tmp_path: Path, place: str, stop_at: int
) -> None:
    folder = place if "://" in place else f"{tmp_path}/{place}"
    records = readable(RECORDS) if place.endswith("parquet") else RECORDS
    if stop_at < len(KEYS):
        with pytest.raises(KeyboardInterrupt):
            write_parts(folder, stop_at=stop_at)
    if 0 < stop_at < len(KEYS):
        with pytest.raises(DataError, match="not complete"):
            records_of(folder)
    assert write_parts(folder) == KEYS[: stop_at if stop_at < len(KEYS) else 0]
    assert records_of(folder) == records
    manifest = read_manifest(folder)
    assert manifest == (3, {part_name(folder, number): rows for number, rows in enumerate((3, 3, 2))}, True)
    # Nothing is left beside the parts, and a whole folder is left alone.
    assert not list(tmp_path.rglob("*.unfinished*"))
    assert write_parts(folder, part_rows=None) == KEYS
    assert write_parts(folder, overwrite=True, part_rows=5) == []
    assert records_of(folder) == records


def test_a_folder_without_rows_is_complete(tmp_path: Path) -> None:
    write_parts(tmp_path / "out", [])
    assert records_of(tmp_path / "out") == []
    assert list(files(tmp_path / "out")) == [MANIFEST]


def test_a_part_of_a_run_that_was_killed_before_the_manifest_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write_parts(folder, stop_at=7)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    # Version 0.1.0 wrote checksums.
    manifest["parts"] = [{**part, "sha256": "0" * 64} for part in manifest["parts"][:1]]
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    # The last line of what is not finished was cut off, and what became the second part was not removed yet.
    unfinished = folder / ".part-000002.jsonl.unfinished"
    unfinished.write_bytes(unfinished.read_bytes()[:-3])
    (folder / ".part-000001.jsonl.unfinished").write_bytes((folder / "part-000001.jsonl").read_bytes())
    assert write_parts(folder) == KEYS[:6]
    assert records_of(folder) == RECORDS
    assert len(files(folder)) == 4


@pytest.mark.parametrize("rows", [3, 6])
def test_a_run_that_was_killed_before_a_full_part_appeared_goes_on_with_the_next_one(tmp_path: Path, rows: int) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write_parts(folder, stop_at=rows)
    last = folder / f"part-00000{rows // 3 - 1}.jsonl"
    # As it is after the part's last row, and before the part gets its name.
    last.rename(folder / f".{last.name}.unfinished")
    assert write_parts(folder) == KEYS[:rows]
    assert [len(json_lines(path)) for path in sorted(folder.glob("part-*"))] == [3, 3, 2]
    assert write_parts(folder) == KEYS


@pytest.mark.parametrize(
    ("manifest", "options", "reason"),
    [
        (None, {"keys": [*KEYS[:4], "x", *KEYS[5:]]}, "line 2 was made from other input or with other settings"),
        (None, {"keys": [*KEYS, "x"]}, "line 3 was made from other input"),
        (None, {"keys": KEYS[:5]}, "line 3 was made from other input"),
        (None, {"part_rows": 4}, "its parts have 3 rows, not 4"),
        ("[]", {}, "this manifest was not written by qdecomp"),
        ('{"format": "other"}', {}, "this manifest was not written by qdecomp"),
        ("../part-000000", {}, "this manifest was not written by qdecomp"),
    ],
)
def test_what_is_not_from_this_run_is_not_touched(
    tmp_path: Path, manifest: str | None, options: dict[str, Any], reason: str
) -> None:
    folder = tmp_path / "out"
    write_parts(folder)
    if manifest is not None:
        text = (folder / MANIFEST).read_text(encoding="utf-8").replace("part-000000", "../part-000000")
        (folder / MANIFEST).write_text(text if manifest.startswith("..") else manifest, encoding="utf-8")
    before = files(folder)
    with pytest.raises(DataError, match=reason):
        write_parts(folder, **options)
    assert files(folder) == before
    if manifest is not None:
        with pytest.raises(DataError, match=reason):
            records_of(folder)


def test_more_input_goes_on_behind_full_parts(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_parts(folder, KEYS[:6])
    with pytest.raises(KeyboardInterrupt):
        write_parts(folder, stop_at=7)
    # It was complete, and is not any more.
    with pytest.raises(DataError, match="not complete: 6 rows are there"):
        records_of(folder)
    assert write_parts(folder) == KEYS[:7]
    assert records_of(folder) == RECORDS


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    for options in ({}, {"overwrite": True}):
        with pytest.raises(DataError, match=r"holds other files, such as thesis\.tex"):
            write_parts(tmp_path, **options)
    with pytest.raises(DataError, match="this is a folder; give a file"):
        records_of(tmp_path)
    assert files(tmp_path) == {"thesis.tex": b"years of work"}

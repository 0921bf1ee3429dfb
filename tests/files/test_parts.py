from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.outputs import resume_records
from qdecomp.files.parts import MANIFEST, part_name, read_manifest
from tests.files.resumed_runs import records_of, write_records

KEYS = [f"key {number}" for number in range(8)]
RECORDS: list[dict[str, Any]] = [
    {"question_id": str(number), "question": "größer ?", "graph": {"edges": [number]}, "key": key}
    for number, key in enumerate(KEYS)
]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import fsspec

    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path / "cache"))
    yield
    fsspec.filesystem("memory").store.clear()


def write(folder: str, keys: list[str] = KEYS, stop_at: int | None = None, **options: Any) -> list[str]:
    """Write the missing records, three in a part."""
    return write_records(RECORDS, folder, keys, stop_at, **{"part_rows": 3, **options})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


PLACES = ["out/", "out.jsonl.gz/", "out.parquet/", "memory://bucket/out/", "memory://bucket/out.parquet/"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("stop_at", [0, 1, 3, 5, 6, 8])
def test_a_stopped_run_keeps_what_it_has_and_the_folder_reads_as_one_file(
    tmp_path: Path, place: str, stop_at: int
) -> None:
    folder = place if "://" in place else f"{tmp_path}/{place}"
    if stop_at < len(KEYS):
        with pytest.raises(KeyboardInterrupt):
            write(folder, stop_at=stop_at)
    if 0 < stop_at < len(KEYS):
        with pytest.raises(DataError, match="not complete"):
            records_of(folder)
    assert write(folder) == KEYS[: stop_at if stop_at < len(KEYS) else 0]
    assert records_of(folder) == RECORDS
    manifest = read_manifest(folder)
    assert manifest is not None
    assert (manifest.complete, manifest.rows, manifest.rows_per_part) == (True, 8, 3)
    assert [(part.name, part.rows) for part in manifest.parts] == [
        (part_name(folder, number), rows) for number, rows in enumerate((3, 3, 2))
    ]
    # Nothing is left beside the parts, and a whole folder is left alone.
    assert not list(tmp_path.rglob("*.unfinished*"))
    assert write(folder, part_rows=None) == KEYS
    assert write(folder, overwrite=True, part_rows=5) == []
    assert records_of(folder) == RECORDS


def test_equal_records_are_equal_folders_however_they_came_about(tmp_path: Path) -> None:
    write(f"{tmp_path}/one/")
    for stop_at in (2, 3, 7):
        with pytest.raises(KeyboardInterrupt):
            write(f"{tmp_path}/other/", stop_at=stop_at)
    write(f"{tmp_path}/other/")
    assert files(tmp_path / "one") == files(tmp_path / "other")
    assert sorted(files(tmp_path / "one")) == [MANIFEST, *(f"part-00000{number}.jsonl" for number in range(3))]
    for part in json.loads((tmp_path / "one" / MANIFEST).read_bytes())["parts"]:
        content = (tmp_path / "one" / part["name"]).read_bytes()
        assert part == {"name": part["name"], "rows": content.count(b"\n")}


def test_a_folder_without_rows_is_complete(tmp_path: Path) -> None:
    write(f"{tmp_path}/out/", [])
    assert records_of(f"{tmp_path}/out") == []
    assert list(files(tmp_path / "out")) == [MANIFEST]


def test_a_part_of_a_run_that_was_killed_before_the_manifest_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write(f"{folder}/", stop_at=7)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    manifest["parts"] = []
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    # The last line of what is not finished was cut off, and what became the second part was not removed yet.
    unfinished = folder / ".part-000002.jsonl.unfinished"
    unfinished.write_bytes(unfinished.read_bytes()[:-3])
    (folder / ".part-000001.jsonl.unfinished").write_bytes((folder / "part-000001.jsonl").read_bytes())
    assert write(str(folder)) == KEYS[:6]
    assert records_of(str(folder)) == RECORDS
    assert len(files(folder)) == 4


@pytest.mark.parametrize("rows", [3, 6])
def test_a_run_that_was_killed_before_a_full_part_appeared_goes_on_with_the_next_one(tmp_path: Path, rows: int) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write(f"{folder}/", stop_at=rows)
    last = folder / f"part-00000{rows // 3 - 1}.jsonl"
    # As it is after the part's last row, and before the part gets its name.
    last.rename(folder / f".{last.name}.unfinished")
    assert write(str(folder)) == KEYS[:rows]
    assert records_of(str(folder)) == RECORDS
    assert [path.read_bytes().count(b"\n") for path in sorted(folder.glob("part-*"))] == [3, 3, 2]
    assert write(str(folder)) == KEYS


def test_a_folder_of_an_earlier_version_is_read_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        write(f"{folder}/", stop_at=7)
    manifest = json.loads((folder / MANIFEST).read_bytes())
    for part in manifest["parts"]:
        part["sha256"] = "0" * 64
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    assert write(str(folder)) == KEYS[:7]
    assert records_of(str(folder)) == RECORDS


@pytest.mark.parametrize(
    ("change", "options", "reason"),
    [
        ({}, {"keys": [*KEYS[:4], "x", *KEYS[5:]]}, "line 2 was made from other input or with other settings"),
        ({}, {"keys": [*KEYS, "x"]}, "line 3 was made from other input"),
        ({}, {"keys": KEYS[:5]}, "line 3 was made from other input"),
        ({}, {"part_rows": 4}, "its parts have 3 rows, not 4"),
        ({MANIFEST: b"[]"}, {}, "this manifest was not written by qdecomp"),
        ({MANIFEST: b'{"format": "other"}'}, {}, "this manifest was not written by qdecomp"),
    ],
)
def test_what_is_not_from_this_run_is_not_touched(
    tmp_path: Path, change: dict[str, bytes], options: dict[str, Any], reason: str
) -> None:
    folder = tmp_path / "out"
    write(f"{folder}/")
    for name, content in change.items():
        (folder / name).write_bytes(content)
    before = files(folder)
    with pytest.raises(DataError, match=reason):
        write(str(folder), **options)
    assert files(folder) == before
    if change:
        with pytest.raises(DataError, match=reason):
            records_of(str(folder))


def test_more_input_goes_on_behind_full_parts(tmp_path: Path) -> None:
    folder = f"{tmp_path}/out/"
    write(folder, KEYS[:6])
    with pytest.raises(KeyboardInterrupt):
        write(folder, stop_at=7)
    # It was complete, and is not any more.
    with pytest.raises(DataError, match="not complete: 6 rows are there"):
        records_of(folder)
    assert write(folder) == KEYS[:7]
    assert records_of(folder) == RECORDS


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    for options in ({}, {"overwrite": True}):
        with pytest.raises(DataError, match=r"holds other files, such as thesis\.tex"):
            write(f"{tmp_path}/", **options)
    with pytest.raises(DataError, match="this is a folder; give a file"):
        records_of(str(tmp_path))
    assert files(tmp_path) == {"thesis.tex": b"years of work"}


def test_a_manifest_names_no_file_elsewhere(tmp_path: Path) -> None:
    write(f"{tmp_path}/out/")
    text = (tmp_path / "out" / MANIFEST).read_text(encoding="utf-8")
    (tmp_path / "out" / MANIFEST).write_text(text.replace("part-000000", "../part-000000"), encoding="utf-8")
    with pytest.raises(DataError, match="this manifest was not written by qdecomp"):
        records_of(f"{tmp_path}/out")


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with (
        resume_records(f"{tmp_path}/out/", KEYS),
        pytest.raises(DataError, match="another run is writing to it"),
        resume_records(f"{tmp_path}/out/", KEYS),
    ):
        pass

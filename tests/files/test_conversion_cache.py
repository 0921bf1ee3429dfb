from __future__ import annotations

import json
import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import conversion
from qdecomp.files.conversion import ConversionCache

SPECIAL = PRESETS["default"]
GOOD = ("How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2")
BAD = ("How many red cubes are there?", "return #1")


def _no_conversion(*args: object, **options: object) -> None:
    raise AssertionError("converted again")


def test_graphs_come_from_the_conversion_and_then_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, failed = ConversionCache(tmp_path).records([GOOD, BAD], SPECIAL)
    assert dependency_graph_from_json(first["graph"]) == convert(*GOOD, special=SPECIAL).graph
    assert (failed["graph"], failed["error"]) == (None, "step 1: refers to itself (#1)")
    monkeypatch.setattr(conversion, "make_conversion_record", _no_conversion)
    assert ConversionCache(tmp_path).records([GOOD, BAD, GOOD], SPECIAL) == [first, failed, first]


def test_several_processes_convert_what_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(f"How many red cubes of kind {number} are there?", GOOD[1]) for number in range(6)]
    alone = ConversionCache(tmp_path / "alone").records(pairs, SPECIAL, processes=1)
    monkeypatch.setattr(conversion, "_ROWS_A_TASK", 4)
    together = ConversionCache(tmp_path / "together")
    assert together.records(pairs, SPECIAL, processes=2) == alone
    monkeypatch.setattr(conversion, "make_conversion_record", _no_conversion)
    assert together.records(pairs, SPECIAL, processes=2) == alone


def test_a_mistake_of_ours_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise IndexError("string index out of range")

    with monkeypatch.context() as patch:
        patch.setattr(conversion, "convert", fail)
        (broken,) = ConversionCache(tmp_path).records([GOOD], SPECIAL)
    (mended,) = ConversionCache(tmp_path).records([GOOD], SPECIAL)
    assert broken["internal_error"]
    assert mended["round_trip"]


@pytest.mark.parametrize("change", ["version", "special tokens", "decomposition"])
def test_whatever_changes_the_graph_changes_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    ConversionCache(tmp_path).records([GOOD], SPECIAL)
    monkeypatch.setattr(conversion, "make_conversion_record", _no_conversion)
    cache = ConversionCache(tmp_path, version="other") if change == "version" else ConversionCache(tmp_path)
    pair = (GOOD[0], GOOD[1] + " ;return #3") if change == "decomposition" else GOOD
    with pytest.raises(AssertionError, match="converted again"):
        cache.records([pair], PRESETS["paper"] if change == "special tokens" else SPECIAL)


def test_a_damaged_file_costs_only_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = ConversionCache(tmp_path)
    cache.path.write_bytes(b"this is no database" * 100)
    (record,) = cache.records([GOOD], SPECIAL)
    assert record["graph"]
    assert "continuing without it" in caplog.text


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (record,) = ConversionCache(tmp_path / "file" / "cache").records([GOOD], SPECIAL)
    assert record["graph"]


def _fill(folder: str, number: int) -> int:
    pairs = [(f"How many red cubes of kind {n} are there?", GOOD[1]) for n in range(number, number + 30)]
    return sum(record["round_trip"] for record in ConversionCache(folder).records(pairs, SPECIAL))


def test_two_processes_share_one_cache(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_fill, [(str(tmp_path), 0), (str(tmp_path), 15)]) == [30, 30]
    assert _fill(str(tmp_path), 5) == 30


@pytest.mark.parametrize("change", ["'{\"graph\": 5}'", "'not JSON'", "x'ff00'", "REPLACE(record, 'cubes', 'balls')"])
def test_a_record_that_was_changed_is_not_believed(tmp_path: Path, change: str) -> None:
    cache = ConversionCache(tmp_path)
    (record,) = cache.records([GOOD], SPECIAL)
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        assert connection.execute(f"UPDATE checked_conversions SET record = {change}").rowcount == 1
    assert cache.records([GOOD], SPECIAL) == [record]
    with closing(sqlite3.connect(cache.path)) as connection:
        ((kept,),) = connection.execute("SELECT record FROM checked_conversions")
    assert json.loads(kept) == record

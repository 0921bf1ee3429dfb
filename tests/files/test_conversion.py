from __future__ import annotations

import csv
import json
import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.chain import convert, logical_form_from_graph
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import conversion
from qdecomp.files.conversion import ConversionCache, convert_file, make_conversion_record
from qdecomp.files.jobs import HERE
from tests.cli_runs import json_lines, refusal, run_qdecomp
from tests.files.test_rows import forty_rows

ROWS = [
    ("ATIS_dev_1", "flights from denver to boston", "return flights ;return #1 from denver ;return #2 to boston"),
    ("CLEVR_dev_1", "How many red cubes are there?", "return cubes ;return #1 that are red ;return number of #2"),
    ("CLEVR_dev_2", "How many balls?", "return cubes"),
    ("CLEVR_dev_3", "How many balls?", "return #1"),
    ("CLEVR_dev_4", "Are the balls shiny?", "return balls ;return #1 that are polished ;return number of #2"),
    ("CLEVR_dev_5", "What?", ""),
    ("GEO_dev_1", "distance from denver to boston", "return denver ;return boston ;return distance from #1 to #2"),
]
GOOD = ROWS[1][1:]
BAD = (GOOD[0], "return #1")
SPECIAL = PRESETS["default"]


def _no_conversion(*args: object, **options: object) -> None:
    raise AssertionError("converted again")


@pytest.fixture
def break_csv(tmp_path):
    def write(rows=ROWS, name="break.csv"):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["question_id", "question_text", "decomposition"])
            writer.writerows(rows)
        return tmp_path / name

    return write


def test_there_is_one_line_for_every_row_in_its_order_and_they_are_counted(break_csv, tmp_path):
    figures = convert_file(break_csv(), tmp_path / "out.jsonl", where=HERE).to_json()
    records = json_lines(tmp_path / "out.jsonl")
    assert [record["question_id"] for record in records] == [row[0] for row in ROWS]
    assert [record["row"] for record in records] == list(range(1, len(ROWS) + 1))
    graph = dependency_graph_from_json(records[1]["graph"])
    assert len(logical_form_from_graph(graph)) == 3
    assert (figures["rows"], figures["converted"], figures["round_trip"]) == (7, 4, 2)
    assert figures["failures"] == {
        "alignment: it selects by words that the question does not have": 1,
        "qdmr: refers to itself": 1,
        "there is no decomposition": 1,
    }
    assert figures["losses"] == {"words that the question does not have": 1, "no published logical form": 1}
    assert figures["sources"]["CLEVR"] == {"rows": 5, "converted": 2, "round_trip": 1}


def test_training_and_the_command_share_what_is_converted(break_csv, tmp_path, monkeypatch):
    cache = ConversionCache(tmp_path / "cache")
    cache.records([row[1:] for row in ROWS if row[2]], SPECIAL)
    convert_file(break_csv(), tmp_path / "anew.jsonl", where=HERE)
    monkeypatch.setattr(conversion, "convert", _no_conversion)
    convert_file(break_csv(), tmp_path / "kept.jsonl", where=HERE, cache=cache)
    assert (tmp_path / "kept.jsonl").read_bytes() == (tmp_path / "anew.jsonl").read_bytes()


def test_reasons_have_no_particulars():
    record = make_conversion_record("cubes", " ;".join(["return cubes"] * 12), SPECIAL)
    assert record["reason"] == "dependency graph: too few [DUP] tokens"
    assert "needs 11" in record["error"]


def test_the_command_writes_figures_and_exits_as_promised(break_csv, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    options = ("--input", break_csv(), "--output", tmp_path / "out.jsonl", "--json", figures, "--processes", 1)
    assert run_qdecomp("convert", *options) == 0
    shown = capsys.readouterr().out
    assert "Rows by source" in shown
    assert "qdmr: refers to itself" in shown
    assert json.loads(figures.read_text())["converted"] == 4
    assert run_qdecomp("convert", *options, "--strict") == 1
    assert "give one --input; run the command once for each" in refusal("convert", *options, "--input", "nowhere.csv")
    assert "nowhere.csv: there is no such file" in refusal("convert", "--input", "nowhere.csv", *options[2:])
    assert "there is no 'many'; choose one of default, paper" in refusal(
        "convert", *options, "--special-tokens", "many"
    )


def test_a_killed_run_in_processes_goes_on_and_writes_what_one_process_writes(break_csv, tmp_path):
    path = break_csv([(f"CLEVR_dev_{number}", *ROWS[number % 5][1:]) for number in range(500)])
    output = tmp_path / "out.jsonl"
    command = ["convert", "--input", path, "--output", output, "--processes", 2]
    run = subprocess.Popen([sys.executable, "-m", "qdecomp", *map(str, command)], stdout=subprocess.DEVNULL)
    while run.poll() is None and not (output.exists() and output.stat().st_size):
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert output.stat().st_size > 0
    assert run_qdecomp(*command) == 0
    convert_file(path, tmp_path / "one.jsonl", where=HERE)
    assert output.read_bytes() == (tmp_path / "one.jsonl").read_bytes()


def test_a_row_that_cannot_be_read_is_told_and_costs_no_other(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text(forty_rows(broken=11))
    assert run_qdecomp("convert", "--input", path, "--output", tmp_path / "out", "--processes", 1) == 0
    error = f"{path}: row 11: line 12: a quotation mark in this row of the CSV is not closed"
    assert error in capsys.readouterr().err
    lines = json_lines(tmp_path / "out")
    assert [line["row"] for line in lines if line["graph"] is None] == [11]
    assert lines[10]["reason"] == "line N: a quotation mark in this row of the CSV is not closed"


# The cache.


def test_graphs_come_from_the_conversion_and_then_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, failed = ConversionCache(tmp_path).records([GOOD, BAD], SPECIAL)
    assert dependency_graph_from_json(first["graph"]) == convert(*GOOD, special=SPECIAL).graph
    assert (failed["graph"], failed["error"]) == (None, "step 1: refers to itself (#1)")
    monkeypatch.setattr(conversion, "make_conversion_record", _no_conversion)
    assert ConversionCache(tmp_path).records([GOOD, BAD, GOOD], SPECIAL) == [first, failed, first]


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
    if change == "version":
        monkeypatch.setattr(conversion, "CONVERSION_VERSION", "other")
    pair = (GOOD[0], GOOD[1] + " ;return #3") if change == "decomposition" else GOOD
    with pytest.raises(AssertionError, match="converted again"):
        ConversionCache(tmp_path).records([pair], PRESETS["paper"] if change == "special tokens" else SPECIAL)


@pytest.mark.parametrize("folder", ["", "file/cache"])
def test_a_cache_that_cannot_be_used_costs_only_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, folder: str
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    cache = ConversionCache(tmp_path / folder)
    if not folder:
        cache.path.write_bytes(b"this is no database" * 100)
    (record,) = cache.records([GOOD], SPECIAL)
    assert record["graph"]
    assert "continuing without it" in caplog.text


def _fill(folder: str, number: int) -> int:
    pairs = [(f"How many red cubes of kind {n} are there?", GOOD[1]) for n in range(number, number + 30)]
    return sum(record["round_trip"] for record in ConversionCache(folder).records(pairs, SPECIAL, processes=2))


def test_processes_convert_together_and_share_one_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.starmap(_fill, [(str(tmp_path), 0), (str(tmp_path), 15)]) == [30, 30]
    monkeypatch.setattr(conversion, "_ROWS_A_TASK", 4)
    assert _fill(str(tmp_path), 35) == 30


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

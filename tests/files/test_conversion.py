from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from qdecomp.data_structures.conversion.chain import logical_form_from_graph
from qdecomp.data_structures.dependency_graph import dependency_graph_from_json
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import conversion
from qdecomp.files.conversion import ConversionCache, convert_file, make_conversion_record
from qdecomp.files.jobs import HERE, Where
from tests.cli_runs import json_lines, run_qdecomp
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


@pytest.fixture
def break_csv(tmp_path):
    def write(rows=ROWS, name="break.csv"):
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(["question_id", "question_text", "decomposition"])
            writer.writerows(rows)
        return tmp_path / name

    return write


def test_there_is_one_line_for_every_row_in_its_order(break_csv, tmp_path):
    convert_file(break_csv(), tmp_path / "out.jsonl", where=HERE)
    records = json_lines(tmp_path / "out.jsonl")
    assert [record["question_id"] for record in records] == [row[0] for row in ROWS]
    assert [record["row"] for record in records] == list(range(1, len(ROWS) + 1))
    graph = dependency_graph_from_json(records[1]["graph"])
    assert len(logical_form_from_graph(graph)) == 3


def test_the_summary_counts_by_source_and_by_reason(break_csv, tmp_path):
    figures = convert_file(break_csv(), tmp_path / "out.jsonl", where=HERE).to_json()
    assert (figures["rows"], figures["converted"], figures["round_trip"]) == (7, 4, 2)
    assert figures["failures"] == {
        "alignment: it selects by words that the question does not have": 1,
        "qdmr: refers to itself": 1,
        "there is no decomposition": 1,
    }
    assert figures["losses"] == {"words that the question does not have": 1, "no published logical form": 1}
    assert figures["sources"]["CLEVR"] == {"rows": 5, "converted": 2, "round_trip": 1}


def test_several_processes_write_the_same_file(break_csv, tmp_path):
    path = break_csv([(f"CLEVR_dev_{number}", *ROWS[number % 5][1:]) for number in range(450)])
    convert_file(path, tmp_path / "one.jsonl", where=HERE)
    convert_file(path, tmp_path / "two.jsonl", where=Where(2))
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_training_and_the_command_share_what_is_converted(break_csv, tmp_path, monkeypatch):
    cache = ConversionCache(tmp_path / "cache")
    cache.records([row[1:] for row in ROWS if row[2]], PRESETS["default"])
    convert_file(break_csv(), tmp_path / "anew.jsonl", where=HERE)
    monkeypatch.setattr(conversion, "convert", lambda *args, **options: pytest.fail("converted again"))
    convert_file(break_csv(), tmp_path / "kept.jsonl", where=HERE, cache=cache)
    assert (tmp_path / "kept.jsonl").read_bytes() == (tmp_path / "anew.jsonl").read_bytes()


def test_a_run_that_was_stopped_goes_on(break_csv, tmp_path):
    path, output = break_csv(), tmp_path / "out.jsonl"
    whole = convert_file(path, output, where=HERE).to_json()
    text = output.read_bytes()
    output.write_bytes(text[: len(text) // 2])
    again = convert_file(path, output, where=HERE).to_json()
    assert output.read_bytes() == text
    assert 0 < again["resumed"] < len(ROWS)
    assert {**again, "seconds": 0, "resumed": 0} == {**whole, "seconds": 0}


def test_other_settings_do_not_go_on_with_the_file(break_csv, tmp_path):
    path, output = break_csv(), tmp_path / "out.jsonl"
    convert_file(path, output, where=HERE)
    with pytest.raises(DataError, match="other settings"):
        convert_file(path, output, special=PRESETS["paper"], where=HERE)
    with pytest.raises(DataError, match="other input"):
        convert_file(break_csv(ROWS[1:], "other.csv"), output, where=HERE)


def test_reasons_have_no_particulars():
    record = make_conversion_record("cubes", " ;".join(["return cubes"] * 12), PRESETS["default"])
    assert record["reason"] == "dependency graph: too few [DUP] tokens"
    assert "needs 11" in record["error"]


def _command(*arguments):
    return [sys.executable, "-m", "qdecomp", "convert", *map(str, arguments)]


def test_the_command_writes_figures_and_exits_as_promised(break_csv, tmp_path, capsys):
    figures = tmp_path / "figures.json"
    options = ("--input", break_csv(), "--output", tmp_path / "out.jsonl", "--json", figures, "--processes", 1)
    assert run_qdecomp("convert", *options) == 0
    shown = capsys.readouterr().out
    assert "Rows by source" in shown
    assert "qdmr: refers to itself" in shown
    assert json.loads(figures.read_text())["converted"] == 4
    assert run_qdecomp("convert", *options, "--strict") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (["--special-tokens", "many"], "there is no 'many'; choose one of default, paper"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(break_csv, tmp_path, options, message, capsys):
    assert run_qdecomp("convert", "--input", break_csv(), "--output", tmp_path / "out.jsonl", *options) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1


def test_no_row_is_lost_or_doubled_by_a_kill(break_csv, tmp_path):
    path = break_csv([(f"CLEVR_dev_{number}", *ROWS[number % 2][1:]) for number in range(3000)])
    output = tmp_path / "out.jsonl"
    options = ["--input", path, "--output", output, "--processes", 2]
    run = subprocess.Popen(_command(*options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while run.poll() is None and time.monotonic() < deadline and not (output.exists() and output.stat().st_size):
        time.sleep(0.01)
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert os.path.getsize(output) > 0
    subprocess.run(_command(*options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    records = json_lines(output)
    assert [record["row"] for record in records] == list(range(1, 3001))
    assert all(record["round_trip"] for record in records)


def test_a_quote_that_is_not_closed_is_told_and_costs_no_other_row(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text(forty_rows(broken=11))
    assert run_qdecomp("convert", "--input", path, "--output", tmp_path / "out", "--processes", 1) == 0
    error = f"{path}: row 11: line 12: a quotation mark in this row of the CSV is not closed"
    assert error in capsys.readouterr().err
    lines = json_lines(tmp_path / "out")
    assert [line["question_id"] for line in lines] == [f"A_{n}" for n in range(1, 41)]
    assert [line["row"] for line in lines if line["graph"] is None] == [11]
    assert lines[10]["reason"] == "line N: a quotation mark in this row of the CSV is not closed"

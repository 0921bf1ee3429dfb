from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from qdecomp.data_structures.conversion.chain import convert
from qdecomp.parsers.decomposition import decomposition_from_graph
from tests.cli_runs import refusal, run_qdecomp, write_json_lines
from tests.pages import Page

run, refused = partial(run_qdecomp, "render"), partial(refusal, "render")

QUESTION = "How many red cubes are there?"
DECOMPOSITION = "return cubes ;return #1 that are red ;return number of #2"
GOLD = f"""question_id,question_text,decomposition
CLEVR_dev_1,{QUESTION},{DECOMPOSITION}
GEO_dev_2,What is the longest river?,return rivers ;return the longest of #1
GEO_dev_3,What is the shortest river?,
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    graph = convert(QUESTION, DECOMPOSITION).graph
    records: list[dict[str, Any]] = [
        replace(decomposition_from_graph(QUESTION, graph, -1.5), question_id="CLEVR_dev_1").to_record(),
        {"question_id": "GEO_dev_2", "decomposition": "return rivers", "error": None},
        {"question_id": "GEO_dev_3", "question": "What is the shortest river?", "decomposition": None, "error": "no"},
    ]
    write_json_lines(tmp_path / "predictions.jsonl", records)
    return tmp_path


def rendered(files: Path, *arguments: object) -> Page:
    assert run("--input", files / "predictions.jsonl", "--output", files / "out" / "page.html", *arguments) == 0
    return Page((files / "out" / "page.html").read_text(encoding="utf-8"))


def test_writes_a_page_without_gold_and_says_where(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = rendered(files)
    assert "3 questions are in" in capsys.readouterr().out
    assert page.open == []
    assert page.count("article") == 3
    # The record without a question is called by its id, and has no words to draw a graph over.
    assert page.texts.count("GEO_dev_2") == 2
    assert page.count("svg") == 3
    assert "no" in page.texts
    assert [path.name for path in (files / "out").iterdir()] == ["page.html"]


def test_gold_stands_beside_it(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = rendered(files, "--gold", files / "gold.csv")
    assert capsys.readouterr().err == ""
    assert "1 of 2 equal to gold by LF-EM (50.0%)" in page.text
    assert "What is the longest river?" in page.texts
    assert page.texts.count("Gold") == 2
    assert page.count("svg") == 8


def test_the_limit_counts_records(files: Path) -> None:
    assert rendered(files, "--limit", 1).count("article") == 1


def test_bad_lines_and_unknown_questions_are_told_and_the_rest_is_shown(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (files / "predictions.jsonl").open("a") as stream:
        stream.write('{"question_id": \n[1]\n{"decomposition": "return x"}\n')
        stream.write('{"question_id": "5", "graph": {"tokens": ["a"], "edges": [[0, 7, "span"]]}}\n')
        stream.write('{"question_id": "elsewhere", "decomposition": "return x"}\n')
    page = rendered(files, "--gold", files / "gold.csv")
    told = capsys.readouterr().err
    assert "4 malformed rows" in told
    assert "row 4: not JSON" in told
    assert "row 5: a JSON list, not an object" in told
    assert "row 7: not a prediction record: dependency graph: span edge 0 → 7: there are 1 tokens" in told
    assert "row 8 (elsewhere): not in the gold file; shown without gold" in told
    assert page.count("article") == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"\n \n", "the file is empty"),
        (b"\xff\xfe\x00\x01", "not a UTF-8 text file"),
        (b"question_id,decomposition\n1,return x\n", "there are no prediction records in it (line 1: not JSON)"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "predictions.jsonl"
    if content is not None:
        path.write_bytes(content)
    told = refused("--input", path, "--output", tmp_path / "page.html")
    assert told.startswith(f"qdecomp: {path}: ")
    assert message in told
    assert not (tmp_path / "page.html").exists()


def test_a_folder_in_the_place_of_the_page_and_files_of_other_questions_are_refused(files: Path) -> None:
    (files / "gold.csv").write_text("question_id,question_text,decomposition\nother,What?,return x\n")
    arguments = ("--input", files / "predictions.jsonl", "--gold", files / "gold.csv", "--output")
    assert "this is a folder; give a file such as" in refused(*arguments, files)
    assert "none of its questions is in" in refused(*arguments, files / "page.html")


def test_what_language_models_write_is_read_and_told(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [
        {"question_id": "CLEVR_dev_1", "decomposition": ["cubes", "#1 that are red", "number of #2"]},
        {"question_id": "GEO_dev_2", "decomposition": "- rivers\n- the longest of [1]"},
    ]
    write_json_lines(files / "predictions.jsonl", records)
    page = rendered(files)
    assert "#1 that are red" in " ".join(page.texts)
    assert "the longest of #1" in " ".join(page.texts)
    note = "predictions.jsonl: predictions were read by their form: 1 as list, 1 as bulleted list"
    assert note in capsys.readouterr().err

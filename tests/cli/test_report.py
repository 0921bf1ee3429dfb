import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli_runs import refusal, run_qdecomp, write_json_lines

run = partial(run_qdecomp, "report")

GOLD = """question_id,question_text,decomposition
CLEVR_dev_1,How many red cubes are there?,return cubes ;return #1 that are red ;return number of #2
GEO_dev_2,What is the longest river?,return rivers ;return the longest of #1
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "good.csv").write_text("decomposition\nreturn red cubes ;return number of #1\nreturn rivers\n")
    record = {"question_id": "GEO_dev_2", "decomposition": "return rivers ;return the longest of #1"}
    write_json_lines(tmp_path / "poor.jsonl", [record])
    return tmp_path


def test_writes_a_folder_and_says_where(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    predictions = ("--predictions", f"CopyNet={files / 'good.csv'}", f"Biaffine={files / 'poor.jsonl'}")
    assert run("--gold", files / "gold.csv", *predictions, "--output", files / "report", "--metrics", "em") == 0
    captured = capsys.readouterr()
    assert str(files / "report" / "index.html") in captured.out
    assert "1 missing row" in captured.err
    value = json.loads((files / "report" / "report.json").read_text())
    # The report is about LF-EM, whatever other metrics are requested.
    assert [metric["name"] for metric in value["metrics"]] == ["exact_match", "lf_em", "lf_em_strict"]
    assert [system["name"] for system in value["systems"]] == ["CopyNet", "Biaffine"]
    assert "row 1 of the gold file (CLEVR_dev_1)" in (files / "report" / "index.html").read_text()


def test_a_folder_with_other_files_is_refused_in_one_line(files: Path) -> None:
    arguments = ("--gold", files / "gold.csv", "--predictions", files / "good.csv", "--metrics", "lf_em")
    before = sorted(files.iterdir())
    assert "holds other files" in refusal("report", *arguments, "--output", files)
    assert sorted(files.iterdir()) == before


def test_equal_in_meaning_shows_the_world_that_tells_a_wrong_answer_from_gold(files: Path) -> None:
    arguments = ("--gold", files / "gold.csv", "--predictions", files / "good.csv", "--metrics", "lf_em,lf_eq")
    assert run(*arguments, "--output", files / "report") == 0
    value = json.loads((files / "report" / "report.json").read_text())
    assert [metric["name"] for metric in value["metrics"]] == ["lf_em", "lf_em_strict", "lf_eq"]
    (example,) = value["analyses"][0]["examples"]["missing step"]
    assert example["lf_eq"] is False
    steps = [text for text, _ in example["lf_eq_world"]["gold"]]
    assert steps == ["1. rivers", "2. the longest of #1"]
    page = (files / "report" / "index.html").read_text()
    assert "A world in which they differ" in page
    assert "2. the longest of #1" in page

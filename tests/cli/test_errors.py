"""Error analysis: a sheet of random errors is written, filled in and read back into the paper's table."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from qdecomp.evaluation.error_sheet import ErrorClass
from tests.cli_runs import refusal, run_qdecomp

report, errors = partial(run_qdecomp, "report"), partial(run_qdecomp, "errors")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """A sheet with five of eight errors of one system, and with the two of another."""
    lines = ["question_id,question_text,decomposition"]
    lines += [f"GEO_dev_{n},How many red cubes are there?,return cubes ;return number of #1" for n in range(10)]
    (tmp_path / "gold.csv").write_text("\n".join(lines), encoding="utf-8")
    for name, wrong in (("many", 8), ("few", 2)):
        answers = ["return =cubes"] * wrong + ["return cubes ;return number of #1"] * (10 - wrong)
        (tmp_path / f"{name}.csv").write_text("\n".join(["decomposition", *answers]), encoding="utf-8")
    path = tmp_path / "sheet.csv"
    arguments = ["--gold", tmp_path / "gold.csv", "--predictions", tmp_path / "many.csv", tmp_path / "few.csv"]
    options = ["--output", tmp_path / "report", "--metrics", "lf_em", "--error-sheet", path, "--errors", 5]
    assert report(*arguments, *options) == 0
    return path


def read(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def fill_in(sheet: Path, marks: dict[int, list[str]], mark: str = "x") -> None:
    rows = read(sheet)
    for number, names in marks.items():
        rows[number] |= dict.fromkeys(names, mark)
    with sheet.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_sheet_has_random_errors_of_each_system(sheet: Path) -> None:
    rows = read(sheet)
    assert [row["system"] for row in rows] == ["many"] * 5 + ["few"] * 2
    assert len({row["question_id"] for row in rows if row["system"] == "many"}) == 5
    assert {row["question_id"] for row in rows if row["system"] == "few"} == {"GEO_dev_0", "GEO_dev_1"}
    assert {row["gold"] for row in rows} == {"return cubes ;return number of #1"}
    assert {row["recognised"] for row in rows} == {"missing step"}
    assert all(row[each] == "" for row in rows for each in ErrorClass)


def test_a_filled_in_sheet_becomes_the_table(sheet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marks = {0: ["equivalent solution"], 1: ["redundancy", "wrong gold"], 2: ["redundancy", "missing information"]}
    fill_in(sheet, marks | {3: ["out of vocabulary"]})
    fill_in(sheet, {6: ["wrong step structure"]}, " X ")
    assert errors(sheet, "--json", sheet.with_suffix(".json")) == 0
    found = json.loads(sheet.with_suffix(".json").read_text(encoding="utf-8"))
    many = found["many"]
    # Of the four that were judged, two are right: the third lacks something, too.
    assert (many["errors"], many["judged"], many["correct"], many["redundancy"]) == (5, 4, 0.5, 0.5)
    assert (many["out of vocabulary"], many["additional steps"]) == (0.25, 0)
    assert (found["few"]["judged"], found["few"]["wrong step structure"]) == (1, 1.0)
    shown = capsys.readouterr().out
    assert "50.0%" in shown
    assert "4 of 5" in shown


@pytest.mark.parametrize(
    ("mark", "message"),
    [("maybe", "row 1, redundancy: 'maybe' is no mark; put an x"), ("no", "no row has a mark")],
)
def test_what_is_no_mark(sheet: Path, mark: str, message: str) -> None:
    fill_in(sheet, {0: ["redundancy"]}, mark)
    assert message in refusal("errors", sheet)


def test_a_sheet_is_not_overwritten(sheet: Path) -> None:
    before = sheet.read_bytes()
    arguments = ["--gold", sheet.with_name("gold.csv"), "--predictions", sheet.with_name("few.csv")]
    told = refusal("report", *arguments, "--output", sheet.with_name("other"), "--error-sheet", sheet)
    assert "may be filled in" in told
    assert sheet.read_bytes() == before
    assert not sheet.with_name("other").exists()


def test_another_file_is_no_sheet(sheet: Path) -> None:
    told = refusal("errors", sheet.with_name("gold.csv"))
    assert "not a sheet of errors; missing columns: system, equivalent solution" in told

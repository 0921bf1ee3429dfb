from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.lf_em import lf_em
from scripts.benchmarks.generated_questions import generate_questions
from scripts.benchmarks.scale_figure import draw_scale
from scripts.benchmarks.scale_model import ScaleRun, fit_costs, forecast_table

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / "benchmark.py"), "scale", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_generated_questions_are_the_same_for_a_seed_and_can_be_read() -> None:
    rows = list(generate_questions(200, seed=3))
    assert rows == list(generate_questions(200, seed=3))
    assert len({row.question_id for row in rows}) == 200
    verdicts = [lf_em(row.question, row.prediction, row.decomposition) for row in rows]
    assert 0.3 < sum(verdict.verdict for verdict in verdicts) / 200 < 0.9
    assert not any(verdict.error and "gold" in verdict.error for verdict in verdicts)
    assert all(not step.approximate for row in rows for step in to_logical_form(row.decomposition).steps)


def measured(stage: str, questions: int, workers: int, cpu: float, own: float) -> ScaleRun:
    return ScaleRun(stage, questions, workers, cpu, cpu, own, 100.0, [(0.0, 90.0), (cpu, 100.0)])


RUNS = [
    measured("read", 1_000, 1, 2.1, 2.1),
    measured("read", 10_000, 1, 3.0, 3.0),
    measured("score", 1_000, 1, 3.0, 3.0),
    measured("score", 10_000, 1, 12.0, 12.0),
    measured("score", 10_000, 2, 14.0, 3.0),
]


def test_the_model_finds_start_slope_and_what_cannot_be_shared() -> None:
    read, score = fit_costs(RUNS)
    assert (read.start, read.own, read.shared) == (pytest.approx(2.0), pytest.approx(0.0001), 0.0)
    assert (score.start, score.each, score.own) == (pytest.approx(2.0), pytest.approx(0.001), pytest.approx(0.0001))
    assert score.useful_workers == pytest.approx(9)
    # Eight workers share what is shared; with a thousand, the first process is the slower one.
    assert score.seconds(1_000_000, 8) == pytest.approx(2 + 0.0009 * 1_000_000 / 8)
    assert score.seconds(1_000_000, 1_000) == pytest.approx(2 + 0.0001 * 1_000_000)
    assert forecast_table([score]).rows[0][-1] == "the first process"


def test_what_the_first_process_does_is_a_slope_where_several_sizes_show_it() -> None:
    runs = [*RUNS, measured("score", 1_000, 2, 4.0, 1.2), measured("score", 100_000, 2, 120.0, 21.0)]
    *_, score = fit_costs(runs)
    assert score.own == pytest.approx(0.0002, rel=0.01)
    unseen = [measured("parse", size, workers, size / 100, 0.0) for size in (50, 100) for workers in (1, 2)]
    (parse,) = fit_costs(unseen)
    assert parse.own == pytest.approx(0.0001)


def test_the_figure_is_the_same_every_time_and_names_what_it_shows() -> None:
    figure = draw_scale(RUNS, fit_costs(RUNS))
    assert figure == draw_scale(RUNS, fit_costs(RUNS))
    assert ">score, 10,000<" in figure


def test_measures_tables_and_figure_and_measures_nothing_twice(tmp_path: Path) -> None:
    results, table, figure = tmp_path / "runs.jsonl", tmp_path / "scale.md", tmp_path / "scale.svg"
    given = ("--sizes", "20", "--stages", "read,score,parse-onnxruntime", "--parsed", "2", "--results", results)
    first = run(*given, "--workers", "1", "--table", table, "--figure", figure)
    assert first.returncode == 0, first.stderr
    runs = [json.loads(line) for line in results.read_text().splitlines()]
    measured_runs = [(each["stage"], each["questions"], each["workers"]) for each in runs]
    assert measured_runs == [("read", 20, 1), ("score", 20, 1), ("parse-onnxruntime", 2, 1)]
    assert all(each["cpu_seconds"] > 0 and each["peak_mb"] > 1 and each["memory"] for each in runs)
    assert "| score | 20 | 1 |" in table.read_text()
    assert "100,000,000 questions" in table.read_text()
    assert figure.read_text().lstrip().startswith("<?xml")
    again = run(*given, "--workers", "1")
    assert again.returncode == 0
    assert again.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sizes", "many"), "give whole numbers"),
        (("--sizes", "0"), "at least 1"),
        (("--stages", "dance"), "there is no 'dance'"),
        (("--sizes", "", "--parsed", ""), "nothing was measured"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments, "--results", tmp_path / "runs.jsonl")
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1

from __future__ import annotations

import json

import pytest

from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.evaluation.formats import problem_lines, score_tables
from qdecomp.evaluation.metrics import choose_metrics
from qdecomp.evaluation.outputs import Summary, detail_lines, summarize, summary_to_json
from qdecomp.evaluation.predictions import ProblemKind, RowProblem
from qdecomp.evaluation.scoring import score_systems
from qdecomp.terminal import format_plain
from tests.evaluation.evaluation_examples import gold_of, system_of, told_evaluation, told_metric

GOLD = {
    "CLEVR_dev_1": "return cubes ;return #1 that are red ;return number of #2",
    "CLEVR_dev_2": "return spheres ;return number of #1",
    "GEO_dev_3": "return rivers ;return the longest of #1",
}


@pytest.fixture(scope="module")
def summary() -> Summary:
    systems = [
        system_of("good", [GOLD["CLEVR_dev_1"], "return spheres ;return the number of #1", "return lakes"]),
        system_of("poor", ["return cubes ;return number of #2", None, GOLD["GEO_dev_3"]]),
    ]
    return summarize(score_systems(gold_of(GOLD), systems, choose_metrics(["em", "sari", "lf_em"])))


def test_json_has_the_figures_and_the_version_of_the_metric(summary: Summary) -> None:
    value = json.loads(json.dumps(summary_to_json(summary)))
    assert value["metric_version"] == METRIC_VERSION
    assert [metric["name"] for metric in value["metrics"]] == ["exact_match", "sari", "lf_em", "lf_em_strict"]
    good, poor = value["systems"]
    assert good["overall"]["exact_match"]["mean"] == pytest.approx(1 / 3)
    assert good["overall"]["lf_em"]["mean"] == pytest.approx(2 / 3)
    assert good["by_source"]["CLEVR"]["lf_em"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "questions": 2, "errors": 0}
    assert set(good["by_steps"]) == {"2", "3"}
    assert poor["errors"]["lf_em"] == {"prediction: missing": 1, "prediction: step N: refers to itself (#N)": 1}
    assert {each["metric"] for each in value["comparisons"]} == {"exact_match", "sari", "lf_em", "lf_em_strict"}


def test_details_have_a_line_for_each_system_and_question(summary: Summary) -> None:
    lines = list(detail_lines(summary.evaluation))
    assert [(line["system"], line["question_id"]) for line in lines] == [
        (system, question_id) for system in ("good", "poor") for question_id in GOLD
    ]
    right, wrong, missing = lines[1], lines[3], lines[4]
    assert (right["exact_match"], right["lf_em"], right["lf_em_strict"], right["error"]) == (False, True, True, None)
    assert (
        right["gold_normalized"] == right["prediction_normalized"] == "SELECT[](){spheres}; AGGREGATE[count](arg=#1){}"
    )
    assert isinstance(right["sari"], float)
    assert (wrong["lf_em"], wrong["error"]) == (False, "prediction: step 2: refers to itself (#2)")
    assert wrong["prediction_normalized"] is None
    assert wrong["gold_normalized"] is not None
    assert (missing["exact_match"], missing["sari"], missing["lf_em"]) == (False, 0.0, False)
    assert missing["error"] == missing["errors"]["sari"] == "prediction: missing"


def test_details_without_lf_em_tell_another_metrics_error() -> None:
    graded = told_metric("graded", is_verdict=False)
    first, second = detail_lines(told_evaluation({"s": ["0.5", "late"]}, [graded]))
    assert (first["graded"], first["error"]) == (0.5, None)
    assert (second["graded"], second["error"]) == (None, "prediction: step 2: 'late' is no number")


def test_tables_show_every_system_metric_group_and_test(summary: Summary) -> None:
    tables = {table.title: table for table in score_tables(summary)}
    parts = ["Scores", "By source", "By number of gold steps", "Errors by reason", "Paired tests", "Signatures"]
    assert list(tables) == parts
    assert tables["Scores"].columns == ("system", "questions", "EM", "SARI", "LF-EM", "LF-EM (strict)")
    groups = [("CLEVR", "good"), ("CLEVR", "poor"), ("GEO", "good"), ("GEO", "poor")]
    assert [row[:2] for row in tables["By source"].rows] == groups
    errors = tables["Errors by reason"].rows
    assert ("prediction: missing", "poor", "1", "1", "1", "1") in errors
    assert errors[-1] == ("questions with an error", "poor", "1", "1", "2", "2")
    assert "good – poor" in format_plain(tables["Paired tests"])


def test_a_mean_over_fewer_questions_is_said_so() -> None:
    summary = summarize(told_evaluation({"s": ["0.5", "late"]}, [told_metric("graded", is_verdict=False)]))
    note = score_tables(summary)[0].note
    assert "GRADED of s is over 1 questions: the other 1 have no value" in note


def test_problems_in_words_are_short_however_many_there_are() -> None:
    problems = [RowProblem(ProblemKind.EXTRA, row, f"X_{row}", "not in gold") for row in range(1, 9)]
    problems.append(RowProblem(ProblemKind.MISSING, 4, "A_4", "no prediction"))
    lines = problem_lines(system_of("s", []).path, problems)
    assert lines[:2] == ["s.jsonl: 8 extra rows", "  row 1 (X_1): not in gold"]
    assert lines[6:] == [
        "  … and 3 more",
        "s.jsonl: 1 missing row",
        "  row 4 of the gold file (A_4): no prediction",
    ]

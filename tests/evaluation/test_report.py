from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.differences import analyse
from qdecomp.evaluation.metrics import Metric, choose_metrics
from qdecomp.evaluation.outputs import summarize
from qdecomp.evaluation.report import (
    REPORT_FILES,
    Report,
    agreement,
    build_report,
    by_length,
    disagreements,
    render_page,
    report_to_json,
    write_report,
)
from qdecomp.evaluation.scoring import score_systems
from qdecomp.evaluation.statistics import Settings, places_by, score_groups
from qdecomp.visualization.assets import content_policy, page_script
from tests.evaluation.evaluation_examples import gold_of, system_of, told_evaluation, told_metric
from tests.pages import Page, figure_faults, run_in_page

VERDICT = told_metric("lf_em")
HOSTILE = '<script>alert(1)</script> & "co"'
GOLD = {
    "CLEVR_dev_1": "return cubes ;return #1 that are red ;return number of #2",
    "CLEVR_dev_2": "return spheres ;return number of #1",
    "GEO_dev_3": "return rivers ;return the longest of #1",
    "GEO_dev_4": f"return {HOSTILE}",
}
SYSTEMS = {
    "good": [GOLD["CLEVR_dev_1"], GOLD["CLEVR_dev_2"], "return rivers ;return the shortest of #1", None],
    HOSTILE: ["return cubes ;return number of #1", GOLD["CLEVR_dev_2"], "return #1", f"return other {HOSTILE}"],
}


@pytest.fixture(scope="module")
def report() -> Report:
    systems = [system_of(name, texts) for name, texts in SYSTEMS.items()]
    return build_report(summarize(score_systems(gold_of(GOLD), systems, choose_metrics())))


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render_page(report)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {attributes["href"] or "" for tag, attributes in parsed.tags if tag == "a"}
    inside = {target[1:] for target in targets if target.startswith("#")}
    sections = {"scores", "steps", "source", "agreement", "disagreements", "operators", "differences", "examples"}
    assert inside == {*sections, "q1"}
    assert inside <= set(ids)
    assert {target for target in targets if not target.startswith("#")} == set(REPORT_FILES[1:])


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    parsed = Page(page)
    assert not {"link", "img", "iframe"} & {tag for tag, _ in parsed.tags}
    assert page.count("<script") == 1
    assert content_policy() in page
    # The data files beside the page are offered, not needed.
    for _, attributes in parsed.tags:
        for name in {"src", "href", "xlink:href", "srcset", "action"} & attributes.keys():
            assert (attributes[name] or "#").startswith("#") or attributes[name] in REPORT_FILES
    assert not re.search(r"url\((?!#)|@import", page)


def test_the_page_has_every_part_and_escapes_what_comes_from_data(page: str) -> None:
    parsed = Page(page)
    assert sum(tag == "svg" for tag, _ in parsed.tags) == 4
    labelled = [attributes.get("aria-label") for _, attributes in parsed.tags if attributes.get("role") == "img"]
    assert len(labelled) == 4
    assert all(labelled)
    headings = ("Scores", "Paired tests", "Errors by reason", "LF-EM by number of steps", "LF-EM by source")
    assert {*headings, "Operator confusion", "Missing step", "No logical form"} <= set(parsed.texts)
    assert {"LF-EM (strict)", "exact McNemar"} <= set(parsed.texts)
    assert parsed.texts.count("Predicted") == 5
    examples = page[page.index('id="examples"') :]
    marked = examples[examples.index("#1 that are red") :]
    assert marked.index("remark-missing") < marked.index("</li>")
    assert page_script() in page
    assert HOSTILE in parsed.text


def test_questions_on_which_systems_differ_stand_side_by_side(page: str) -> None:
    articles = [attributes for tag, attributes in Page(page).tags if tag == "article" and "data-right" in attributes]
    (article,) = articles
    assert (article["id"], article["data-right"], article["data-source"]) == ("q1", "0", "CLEVR")
    assert (article["data-kinds"], article["data-steps"]) == ("missing step", "3")
    part = page[page.index('id="disagreements"') : page.index('id="operators"')]
    assert part.index("<h5>Gold</h5>") < part.index("<h5>good ✓</h5>") < part.index("co&#34; ✗</h5>")


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True])
def test_in_a_browser_the_filters_work_and_nothing_is_too_wide(page: str, tmp_path: Path, dark: bool) -> None:
    script = """
    const form = document.querySelector(".qd-tools");
    const shown = () => [...document.querySelectorAll(".qd-records > article")].filter((each) => !each.hidden).length;
    const search = (text) => {
      form.elements.search.value = text;
      form.elements.search.dispatchEvent(new Event("input", { bubbles: true }));
      return shown();
    };
    return [!form.hidden, shown(), search("no such word"), search("CUBES"), document.documentElement.scrollWidth];
    """
    assert run_in_page(page, script, tmp_path, width=400, dark=dark) == [True, 1, 0, 1, 400]


def test_json_has_agreement_differences_confusion_and_examples(report: Report) -> None:
    value = json.loads(json.dumps(report_to_json(report)))
    assert {tuple(each["right"]): each["questions"] for each in value["agreement"]} == {
        (): 2,
        ("good",): 1,
        (HOSTILE,): 0,
        ("good", HOSTILE): 1,
    }
    good, other = value["analyses"]
    assert good["wrong"] == 2
    assert good["differences"]["wrong operator"] == good["differences"]["no logical form"] == 1
    assert other["differences"]["missing step"] == 1
    (example,) = other["examples"]["missing step"]
    assert example["question_id"] == "CLEVR_dev_1"
    assert example["gold"][1] == {"text": "#1 that are red", "operator": "filter", "remarks": ["missing"]}
    assert {"gold": "filter", "predicted": "none", "steps": 1} in other["operator_confusion"]


def test_writes_page_json_and_csv_and_again_in_the_same_place(report: Report, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_report(report, folder)
    first = {path.name: path.read_text() for path in folder.iterdir()}
    assert set(first) == set(REPORT_FILES)
    questions = list(csv.DictReader(io.StringIO(first["questions.csv"])))
    assert [row["lf_em"] for row in questions] == ["True", "True", "False", "False", "False", "True", "False", "False"]
    assert questions[4]["differences"] == "missing step"
    scores = list(csv.DictReader(io.StringIO(first["scores.csv"])))
    assert {row["part"] for row in scores} == {"all", "source", "steps"}
    overall = [row for row in scores if row["part"] == "all" and row["metric"] == "lf_em"]
    assert [float(row["mean"]) for row in overall] == [0.5, 0.25]
    write_report(report, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == first


def test_a_missing_library_is_an_error_that_says_what_to_install(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qdecomp import evaluation

    monkeypatch.delattr(evaluation, "plots", raising=False)
    monkeypatch.setitem(sys.modules, "qdecomp.evaluation.plots", None)
    with pytest.raises(DataError, match=r"pip install 'question-decomposition\[report\]'"):
        render_page(report)


def test_one_system_has_a_page_too() -> None:
    gold = gold_of({"GEO_dev_1": "return rivers"})
    scored = score_systems(gold, [system_of("alone", ["return rivers"])], choose_metrics(["lf_em"]))
    report = build_report(summarize(scored))
    text = Page(render_page(report)).text
    assert "Paired tests" not in text
    assert "Errors by reason" not in text


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 500])
def test_in_a_browser_no_label_is_clipped_or_covered(tmp_path: Path, width: int) -> None:
    names = ["CopyNet + BERT", "BiaffineGP with ILP decoding, seed 3", "Latent-RAT", "d", "e"]
    gold = gold_of(
        {
            f"{source}_dev_{row}": f"return cubes{' ;return #1 that are red' * row}"
            for row in range(1, 13)
            for source in ("ATIS", "SPIDER")
        }
    )
    systems = [
        system_of(name, [None if row % (place + 2) == 0 else "return cubes" for row in range(24)])
        for place, name in enumerate(names)
    ]
    page = render_page(build_report(summarize(score_systems(gold, systems, choose_metrics(["lf_em"])))))
    labels, faults = figure_faults(page, tmp_path, width=width)
    assert labels > 100
    assert faults == []


RISING, FALLING = (" ".join(f"{start + row / 100:.2f}" for row in range(12)) for start in (0.1, 0.5))


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        # Only the first is right nine times, only the second never: p = .0039, and with three systems three times that.
        (VERDICT, ["1 " * 10, "0 " * 9 + "1"], 0),
        (VERDICT, ["1 " * 10, "0 " * 9 + "1", "0 " * 10], 0),
        # Five questions of one side: p = .0625. Six: p = .0313, which three systems raise to .0938.
        (VERDICT, ["1 " * 6, "0 " * 5 + "1"], None),
        (VERDICT, ["1 " * 7, "0 " * 6 + "1"], 0),
        (VERDICT, ["1 " * 7, "0 " * 6 + "1", "0 " * 6 + "1"], None),
        # The better of two equals is none, and so is one alone.
        (VERDICT, ["1 " * 10, "1 " * 10, "0 " * 10], None),
        (VERDICT, ["1 " * 10], None),
        (told_metric("distance", is_verdict=False, lower_is_better=True), [FALLING, RISING], 1),
    ],
)
def test_a_value_is_marked_if_paired_tests_say_that_it_is_better_than_all_others(
    metric: Metric, values: list[str], best: int | None
) -> None:
    systems = {str(place): texts.split() for place, texts in enumerate(values)}
    assert summarize(told_evaluation(systems, [metric])).overall.best(metric) == (None if best is None else str(best))


def test_marks_in_groups_are_adjusted_for_all_groups() -> None:
    # Of each source six differences of one side (p = .0313), which two groups raise to .0625.
    evaluation = told_evaluation({"a": ["1"] * 12, "b": ["0"] * 12}, [VERDICT])
    groups = score_groups(evaluation, places_by(example.source for example in evaluation.gold.examples))
    assert [each.p_adjusted for group in groups for each in group.comparisons] == [pytest.approx(0.0625)] * 2


def test_only_questions_with_different_verdicts_are_there_with_who_is_right() -> None:
    gold = gold_of({f"GEO_dev_{place}": "return rivers ;return number of #1" for place in range(4)})
    right, wrong = "return rivers ;return number of #1", "return rivers"
    systems = {"a": [right, right, wrong, wrong], "b": [right, wrong, right, wrong], "c|d": [right, wrong, right, None]}
    evaluation = score_systems(gold, [system_of(*each) for each in systems.items()], choose_metrics(["lf_em"]))
    found = disagreements(
        [(system.name, [analyse(each) for each in system.questions]) for system in evaluation.systems]
    )
    assert [(each.place, each.right, each.wrong, each.right_key) for each in found] == [
        (2, ("a",), ("b", "c|d"), "0"),
        (3, ("b", "c|d"), ("a",), "1,2"),
    ]
    assert found[0].kinds == ("missing step",)


def test_the_groups_hold_every_question_once() -> None:
    lengths = [2] * 30 + [3] * 26 + [4, 5, 7]
    texts = [f"return cubes{' ;return #1 that are red' * (length - 1)}" for length in lengths]
    gold = gold_of({f"GEO_dev_{place}": text for place, text in enumerate(texts)})
    groups = by_length(score_systems(gold, [system_of("a", texts)], choose_metrics(["lf_em"])), Settings())
    assert [(group.name, group.questions) for group in groups] == [("2", 30), ("3", 26), ("4+", 3)]
    assert groups[-1].scores["a"]["lf_em"].mean == 1.0


def test_every_subset_has_a_count_and_of_many_systems_only_those_that_occur() -> None:
    values = {"a": ["1", "1", "0", "1", "0"], "b": ["0", "1", "0", "1", "0"], "c": ["0", "1", "0", "0", "0"]}
    found = agreement(told_evaluation(values, [VERDICT]))
    rest = dict.fromkeys([("b",), ("c",), ("a", "c"), ("b", "c")], 0)
    assert found == {(): 2, ("a",): 1, ("a", "b"): 1, ("a", "b", "c"): 1, **rest}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    names = [f"s{number}" for number in range(7)]
    assert agreement(told_evaluation({name: ["1", "0"] for name in names}, [VERDICT])) == {tuple(names): 1, (): 1}

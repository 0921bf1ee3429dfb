import csv
import io
import json
import re
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.report.page import render_page
from qdecomp.evaluation.report.report import Report, build_report, report_to_json, write_report
from qdecomp.evaluation.scoring import choose_metrics, evaluate
from tests.evaluation.evaluation_examples import gold_of, system_of
from tests.pages import Page, figure_faults

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
    return build_report(evaluate(gold_of(GOLD), systems, choose_metrics()))


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return render_page(report)


def test_the_page_is_well_formed_and_its_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    assert parsed.open == []
    ids = [attributes["id"] for _, attributes in parsed.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {attributes["href"] for tag, attributes in parsed.tags if tag == "a"}
    assert targets == {
        f"#{name}" for name in ("scores", "steps", "source", "agreement", "operators", "differences", "examples")
    }
    assert {target[1:] for target in targets if target} <= set(ids)


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    parsed = Page(page)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in parsed.tags}
    references = [
        value
        for _, attributes in parsed.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "srcset", "action") and value
    ]
    assert all(value.startswith("#") for value in references)
    assert not re.search(r"url\((?!#)|@import", page)


def test_the_page_has_every_part(page: str) -> None:
    parsed = Page(page)
    assert sum(tag == "svg" for tag, _ in parsed.tags) == 4
    for heading in (
        "Scores",
        "Paired tests",
        "Errors by reason",
        "LF-EM by number of steps",
        "LF-EM by source",
        "Agreement between systems",
        "Operator confusion",
        "Kinds of difference",
        "Examples",
        "Missing step",
        "No logical form",
    ):
        assert heading in parsed.texts
    assert "LF-EM (strict)" in parsed.texts
    assert "exact McNemar" in parsed.texts


def test_every_figure_has_a_caption_and_a_text_for_those_who_do_not_see_it(page: str) -> None:
    labelled = [attributes.get("aria-label") for _, attributes in Page(page).tags if attributes.get("role") == "img"]
    assert len(labelled) == 4
    assert all(labelled)


def test_examples_stand_side_by_side_with_their_marks(page: str) -> None:
    parsed = Page(page)
    assert parsed.texts.count("Gold") == parsed.texts.count("Predicted") == 5
    assert "#1 that are red" in parsed.text
    marked = page[page.index("#1 that are red") :]
    assert marked.index("remark-missing") < marked.index("</li>")


def test_what_comes_from_data_is_escaped(page: str) -> None:
    assert "<script" not in page
    assert HOSTILE in Page(page).text


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
    assert set(first) == {
        "index.html",
        "report.json",
        "scores.csv",
        "agreement.csv",
        "differences.csv",
        "operator_confusion.csv",
        "questions.csv",
    }
    questions = list(csv.DictReader(io.StringIO(first["questions.csv"])))
    assert [row["lf_em"] for row in questions] == ["True", "True", "False", "False", "False", "True", "False", "False"]
    assert questions[4]["differences"] == "missing step"
    scores = list(csv.DictReader(io.StringIO(first["scores.csv"])))
    assert {row["part"] for row in scores} == {"all", "source", "steps"}
    overall = [row for row in scores if row["part"] == "all" and row["metric"] == "lf_em"]
    assert [float(row["mean"]) for row in overall] == [0.5, 0.25]
    write_report(report, folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == first


def test_a_failed_run_leaves_no_half_report(report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(value: Report) -> dict[str, object]:
        raise DataError("no")

    monkeypatch.setattr("qdecomp.evaluation.report.report.report_to_json", fail)
    with pytest.raises(DataError, match="no"):
        write_report(report, tmp_path / "report")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_an_error_that_says_what_to_install(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(DataError, match=r"pip install 'qdecomp\[report\]'"):
        render_page(report)


def test_one_system_has_a_page_too() -> None:
    gold = gold_of({"GEO_dev_1": "return rivers"})
    report = build_report(evaluate(gold, [system_of("alone", ["return rivers"])], choose_metrics(["lf_em"])))
    text = Page(render_page(report)).text
    assert "Paired tests" not in text
    assert "Errors by reason" not in text


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
    page = render_page(build_report(evaluate(gold, systems, choose_metrics(["lf_em"]))))
    labels, faults = figure_faults(page, tmp_path, width=width)
    assert labels > 100
    assert faults == []

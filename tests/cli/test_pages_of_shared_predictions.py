"""Pages of real predictions, with all their flaws, in a browser with common widths and colour schemes."""

from __future__ import annotations

import csv
import json
from itertools import islice
from pathlib import Path

import pytest

from tests.browser import open_browser
from tests.cli_runs import run_qdecomp

ROWS = 150
_STATE = """
(() => {
  const form = document.querySelector(".qd-tools");
  const shown = () => [...document.querySelectorAll(".qd-records > article")].filter((each) => !each.hidden);
  const all = shown().length;
  const source = form.querySelector("[data-filter=source]");
  source.value = "ATIS";
  source.dispatchEvent(new Event("input", { bubbles: true }));
  const wrong = shown().filter((each) => each.dataset.source !== "ATIS").length;
  const filtered = shown().length;
  form.elements.sort.value = "-steps";
  form.elements.sort.dispatchEvent(new Event("change", { bubbles: true }));
  const steps = shown().map((each) => Number(each.dataset.steps));
  const isSorted = steps.every((each, place) => !place || steps[place - 1] >= each);
  return { all, filtered, wrong, isSorted, width: document.documentElement.scrollWidth };
})()
"""


@pytest.fixture(scope="module")
def files(shared_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every fortieth row of two systems' predictions and their gold, as in real files, and the pages of both."""
    folder = tmp_path_factory.mktemp("predictions")
    for name in "ab":
        with (shared_path / "reference" / f"lf_em_{name}.jsonl").open(encoding="utf-8") as stream:
            rows = [json.loads(line) for line in islice(stream, 0, 40 * ROWS, 40)]
        records = [{key: row[key] for key in ("question_id", "question")} for row in rows]
        lines = [
            json.dumps({**record, "decomposition": row["prediction"]})
            for record, row in zip(records, rows, strict=True)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with (folder / "gold.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("question_id", "question_text", "decomposition"))
        writer.writerows((row["question_id"], row["question"], row["gold"]) for row in rows)
    gold = ["--gold", str(folder / "gold.csv")]
    systems = [f"{name}={folder / name}.jsonl" for name in "ab"]
    assert run_qdecomp("render", "--input", folder / "a.jsonl", *gold, "--output", folder / "render.html") == 0
    scored = ("report", *gold, "--predictions", *systems, "--metrics", "lf_em")
    assert run_qdecomp(*scored, "--output", folder / "report") == 0
    return folder


@pytest.mark.parametrize("name", ["render.html", "report/index.html"])
def test_pages_can_be_filtered_and_sorted_and_fit_the_window(files: Path, tmp_path: Path, name: str) -> None:
    with open_browser(tmp_path / "profile") as browser:
        for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
            browser.look(width=width, dark=dark)
            browser.open(files / name)
            state = browser.run(_STATE)
            assert 0 < state["filtered"] < state["all"] <= ROWS
            assert (state["wrong"], state["isSorted"], state["width"]) == (0, True, width)

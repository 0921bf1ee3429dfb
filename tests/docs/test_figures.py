"""The figures of README and RESULTS.md are those of the files of results: the bundle's, kept verdicts, the paper's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from experiments.results import number, paper_figures
from experiments.settings import SYSTEMS
from qdecomp.evaluation.statistics import mean_interval
from qdecomp.parsers.calibration import RECOMMENDED_CONFIDENCE

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "qdecomp" / "parsers" / "minilm_break"
SCORES = json.loads((BUNDLE / "config.json").read_text(encoding="utf-8"))["scores"]
KEPT = (ROOT / "experiments" / "kept_verdicts" / "cpu.jsonl").read_text(encoding="utf-8").splitlines()
EARLIER = (ROOT / "docs" / "studies" / "400_updates.md").read_text(encoding="utf-8")
README, RESULTS = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "RESULTS.md"))


def rows(text: str, head: str) -> list[dict[str, str]]:
    """The rows of the tables whose header has this cell, each by the names of its columns."""
    found = []
    for lines in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
        columns, _, *others = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines.splitlines())
        if head in columns:
            found += [dict(zip(columns, cells, strict=True)) for cells in others]
    assert found, head
    return found


def row(text: str, head: str, first: str) -> dict[str, str]:
    """The only such row whose first cell begins so."""
    (found,) = (each for each in rows(text, head) if next(iter(each.values())).startswith(first))
    return found


def shown(score: Mapping[str, float]) -> str:
    return f"{number(score['mean'])} [{number(score['low'])}, {number(score['high'])}]"


@pytest.mark.parametrize(
    ("text", "head", "first", "column"),
    [
        (RESULTS, "NormEM", "**the bundled parser**", "LF-EM, 1,524 development rows"),
        (RESULTS, "LF-Eq", "`dev.csv` of Break", "LF-EM"),
        (README, "LF-Eq", "1,524 development questions of Break", "LF-EM"),
    ],
)
def test_scores_of_the_bundled_parser(text: str, head: str, first: str, column: str) -> None:
    found = row(text, head, first)
    assert found[column] == shown(SCORES["lf_em"])
    for title, name in (("exact match", "exact_match"), ("SARI", "sari")):
        assert found.get(title, number(SCORES[name]["mean"])) == number(SCORES[name]["mean"])


def test_scores_of_the_bundled_parser_by_source_and_by_steps() -> None:
    by_steps = {int(steps): score for steps, score in SCORES["lf_em_by_steps"].items()}
    long = [score for steps, score in by_steps.items() if steps > 10]
    pooled = sum(score["mean"] * score["questions"] for score in long) / sum(score["questions"] for score in long)
    steps = {str(each): by_steps[each] for each in range(2, 11)}
    steps[f"11 to {max(by_steps)}"] = {"mean": pooled, "questions": sum(score["questions"] for score in long)}
    for head, groups in (("LF-EM by source", SCORES["lf_em_by_source"]), ("LF-EM by gold steps", steps)):
        counts, figures = rows(RESULTS, head)
        assert {name: (counts[name], figures[name]) for name in list(counts)[1:]} == {
            name: (str(score["questions"]), number(score["mean"])) for name, score in groups.items()
        }
    assert f"| the bundled parser, 1,524 development rows | {100 * SCORES['lf_em']['mean']:.1f} |" in RESULTS
    two, six = (f"{by_steps[each]['mean']:.2f}".lstrip("0") for each in (2, 6))
    assert f"with two steps {two} are right, of those with six {six}, of those with more\nthan ten none" in README
    assert pooled == 0


def test_what_the_card_says_beyond_the_config() -> None:
    card = (BUNDLE / "MODEL_CARD.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (.+?) \| ([\d,]+) \| 0(\.\d+) \| 0(\.\d+) to 0(\.\d+) \|$", card, re.MULTILINE)
    figures = {name.partition(",")[0].strip("`"): f"{mean} [{low}, {high}]" for name, _, mean, low, high in lines}
    assert figures["all"] == shown(SCORES["lf_em"])
    assert figures["data/everyday.csv"] in README
    for name in ("data/everyday.csv", "data/asked_dev.csv"):
        assert figures[name] in RESULTS
    shares = dict(re.findall(r"^\| (0\.\d) \| (\d+% \| \d+%) \|$", card, re.MULTILINE))
    kept_at_threshold, _ = shares[str(RECOMMENDED_CONFIDENCE)].split(" | ")
    assert f"| development questions of Break | {kept_at_threshold} |" in README
    kept, right = zip(*(share.split(" | ") for share in shares.values()), strict=True)
    assert " | ".join(kept) in RESULTS
    assert " | ".join(right) in RESULTS


def verdicts(text: str) -> list[float]:
    return [float(each) for each in text]


def mean(values: Sequence[float]) -> str:
    return number(sum(values) / len(values))


def test_cells_of_the_experiments() -> None:
    """Each kept cell of sample complexity with one seed is a row, and each row is a kept cell."""
    in_results = {(each["trained on"], each["system"]): each for each in rows(RESULTS, "minutes of a core")}
    kept: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in KEPT:
        cell = json.loads(line)
        if cell["split"].startswith("train_"):
            key = (f"{cell['split'].removeprefix('train_')}%", SYSTEMS[cell["system"]].title)
            kept.setdefault(key, []).append(cell)
    assert in_results.keys() == kept.keys()
    paper = paper_figures("sample_complexity")
    for key, cells in kept.items():
        if len(cells) > 1:
            continue
        (cell,), found = cells, in_results[key]
        lf_em = verdicts(cell["verdicts"]["lf_em"])
        low, high = mean_interval(lf_em)
        assert found["LF-EM"] == f"{mean(lf_em)} [{number(low)}, {number(high)}]", key
        assert found["NormEM"] == mean(verdicts(cell["verdicts"]["norm_em"])), key
        assert found["has a logical form"] == mean(verdicts(cell["verdicts"]["valid"])), key
        is_training = SYSTEMS[cell["system"]].in_agreement
        assert found["minutes of a core"] == (f"{cell['minutes']:.1f}" if is_training else ""), key
        assert found["LF-EM, the paper"] == number(paper.get(key[1], {}).get(key[0])), key


def test_figures_of_the_paper() -> None:
    systems = [SYSTEMS[name].title for name in ("copynet", "biaffine", "biaffine_ilp", "latent_rat")]
    standard = paper_figures("standard")
    for first, suffix in (
        ("the paper, BERT-base, Break's dev set", ""),
        ("the paper, BERT-base, Break's test", ", test"),
    ):
        found = row(RESULTS, "NormEM", first)
        for metric, column in (("LF-EM", "LF-EM, 1,524 development rows"), ("NormEM", "NormEM")):
            assert found[column] == ", ".join(number(standard[each].get(f"{metric}{suffix}")) for each in systems)
    bart = row(RESULTS, "NormEM", "BART")
    assert (bart["LF-EM, 1,524 development rows"], bart["NormEM"]) == (".496", ".389")
    assert standard["BART"] == {"LF-EM, test": 0.496, "NormEM, test": 0.389}
    table = rows(EARLIER, "LF-EM, trained on")[-1]
    complexity = paper_figures("sample_complexity")
    three = [systems[0], systems[1], systems[3]]
    for column, share in (("1% (310 rows)*", "1%"), ("5%", "5%"), ("10% (3,105 rows)*", "10%"), ("100%", "100%")):
        assert table[column] == ", ".join(number(complexity[each][share]) for each in three)

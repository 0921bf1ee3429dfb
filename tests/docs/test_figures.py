"""The figures of README and RESULTS.md are those of the files of results: the bundle's, kept verdicts, the paper's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from speed.cascade import command

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
    two, six, more = (f"{each:.2f}".lstrip("0") for each in (by_steps[2]["mean"], by_steps[6]["mean"], pooled))
    assert f"with two steps {two} are right, of those with six {six}, of those with more\nthan ten {more}." in README


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


def mean(values: Sequence[float]) -> str:
    return number(sum(values) / len(values))


def test_cells_of_the_experiments() -> None:
    """Each kept cell of sample complexity with the first seed is in the table, and no other."""
    head = "LF-EM, by share of the training rows"
    found = {each[head]: each for each in rows(RESULTS, head)}
    shares = [share for share in next(iter(found.values())) if share != head]
    kept = {(cell["system"], cell["split"]): cell for cell in map(json.loads, KEPT) if cell["seed"] == 7}
    paper = paper_figures("sample_complexity")
    for name, system in SYSTEMS.items():
        for share in shares:
            cell = kept.get((name, f"train_{share.removesuffix('%')}"))
            score, minutes = "not run", "–"
            if cell is not None:
                lf_em = [float(each) for each in cell["verdicts"]["lf_em"]]
                low, high = mean_interval(lf_em)
                score = f"{mean(lf_em)} [{number(low)}, {number(high)}]"
                minutes = f"{cell['minutes']:.1f}"
            assert found[system.title][share] == score, (name, share)
            assert found.get(f"{system.title}, minutes of a core", {}).get(share, minutes) == minutes, (name, share)
            of_paper = number(paper.get(system.title, {}).get(share))
            assert found.get(f"{system.title}, the paper", {}).get(share, of_paper) == of_paper, (name, share)


def test_the_readings() -> None:
    """The counts of the blind reading, from its verdicts."""
    for name, column in (
        ("everyday", "everyday, 161 questions: usable, in part, useless"),
        ("engineers", "engineers', 150 questions"),
    ):
        plans, others = (
            [json.loads(line) for line in (ROOT / "data" / "readings" / f"{name}_{whose}.jsonl").open(encoding="utf-8")]
            for whose in ("bundled", "language_model")
        )
        sure = [plan for plan in plans if plan["confidence"] >= RECOMMENDED_CONFIDENCE]
        for first, read in (
            ("the bundled parser", plans),
            ("of these, confidence", sure),
            ("the language model", others),
        ):
            counts = [sum(plan["reading"] == each for plan in read) for each in ("usable", "partly", "useless")]
            share = "" if read is others else f" ({100 * counts[0] / len(read):.0f}%)"
            assert row(RESULTS, column, first)[column] == f"{counts[0]}, {counts[1]}, {counts[2]}{share}"


@pytest.mark.parametrize(("name", "title"), [("everyday", "everyday"), ("engineers", "engineers'")])
def test_the_curve_of_the_cascade(name: str, title: str) -> None:
    data = ROOT / "data"
    small, large = (str(data / "readings" / f"{name}_{whose}.jsonl") for whose in ("bundled", "language_model"))

    def points(*judged: str) -> dict[str, tuple[str, str]]:
        output = CliRunner().invoke(command, ["--small", small, *judged], catch_exceptions=False).output
        found = re.findall(r"^(\d\.\d) +(\d+%) +([\d.]+)%$", output, re.MULTILINE)
        return {"never" if below == "0.0" else below: (calls, right) for below, calls, right in found}

    gold = ("--large", large, "--gold", str(data / f"{name}.csv"), "--metric")
    usable, lf_em, lf_eq = points("--verdicts", small, large), points(*gold, "lf_em"), points(*gold, "lf_eq")
    _, *cells = row(RESULTS, "asked below", f"{title}, usable").items()
    assert cells == [(below, "{1}% ({0})".format(*usable[below])) for below, _ in cells]
    _, *cells = row(RESULTS, "asked below", f"{title}, LF-EM").items()
    scores = [(below, [number(float(each[below][1]) / 100) for each in (lf_em, lf_eq)]) for below, _ in cells]
    assert cells == [(below, ", ".join(each)) for below, each in scores]


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

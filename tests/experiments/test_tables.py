"""The tables and figures of predictions whose scores are known, with cells that were not run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from experiments import tables
from experiments.cells import EXPERIMENTS, TIMES
from experiments.figures import draw_figure
from experiments.results import NOT_RUN, Block, Entry, Result, Verdict, to_csv, to_markdown, write_result
from experiments.settings import Settings
from experiments.tables import agreement, differences, domain_generalisation, inference_time, length, sample_complexity

Predict = Callable[..., Path]
QUESTIONS = 83


def entries(block: Block) -> dict[tuple[str, str], Entry]:
    return {(entry.row, entry.column): entry for entry in block.entries}


def test_sample_complexity(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    for seed, share in ((7, 2), (8, 4)):
        predict(f"biaffine/train_5/{seed}", lambda number, _, share=share: number % share == 0)
    for name in ("copynet", "latent_rat"):
        predict(f"{name}/train_5/7", lambda number, _: number % 20 == 0)
    result = sample_complexity(settings, tmp_path)
    found = entries(result.blocks[0])
    graph_parser = found["BiaffineGP", "5%"]
    assert graph_parser.value == pytest.approx((42 + 21) / 2 / QUESTIONS)
    assert graph_parser.deviation == pytest.approx((42 - 21) / QUESTIONS / 2**0.5)
    assert graph_parser.low is not None
    assert graph_parser.high is not None
    assert graph_parser.low < (graph_parser.value or 0) < graph_parser.high
    assert (graph_parser.runs, graph_parser.questions) == (2, QUESTIONS)
    assert found["BiaffineGP", "100%"].value is None
    assert result.blocks[0].paper["BiaffineGP"]["5%"] == 0.296
    claims = {claim.text: claim for claim in result.claims}
    assert [claim.verdict for claim in claims.values()] == [Verdict.HOLDS, Verdict.NOT_RUN]
    assert {test.comparison.test for test in result.tests} == {"paired permutation"}


def test_the_standard_setup_has_both_metrics(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("copynet/train_100/7", lambda number, _: number % 2 == 0)
    block = sample_complexity(settings, tmp_path).blocks[1]
    found = entries(block)
    assert (
        found["CopyNet-BERT", "LF-EM"].value == found["CopyNet-BERT", "NormEM"].value == pytest.approx(42 / QUESTIONS)
    )
    assert found["BiaffineGP + ILP", "NormEM"].value is None
    assert block.paper["Latent-RAT"]["NormEM"] == 0.356
    assert set(block.paper) == {"CopyNet-BERT", "BiaffineGP", "BiaffineGP + ILP", "Latent-RAT"}


def test_domain_generalisation(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    for name in ("copynet", "latent_rat"):
        predict(f"{name}/train_100/7", lambda number, example: True)
    predict("copynet/without_GEO/7", lambda number, example: example.source != "GEO")
    predict("copynet/without_DROP/7", lambda number, example: example.source != "DROP")
    predict("latent_rat/without_GEO/7", lambda number, example: number % 2 == 0)
    predict("latent_rat/without_DROP/7", lambda number, example: True)
    result = domain_generalisation(settings, tmp_path)
    full, left_out, drop = map(entries, result.blocks)
    assert full["CopyNet-BERT", "GEO"].value == 1.0
    assert left_out["CopyNet-BERT", "DROP"].value == 0.0
    assert left_out["Latent-RAT", "GEO"].value == pytest.approx(0.5)
    assert drop["CopyNet-BERT", "DROP"].value == -1.0
    assert drop["Latent-RAT", "DROP"].value == 0.0
    assert drop["BiaffineGP", "GEO"].value is None
    # The questions of both sources, each of the parser that has not seen it: 4 of 8 and 13 of 13.
    pooled = left_out["Latent-RAT", "all left out"]
    assert (pooled.value, pooled.questions) == (pytest.approx(17 / 21), 21)
    assert [claim.verdict for claim in result.claims] == [Verdict.HOLDS]


def test_agreement(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    # Of every 4 questions: 0 all three right, 1 the first two, 2 the first, 3 none; all wrong answers are the same.
    for name, most in (("copynet", 2), ("biaffine", 1), ("latent_rat", 0)):
        predict(f"{name}/train_100/7", lambda number, _, most=most: number % 4 <= most)
    result = agreement(settings, tmp_path)
    right, same = map(entries, result.blocks)
    assert right["right", "CopyNet-BERT + BiaffineGP + Latent-RAT"].value == pytest.approx(21 / QUESTIONS)
    assert right["right", "CopyNet-BERT + BiaffineGP"].value == pytest.approx(21 / QUESTIONS)
    assert right["right", "BiaffineGP + Latent-RAT"].value == 0.0
    assert right["right", "none"].value == pytest.approx(20 / QUESTIONS)
    assert right["right", "at least one"].value == pytest.approx(63 / QUESTIONS)
    assert sum(entry.value or 0 for (_, column), entry in right.items() if column != "at least one") == pytest.approx(1)
    all_three = "CopyNet-BERT + BiaffineGP + Latent-RAT"
    assert same[all_three, "share of questions"].value == pytest.approx(41 / QUESTIONS)
    assert same[all_three, "LF-EM of these"].value == pytest.approx(21 / 41)
    assert same["CopyNet-BERT + BiaffineGP", "share of questions"].value == pytest.approx(62 / QUESTIONS)


def test_agreement_needs_all_parsers(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("copynet/train_100/7", lambda number, _: True)
    result = agreement(settings, tmp_path)
    assert all(entry.value is None for block in result.blocks for entry in block.entries)
    assert result.notes[0].startswith("BiaffineGP, Latent-RAT: not run")


def test_length(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    def is_short(number: int, example: object) -> bool:
        return example.decomposition.count(";") < 4  # type: ignore[attr-defined]

    predict("copynet/train_100/7", is_short)
    predict("latent_rat/train_100/7", lambda number, example: not is_short(number, example))
    result = length(settings, tmp_path)
    found = entries(result.blocks[0])
    assert found["CopyNet-BERT", "2"].value == 1.0
    assert found["Latent-RAT", "2"].value == 0.0
    assert found["BiaffineGP", "2"].value is None
    assert sum(entry.questions for (row, _), entry in found.items() if row == "CopyNet-BERT") == QUESTIONS
    assert [claim.verdict for claim in result.claims] == [Verdict.HOLDS]
    assert {test.where for test in result.tests} == {"fewer than 5 steps", "5 steps or more"}


def test_differences(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("copynet/train_100/7", lambda number, _: number >= 10, wrong="")
    found = entries(differences(settings, tmp_path).blocks[0])
    assert found["CopyNet-BERT", "no logical form"].value == 1.0
    assert found["CopyNet-BERT", "no logical form"].questions == 10
    assert found["CopyNet-BERT", "missing step"].value == 0.0
    assert found["Latent-RAT", "missing step"].value is None


def test_inference_time(settings: Settings, tmp_path: Path) -> None:
    assert all(entry.value is None for entry in inference_time(settings, tmp_path).blocks[0].entries)
    speeds = [
        {"parser": "copynet", "questions": 3, "latencies": [0.3, 0.1, 0.2], "cpu_seconds": 0.9},
        {"parser": "biaffine", "questions": 3, "latencies": [0.1, 0.1, 0.1], "cpu_seconds": 0.1},
        {"parser": "biaffine_ilp", "questions": 3, "latencies": [0.1, 0.1, 0.1], "cpu_seconds": 0.3},
    ]
    (tmp_path / TIMES).write_text(json.dumps({"inference": speeds}), encoding="utf-8")
    result = inference_time(settings, tmp_path)
    found = entries(result.blocks[0])
    assert found["CopyNet-BERT", "milliseconds"].value == pytest.approx(200)
    assert found["CopyNet-BERT", "milliseconds of CPU"].value == pytest.approx(300)
    assert found["Latent-RAT", "median"].value is None
    assert [(claim.verdict, claim.figures[:9]) for claim in result.claims] == [
        (Verdict.HOLDS, "9.0 times"),
        (Verdict.DOES_NOT_HOLD, "3.0 times"),
    ]


def test_the_three_files_say_the_same(settings: Settings, predict: Predict, tmp_path: Path) -> None:
    predict("copynet/train_5/7", lambda number, _: number % 2 == 0)
    result = sample_complexity(settings, tmp_path)
    write_result(result, tmp_path / "tables")
    texts = {each.suffix: each.read_text(encoding="utf-8") for each in (tmp_path / "tables").iterdir()}
    value = 42 / QUESTIONS
    assert f"| CopyNet-BERT | .{1000 * value:.0f} [" in texts[".md"]
    assert "| Latent-RAT | not run | not run |" in texts[".md"]
    assert "| Latent-RAT, the paper | .227 | .469 |" in texts[".md"]
    rows = list(csv.DictReader(io.StringIO(texts[".csv"])))
    row = next(each for each in rows if (each["row"], each["column"]) == ("CopyNet-BERT", "5%"))
    assert (float(row["value"]), row["paper"], row["status"]) == (pytest.approx(value), "0.261", "run")
    assert {each["status"] for each in rows if each["row"] == "Latent-RAT"} == {NOT_RUN}
    assert json.loads(texts[".json"])["blocks"][0]["entries"][0]["value"] == pytest.approx(value)


def test_a_block_can_be_turned() -> None:
    block = Block("Shares", "kind", ("a", "b"), (Entry("us", "a", 0.5), Entry("us", "b")), {"us": {"b": 0.25}})
    turned = Block(block.title, block.head, block.columns, block.entries, block.paper, columns_below=True)
    pages = [to_markdown(Result("x", "X", "smoke", "§1", (each,), "bars", "share")) for each in (block, turned)]
    assert "| us | .500 | not run |\n| us, the paper | – | .250 |" in pages[0]
    assert "| a | .500 | – |\n| b | not run | .250 |" in pages[1]
    assert "us,b,,,,,0,0,0.25,not run" in to_csv(Result("x", "X", "smoke", "§1", (turned,), "bars", "share"))


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_figure_can_be_drawn_and_is_the_same_each_time(
    experiment: str, settings: Settings, predict: Predict, tmp_path: Path
) -> None:
    predict("copynet/train_100/7", lambda number, _: number % 2 == 0)
    result = getattr(tables, experiment)(settings, tmp_path)
    pictures = []
    for folder in (tmp_path / "first", tmp_path / "again"):
        draw_figure(result, folder)
        assert sorted(path.name for path in folder.iterdir()) == [f"{experiment}.png", f"{experiment}.svg"]
        assert (folder / f"{experiment}.png").read_bytes().startswith(b"\x89PNG")
        pictures.append((folder / f"{experiment}.svg").read_text(encoding="utf-8"))
    assert pictures[0] == pictures[1]
    texts = [
        element.text or "" for element in ElementTree.fromstring(pictures[0]).iter() if element.tag.endswith("text")
    ]
    assert any("not run" in text for text in texts)
    assert any(result.blocks[0].title in text for text in texts)

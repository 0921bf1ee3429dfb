"""The calls of nine codebases that score Break, replayed from small files of their formats.

Each replay is their code around the evaluator, shortened to the calls; only where the names come from is ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp import evaluate
from qdecomp.integrations.break_evaluator import (
    BreakEvaluator,
    EvaluateTool,
    LogicalFromStructuralMatcher,
    NormalizedGraphMatchScorer,
    QDMRToQDMRStepTokensConverter,
    eval_many,
    eval_single,
    format_qdmr,
)

QUESTIONS = ["How many red cubes are there?", "Which rivers are in Peru?", "How many spheres are there?"]
GOLDS = [
    "return cubes ;return #1 that are red ;return number of #2",
    "return rivers ;return #1 that are in Peru",
    "return spheres ;return number of #1",
]
STEPS = ["return red cubes 2#) return number of #1", "1#) return rivers 2#) return #2 in Peru", "1#) return spheres"]
TEXTS = ["return red cubes ;return number of #1", "return rivers ;return #2 in Peru", "return spheres"]
ONE_OF_THREE = pytest.approx(1 / 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        {"question_id": f"X_{number}", "question_text": question, "decomposition": gold}
        for number, (question, gold) in enumerate(zip(QUESTIONS, GOLDS, strict=True))
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    (tmp_path / "steps.json").write_text(
        json.dumps([{**row, "generated": steps} for row, steps in zip(rows, STEPS, strict=True)])
    )
    (tmp_path / "texts.jsonl").write_text(
        "".join(json.dumps({**row, "pred": text}) + "\n" for row, text in zip(rows, TEXTS, strict=True))
    )
    (tmp_path / "predictions.csv").write_text("decomposition\n" + "\n".join(TEXTS) + "\n")
    header = "question_id,question_text,decomposition\n"
    lines = (f"X_{number},{QUESTIONS[number]},{GOLDS[number]}\n" for number in range(3))
    (tmp_path / "dev.csv").write_text(header + "".join(lines))
    return tmp_path


def by_evaluate_tool(folder: Path) -> float:
    """Codebases after EPR: a tool, predictions, and Break's rows."""
    entries = json.loads((folder / "steps.json").read_text())
    return EvaluateTool().evaluate([entry["generated"] for entry in entries], entries)["lf-em"]


def by_eval_many(folder: Path) -> float:
    """EPR: lists of questions, predictions and gold decompositions, in processes."""
    entries = json.loads((folder / "steps.json").read_text())
    columns = [[entry[name] for entry in entries] for name in ("question_text", "generated", "decomposition")]
    results = eval_many(*columns, n_proc=4)
    return sum(results) / len(results)


def by_row(folder: Path) -> float:
    """icl-coverage: a row with a prediction and its target."""
    evaluator, verdicts = BreakEvaluator(), []
    for line in (folder / "texts.jsonl").read_text().splitlines():
        row = json.loads(line)
        verdicts.append(evaluator.lfem(row | {"actual_target": row["decomposition"]}))
    return sum(verdicts) / len(verdicts)


def by_parts(folder: Path) -> float:
    """ManyShotICL and others: format, convert, match, and every exception is wrong."""
    converter, matcher, _ = (
        QDMRToQDMRStepTokensConverter(),
        LogicalFromStructuralMatcher(),
        NormalizedGraphMatchScorer(),
    )
    verdicts = []
    for index, line in enumerate((folder / "texts.jsonl").read_text().splitlines()):
        row = json.loads(line)
        try:
            graphs = [
                converter.convert(
                    question_id=str(index),
                    question_text=row["question_text"],
                    decomposition=format_qdmr(text).to_break_standard_string(),
                )
                for text in (row["pred"], row["decomposition"])
            ]
            verdicts.append(
                matcher.is_match(
                    question_id=str(index), question_text=row["question_text"], graph1=graphs[0], graph2=graphs[1]
                )
            )
        except Exception:
            verdicts.append(False)
    return sum(verdicts) / len(verdicts)


def by_files(folder: Path) -> float | None:
    """Constrained decoding and evaluation in a second environment: files of predictions and gold."""
    return evaluate(folder / "dev.csv", folder / "predictions.csv", "lf_em")["lf_em"].mean


def by_swapped_call(folder: Path) -> float | None:
    """``evaluate(preds, golds)`` of the same codebases, as a function."""
    golds = json.loads((folder / "rows.json").read_text())
    return evaluate(STEPS, golds, compat="epr")["lf-em"].mean


@pytest.mark.parametrize(
    "call",
    [by_evaluate_tool, by_eval_many, by_row, by_parts, by_files, by_swapped_call],
    ids=lambda call: call.__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_call_works_and_all_give_the_same(call: Callable[[Path], float | None], folder: Path) -> None:
    assert call(folder) == ONE_OF_THREE


def test_thirteen_and_what_cannot_be_read_are_wrong() -> None:
    long = " ;".join(["return cubes", *(f"return #{step} that are red" for step in range(1, 14))])
    assert not eval_single("Which cubes are red?", long, long)
    assert not eval_single("Which cubes are red?", "return #7", "return cubes")
    assert eval_single("Which cubes are red?", long.replace("#13", "#12"), long.replace("#13", "#12"))

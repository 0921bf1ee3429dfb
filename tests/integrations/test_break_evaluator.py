"""The calls of nine codebases that score Break.

Each test makes their calls of the evaluator's names, around which the code is ours. A codebase is listed with every
form of call that it has; where it calls was looked up in its repository.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import QDecompError
from qdecomp.integrations.break_evaluator import (
    BreakEvaluator,
    EvaluateTool,
    LogicalFromStructuralMatcher,
    NormalizedGraphMatchScorer,
    QDMRToQDMRStepTokensConverter,
    eval_many,
    eval_single,
    evaluate,
    format_qdmr,
)
from qdecomp.terminal import format_csv
from tests.cli_runs import json_lines, run_qdecomp

QUESTIONS = ["How many red cubes are there?", "Which rivers are in Peru?", "How many spheres are there?"]
GOLDS = [
    "return cubes ;return #1 that are red ;return number of #2",
    "return rivers ;return #1 that are in Peru",
    "return spheres ;return number of #1",
]
STEPS = ["return red cubes 2#) return number of #1", "1#) return rivers 2#) return #2 in Peru", "1#) return spheres"]
TEXTS = ["return red cubes ;return number of #1", "return rivers ;return #2 in Peru", "return spheres"]
ONE_OF_THREE = pytest.approx(1 / 3)


ROWS = [
    {"question_id": f"X_{number}", "question_text": question, "decomposition": gold, "generated": steps, "pred": text}
    for number, (question, gold, steps, text) in enumerate(zip(QUESTIONS, GOLDS, STEPS, TEXTS, strict=True))
]


def by_evaluate_tool(folder: Path) -> float:
    """CEIL and ManyShotICL: a tool, predictions, and the records that have them, with all of Break's fields."""
    return EvaluateTool().evaluate(STEPS, ROWS)["lf-em"]


def by_eval_many(folder: Path) -> float:
    """EPR and UDR: tuples of questions, predictions and gold decompositions; verdicts may be told in numbers."""
    results = eval_many(tuple(QUESTIONS), tuple(";".join(steps.split("2#) ")) for steps in STEPS), tuple(GOLDS))
    return sum(map(int, results)) / len(results)


def by_published_evaluate(folder: Path) -> float | None:
    """UDR on the test set: the published evaluator's own function, with formatted decompositions."""
    found = evaluate(
        question_ids=tuple(row["question_id"] for row in ROWS),
        questions=tuple(QUESTIONS),
        golds=list(map(format_qdmr, GOLDS)),
        decompositions=list(map(format_qdmr, TEXTS)),
        metadata=None,
        output_path_base=None,
        num_processes=8,
    )
    assert found["exact_match"] == 0.0
    return found["logical_form_em"]


def by_row(folder: Path) -> float:
    """icl-coverage and in-context-learning (Haroon96): a row with a prediction and its target."""
    return sum(BreakEvaluator().lfem(row | {"actual_target": row["decomposition"]}) for row in ROWS) / len(ROWS)


def by_parts(folder: Path) -> float:
    """CEIL, SymGen, ManyShotICL, inside: format, convert, match, and every exception is wrong."""
    converter, matcher = QDMRToQDMRStepTokensConverter(), LogicalFromStructuralMatcher()
    NormalizedGraphMatchScorer()
    verdicts = []
    for row in ROWS:
        about = {"question_id": "1", "question_text": row["question_text"]}
        try:
            first, second = (
                converter.convert(**about, decomposition=format_qdmr(text).to_break_standard_string())
                for text in (row["pred"], row["decomposition"])
            )
            verdicts.append(matcher.is_match(**about, graph1=first, graph2=second))
        except Exception:
            verdicts.append(False)
    return sum(verdicts) / len(verdicts)


def by_files(folder: Path) -> float:
    """Constrained decoding (Microsoft) and complex_question_decomposition: two CSV files, and a program that scores."""
    labels = [(f"{row['question_id']}@0", row["question_text"], row["decomposition"], "dev") for row in ROWS]
    (folder / "labels.csv").write_text(format_csv(("question_id", "question_text", "decomposition", "split"), labels))
    (folder / "decompositions.csv").write_text(format_csv(("decomposition",), [(text,) for text in TEXTS]))
    details = folder / "details.jsonl"
    files = ("--gold", folder / "labels.csv", folder / "decompositions.csv")
    assert run_qdecomp("evaluate", *files, "--details", details) == 0
    verdicts = [line["lf_em"] for line in json_lines(details)]
    return sum(verdicts) / len(verdicts)


@pytest.mark.parametrize(
    "call",
    [by_evaluate_tool, by_eval_many, by_published_evaluate, by_row, by_parts, by_files],
    ids=lambda call: call.__name__,
)
def test_a_call_works_and_all_give_the_same(call: Callable[[Path], float | None], tmp_path: Path) -> None:
    assert call(tmp_path) == ONE_OF_THREE


def test_thirteen_and_what_cannot_be_read_are_wrong() -> None:
    long = " ;".join(["return cubes", *(f"return #{step} that are red" for step in range(1, 14))])
    assert not eval_single("Which cubes are red?", long, long)
    assert not eval_single("Which cubes are red?", "return #7", "return cubes")
    assert eval_single("Which cubes are red?", long.replace("#13", "#12"), long.replace("#13", "#12"))


def test_formatted_decompositions_are_texts_that_compare_and_vote() -> None:
    # SymGen calls this NormEM, and lets candidates vote that the converter accepts.
    first, second = format_qdmr("return cubes ;return  number of #1"), format_qdmr("return cubes  ;return number of #1")
    assert first == second == second.to_break_standard_string()
    assert QDMRToQDMRStepTokensConverter().convert(0, "How many cubes are there?", first)
    with pytest.raises(QDecompError):
        QDMRToQDMRStepTokensConverter().convert(0, "How many cubes are there?", "return number of #4")
    with pytest.raises(QDecompError, match="group_by"):
        evaluate([], [], [], [], output_path_base="out")

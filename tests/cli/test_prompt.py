from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from qdecomp import read_decomposition, to_logical_form
from qdecomp.data_structures.operators import Operator
from qdecomp.parsers.prompting import EXAMPLES, PHRASES, PromptExample, open_examples
from tests.cli_runs import refusal, run_qdecomp

run, refused = partial(run_qdecomp, "prompt"), partial(refusal, "prompt")

QUESTION = "which mugs are blue ?"


def test_a_prompt_has_the_question_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*QUESTION.split()) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"Question: {QUESTION}\nSteps:\n")
    assert shown.count("Question: ") == len(EXAMPLES) + 1
    assert all(phrase in shown for phrase, _ in PHRASES)


def test_examples_of_a_file_resemble_the_question(
    project_root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("bm25s")
    data = project_root / "data" / "train.csv"
    assert run(QUESTION, "--examples", data, "--k", "8") == 0
    assert capsys.readouterr().out.count("Question: ") == 9
    assert "none.csv: there is no such file" in refused(QUESTION, "--examples", tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("question_id,question_text,decomposition\n1,why ?,\n")
    told = refused(QUESTION, "--examples", tmp_path / "empty.csv")
    assert "there is no question with a decomposition in it" in told
    monkeypatch.setitem(sys.modules, "bm25s", None)
    open_examples.cache_clear()
    assert "pip install 'question-decomposition[llm]'" in refused(QUESTION, "--examples", data)


def test_bad_usage() -> None:
    assert "Missing argument" in refused()
    assert "--k 7: there are 6 examples; give a file with more" in refused(QUESTION, "--k", "7")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.question)
def test_an_answer_like_the_examples_is_read(example: PromptExample) -> None:
    answer = "\n".join(f"{number}. {step}" for number, step in enumerate(example.steps, start=1))
    reading = read_decomposition(answer)
    assert reading.steps == example.steps
    assert not any(step.approximate for step in to_logical_form(reading.qdmr).steps)


def test_the_phrases_are_read_as_one_of_each_operator() -> None:
    context = "return cubes ;return spheres ;return cones"
    forms = [to_logical_form(f"{context} ;return {phrase}").steps[-1] for phrase, _ in PHRASES]
    assert {form.operator for form in forms} == set(Operator)
    assert not any(form.approximate for form in forms)

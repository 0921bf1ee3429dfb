from __future__ import annotations

from functools import partial

import pytest

from qdecomp import read_decomposition, to_logical_form
from qdecomp.cli.prompt import EXAMPLES, PHRASES, PromptExample, prompt_for
from qdecomp.data_structures.operators import Operator
from tests.cli_runs import run_qdecomp

run = partial(run_qdecomp, "prompt")

QUESTION = "which mugs are blue ?"


def test_a_prompt_has_the_question_last(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(f"Question: {QUESTION}\nSteps:\n")
    assert shown.count("Question: ") == len(EXAMPLES) + 1
    assert all(phrase in shown for phrase, _ in PHRASES)


def test_words_without_quotes_are_one_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*QUESTION.split(), "--examples", "0") == 0
    assert capsys.readouterr().out == prompt_for(QUESTION, 0) + "\n"


@pytest.mark.parametrize("arguments", [(), (QUESTION, "--examples", "99")])
def test_bad_usage(arguments: tuple[str, ...]) -> None:
    assert run(*arguments) == 2


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

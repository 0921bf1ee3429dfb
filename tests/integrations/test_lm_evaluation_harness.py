"""The task runs in the real harness, with a model that knows its answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from qdecomp import evaluate
from tests.integrations.frameworks import require

require("lm_eval", "pip install lm_eval")

from lm_eval import simple_evaluate  # noqa: E402
from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

ROWS = """question_id,question_text,decomposition
X_1,How many red cubes are there?,return cubes ;return #1 that are red ;return number of #2
X_2,Which rivers are in Peru?,return rivers ;return #1 that are in Peru
"""
TRAINING = """question_id,question_text,decomposition
T_1,How many blue cubes are there?,return cubes ;return #1 that are blue ;return number of #2
T_2,Who wrote the song?,return song ;return writer of #1
"""
ANSWERS = {"How many red cubes are there?": "1. red cubes\n2. number of #1", "Which rivers are in Peru?": "1. lakes"}


class Knowing(LM):
    """Answers by the question at the end of a prompt, and keeps the prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    def generate_until(self, requests: list[Instance], **_: Any) -> list[str]:
        self.prompts = [request.args[0] for request in requests]
        return [ANSWERS[prompt.rsplit("Question: ", 1)[1].split("\n")[0]] for prompt in self.prompts]

    def loglikelihood(self, requests: list[Instance], **_: Any) -> list[tuple[float, bool]]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def run(task: str, project_root: Path) -> tuple[Knowing, dict[str, Any]]:
    model = Knowing()
    folder = str(project_root / "integrations" / "lm_evaluation_harness")
    manager = TaskManager(include_path=folder, include_defaults=False)
    result = simple_evaluate(model, tasks=[task], task_manager=manager, bootstrap_iters=0)
    sys.modules.pop("utils", None)
    return model, result


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dev.csv").write_text(ROWS)
    (tmp_path / "train.csv").write_text(TRAINING)
    monkeypatch.setenv("BREAK_DATA", str(tmp_path))


@pytest.mark.parametrize(("task", "example"), [("break_qdmr", "red mugs"), ("break_qdmr_retrieved", "blue cubes")])
def test_a_task_scores_answers_and_shows_its_examples(task: str, example: str, project_root: Path) -> None:
    model, result = run(task, project_root)
    scores = {name.partition(",")[0]: value for name, value in result["results"][task].items()}
    assert [scores[name] for name in ("lf_em", "lf_em_strict", "lf_eq", "exact_match")] == [0.5, 0.5, 0.5, 0.0]
    prompt = next(prompt for prompt in model.prompts if "red cubes" in prompt)
    assert example in prompt
    assert prompt.endswith("Question: How many red cubes are there?\nSteps:")
    samples = result["samples"][task]
    answers = [sample["filtered_resps"][0] for sample in samples]
    cited = evaluate([sample["doc"] for sample in samples], answers, "lf_em")
    assert cited["lf_em"].mean == 0.5
    assert cited.signature().startswith("LF-EM|n:2|mode:published|errors:wrong|read:any|")

"""The task's data, prompts and scores; all of it is qdecomp's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from datasets import Dataset

from qdecomp import read_decomposition
from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.evaluation.metrics import get_metric
from qdecomp.files import read_break_csv
from qdecomp.parsers.prompting import DEFAULT_EXAMPLES, EXAMPLES, open_examples, prompt_for

METRICS = ("lf_em", "lf_em_strict", "lf_eq", "em")


def load_break(**_: Any) -> dict[str, Dataset]:
    """Break's development rows that have a decomposition, from the folder that ``BREAK_DATA`` names."""
    rows = [
        {"question_id": row.question_id, "question": row.question, "decomposition": row.decomposition}
        for row in read_break_csv(_folder() / "dev.csv")
        if row.decomposition is not None
    ]
    return {"test": Dataset.from_list(rows)}


def _folder() -> Path:
    folder = os.environ.get("BREAK_DATA")
    if not folder:
        raise DataError("set BREAK_DATA to the folder of Break's train.csv and dev.csv")
    return Path(folder)


def prompt(doc: dict[str, Any]) -> str:
    """The prompt with the examples of ``qdecomp prompt``."""
    return prompt_for(doc["question"], EXAMPLES)


def prompt_with_retrieved_examples(doc: dict[str, Any]) -> str:
    """The prompt with the training rows that resemble the question, as ``qdecomp prompt --examples`` finds them."""
    find = open_examples(str(_folder() / "train.csv"))
    return prompt_for(doc["question"], find(doc["question"], DEFAULT_EXAMPLES))


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """The scores of an answer; one that cannot be read is wrong."""
    try:
        answer = read_decomposition(results[0]).text
    except QDecompError:
        answer = ""
    metrics = [get_metric(name) for name in METRICS]
    return {
        each.field_name: each.load()(doc["question"], answer, doc["decomposition"]).value or 0.0 for each in metrics
    }

"""Pairs of real predictions and gold, and what a reader said of some of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qdecomp.evaluation.metrics.lf_eq import lf_eq


@cache
def _pairs(path: Path) -> tuple[dict[str, Any], ...]:
    with path.open(encoding="utf-8") as stream:
        return tuple(json.loads(line) for line in stream)


@pytest.mark.parametrize("system", ["a", "b"])
def test_what_lf_em_calls_equal_is_equal(shared_path: Path, system: str) -> None:
    equal = [row for row in _pairs(shared_path / "reference" / f"lf_em_{system}.jsonl") if row["lf_em"]]
    results = [lf_eq(row["question"], row["prediction"], row["gold"]) for row in equal]
    # An ordinal has no meaning here; LF-EM takes it for a word.
    without_meaning = sum("ordinal" in (result.error or "") for result in results)
    assert without_meaning <= 0.01 * len(equal)
    different = sum(not result.verdict for result in results) - without_meaning
    assert different <= 0.005 * len(equal)


def _confusion(shared_path: Path, part: str) -> dict[tuple[bool, bool], int]:
    """How many labelled pairs have which label and which verdict."""
    labels = json.loads((Path(__file__).parent / "labels.json").read_text(encoding="utf-8"))[part]
    rows = {
        (system, row["question_id"]): row
        for system in ("a", "b")
        for row in _pairs(shared_path / "reference" / f"lf_em_{system}.jsonl")
    }
    counts = {(label, verdict): 0 for label in (True, False) for verdict in (True, False)}
    for system, question_id, label in labels:
        row = rows[system, question_id]
        counts[label, lf_eq(row["question"], row["prediction"], row["gold"]).verdict] += 1
    return counts


def test_a_reader_agrees_with_what_it_calls_equal(shared_path: Path) -> None:
    """Half of these pairs were drawn among those that it calls equal and LF-EM different, and labelled blind."""
    counts = _confusion(shared_path, "balanced")
    assert counts[True, True] >= 0.95 * (counts[True, True] + counts[False, True])


def test_few_of_a_random_sample_are_called_equal_wrongly(shared_path: Path) -> None:
    counts = _confusion(shared_path, "random")
    assert sum(counts.values()) == 200
    assert counts[False, True] <= 1
    assert counts[True, True] >= 3

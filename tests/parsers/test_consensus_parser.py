from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from qdecomp import load
from qdecomp.data_structures.errors import DataError

QUESTIONS = ["How many red cubes are left of the ball?", "", "Which cube is largest?"]


def write(folder: Path, value: Any) -> Path:
    path = folder / "consensus.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_the_consensus_of_a_parser_with_itself_is_its_answer(tmp_path: Path) -> None:
    members = [
        {"parser": "minilm_break", "candidates": 1},
        {"parser": "minilm_break", "candidates": 1, "weight": 2},
    ]
    parser = load(write(tmp_path, {"kind": "consensus", "parsers": members}))
    alone = load()
    for ours, theirs in zip(parser.pipe(QUESTIONS), alone.pipe(QUESTIONS), strict=True):
        assert bool(ours) == bool(theirs)
        assert ours.steps == theirs.steps
        assert ours.candidates == ()
    assert parser.parse("").error == "the question is empty"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "not a consensus"),
        ({"kind": "consensus", "parsers": []}, "not a consensus"),
        ({"kind": "consensus", "parsers": ["minilm_break"]}, "parser 1 must be an object"),
        ({"kind": "consensus", "parsers": [{"parser": "nowhere"}]}, "there is no parser 'nowhere'"),
        ({"kind": "consensus", "parsers": [{"parser": "consensus.json"}]}, "the consensus itself"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weigth": 1}]}, "'weigth'"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": "1"}]}, "not a number"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "weight": 0}]}, "not all 0"),
        ({"kind": "consensus", "parsers": [{"parser": "minilm_break", "candidates": 0}]}, "whole number"),
    ],
)
def test_a_file_that_is_no_consensus_is_said(tmp_path: Path, value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, value))


def test_it_takes_no_decoder(tmp_path: Path) -> None:
    path = write(tmp_path, {"kind": "consensus", "parsers": [{"parser": "minilm_break"}]})
    with pytest.raises(DataError, match="takes no decoder"):
        load(path, decoder="ilp")

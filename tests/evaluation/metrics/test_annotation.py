from __future__ import annotations

import gzip
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.metrics.annotation import (
    AnnotationFile,
    MissingAnnotationError,
    StepAnnotation,
    Token,
    annotation_from_json,
    annotation_to_json,
    read_annotations,
    step_key,
    write_annotations,
)

_RED = StepAnnotation(
    "red @@2@@",
    (Token("red", "JJ", "ADJ", "red", "amod", 1), Token("things", "NNS", "NOUN", "thing", "ROOT", 1)),
    ((1, 2),),
)
_WORDS = st.text(max_size=5)


@st.composite
def _annotations(draw: st.DrawFn) -> StepAnnotation:
    size = draw(st.integers(0, 5))
    tokens = tuple(Token(*draw(st.tuples(*[_WORDS] * 5)), draw(st.integers(0, size - 1))) for _ in range(size))
    places = draw(st.sets(st.integers(0, size - 1))) if size else set()
    references = tuple((place, draw(st.integers(0, 99))) for place in sorted(places))
    return StepAnnotation(draw(_WORDS), tokens, references, draw(st.booleans()))


@given(_annotations())
def test_json_and_back(annotation):
    assert annotation_from_json(json.loads(json.dumps(annotation_to_json(annotation)))) == annotation


@pytest.mark.parametrize(
    "value",
    [
        None,
        "red",
        ["red", False, {}],
        ["red", False, {}, [["red", "JJ"]]],
        ["red", False, {}, [["red", "JJ", "ADJ", "red", "amod", "x"]]],
        ["red", False, {}, [["red", "JJ", "ADJ", "red", "amod", 7]]],
        ["red", False, {"5": "@@1@@"}, [["red", "JJ", "ADJ", "red", "amod", 0]]],
        ["red", False, {"0": "one"}, [["red", "JJ", "ADJ", "red", "amod", 0]]],
        ["red", False, ["0"], [["red", "JJ", "ADJ", "red", "amod", 0]]],
    ],
)
def test_what_is_no_annotation_is_refused(value):
    with pytest.raises(DataError, match="not an annotated step"):
        annotation_from_json(value)


def test_the_line_of_a_bad_annotation_is_named(tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text(json.dumps(annotation_to_json(_RED)) + "\n[]\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"steps\.jsonl: line 2: not an annotated step"):
        read_annotations(path)


def test_a_compressed_file(tmp_path):
    path = tmp_path / "steps.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(annotation_to_json(_RED)).encode()))
    assert read_annotations(path) == {"red @@2@@": _RED}


def test_a_written_file_says_who_wrote_it(tmp_path):
    path = tmp_path / "steps.jsonl"
    write_annotations(path, [_RED], "model 1")
    assert read_annotations(path) == read_annotations(path, "model 1") == {"red @@2@@": _RED}
    assert read_annotations(path, "model 2") == {}


def test_a_file_that_does_not_say_who_wrote_it_is_not_trusted_as_a_cache(tmp_path):
    path = tmp_path / "steps.jsonl"
    path.write_text(json.dumps(annotation_to_json(_RED)), encoding="utf-8")
    assert read_annotations(path, "model 1") == {}


def test_a_step_that_the_file_lacks(tmp_path, caplog):
    path = tmp_path / "steps.jsonl"
    write_annotations(path, [_RED], "model 1")
    alone = AnnotationFile(path)
    assert alone.annotate("red @@2@@") == _RED
    with pytest.raises(MissingAnnotationError, match=r"steps\.jsonl has no annotation of the step 'blue'"):
        alone.annotate("blue")

    prepared = []

    class Other:
        def prepare(self, steps):
            prepared.extend(steps)

        def annotate(self, step):
            return StepAnnotation(step, ())

    helped = AnnotationFile(path, fallback=Other())
    with caplog.at_level(logging.WARNING):
        helped.prepare(["red @@2@@", "blue", "blue"])
    assert prepared == ["blue"]
    assert "lacks 1 of the steps" in caplog.text
    assert helped.annotate("blue") == StepAnnotation("blue", ())
    assert helped.annotate("red @@2@@") == _RED


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        AnnotationFile(tmp_path / "none.jsonl")


def test_key():
    assert step_key("  The  Red\tBalls ") == "the red balls"

from __future__ import annotations

import pickle

import pytest

from qdecomp.data_structures.errors import (
    AlignmentError,
    DataError,
    ErrorText,
    GraphError,
    InternalError,
    QDecompError,
    QdmrSyntaxError,
    Reason,
    StepError,
    as_internal_errors,
    is_internal,
    patterns_of,
)
from qdecomp.data_structures.operators import Operator
from qdecomp.data_structures.qdmr import parse_qdmr

LONG = "it selects by words that the question does not have"


@pytest.mark.parametrize(
    ("error", "kind", "pattern"),
    [
        (
            QdmrSyntaxError(Reason("refers to itself (#{})", 2), 2),
            "qdmr: refers to itself",
            "step N: refers to itself (#N)",
        ),
        (AlignmentError(Reason(LONG + ": {}", "cubes"), 1), f"alignment: {LONG}", f"alignment: step N: {LONG}: …"),
        (
            GraphError("dependency graph", Reason("{} roots: at {}", 2, "1, 4")),
            "dependency graph: N roots",
            "dependency graph: N roots: at …",
        ),
        (
            GraphError("tag", Reason("{}: goes to the right", "1 to 2")),
            "tag: goes to the right",
            "tag: …: goes to the right",
        ),
        (StepError(Reason("{} has no {!r}", Operator.FILTER, "x")), "filter has no …", "filter has no …"),
        (DataError("there is no decomposition"), "there is no decomposition", "there is no decomposition"),
    ],
)
def test_errors_of_one_kind_are_counted_together(error: QDecompError, kind: str, pattern: str) -> None:
    assert (error.kind, error.pattern) == (kind, pattern)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.kind, copied.pattern) == (str(error), kind, pattern)


def test_a_cycle_has_one_kind_whatever_its_length() -> None:
    with pytest.raises(QdmrSyntaxError) as caught:
        parse_qdmr("return a #2 ;return b #3 ;return c #1")
    assert str(caught.value) == "step 1: its references form a cycle (#1 → #3 → #2 → #1)"
    assert caught.value.pattern == "step N: its references form a cycle (#N → …)"


def test_the_sides_of_a_result_are_counted_apart() -> None:
    text = ErrorText.of(StepError("no root", 3).of("prediction"), DataError("refers to “x; gold: y”").of("gold"))
    assert text == "prediction: step 3: no root; gold: refers to “x; gold: y”"
    assert text.sides == ("prediction", "gold")
    assert patterns_of(text) == ("prediction: step N: no root", "gold: refers to “x; gold: y”")
    assert patterns_of(pickle.loads(pickle.dumps(text))) == patterns_of(text)


def test_an_internal_error_says_how_and_where_in_one_line() -> None:
    with pytest.raises(InternalError) as caught, as_internal_errors():
        raise KeyError("two\nlines")
    error = caught.value
    assert error.place.startswith("test_errors.py:")
    assert str(error) == f"internal error, please report it: KeyError in {error.place}: 'two\\nlines'"
    assert error.kind == error.pattern == f"internal error, please report it: KeyError in {error.place}"
    assert is_internal(pickle.loads(pickle.dumps(ErrorText.of(error))))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_what_is_raised_on_purpose_stays_as_it_is() -> None:
    with pytest.raises(DataError, match="no such row") as caught, as_internal_errors():
        raise DataError("no such row")
    assert not is_internal(ErrorText.of(caught.value))


def test_words_of_data_make_no_internal_error() -> None:
    assert not is_internal("internal error, please report it: KeyError in a.py:1")


def test_a_kill_is_no_internal_error() -> None:
    with pytest.raises(KeyboardInterrupt), as_internal_errors():
        raise KeyboardInterrupt

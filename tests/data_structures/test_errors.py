from __future__ import annotations

import pickle

import pytest

from qdecomp.data_structures.errors import (
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

LONG = "it selects by words that the question does not have"


@pytest.mark.parametrize(
    ("error", "kind", "pattern"),
    [
        (
            QdmrSyntaxError(Reason("refers to itself (#{})", 2), 2),
            "qdmr: refers to itself",
            "step N: refers to itself (#N)",
        ),
        (
            GraphError("alignment", Reason(LONG + ": {}", "cubes"), 1),
            f"alignment: {LONG}",
            f"alignment: step N: {LONG}: …",
        ),
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
        (
            QdmrSyntaxError(Reason("its references form a cycle (#{} → {})", 1, "#2"), 1),
            "qdmr: its references form a cycle",
            "step N: its references form a cycle (#N → …)",
        ),
        (StepError(Reason("{} has no {!r}", Operator.FILTER, "x")), "filter has no …", "filter has no …"),
        (DataError("there is no decomposition"), "there is no decomposition", "there is no decomposition"),
    ],
)
def test_errors_of_one_kind_are_counted_together(error: QDecompError, kind: str, pattern: str) -> None:
    assert (error.kind, error.pattern) == (kind, pattern)
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.kind, copied.pattern) == (str(error), kind, pattern)


def test_the_sides_of_a_result_are_counted_apart() -> None:
    text = ErrorText.of(StepError("no root", 3).of("prediction"), DataError("refers to “x; gold: y”").of("gold"))
    for each in (text, pickle.loads(pickle.dumps(text))):
        assert each == "prediction: step 3: no root; gold: refers to “x; gold: y”"
        assert each.sides == ("prediction", "gold")
        assert patterns_of(each) == ("prediction: step N: no root", "gold: refers to “x; gold: y”")


def test_an_internal_error_says_how_and_where_in_one_line() -> None:
    with pytest.raises(InternalError) as caught, as_internal_errors():
        raise KeyError("two\nlines")
    error = caught.value
    assert error.place.startswith("test_errors.py:")
    assert str(error) == f"internal error, please report it: KeyError in {error.place}: 'two\\nlines'"
    assert error.kind == error.pattern == f"internal error, please report it: KeyError in {error.place}"
    assert is_internal(pickle.loads(pickle.dumps(ErrorText.of(error))))
    assert not is_internal(str(error))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("no such row")])
def test_a_kill_and_what_is_raised_on_purpose_are_no_internal_errors(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, as_internal_errors():
        raise error
    assert caught.value is error

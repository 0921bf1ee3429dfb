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


@pytest.mark.parametrize(
    ("error", "kind", "pattern"),
    [
        (QdmrSyntaxError(Reason("not itself (#{})", 2), 2), "qdmr: not itself", "step N: not itself (#N)"),
        (QdmrSyntaxError(Reason("a cycle (#{} → {})", 1, "#2"), 1), "qdmr: a cycle", "step N: a cycle (#N → …)"),
        (GraphError("alignment", Reason("none: {}", "x"), 1), "alignment: none", "alignment: step N: none: …"),
        (GraphError("graph", Reason("{} roots: at {}", 2, "1, 4")), "graph: N roots", "graph: N roots: at …"),
        (GraphError("tag", Reason("{}: goes right", "1 to 2")), "tag: goes right", "tag: …: goes right"),
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

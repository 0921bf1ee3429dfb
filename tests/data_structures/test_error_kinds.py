from __future__ import annotations

import pytest

from qdecomp.data_structures.error_kinds import kind_of_error, kinds_in_message
from qdecomp.data_structures.errors import AlignmentError, DataError, GraphError, QDecompError, QdmrSyntaxError
from qdecomp.data_structures.mistakes import OurMistakeError


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (QdmrSyntaxError("refers to itself (#2)", 2), "qdmr: refers to itself"),
        (
            AlignmentError("it selects by words that the question does not have: cubes", 1),
            "alignment: it selects by words that the question does not have",
        ),
        (
            GraphError("dependency graph", "2 roots: nothing refers to the nodes of tokens 1, 4"),
            "dependency graph: N roots",
        ),
        (DataError("there is no decomposition"), "there is no decomposition"),
        (OurMistakeError("IndexError in a.py:3", "string index"), OurMistakeError("IndexError in a.py:3").reason),
    ],
)
def test_errors_of_one_kind_are_counted_together(error: QDecompError, kind: str) -> None:
    assert kind_of_error(error) == kind


def test_the_reasons_of_both_sides_are_counted_apart() -> None:
    assert kinds_in_message("gold: step 1: a circle (#1 → #2 → #1)") == ("gold: step N: a circle (#N → …)",)
    assert kinds_in_message("prediction: no root; gold: refers to “x; y”") == (
        "prediction: no root",
        "gold: refers to …",
    )

from __future__ import annotations

import pytest

from qdecomp import Decomposition
from qdecomp.integrations.asked_steps import named_things


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Mira Tovan", True),
        ("the Bears", True),
        ("The", True),
        ("1999", True),
        ("cubes", False),
        ("the large sphere", False),
        ("rivers in Texas", False),
        ("Texas rivers", False),
    ],
)
def test_a_name_needs_no_looking_up(text: str, named: bool) -> None:
    assert (named_things(Decomposition.of_text("", f"return {text}").plan()) == {1: text}) is named


def test_a_step_that_refers_to_another_is_no_name() -> None:
    plan = Decomposition.of_text("", "return Norland ;return Capital of #1").plan()
    assert named_things(plan) == {1: "Norland"}

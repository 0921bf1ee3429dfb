from __future__ import annotations

from qdecomp.decoding.choices import EdgeChoice
from qdecomp.decoding.constraints import CONSTRAINTS, Arcs
from tests.decoding.decoding_examples import TOKENS


def test_every_row_has_a_name_of_its_own_and_a_meaning():
    assert len({constraint.name for constraint in CONSTRAINTS}) == len(CONSTRAINTS)
    assert all(constraint.meaning for constraint in CONSTRAINTS)


def test_arcs_are_found_by_tag_and_end():
    arcs = Arcs(
        TOKENS,
        [
            (EdgeChoice(2, 3, "span"), "a"),
            (EdgeChoice(7, 4, "duplicate&filter-sub"), "b"),
            (EdgeChoice(7, 3, "filter-condition"), "c"),
            (EdgeChoice(1, 2, "nonsense"), "d"),
        ],
    )
    assert arcs.positions == [1, 2, 3, 4, 7]
    assert [arc.literal for arc in arcs.leaving(2, "span")] == ["a"]
    assert [arc.literal for arc in arcs.entering(3, "span")] == ["a"]
    assert [arc.literal for arc in arcs.leaving(7, "duplicate")] == ["b"]
    assert [arc.literal for arc in arcs.references_from(7)] == ["b", "c"]
    assert [arc.literal for arc in arcs.references_to(3)] == ["c"]
    ((position, operator, references),) = arcs.steps()
    assert (position, str(operator), len(references)) == (7, "filter", 2)

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from hypothesis import given, settings

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.visualization import steps_svg
from qdecomp.visualization.steps_svg import step_texts
from tests.strategies import logical_forms
from tests.visualization.examples import HOSTILE
from tests.visualization.test_graph_svg import of_class

DECOMPOSITION = "return cubes ;return #1 that are red ;return number of #2 for each #1"


@settings(deadline=None)
@given(logical_forms())
def test_any_form_is_well_formed_with_all_steps_and_references(form: LogicalForm) -> None:
    picture = ElementTree.fromstring(steps_svg(form))
    assert len(of_class(picture, "qd-box")) == len(form)
    assert len(of_class(picture, "qd-reference")) == sum(len(set(step.references)) for step in form.steps)
    headings = [heading.text or "" for heading in of_class(picture, "qd-operator")]
    assert [heading.split()[2] for heading in headings] == [step.operator.value for step in form.steps]


def test_boxes_show_number_operator_and_text() -> None:
    picture = ElementTree.fromstring(steps_svg(to_logical_form(DECOMPOSITION)))
    assert [each.text for each in of_class(picture, "qd-operator")] == ["1 · select", "2 · filter", "3 · group [count]"]
    assert [each.text for each in of_class(picture, "qd-step")] == [
        "cubes",
        "#1 that are red",
        "number of #2 for each #1",
    ]
    assert (picture[0].text or "").startswith("Decomposition in 3 steps: cubes; ")


def test_texts_are_those_that_were_written_if_there_are_as_many() -> None:
    form = to_logical_form("return the cubes , balls ;return how many #1 there are")
    assert step_texts(form, "return the cubes , balls ;return how many #1") == ("the cubes, balls", "how many #1")
    assert step_texts(form, "return cubes") == step_texts(form, None) == step_texts(form)
    assert len(step_texts(form)) == 2


def test_long_texts_are_wrapped_and_markup_is_escaped() -> None:
    form = to_logical_form(f"return {HOSTILE} {'word ' * 30}")
    picture = steps_svg(form)
    assert "<script" not in picture
    lines = [line.text or "" for line in of_class(ElementTree.fromstring(picture), "qd-step")]
    assert 3 <= len(lines) <= 8
    assert HOSTILE.split("alert")[0] in lines[0]

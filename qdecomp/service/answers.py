"""The bodies of answers, made from decompositions and scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qdecomp.data_structures.dependency_graph import dependency_graph_to_json
from qdecomp.data_structures.errors import QDecompError, as_internal_errors
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import check_length
from qdecomp.parsers.decomposition import Decomposition, decomposition_from_text, failed_decomposition
from qdecomp.planning import Plan
from qdecomp.visualization import graph_svg, steps_svg
from qdecomp.visualization.steps_svg import step_texts

__all__ = ["answer_from_decomposition", "converted"]


def answer_from_decomposition(
    decomposition: Decomposition, *, graph: bool = False, pictures: bool = False
) -> dict[str, Any]:
    """The prediction record with its steps and its plan and, if requested, its graph and its pictures."""
    answer = decomposition.to_dict()
    answer["confidence"] = decomposition.confidence if decomposition else None
    answer |= {"warnings": list(decomposition.warnings), "steps": [], "plan": None}
    try:
        with as_internal_errors():
            plan = decomposition.plan() if decomposition.logical_form is not None else None
            answer |= _plan_answer(plan, decomposition)
            if graph or pictures:
                answer |= _graph_answer(decomposition)
            if pictures:
                answer["pictures"] = _pictures(decomposition)
    except QDecompError as error:
        answer["error"] = answer["error"] or str(error)
    return answer


def converted(question: str, written: str | list[str], *, pictures: bool = False) -> dict[str, Any]:
    """What a user's steps mean: as for a parser's, with the form in which they were read."""
    form: str | None = None
    try:
        with as_internal_errors():
            check_length(question)
            reading = read_decomposition(written)
            form, decomposition = reading.form, decomposition_from_text(question, reading.text)
    except QDecompError as error:
        decomposition = failed_decomposition(question, error)
    answer = answer_from_decomposition(decomposition, graph=True, pictures=pictures)
    return answer | {"read_as": form}


def _plan_answer(plan: Plan | None, decomposition: Decomposition) -> dict[str, Any]:
    form = decomposition.logical_form
    if plan is None or form is None:
        return {"steps": [], "plan": None}
    steps = [
        {
            "number": step.number,
            "text": step.text,
            "question": str(step.question()),
            "resolved": step.resolved,
            "operator": logical.operator.value,
            "properties": list(logical.properties),
            "needs": list(step.needs),
        }
        for step, logical in zip(plan.steps, form.steps, strict=True)
    ]
    levels = [[step.number for step in level] for level in plan]
    return {"steps": steps, "plan": {"levels": levels, "final": plan.final.number}}


def _graph_answer(decomposition: Decomposition) -> dict[str, Any]:
    graph = decomposition.graph
    return {
        "graph": None if graph is None else dependency_graph_to_json(graph),
        "graph_error": decomposition.graph_error,
    }


def _pictures(decomposition: Decomposition) -> Mapping[str, str | None]:
    form, graph = decomposition.logical_form, decomposition.graph
    texts = None if form is None else step_texts(form, decomposition.text)
    return {
        "steps": None if form is None else _drawn(lambda: steps_svg(form, texts=texts)),
        "graph": None if graph is None else _drawn(lambda: graph_svg(graph)),
    }


def _drawn(draw: Callable[[], str]) -> str | None:
    """The picture, or None if there is too much to draw."""
    try:
        return draw()
    except QDecompError:
        return None

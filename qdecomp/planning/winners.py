"""What wins a comparison: "which is highest of #3 , #4" asks for the thing that the highest number is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.planning.answer_values import as_list, as_number, single

if TYPE_CHECKING:
    from qdecomp.planning.combining import Known
    from qdecomp.planning.plan import PlanStep


def winners(numbers: Sequence[int], chosen: Sequence[bool], known: Known) -> Any:
    """What the chosen ones of these steps are about, each by its answer or in words."""
    found = []
    for place, number in enumerate(numbers):
        if chosen[place]:
            others = {number for number in numbers if number != numbers[place]}
            shared = others.union(*(known.below(other) for other in others))
            found.append(_about(number, shared, known))
    return single(found)


def _about(number: int, shared: set[int], known: Known) -> Any:
    """The nearest thing below a step: of "population of #3", the answer of #3 if that is one thing.

    Numbers and truth values are measured on what is below them, and so are things that are only counted. If there is
    no such thing, the words of the measured step say what it is about.
    """
    measured = None
    for step, is_counted in _chain(number, shared, known):
        answer = single(known.answers[step.number])
        if not is_counted and _is_one_thing(answer):
            return answer
        if measured is None and not _is_measurement(answer):
            measured = step
    return (measured or step).resolved


def _chain(number: int, shared: set[int], known: Known) -> Iterator[tuple[PlanStep, bool]]:
    """The step and those below it, one after another, each with whether its members are only counted.

    A step that the other side also needs cannot distinguish the two: if there are more red cubes than blue ones, the
    answer is not "cubes". So the chain ends above it.
    """
    is_counted = False
    while True:
        step = known.steps[number]
        yield step, is_counted
        if len(step.needs) != 1 or step.needs[0] in shared:
            return
        (number,) = step.needs
        # "#2 that were won" has members of #2, and they are counted together with it.
        narrows = step.operator is not None and OPERATORS[step.operator].narrows
        is_counted = _counts(step) or (is_counted and narrows)


def _counts(step: PlanStep) -> bool:
    logical = step.logical
    return logical is not None and logical.operator is Operator.AGGREGATE and "count" in logical.properties


def _is_one_thing(answer: Any) -> bool:
    return as_list(answer) is None and not isinstance(answer, Mapping) and not _is_measurement(answer)


def _is_measurement(answer: Any) -> bool:
    members = list(answer.values()) if isinstance(answer, Mapping) else as_list(answer)
    if members is None:
        return isinstance(answer, bool) or as_number(answer) is not None
    return bool(members) and all(map(_is_measurement, members))

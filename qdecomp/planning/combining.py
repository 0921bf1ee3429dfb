"""Steps that can be computed: counts, unions, comparisons, arithmetic and the like over known answers.

Every operator that can be computed is a row of :data:`COMBINERS`. A combiner gets the step and the answers, and raises
:class:`MustAskError` if their types do not allow it: the highest of names, or an attribute that does not belong to the
members of its list one by one. The step is then asked like any other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.logical_form import Argument, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator, row_of
from qdecomp.data_structures.qdmr import reference_number
from qdecomp.planning.answer_values import (
    Measure,
    as_key,
    as_list,
    as_measure,
    as_number,
    as_text,
    compare,
    comparison_in,
    single,
    tidy,
    unique,
)

if TYPE_CHECKING:
    from qdecomp.planning.plan import PlanStep

_DESCENDING = re.compile(r"\b(?:desc|descending|decreasing)\b", re.IGNORECASE)
_ORDER_WORDS = re.compile(
    r"(?:(?:in|the|an?|asc|ascending|increasing|desc|descending|decreasing|order)\s*)*", re.IGNORECASE
)


class MustAskError(Exception):
    """A step cannot be computed from these answers, so it has to be asked."""


@dataclass(frozen=True, slots=True)
class Known:
    """The steps of a plan by number, and the answers so far."""

    steps: Mapping[int, PlanStep]
    answers: Mapping[int, Any]

    def of(self, argument: Argument) -> Any:
        """What an argument stands for: the answer of the step that it names, or the number that it says."""
        if len(argument.tokens) == 1:
            (token,) = argument.tokens
            number = reference_number(token)
            value = as_number(token) if number is None else self.answers[number]
            if value is not None:
                return value
        raise MustAskError

    def members(self, argument: Argument) -> list[Any]:
        """The members of the list that an argument stands for."""
        return _known(as_list(self.of(argument)))

    def below(self, number: int) -> set[int]:
        """The steps that a step needs, all the way down."""
        found: set[int] = set()
        open_ = [number]
        while open_:
            new = set(self.steps[open_.pop()].needs) - found
            found |= new
            open_ += new
        return found

    def source(self, number: int) -> int:
        """The step whose members these are: "#1 in Asia" and "#2 where #3 is highest" give members of #1."""
        step = self.steps[number]
        while step.operator is not None and OPERATORS[step.operator].narrows and len(step.needs) == 1:
            (number,) = step.needs
            step = self.steps[number]
        return number


_Value = TypeVar("_Value")
Combiner = Callable[[LogicalStep, "PlanStep", Known], Any]
COMBINERS: dict[Operator, Combiner] = {}
"""The operators that can be computed, each with the function that does."""


def is_combined(step: PlanStep) -> bool:
    """Whether a step is computed from its answers, as long as their types allow it."""
    logical = step.logical
    if logical is None or logical.approximate or logical.operator not in COMBINERS:
        return False
    if logical.operator in (Operator.SELECT, Operator.FILTER):
        # A number, or a step that only repeats another.
        return as_number(step.text) is not None or (logical.operator is Operator.FILTER and len(step.text.split()) == 1)
    return True


def combine(step: PlanStep, known: Known) -> Any:
    """The answer of a step from those of others; :class:`MustAskError` if it cannot be computed."""
    logical = step.logical
    if logical is not None and _is_about_nothing(logical, known):
        return []
    if logical is None or not is_combined(step):
        raise MustAskError
    return COMBINERS[logical.operator](logical, step, known)


def _is_about_nothing(logical: LogicalStep, known: Known) -> bool:
    """Whether a step selects from, or asks about, the members of an empty list."""
    if logical.operator not in (Operator.FILTER, Operator.PROJECT):
        return False
    answers = [known.answers[number] for argument in logical.argument("sub") for number in argument.references]
    return bool(answers) and all(answer == [] for answer in map(as_list, answers))


@row_of(COMBINERS, Operator.SELECT, Operator.FILTER)
def _constant(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    return as_number(step.text) if logical.operator is Operator.SELECT else known.answers[step.needs[0]]


@row_of(COMBINERS, Operator.AGGREGATE)
def _aggregate(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    return _aggregated(_the(logical.properties), known.of(_the(logical.arguments)))


def _aggregated(name: str, answer: Any) -> Any:
    members = list(answer.values()) if isinstance(answer, Mapping) else _known(as_list(answer))
    if name == "count":
        return len(members)
    numbers, unit = _numbers(members)
    if name != "sum" and not numbers:
        # An empty list has no highest, lowest or average.
        return []
    if name in ("max", "min"):
        best = members[numbers.index((max if name == "max" else min)(numbers))]
        return single(best) if unit else tidy(as_number(best))
    return _result(sum(numbers) if name == "sum" else sum(numbers) / len(numbers), unit)


@row_of(COMBINERS, Operator.GROUP)
def _group(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    keys = _the(logical.argument("key"))
    groups = _by_member(keys, _the(logical.argument("value")), known)
    results = [_aggregated(_the(logical.properties), group) for group in groups]
    members = known.members(keys)
    are_names = all(isinstance(each, str) for each in members) and len(set(members)) == len(members)
    return dict(zip(members, results, strict=True)) if are_names else results


@row_of(COMBINERS, Operator.SUPERLATIVE)
def _superlative(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, attribute = _the(logical.argument("sub")), _the(logical.argument("attribute"))
    numbers, _ = _numbers(_by_member(sub, attribute, known))
    best = (max if _the(logical.properties) == "max" else min)(numbers, default=None)
    chosen = [member for member, number in zip(known.members(sub), numbers, strict=True) if number == best]
    return single(chosen)


@row_of(COMBINERS, Operator.COMPARATIVE)
def _comparative(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, attribute = _the(logical.argument("sub")), _the(logical.argument("attribute"))
    holds = _comparison_of(step, known)
    pairs = zip(known.members(sub), _by_member(sub, attribute, known), strict=True)
    return [member for member, value in pairs if holds(value)]


@row_of(COMBINERS, Operator.BOOLEAN)
def _boolean(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    values = [known.of(argument) for argument in logical.argument("sub")]
    name = _the(logical.properties) if logical.properties else ""
    if not values or (name == "if-exists" and logical.argument("condition")):
        raise MustAskError
    if name == "if-exists":
        return bool(_known(as_list(values[0])))
    if name.startswith(("and-", "or-")):
        hits = [value is name.endswith("true") for value in _truths(values)]
        return all(hits) if name.startswith("and-") else any(hits)
    return _comparison_of(step, known)(values[0])


def _comparison_of(step: PlanStep, known: Known) -> Callable[[Any], bool]:
    """Whether a value has the relation that a step names to what it compares with."""
    relation, term = _known(comparison_in(step.text))
    number = reference_number(term)
    limit = term if number is None else known.answers[number]
    return lambda value: _known(compare(relation, value, limit, is_literal=number is None))


@row_of(COMBINERS, Operator.COMPARISON)
def _comparison(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    arguments, name = logical.argument("arg"), _the(logical.properties)
    values = [known.of(argument) for argument in arguments]
    if name in ("true", "false"):
        chosen = [value is (name == "true") for value in _truths(values)]
    elif name in ("max", "min"):
        numbers, _ = _numbers(values)
        best = (max if name == "max" else min)(numbers)
        chosen = [number == best for number in numbers]
    else:
        raise MustAskError
    return _winners([argument.references[0] for argument in arguments], chosen, known)


def _winners(numbers: Sequence[int], chosen: Sequence[bool], known: Known) -> Any:
    """What the chosen ones of these steps are about: "which is highest of #3 , #4" asks for a thing, not a number."""
    found = []
    for number in (number for number, is_chosen in zip(numbers, chosen, strict=True) if is_chosen):
        others = {*numbers} - {number}
        found.append(_about(number, others.union(*map(known.below, others)), known))
    return single(found)


def _about(number: int, shared: set[int], known: Known) -> Any:
    """The nearest thing below a step: of "population of #3", the answer of #3 if that is one thing.

    Numbers and truth values are measured on what is below them, and so are things that are only counted. If there is
    no such thing, the words of the measured step say what it is about.
    """
    measured = None
    for step, is_counted in _chain(number, shared, known):
        answer = single(known.answers[step.number])
        is_one_thing = as_list(answer) is None and not isinstance(answer, Mapping) and not _is_measurement(answer)
        if is_one_thing and not is_counted:
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
        counts = step.operator is Operator.AGGREGATE and step.logical and "count" in step.logical.properties
        is_counted = bool(counts) or (is_counted and narrows)


def _is_measurement(answer: Any) -> bool:
    members = list(answer.values()) if isinstance(answer, Mapping) else as_list(answer)
    if members is None:
        return isinstance(answer, bool) or as_measure(answer) is not None
    return bool(members) and all(map(_is_measurement, members))


@row_of(COMBINERS, Operator.UNION)
def _union(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    return unique(each for argument in logical.argument("sub") for each in _one_or_several(known.of(argument)))


@row_of(COMBINERS, Operator.INTERSECTION)
def _intersection(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    first, *others = map(known.members, logical.argument("intersect"))
    if not _are_of_one_kind(logical, known):
        raise MustAskError
    kept = [set(map(as_key, other)) for other in others]
    return unique(member for member in first if all(as_key(member) in keys for keys in kept))


def _are_of_one_kind(logical: LogicalStep, known: Known) -> bool:
    """Whether the lists hold what is asked for: "rivers in both #2 and #3" may also be about two lists of states."""
    sources = {known.source(number) for argument in logical.argument("intersect") for number in argument.references}
    for projection in logical.argument("projection"):
        if projection.references:
            return sources == {known.source(number) for number in projection.references}
        wanted = projection.words[-1].lower()
        if not all(wanted in known.steps[number].resolved.lower().split() for number in sources):
            return False
    return True


@row_of(COMBINERS, Operator.DISCARD)
def _discard(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    members = known.members(_the(logical.argument("sub")))
    excluded = set(map(as_key, _one_or_several(known.of(_the(logical.argument("exclude"))))))
    return [member for member in members if as_key(member) not in excluded]


@row_of(COMBINERS, Operator.SORT)
def _sort(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, order = _the(logical.argument("sub")), _the(logical.argument("order"))
    words = " ".join(order.words)
    if not _ORDER_WORDS.fullmatch(words):
        raise MustAskError
    by = Argument("order", (f"#{_the(order.references)}",))
    members = known.members(sub)
    values = members if sub.references == by.references else _by_member(sub, by, known)
    keys: list[Any]
    try:
        keys, _ = _numbers(values)
    except MustAskError:
        keys = [as_text(value).casefold() for value in values]
    places = sorted(range(len(members)), key=keys.__getitem__, reverse=bool(_DESCENDING.search(words)))
    return [members[place] for place in places]


@row_of(COMBINERS, Operator.ARITHMETIC)
def _arithmetic(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    measures = [_known(as_measure(known.of(argument))) for argument in logical.arguments]
    numbers, units = [each.number for each in measures], [each.unit for each in measures]
    name = _the(logical.properties)
    if len(numbers) < 2 or (name in ("diff", "div") and len(numbers) > 2):
        raise MustAskError
    if name == "multiply":
        # A share of something, or an area of lengths, has another unit than its factors.
        return _result(math.prod(numbers), "".join(units) if sum(map(bool, units)) < 2 and "%" not in units else None)
    if name == "div":
        if numbers[1] == 0:
            raise DataError(f"step {step.number}: {measures[0]} cannot be divided by zero")
        # A ratio has no unit between equal ones, and that of the dividend over a plain number.
        return _result(numbers[0] / numbers[1], "" if units[0] == units[1] else None if units[1] else units[0])
    _the(set(units))
    if name == "diff" and units[0] == "date":
        return _result(numbers[0] - numbers[1], "days")
    return _result(numbers[0] - numbers[1] if name == "diff" else sum(numbers), units[0])


def _result(number: Any, unit: str | None) -> Any:
    """A computed number, with its unit as text; a unit that is not known is not guessed."""
    if unit is None or unit.startswith("date"):
        raise MustAskError
    if isinstance(number, float):
        # The last digits of a sum of decimal fractions are noise.
        number = float(f"{number:.15g}")
    return str(Measure(number, unit)) if unit else tidy(number)


def _by_member(sub: Argument, attribute: Argument, known: Known) -> list[Any]:
    """The attribute of each member of a list: from a mapping, or from a list that was asked about those members."""
    members, values = known.members(sub), known.of(attribute)
    if isinstance(values, Mapping):
        by_key = {as_key(key): value for key, value in values.items()}
        keys = list(map(as_key, members))
        if all(key in by_key for key in keys):
            return [by_key[key] for key in keys]
    # A set says nothing about which of its members belongs to which.
    elif (
        sub.references
        and not isinstance(values, Set)
        and any(sub.references[0] in known.below(number) for number in attribute.references)
    ):
        several = as_list(values)
        if several is not None and len(several) == len(members):
            return several
    raise MustAskError


def _numbers(values: Iterable[Any]) -> tuple[list[Any], str]:
    """The numbers of measures that have one unit, and the unit."""
    measures = [_known(as_measure(value)) for value in values]
    units = {each.unit for each in measures} or {""}
    return [each.number for each in measures], _the(units)


def _truths(values: Iterable[Any]) -> list[bool]:
    truths = [single(value) for value in values]
    if not all(isinstance(truth, bool) for truth in truths):
        raise MustAskError
    return truths


def _one_or_several(answer: Any) -> list[Any]:
    if isinstance(answer, Mapping):
        raise MustAskError
    several = as_list(answer)
    return [answer] if several is None else several


def _known(value: _Value | None) -> _Value:
    if value is None:
        raise MustAskError
    return value


def _the(several: Collection[_Value]) -> _Value:
    """The only one."""
    if len(several) != 1:
        raise MustAskError
    return next(iter(several))

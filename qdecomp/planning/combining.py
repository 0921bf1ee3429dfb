"""Steps that can be computed: counts, unions, comparisons, arithmetic and the like over known answers.

Every operator that can be computed is a row of :data:`COMBINERS`. A combiner gets the step and the answers, and returns
:data:`ASK` if their types do not allow it: the highest of names, or an attribute that does not belong to the members of
its list one by one. The step is then asked like any other.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.logical_form import Argument, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator, row_of
from qdecomp.data_structures.qdmr import reference_number
from qdecomp.planning.answer_values import (
    as_key,
    as_list,
    as_number,
    as_text,
    compare,
    comparison_in,
    single,
    tidy,
    unique,
)
from qdecomp.planning.winners import winners

if TYPE_CHECKING:
    from qdecomp.planning.plan import PlanStep


ASK: Final = object()
"""What a combiner returns if the step has to be asked."""

_DESCENDING = re.compile(r"\b(?:desc|descending|decreasing)\b", re.IGNORECASE)
_ORDER_WORDS = re.compile(
    r"(?:(?:in|the|an?|asc|ascending|increasing|desc|descending|decreasing|order)\s*)*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Known:
    """The steps of a plan by number, and the answers so far."""

    steps: Mapping[int, PlanStep]
    answers: Mapping[int, Any]

    def of(self, argument: Argument | None) -> Any:
        """What an argument stands for: the answer of the step that it names, or the number that it says, else ASK."""
        if argument is None or len(argument.tokens) != 1:
            return ASK
        number = reference_number(argument.tokens[0])
        if number is not None:
            return self.answers[number]
        value = as_number(argument.tokens[0])
        return ASK if value is None else value

    def below(self, number: int) -> set[int]:
        """The steps that a step needs, all the way down."""
        found: set[int] = set()
        open_ = [number]
        while open_:
            for other in self.steps[open_.pop()].needs:
                if other not in found:
                    found.add(other)
                    open_.append(other)
        return found

    def source(self, number: int) -> int:
        """The step whose members these are: "#1 in Asia" and "#2 where #3 is highest" give members of #1."""
        step = self.steps[number]
        while step.operator is not None and OPERATORS[step.operator].narrows and len(step.needs) == 1:
            (number,) = step.needs
            step = self.steps[number]
        return number


Combiner = Callable[[LogicalStep, "PlanStep", Known], Any]
_ROWS: dict[Operator, Combiner] = {}


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
    """The answer of a step from those of others, or ASK."""
    logical = step.logical
    if logical is None:
        return ASK
    if _is_about_nothing(logical, known):
        return []
    return COMBINERS[logical.operator](logical, step, known) if is_combined(step) else ASK


def _is_about_nothing(logical: LogicalStep, known: Known) -> bool:
    """Whether a step selects from, or asks about, the members of an empty list."""
    if logical.operator not in (Operator.FILTER, Operator.PROJECT):
        return False
    answers = [known.answers[number] for argument in logical.argument("sub") for number in argument.references]
    return bool(answers) and all(answer == [] for answer in map(as_list, answers))


@row_of(_ROWS, Operator.SELECT, Operator.FILTER)
def _constant(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    return as_number(step.text) if logical.operator is Operator.SELECT else known.answers[step.needs[0]]


@row_of(_ROWS, Operator.AGGREGATE)
def _aggregate(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    (argument, *more) = logical.arguments
    answer = ASK if more else known.of(argument)
    return ASK if answer is ASK else _aggregated(logical.properties, answer)


def _aggregated(properties: Sequence[str], answer: Any) -> Any:
    members = list(answer.values()) if isinstance(answer, Mapping) else as_list(answer)
    if members is None or len(properties) != 1:
        return ASK
    if properties[0] == "count":
        return len(members)
    numbers = [as_number(member) for member in members]
    if any(number is None for number in numbers):
        return ASK
    if properties[0] == "sum":
        return tidy(sum(numbers))
    if not numbers:
        # An empty list has no highest, lowest or average.
        return []
    return tidy(_OF_NUMBERS[properties[0]](numbers))


_OF_NUMBERS: Mapping[str, Callable[[list[Any]], Any]] = {
    "max": max,
    "min": min,
    "avg": lambda numbers: sum(numbers) / len(numbers),
}


@row_of(_ROWS, Operator.GROUP)
def _group(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    key, value = _only(logical, "key"), _only(logical, "value")
    keys = known.of(key)
    groups = _by_member(key, value, known)
    if groups is None:
        return ASK
    results = [_aggregated(logical.properties, group) for group in groups]
    if any(result is ASK for result in results):
        return ASK
    members = as_list(keys)
    return dict(zip(members or [], results, strict=True)) if _are_names(members) else results


def _are_names(members: Sequence[Any] | None) -> bool:
    return members is not None and all(isinstance(each, str) for each in members) and len(set(members)) == len(members)


@row_of(_ROWS, Operator.SUPERLATIVE)
def _superlative(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, attribute = _only(logical, "sub"), _only(logical, "attribute")
    pairs = _measured(sub, attribute, known)
    if pairs is None or len(logical.properties) != 1:
        return ASK
    if not pairs:
        return []
    best = (max if logical.properties[0] == "max" else min)(number for _, number in pairs)
    return single([member for member, number in pairs if number == best])


@row_of(_ROWS, Operator.COMPARATIVE)
def _comparative(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, attribute = _only(logical, "sub"), _only(logical, "attribute")
    found = comparison_in(step.text)
    values = _by_member(sub, attribute, known)
    if found is None or values is None:
        return ASK
    relation, other = found
    limit = _term(other, known)
    kept = []
    for member, value in zip(as_list(known.of(sub)) or [], values, strict=True):
        verdict = None if limit is ASK else compare(relation, value, limit)
        if verdict is None:
            return ASK
        if verdict:
            kept.append(member)
    return kept


def _term(text: str, known: Known) -> Any:
    number = reference_number(text)
    return text if number is None else known.answers[number]


@row_of(_ROWS, Operator.COMPARISON)
def _comparison(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    arguments = logical.argument("arg")
    values = [known.of(argument) for argument in arguments]
    if any(value is ASK for value in values) or len(logical.properties) != 1:
        return ASK
    (name,) = logical.properties
    if name in ("true", "false"):
        if not all(isinstance(single(value), bool) for value in values):
            return ASK
        chosen = [single(value) is (name == "true") for value in values]
    elif name in ("max", "min"):
        numbers: list[Any] = [as_number(value) for value in values]
        if any(number is None for number in numbers):
            return ASK
        best = (max if name == "max" else min)(numbers)
        chosen = [number == best for number in numbers]
    else:
        return ASK
    return winners([argument.references[0] for argument in arguments], chosen, known)


@row_of(_ROWS, Operator.UNION)
def _union(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    members: list[Any] = []
    for argument in logical.argument("sub"):
        answer = known.of(argument)
        if answer is ASK or isinstance(answer, Mapping):
            return ASK
        several = as_list(answer)
        members += [answer] if several is None else several
    return unique(members)


@row_of(_ROWS, Operator.INTERSECTION)
def _intersection(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    arguments = logical.argument("intersect")
    lists = [as_list(known.of(argument)) for argument in arguments]
    if any(members is None for members in lists) or not _are_of_one_kind(logical, known):
        return ASK
    first, *others = [members or [] for members in lists]
    kept = [{as_key(member) for member in other} for other in others]
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


@row_of(_ROWS, Operator.DISCARD)
def _discard(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    members = as_list(known.of(_only(logical, "sub")))
    excluded = known.of(_only(logical, "exclude"))
    if members is None or excluded is ASK or isinstance(excluded, Mapping):
        return ASK
    several = as_list(excluded)
    keys = {as_key(each) for each in ([excluded] if several is None else several)}
    return [member for member in members if as_key(member) not in keys]


@row_of(_ROWS, Operator.SORT)
def _sort(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    sub, order = _only(logical, "sub"), _only(logical, "order")
    if order is None or len(order.references) != 1 or not _ORDER_WORDS.fullmatch(" ".join(order.words)):
        return ASK
    by = Argument("order", (f"#{order.references[0]}",))
    members = as_list(known.of(sub))
    values = members if sub is not None and sub.references == by.references else _by_member(sub, by, known)
    if members is None or values is None:
        return ASK
    keys: list[Any] = [as_number(value) for value in values]
    if any(key is None for key in keys):
        keys = [as_text(value).casefold() for value in values]
    places = sorted(range(len(members)), key=keys.__getitem__, reverse=bool(_DESCENDING.search(" ".join(order.words))))
    return [members[place] for place in places]


@row_of(_ROWS, Operator.BOOLEAN)
def _boolean(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    values = [known.of(argument) for argument in logical.argument("sub")]
    if not values or any(value is ASK for value in values) or len(logical.properties) > 1:
        return ASK
    name = logical.properties[0] if logical.properties else ""
    if name == "if-exists":
        members = as_list(values[0])
        return ASK if members is None or logical.argument("condition") else bool(members)
    if name.startswith(("and-", "or-")):
        wanted = name.endswith("true")
        if not all(isinstance(single(value), bool) for value in values):
            return ASK
        hits = [single(value) is wanted for value in values]
        return all(hits) if name.startswith("and-") else any(hits)
    found = comparison_in(step.text)
    if found is None:
        return ASK
    limit = _term(found[1], known)
    verdict = compare(found[0], values[0], limit)
    return ASK if verdict is None else verdict


@row_of(_ROWS, Operator.ARITHMETIC)
def _arithmetic(logical: LogicalStep, step: PlanStep, known: Known) -> Any:
    numbers = [as_number(known.of(argument)) for argument in logical.arguments]
    if len(numbers) < 2 or any(number is None for number in numbers) or len(logical.properties) != 1:
        return ASK
    (name,) = logical.properties
    if name == "sum":
        return tidy(sum(numbers))
    if name == "multiply":
        return tidy(math.prod(numbers))
    if len(numbers) != 2:
        return ASK
    if name == "div" and numbers[1] == 0:
        raise DataError(f"step {step.number}: {as_text(numbers[0])} cannot be divided by zero")
    return tidy((operator.sub if name == "diff" else operator.truediv)(*numbers))


def _only(logical: LogicalStep, name: str) -> Argument | None:
    arguments = logical.argument(name)
    return arguments[0] if len(arguments) == 1 else None


def _by_member(sub: Argument | None, attribute: Argument | None, known: Known) -> list[Any] | None:
    """The attribute of each member of a list: from a mapping, or from a list that was asked about those members."""
    members, values = as_list(known.of(sub)), known.of(attribute)
    if members is None or values is ASK or sub is None or attribute is None or not sub.references:
        return None
    if isinstance(values, Mapping):
        by_key = {as_key(key): value for key, value in values.items()}
        keys = [as_key(member) for member in members]
        return [by_key[key] for key in keys] if all(key in by_key for key in keys) else None
    several = as_list(values)
    belongs = any(sub.references[0] in known.below(number) for number in attribute.references)
    return several if belongs and several is not None and len(several) == len(members) else None


def _measured(sub: Argument | None, attribute: Argument | None, known: Known) -> list[tuple[Any, Any]] | None:
    values = _by_member(sub, attribute, known)
    numbers = None if values is None else [as_number(value) for value in values]
    if numbers is None or any(number is None for number in numbers):
        return None
    return list(zip(as_list(known.of(sub)) or [], numbers, strict=True))


COMBINERS: Mapping[Operator, Combiner] = MappingProxyType(_ROWS)

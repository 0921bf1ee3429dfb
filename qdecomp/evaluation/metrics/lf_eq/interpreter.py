"""Computes the steps of a plan in many worlds at once.

What each operator computes is a function each; ``docs/lf_eq.md`` has the table in words. A step may be computed with a
*focus*: another step stands for one thing at a time, as "for each #1" and "#1 where #2 is …" require. The arrays then
have a column for each thing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import numpy as np

from qdecomp.data_structures.operators import OPERATORS, Operator, row_of
from qdecomp.evaluation.metrics.lf_eq.step_reading import (
    SAME,
    ComputedPlan,
    Condition,
    Link,
    Operand,
    Phrase,
    PlannedStep,
)
from qdecomp.evaluation.metrics.lf_eq.worlds import (
    THINGS,
    AnyArray,
    Bits,
    Many,
    Number,
    NumberOfEach,
    Things,
    Truth,
    Value,
    Worlds,
    fingerprints,
    members,
    mix,
    pack,
    size,
    stacked,
)

_ALL = np.uint8((1 << THINGS) - 1)
_SINGLES = (1 << np.arange(THINGS, dtype=np.uint8)).astype(np.uint8)[None, :]
# Their result is one number or table for the whole set, so a focus does not pass through them.
_WHOLE = frozenset((Operator.AGGREGATE, Operator.GROUP))


class Interpreter:
    """The values of a plan's steps in some worlds.

    With ``merge_projections``, a projection of what words alone describe is described by all these words, as LF-EM
    merges it; otherwise, every projection follows a relation.
    """

    def __init__(self, plan: ComputedPlan, worlds: Worlds, *, merge_projections: bool) -> None:
        self.plan = plan
        self.worlds = worlds
        self.merge_projections = merge_projections
        self._values: dict[tuple[int, int | None], Value] = {}

    def answer(self) -> AnyArray:
        """A fingerprint (worlds, 1) of the values of all steps that no other step needs."""
        each = [fingerprints(self.value(number)) for number in self.plan.roots]
        if len(each) == 1:
            return np.broadcast_to(each[0], (self.worlds.count, 1))
        count = np.full((self.worlds.count, 1), len(each), dtype=np.uint64)
        return reduce(mix, np.sort(stacked([count, *each])[1:], axis=0), count)

    def value(self, number: int, focus: int | None = None) -> Value:
        """What a step computes; with a focus, for each thing of that step alone."""
        if number == focus:
            return Things(np.broadcast_to(_SINGLES, (self.worlds.count, THINGS)))
        step = self.plan.steps[number - 1]
        if focus is not None and (step.operator in _WHOLE or focus not in self.plan.needs[number - 1]):
            focus = None
        key = (number, focus)
        if key not in self._values:
            self._values[key] = COMPUTATIONS[step.operator](self, step, focus)
        return self._values[key]

    def operand(self, operand: Operand, focus: int | None) -> Value:
        """What an operator is applied to."""
        if operand.number is not None:
            return Number(self.worlds.numbers[operand.number])
        if operand.base is None:
            return Things(self.extension(operand.phrase, focus), described=not operand.phrase.links)
        return self.narrowed(self.value(operand.base, focus), operand.phrase, focus)

    def narrowed(self, value: Value, phrase: Phrase, focus: int | None) -> Value:
        """The part of a value for which a phrase holds."""
        if not phrase:
            return value
        if not isinstance(value, Things):
            key = " ".join(["narrowed", *sorted(phrase.words)])
            return self.unknown(key, [value, *self.linked_values(phrase, focus)])
        described = value.described and not phrase.links
        return Things(value.bits & self.extension(phrase, focus), described, order=value.order)

    def extension(self, phrase: Phrase, focus: int | None) -> Bits:
        """All things for which a phrase holds."""
        bits: Bits = np.full((self.worlds.count, 1), _ALL)
        for word in phrase.words:
            bits = bits & self.worlds.words[word]
        for link in phrase.links:
            bits = bits & self.linked(link, focus)
        if phrase.negated is not None:
            bits = bits & ~self.extension(phrase.negated, focus)
        return bits

    def linked(self, link: Link, focus: int | None) -> Bits:
        """The things that words tie to a step."""
        target = self.value(link.step, focus)
        if not isinstance(target, Things):
            return self.unknown(" ".join(["linked", *sorted(link.words)]), [target]).bits
        return target.bits if link.same else self.tied(link.words, target.bits)

    def tied(self, words: frozenset[str], bits: Bits) -> Bits:
        """The things that the words describe and tie to some thing of a set."""
        name = words - self.worlds.vocabulary.describing
        rows = self.worlds.relations[name]
        found: Bits = np.bitwise_or.reduce(np.where(members(bits), rows[:, None, :], np.uint8(0)), axis=-1)
        for word in words - name:
            found = found & self.worlds.words[word]
        return found

    def for_each(self, keys: Operand, wanted: Operand) -> Value:
        """The value of the operand ``wanted`` for each thing of ``keys``: an array with a column for each thing.

        Of a step that does not depend on the keys, only the things that are tied to each key count.
        """
        value = self.operand(wanted, self.focus_of(keys.base, wanted))
        if isinstance(value, NumberOfEach):
            return Number(value.numbers)
        if isinstance(value, Things) and value.bits.shape[1] == 1:
            value = Things(value.bits & self.worlds.relations[frozenset()])
        return value

    def focus_of(self, number: int | None, wanted: Operand) -> int | None:
        """The step of which :meth:`for_each` takes one thing at a time: the keys' step, or one that it narrows."""
        if number is None or wanted.base is None:
            return None
        if number == wanted.base or number in self.plan.needs[wanted.base - 1]:
            return number
        step = self.plan.steps[number - 1]
        if not OPERATORS[step.operator].narrows:
            return None
        wider = [operand.base for name, operand in step.operands if name in ("sub", "intersect")]
        wider += [link.step for operand in step.all("projection") for link in operand.phrase.links]
        return next((found for each in wider if (found := self.focus_of(each, wanted)) is not None), None)

    def unknown(self, key: str, values: Iterable[Value]) -> Things:
        """A set that depends on a key and on values and on nothing else, as that of an unknown function does."""
        salt = self.worlds.salt ^ np.uint64(zlib.crc32(key.encode()))
        return Things((reduce(mix, map(fingerprints, values), salt) & np.uint64(_ALL)).astype(np.uint8))

    def linked_values(self, phrase: Phrase, focus: int | None) -> list[Value]:
        """The values of the steps that a phrase refers to."""
        linked = [self.value(link.step, focus) for link in phrase.links]
        return linked if phrase.negated is None else linked + self.linked_values(phrase.negated, focus)

    def lowest_and_highest(self, bits: Bits) -> tuple[AnyArray, AnyArray]:
        """The extreme values of each set's things; infinite if it is empty, so that nothing is beyond them."""
        inside = members(bits)
        values = self.worlds.values[:, None, :]
        return np.where(inside, values, np.inf).min(-1), np.where(inside, values, -np.inf).max(-1)

    def values_of(self, bits: Bits) -> AnyArray:
        """The values that the things of each set have, as a set of numbers."""
        each = np.left_shift(1, self.worlds.values.astype(np.int64))[:, None, :]
        return np.asarray(np.bitwise_or.reduce(np.where(members(bits), each, 0), axis=-1))

    def number(self, value: Value) -> AnyArray:
        """A value where a number is needed: the size of a set, unless it is an extreme."""
        match value:
            case Number(numbers):
                return numbers
            case Truth(truths):
                return truths.astype(np.float64)
            case Things(bits, _, number, _):
                return size(bits) if number is None else number
            case _:
                return size(self.unknown("number", [value]).bits)

    def truth(self, value: Value) -> AnyArray:
        """A value where yes or no is needed: whether there is anything, or whether it is not zero."""
        match value:
            case Truth(truths):
                return truths
            case Things(bits):
                return np.asarray(bits != 0)
            case Number(numbers):
                return np.asarray(numbers != 0)
            case _:
                return np.asarray(self.unknown("truth", [value]).bits & 1, dtype=np.bool_)


_COMPARE = {"=": np.equal, ">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
_TURNED_ROUND = {"=": "=", ">": "<", "<": ">", ">=": "<=", "<=": ">="}
# How each operator computes a step, with or without a focus.
COMPUTATIONS: dict[Operator, Callable[[Interpreter, PlannedStep, int | None], Value]] = {}


@row_of(COMPUTATIONS, Operator.SELECT)
def _select(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    return run.operand(step.one("sub"), focus)


@row_of(COMPUTATIONS, Operator.FILTER)
def _filter(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    return run.narrowed(run.operand(step.one("sub"), focus), step.one("condition").phrase, focus)


@row_of(COMPUTATIONS, Operator.PROJECT)
def _project(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("projection").phrase
    if step.property == SAME:
        return source
    if not isinstance(source, Things):
        return run.unknown(f"project {sorted(phrase.words)}", [source])
    if run.merge_projections and source.described:
        return run.narrowed(source, phrase, focus)
    rest = run.extension(replace(phrase, words=frozenset()), focus)
    return Things(run.tied(phrase.words, source.bits) & rest, order=source.order)


@row_of(COMPUTATIONS, Operator.AGGREGATE)
def _aggregate(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    value = run.operand(step.one("arg"), focus)
    name = step.property or ""
    match value:
        case Things(bits):
            return _aggregate_things(run, name, bits)
        case NumberOfEach(keys, numbers):
            return Number(_aggregate_numbers(name, np.where(members(keys), numbers[:, None, :], np.nan)))
        case Many(parts):
            return Number(_aggregate_numbers(name, stacked(map(run.number, parts), axis=-1)))
        case Number() if name != "count":
            return value
        case _:
            return run.unknown(f"aggregate {name}", [value])


def _aggregate_things(run: Interpreter, name: str, bits: Bits) -> Value:
    if name == "count":
        return Number(size(bits))
    if name in ("max", "min"):
        lowest, highest = run.lowest_and_highest(bits)
        extreme = highest if name == "max" else lowest
        chosen = members(bits) & (run.worlds.values[:, None, :] == extreme[..., None])
        return Things(pack(chosen), number=extreme)
    if name not in ("sum", "avg"):
        return run.unknown("aggregate", [Things(bits)])
    return Number(_aggregate_numbers(name, np.where(members(bits), run.worlds.values[:, None, :], np.nan)))


def _aggregate_numbers(name: str, numbers: AnyArray) -> AnyArray:
    """Along the last axis, ignoring NaN."""
    there = ~np.isnan(numbers)
    if name == "max":
        return np.asarray(numbers.max(-1, where=there, initial=-np.inf))
    if name == "min":
        return np.asarray(numbers.min(-1, where=there, initial=np.inf))
    count, total = there.sum(-1).astype(np.float64), np.where(there, numbers, 0).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(count if name == "count" else total / count if name == "avg" else total)


@row_of(COMPUTATIONS, Operator.GROUP)
def _group(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    keys = run.operand(step.one("key"), focus)
    value = run.for_each(step.one("key"), step.one("value"))
    if not isinstance(keys, Things) or step.property is None:
        return run.unknown(f"group {step.property}", [keys, run.operand(step.one("value"), focus)])
    if isinstance(value, Things):
        value = _aggregate_things(run, step.property, value.bits)
    numbers = run.number(value)
    return NumberOfEach(keys.bits, np.broadcast_to(numbers, (run.worlds.count, members(keys.bits).shape[-1])))


@row_of(COMPUTATIONS, Operator.SUPERLATIVE)
def _superlative(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    candidates = run.operand(step.one("sub"), focus)
    attribute = run.for_each(step.one("sub"), step.one("attribute"))
    if not isinstance(candidates, Things) or step.property is None or isinstance(attribute, Many):
        return run.unknown(f"superlative {step.property}", [candidates, run.operand(step.one("attribute"), None)])
    if isinstance(attribute, Things):
        lowest, highest = run.lowest_and_highest(attribute.bits)
        numbers = highest if step.property == "max" else lowest
    else:
        numbers = run.number(attribute)
    sign = 1.0 if step.property == "max" else -1.0
    ranked = np.where(np.isfinite(numbers), numbers * sign, -np.inf)
    inside = np.where(members(candidates.bits), ranked[:, None, :], -np.inf)
    best = inside.max(-1, keepdims=True)
    return Things(pack((inside == best) & np.isfinite(best)), order=candidates.order)


@row_of(COMPUTATIONS, Operator.COMPARATIVE)
def _comparative(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    candidates = run.operand(step.one("sub"), focus)
    keys, wanted = step.one("sub"), step.one("attribute")
    if not isinstance(candidates, Things):
        condition, phrase = step.condition, step.condition.phrase
        # Only words and values count: the numbers of steps mean nothing.
        key = f"comparative {condition.comparison} {condition.negated} {condition.number} {phrase.all_words}"
        return run.unknown(key, [candidates, run.operand(wanted, focus), *run.linked_values(phrase, focus)])
    holds = _holds(run, step.condition, run.for_each(keys, wanted), run.focus_of(keys.base, wanted))
    every = np.broadcast_to(holds, (run.worlds.count, members(candidates.bits).shape[-1]))
    return Things(candidates.bits & pack(every)[:, None], order=candidates.order)


def _holds(run: Interpreter, condition: Condition, value: Value, focus: int | None) -> AnyArray:
    """Whether a condition is true of a value; for a set, one thing is enough."""
    found = _compared(run, condition, value, focus)
    return ~found if condition.negated else found


def _compared(run: Interpreter, condition: Condition, value: Value, focus: int | None) -> AnyArray:
    phrase = condition.phrase
    if condition.universal and isinstance(value, Things):
        return np.asarray(value.bits & ~run.extension(phrase, focus) == 0)
    if condition.comparison is None or (condition.comparison == "=" and condition.number is None and phrase.words):
        return run.truth(run.narrowed(value, phrase, focus))
    if condition.number is not None:
        number = Number(run.worlds.numbers[condition.number])
        return _between(run, condition.comparison, run.narrowed(value, phrase, focus), number)
    if phrase.links:
        compared = [_between(run, condition.comparison, value, run.value(link.step, focus)) for link in phrase.links]
        for word in phrase.links[0].words:
            # A word next to a comparison holds for what is compared.
            if isinstance(value, Things):
                compared.append(value.bits & run.worlds.words[word] != 0)
            else:
                compared.append(run.unknown(f"marked {word}", [value]).bits & 1 == 1)
        return reduce(np.logical_and, compared)
    if condition.comparison == "=" and isinstance(value, Things):
        return np.asarray(size(value.bits) == 1)
    found = run.unknown(f"compared {condition.comparison} {sorted(phrase.words)}", [value])
    return np.asarray(found.bits & 1 == 1)


def _some(run: Interpreter, sign: str, bits: Bits, numbers: AnyArray) -> AnyArray:
    """Whether the value of some thing of a set compares with a number."""
    fitting = pack(_COMPARE[sign](run.worlds.values[:, None, :], numbers[..., None]))
    return np.asarray(bits & fitting != 0)


def _between(run: Interpreter, sign: str, left: Value, right: Value) -> AnyArray:
    if isinstance(left, Things) and isinstance(right, Things):
        if sign == "=":
            return np.asarray(run.values_of(left.bits) & run.values_of(right.bits) != 0)
        (lowest, highest), (least, most) = (run.lowest_and_highest(each.bits) for each in (left, right))
        found = _COMPARE[sign](highest, least) if sign.startswith(">") else _COMPARE[sign](lowest, most)
        return np.asarray(found & (left.bits != 0) & (right.bits != 0))
    if isinstance(left, Things) and left.number is None:
        return _some(run, sign, left.bits, run.number(right))
    if isinstance(right, Things) and right.number is None:
        return _some(run, _TURNED_ROUND[sign], right.bits, run.number(left))
    return _COMPARE[sign](run.number(left), run.number(right))


@row_of(COMPUTATIONS, Operator.COMPARISON)
def _comparison(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values, things = _members(run, step, "arg", focus)
    name = step.property
    if name in ("true", "false"):
        return Number((stacked(map(run.truth, values)) == (name == "true")).sum(0).astype(np.float64))
    if len(things) == len(values) and name is not None:
        return _aggregate_things(run, name, reduce(np.bitwise_or, (value.bits for value in things)))
    if name is None or any(value.number is None for value in things):
        return run.unknown(f"comparison {name}", [_listed(values)])
    return Number(_aggregate_numbers(name, stacked(map(run.number, values), axis=-1)))


@row_of(COMPUTATIONS, Operator.UNION)
def _union(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values, things = _members(run, step, "sub", focus)
    if len(things) != len(values):
        return _listed(values)
    bases = [operand.base for operand in step.all("sub")]
    # A list of attributes is not the set of all their things; a union of unions is one list.
    if any(base is not None and run.plan.steps[base - 1].operator is Operator.PROJECT for base in bases):
        things = [Things(each.bits, order=fingerprints(each)) if each.order is None else each for each in things]
    return Things(reduce(np.bitwise_or, (value.bits for value in things)), order=_common_order(things))


@row_of(COMPUTATIONS, Operator.INTERSECTION)
def _intersection(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values, things = _members(run, step, "intersect", focus)
    phrase = step.one("projection").phrase
    if len(things) != len(values):
        return run.unknown(f"intersection {sorted(phrase.words)}", [_listed(values)])
    linked = [run.value(link.step, focus) for link in phrase.links]
    described = all(isinstance(value, Things) and value.described for value in (*things, *linked))
    bits = reduce(np.bitwise_and, (value.bits for value in things)) & run.extension(phrase, focus)
    return Things(bits, described and all(link.same for link in phrase.links), order=_common_order(things))


def _members(run: Interpreter, step: PlannedStep, name: str, focus: int | None) -> tuple[list[Value], list[Things]]:
    """The values of the operands of that name, and those of them that are sets."""
    values = [run.operand(operand, focus) for operand in step.all(name)]
    return values, [value for value in values if isinstance(value, Things)]


def _listed(values: list[Value]) -> Many:
    return Many(tuple(part for value in values for part in (value.parts if isinstance(value, Many) else (value,))))


def _common_order(things: list[Things]) -> AnyArray | None:
    """Sorted columns make a sorted table, whichever of them says so."""
    orders = [value.order for value in things if value.order is not None]
    return np.bitwise_xor.reduce(stacked(orders), axis=0) if orders else None


@row_of(COMPUTATIONS, Operator.DISCARD)
def _discard(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("exclude").phrase
    if not isinstance(source, Things):
        return run.unknown(f"discard {sorted(phrase.words)}", [source])
    excluded = [run.value(link.step, focus) for link in phrase.links if link.same]
    known = len(excluded) == len(phrase.links) and all(isinstance(each, Things) and each.described for each in excluded)
    return Things(source.bits & ~run.extension(phrase, focus), source.described and known, order=source.order)


@row_of(COMPUTATIONS, Operator.SORT)
def _sort(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("order").phrase
    keys: list[Value] = [run.value(link.step, focus) for link in phrase.links]
    key = f"sort {phrase.all_words}"
    if not isinstance(source, Things):
        return run.unknown(key, [source, *keys])
    return Things(source.bits, source.described, order=run.unknown(key, keys).bits.astype(np.uint64))


@row_of(COMPUTATIONS, Operator.BOOLEAN)
def _boolean(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values = [run.operand(operand, focus) for operand in step.all("sub")]
    join, _, wanted = (step.property or "").partition("-")
    if join in ("and", "or"):
        truths = stacked(map(run.truth, values)) == (wanted == "true")
        return Truth(np.asarray(truths.all(0) if join == "and" else truths.any(0)))
    return Truth(_holds(run, step.condition, values[0], focus))


@row_of(COMPUTATIONS, Operator.ARITHMETIC)
def _arithmetic(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    names = ("arg", "left", "right")
    numbers = [run.number(run.operand(operand, focus)) for name in names for operand in step.all(name)]
    operations = {"sum": np.add, "diff": np.subtract, "multiply": np.multiply, "div": np.divide}
    operation = operations.get(step.property or "")
    if operation is None:
        return run.unknown("arithmetic", [Number(number) for number in numbers])
    with np.errstate(all="ignore"):
        return Number(reduce(operation, numbers))

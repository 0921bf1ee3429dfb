"""What each operator computes, one function for each; ``docs/lf_eq.md`` has the table in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType

import numpy as np

from qdecomp.data_structures.operators import Operator, row_of
from qdecomp.evaluation.metrics.lf_eq.interpreter import Computation, Computations, Interpreter
from qdecomp.evaluation.metrics.lf_eq.step_reading import SAME, Condition, PlannedStep
from qdecomp.evaluation.metrics.lf_eq.worlds import (
    AnyArray,
    Bits,
    Many,
    Number,
    NumberOfEach,
    Things,
    Truth,
    Value,
    fingerprints,
    members,
    pack,
    size,
)

_COMPARE: Mapping[str, Callable[[AnyArray, AnyArray], AnyArray]] = MappingProxyType(
    {"=": np.equal, ">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}
)
_TURNED_ROUND = {"=": "=", ">": "<", "<": ">", ">=": "<=", "<=": ">="}
_ROWS: dict[Operator, Computation] = {}


@row_of(_ROWS, Operator.SELECT)
def _select(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    return run.operand(step.one("sub"), focus)


@row_of(_ROWS, Operator.FILTER)
def _filter(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    return run.narrowed(run.operand(step.one("sub"), focus), step.one("condition").phrase, focus)


@row_of(_ROWS, Operator.PROJECT)
def _project(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("projection").phrase
    if step.property == SAME:
        return source
    if not isinstance(source, Things):
        return run.unknown(f"project {sorted(phrase.words)}", [source])
    if run.merge_projections and source.described:
        return run.narrowed(source, phrase, focus)
    bits = run.tied(phrase.words, source.bits)
    for link in phrase.links:
        bits = bits & run.linked(link, focus)
    if phrase.negated is not None:
        bits = bits & ~run.extension(phrase.negated, focus)
    return Things(bits, order=source.order)


@row_of(_ROWS, Operator.AGGREGATE)
def _aggregate(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    value = run.operand(step.one("arg"), focus)
    name = step.property or ""
    match value:
        case Things(bits):
            return _aggregate_things(run, name, bits)
        case NumberOfEach(keys, numbers):
            return Number(_aggregate_numbers(name, np.where(members(keys), numbers[:, None, :], np.nan)))
        case Many(parts):
            each = np.broadcast_arrays(*(run.number(part) for part in parts))
            return Number(_aggregate_numbers(name, np.stack(each, axis=-1)))
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
    values = np.where(members(bits), run.worlds.values[:, None, :], np.nan)
    if name in ("sum", "avg"):
        return Number(_aggregate_numbers(name, values))
    return run.unknown("aggregate", [Things(bits)])


def _aggregate_numbers(name: str, numbers: AnyArray) -> AnyArray:
    """Along the last axis, ignoring NaN."""
    there = ~np.isnan(numbers)
    count = there.sum(-1).astype(np.float64)
    total = np.where(there, numbers, 0).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        match name:
            case "count":
                return np.asarray(count)
            case "max":
                return np.asarray(np.where(there, numbers, -np.inf).max(-1))
            case "min":
                return np.asarray(np.where(there, numbers, np.inf).min(-1))
            case "avg":
                return np.asarray(total / count)
            case _:
                return np.asarray(total)


@row_of(_ROWS, Operator.GROUP)
def _group(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    keys = run.operand(step.one("key"), focus)
    value = run.for_each(step.one("key"), step.one("value"))
    if not isinstance(keys, Things) or step.property is None:
        return run.unknown(f"group {step.property}", [keys, run.operand(step.one("value"), focus)])
    if isinstance(value, Things):
        value = _aggregate_things(run, step.property, value.bits)
    numbers = run.number(value)
    return NumberOfEach(keys.bits, np.broadcast_to(numbers, (run.worlds.count, members(keys.bits).shape[-1])))


@row_of(_ROWS, Operator.SUPERLATIVE)
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


@row_of(_ROWS, Operator.COMPARATIVE)
def _comparative(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    candidates = run.operand(step.one("sub"), focus)
    keys, wanted = step.one("sub"), step.one("attribute")
    if not isinstance(candidates, Things):
        phrase = step.condition.phrase
        words = sorted(phrase.words.union(*(link.words for link in phrase.links)))
        # Only words and values count: the numbers of steps mean nothing.
        key = f"comparative {step.condition.comparison} {step.condition.negated} {step.condition.number} {words}"
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
        narrowed = run.narrowed(value, phrase, focus)
        return run.truth(narrowed)
    if condition.number is not None:
        return _against(run, condition.comparison, run.narrowed(value, phrase, focus), condition.number)
    if phrase.links:
        other = run.value(phrase.links[0].step, focus)
        found = _between(run, condition.comparison, value, other)
        for word in phrase.links[0].words:
            found = found & _marked(run, word, value)
        for link in phrase.links[1:]:
            found = found & _between(run, condition.comparison, value, run.value(link.step, focus))
        return found
    if condition.comparison == "=" and isinstance(value, Things):
        return np.asarray(size(value.bits) == 1)
    key = f"compared {condition.comparison} {sorted(phrase.words)}"
    return run.truth(Truth(run.unknown(key, [value]).bits & 1 == 1))


def _marked(run: Interpreter, word: str, value: Value) -> AnyArray:
    """Whether a word next to a comparison holds for what is compared."""
    if isinstance(value, Things):
        return np.asarray(value.bits & run.worlds.words[word] != 0)
    return np.asarray(run.unknown(f"marked {word}", [value]).bits & 1 == 1)


def _against(run: Interpreter, sign: str, value: Value, number: float) -> AnyArray:
    drawn = run.worlds.numbers[number]
    if isinstance(value, Things) and value.number is None:
        return _some(run, sign, value.bits, drawn)
    return _COMPARE[sign](run.number(value), drawn)


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


@row_of(_ROWS, Operator.COMPARISON)
def _comparison(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values = [run.operand(operand, focus) for operand in step.all("arg")]
    name = step.property
    if name in ("true", "false"):
        truths = np.broadcast_arrays(*(run.truth(value) for value in values))
        return Number((np.stack(truths) == (name == "true")).sum(0).astype(np.float64))
    things = [value for value in values if isinstance(value, Things)]
    if len(things) == len(values) and name is not None:
        united = reduce(np.bitwise_or, (value.bits for value in things))
        return _aggregate_things(run, name, united)
    if name is None or any(value.number is None for value in things):
        return run.unknown(f"comparison {name}", [Many(tuple(_parts(values)))])
    numbers = np.broadcast_arrays(*(run.number(value) for value in values))
    return Number(_aggregate_numbers(name, np.stack(numbers, axis=-1)))


@row_of(_ROWS, Operator.UNION)
def _union(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values = [run.operand(operand, focus) for operand in step.all("sub")]
    things = [value for value in values if isinstance(value, Things)]
    if len(things) == len(values):
        columns = _columns(run, step, things)
        return Things(reduce(np.bitwise_or, (value.bits for value in things)), order=columns)
    return Many(tuple(part for value in values for part in (value.parts if isinstance(value, Many) else (value,))))


def _columns(run: Interpreter, step: PlannedStep, things: list[Things]) -> AnyArray | None:
    """What distinguishes a list of attributes from the set of all their things; a union of unions is one list."""
    bases = [operand.base for operand in step.all("sub")]
    projects = [base is not None and run.plan.steps[base - 1].operator is Operator.PROJECT for base in bases]
    if not any(projects):
        return _common_order(things)
    marked = [value if value.order is not None else Things(value.bits, order=fingerprints(value)) for value in things]
    return _common_order(marked)


def _common_order(things: list[Things]) -> AnyArray | None:
    """Sorted columns make a sorted table, whichever of them says so."""
    orders = [value.order for value in things if value.order is not None]
    return np.bitwise_xor.reduce(np.stack(np.broadcast_arrays(*orders)), axis=0) if orders else None


@row_of(_ROWS, Operator.INTERSECTION)
def _intersection(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values = [run.operand(operand, focus) for operand in step.all("intersect")]
    things = [value for value in values if isinstance(value, Things)]
    phrase = step.one("projection").phrase
    if len(things) != len(values):
        return run.unknown(f"intersection {sorted(phrase.words)}", [Many(tuple(_parts(values)))])
    described = all(value.described for value in things) and all(link.same for link in phrase.links)
    linked = [run.value(link.step, focus) for link in phrase.links]
    described = described and all(isinstance(value, Things) and value.described for value in linked)
    bits = reduce(np.bitwise_and, (value.bits for value in things)) & run.extension(phrase, focus)
    return Things(bits, described, order=_common_order(things))


def _parts(values: list[Value]) -> list[Things | Number | Truth | NumberOfEach]:
    return [part for value in values for part in (value.parts if isinstance(value, Many) else (value,))]


@row_of(_ROWS, Operator.DISCARD)
def _discard(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("exclude").phrase
    if not isinstance(source, Things):
        return run.unknown(f"discard {sorted(phrase.words)}", [source])
    excluded = [run.value(link.step, focus) for link in phrase.links if link.same]
    known = len(excluded) == len(phrase.links) and all(isinstance(each, Things) and each.described for each in excluded)
    return Things(source.bits & ~run.extension(phrase, focus), source.described and known, order=source.order)


@row_of(_ROWS, Operator.SORT)
def _sort(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    source = run.operand(step.one("sub"), focus)
    phrase = step.one("order").phrase
    keys: list[Value] = [run.value(link.step, focus) for link in phrase.links]
    words = sorted(phrase.words.union(*(link.words for link in phrase.links)))
    order = run.unknown(f"sort {words}", keys).bits.astype(np.uint64)
    if not isinstance(source, Things):
        return run.unknown(f"sort {words}", [source, *keys])
    return Things(source.bits, source.described, order=order)


@row_of(_ROWS, Operator.BOOLEAN)
def _boolean(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    values = [run.operand(operand, focus) for operand in step.all("sub")]
    join, _, wanted = (step.property or "").partition("-")
    if join in ("and", "or"):
        truths = np.stack(np.broadcast_arrays(*(run.truth(value) == (wanted == "true") for value in values)))
        return Truth(np.asarray(truths.all(0) if join == "and" else truths.any(0)))
    return Truth(_holds(run, step.condition, values[0], focus))


@row_of(_ROWS, Operator.ARITHMETIC)
def _arithmetic(run: Interpreter, step: PlannedStep, focus: int | None) -> Value:
    names = ("arg", "left", "right")
    numbers = [run.number(run.operand(operand, focus)) for name in names for operand in step.all(name)]
    operations = {"sum": np.add, "diff": np.subtract, "multiply": np.multiply, "div": np.divide}
    operation = operations.get(step.property or "")
    if operation is None:
        return run.unknown("arithmetic", [Number(number) for number in numbers])
    with np.errstate(all="ignore"):
        return Number(reduce(operation, numbers))


COMPUTATIONS: Computations = MappingProxyType(_ROWS)

"""Computes the steps of a plan in many worlds at once.

A step may be computed with a *focus*: another step stands for one thing at a time, as "for each #1" and "#1 where #2 is
…" require. The arrays then have a column for each thing.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.evaluation.metrics.lf_eq.step_reading import ComputedPlan, Link, Operand, Phrase, PlannedStep
from qdecomp.evaluation.metrics.lf_eq.worlds import (
    THINGS,
    AnyArray,
    Bits,
    Number,
    NumberOfEach,
    Things,
    Truth,
    Value,
    Vocabulary,
    Worlds,
    fingerprints,
    members,
    mix,
    size,
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

    def __init__(
        self,
        plan: ComputedPlan,
        vocabulary: Vocabulary,
        worlds: Worlds,
        computations: Computations,
        *,
        merge_projections: bool,
    ) -> None:
        self.plan = plan
        self.vocabulary = vocabulary
        self.worlds = worlds
        self.computations = computations
        self.merge_projections = merge_projections
        self._values: dict[tuple[int, int | None], Value] = {}

    def answer(self) -> AnyArray:
        """A fingerprint (worlds, 1) of the values of all steps that no other step needs."""
        each = [fingerprints(self.value(number)) for number in self.plan.roots]
        if len(each) == 1:
            return np.broadcast_to(each[0], (self.worlds.count, 1))
        found = np.full((self.worlds.count, 1), len(each), dtype=np.uint64)
        for row in np.sort(np.stack(np.broadcast_arrays(found, *each)[1:]), axis=0):
            found = mix(found, row)
        return found

    def value(self, number: int, focus: int | None = None) -> Value:
        """What a step computes; with a focus, for each thing of that step alone."""
        if number == focus:
            return Things(np.broadcast_to(_SINGLES, (self.worlds.count, THINGS)))
        step = self.plan.steps[number - 1]
        if focus is not None and (step.operator in _WHOLE or focus not in self.plan.needs[number - 1]):
            focus = None
        key = (number, focus)
        if key not in self._values:
            self._values[key] = self.computations[step.operator](self, step, focus)
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
            return self.unknown(_key("narrowed", phrase.words), [value, *self.linked_values(phrase, focus)])
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
            return self.unknown(_key("linked", link.words), [target]).bits
        return target.bits if link.same else self.tied(link.words, target.bits)

    def tied(self, words: frozenset[str], bits: Bits) -> Bits:
        """The things that the words describe and tie to some thing of a set."""
        name = self.vocabulary.relation(words)
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
        for value in values:
            salt = mix(salt, fingerprints(value))
        return Things((salt & np.uint64(int(_ALL))).astype(np.uint8))

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
                found: AnyArray = bits != 0
                return found
            case Number(numbers):
                return np.asarray(numbers != 0)
            case _:
                return np.asarray(self.unknown("truth", [value]).bits & 1, dtype=np.bool_)


def _key(name: str, words: Iterable[str]) -> str:
    return " ".join((name, *sorted(words)))


Computation: TypeAlias = Callable[[Interpreter, PlannedStep, int | None], Value]
"""How an operator computes a step, with or without a focus."""

Computations: TypeAlias = Mapping[Operator, Computation]

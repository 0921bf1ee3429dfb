"""Random worlds: which of a few things each word describes, and the values that a step can have there.

Many worlds are drawn at once. In each world, a set of things is one unsigned integer, and thing ``i`` is its bit ``i``;
an array of sets has a row for each world and a column for each thing that is looked at alone (or one column, if none
is).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from qdecomp.evaluation.metrics.lf_eq.step_reading import ComputedPlan, Phrase

THINGS = 8
"""How many things there are in a world."""

Bits: TypeAlias = npt.NDArray[np.uint8]
AnyArray: TypeAlias = npt.NDArray[Any]

_PLACES = np.arange(THINGS, dtype=np.uint8)
_SIZES = np.array([bin(number).count("1") for number in range(1 << THINGS)], dtype=np.float64)

# The share of things that a phrase describes, and that a thing is tied to: small in some worlds, large in others.
_PHRASE_SHARES = (0.2, 0.35, 0.5, 0.75)
_TIE_SHARES = (0.12, 0.25, 0.4, 0.6)
# Where all such worlds give the same answer: hardly any things, or nearly all.
_EXTREME_SHARES = (0.03, 0.1, 0.9, 0.97)
_LARGEST_VALUE = 8
_EXACT_NUMBERS = 3


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What two plans together mention, so that both are run in the same worlds.

    A word that describes things somewhere (``describing``) does so everywhere. The others occur only next to
    references: those of one phrase together name a relation.
    """

    words: tuple[str, ...]
    describing: frozenset[str]
    relations: tuple[frozenset[str], ...]
    numbers: tuple[float, ...]
    phrase_sizes: tuple[int, ...]


def vocabulary(plans: Iterable[ComputedPlan]) -> Vocabulary:
    """Collect words, relations and numbers of all plans."""
    describing: set[str] = set()
    tying: set[frozenset[str]] = set()
    numbers: set[float | None] = set()
    sizes: set[int] = set()

    def collect(phrase: Phrase) -> None:
        describing.update(phrase.words)
        tying.update(link.words for link in phrase.links)
        if phrase.negated is not None:
            collect(phrase.negated)

    for step in (step for plan in plans for step in plan.steps):
        numbers.add(step.condition.number)
        collect(step.condition.phrase)
        for name, operand in step.operands:
            phrase = operand.phrase
            numbers.add(operand.number)
            sizes.add(len(phrase.words))
            if name == "projection" and step.all("sub"):
                tying.add(phrase.words)
                phrase = replace(phrase, words=frozenset())
            collect(phrase)
    relations = {frozenset[str](), *(words - describing for words in tying)}
    return Vocabulary(
        words=tuple(sorted(describing.union(*tying))),
        describing=frozenset(describing),
        relations=tuple(sorted(relations, key=sorted)),
        numbers=tuple(sorted(number for number in numbers if number is not None)),
        phrase_sizes=tuple(sorted(sizes - {0})) or (1,),
    )


@dataclass(frozen=True, slots=True)
class Worlds:
    """Some worlds: for each word a set, for each relation what each thing is tied to, and a value for each thing.

    ``salt`` holds the seeds of functions about which nothing is known but that they are functions. ``relations`` and
    ``values`` are (worlds, things), the other arrays (worlds, 1).
    """

    vocabulary: Vocabulary
    count: int
    words: Mapping[str, Bits]
    relations: Mapping[frozenset[str], Bits]
    values: AnyArray
    numbers: Mapping[float, AnyArray]
    salt: AnyArray


def draw(vocabulary: Vocabulary, count: int, generator: np.random.Generator, *, extreme: bool = False) -> Worlds:
    """Draw worlds, ordinary or extreme; they depend only on the vocabulary and the state of the generator."""
    phrase_shares, tie_shares = (_EXTREME_SHARES, _EXTREME_SHARES) if extreme else (_PHRASE_SHARES, _TIE_SHARES)
    sizes = generator.choice(np.array(vocabulary.phrase_sizes), count)
    chances = generator.choice(np.array(phrase_shares), count) ** (1.0 / sizes)
    words = _draw_sets(generator, len(vocabulary.words), count, 1, chances)
    tie_chances = generator.choice(np.array(tie_shares), count)
    ties = _draw_sets(generator, len(vocabulary.relations), count, THINGS, tie_chances)
    return Worlds(
        vocabulary,
        count,
        dict(zip(vocabulary.words, words, strict=True)),
        dict(zip(vocabulary.relations, ties, strict=True)),
        generator.integers(0, _LARGEST_VALUE + 1, (count, THINGS)).astype(np.float64),
        _draw_numbers(vocabulary.numbers, count, generator),
        generator.integers(0, 1 << 62, (count, 1), dtype=np.uint64),
    )


def _draw_sets(generator: np.random.Generator, kinds: int, count: int, columns: int, chances: AnyArray) -> Bits:
    """(kinds, worlds, columns) sets, of which each thing is a member at random."""
    drawn = np.frombuffer(generator.bytes(kinds * count * columns * THINGS), dtype=np.uint8)
    return pack(drawn.reshape(kinds, count, columns, THINGS) < (chances * 256)[None, :, None, None])


def _draw_numbers(numbers: Iterable[float], count: int, generator: np.random.Generator) -> Mapping[float, AnyArray]:
    """The value in each world of each number in the steps: they keep their order, and neighbours stay neighbours.

    0 to 3 are themselves; larger ones come close, since no set here has a hundred things.
    """
    drawn: dict[float, AnyArray] = {}
    last, above = float(_EXACT_NUMBERS), np.full((count, 1), float(_EXACT_NUMBERS))
    for number in numbers:
        if number <= _EXACT_NUMBERS:
            drawn[number] = np.full((count, 1), number)
            continue
        gap = number - last
        above = above + (gap if gap <= 1 else generator.integers(1, 3, (count, 1)))
        last, drawn[number] = number, above
    return drawn


def members(bits: Bits) -> npt.NDArray[np.bool_]:
    """Sets as truth values, with a last axis for the things."""
    return (bits[..., None] >> _PLACES & 1).astype(np.bool_)


def pack(truths: AnyArray) -> Bits:
    """The inverse of :func:`members`."""
    return np.packbits(truths, axis=-1, bitorder="little")[..., 0]


def stacked(arrays: Iterable[AnyArray], axis: int = 0) -> AnyArray:
    """Arrays that may have one column or one for each thing, along a new axis."""
    return np.stack(np.broadcast_arrays(*arrays), axis=axis)


def size(bits: Bits) -> npt.NDArray[np.float64]:
    """How many things each set has."""
    return _SIZES[bits]


@dataclass(frozen=True, slots=True)
class Things:
    """A set of things.

    ``described`` says that words alone define it. ``number`` is the value of an extreme ("the highest of #1"),
    ``order`` represents how they were sorted.
    """

    bits: Bits
    described: bool = False
    number: AnyArray | None = None
    order: AnyArray | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A number; NaN if it is undefined."""

    numbers: AnyArray


@dataclass(frozen=True, slots=True)
class Truth:
    """Yes or no."""

    truths: AnyArray


@dataclass(frozen=True, slots=True)
class NumberOfEach:
    """A number (worlds, things) for each thing that is one of the ``keys``; those of the others are ignored."""

    keys: Bits
    numbers: AnyArray


@dataclass(frozen=True, slots=True)
class Many:
    """A list of values, at least one of which is not a set; their order means nothing."""

    parts: tuple[Things | Number | Truth | NumberOfEach, ...]


Value: TypeAlias = Things | Number | Truth | NumberOfEach | Many

_DIGITS = 6
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def mix(left: AnyArray, right: AnyArray) -> AnyArray:
    """A hash of two numbers in each world, which hardly any other pair has."""
    with np.errstate(over="ignore"):
        mixed = (left.astype(np.uint64) ^ (right.astype(np.uint64) * _MIX)) * _MIX
    return mixed ^ (mixed >> _SHIFT)


def fingerprints(value: Value) -> AnyArray:
    """A number for each world (and focused thing) that equal values share and different ones hardly ever do."""
    match value:
        case Things(bits, _, _, order):
            found = mix(bits, np.array(1))
            return found if order is None else mix(found, order)
        case Number(numbers):
            return mix(_rounded(numbers), np.array(2))
        case Truth(truths):
            return mix(truths, np.array(3))
        case NumberOfEach(keys, numbers):
            columns = np.where(members(keys)[:, 0], _rounded(numbers), 0).T[..., None]
            return reduce(mix, columns, mix(keys, np.array(4)))
        case Many(parts):
            in_order = np.sort(stacked(map(fingerprints, parts)), axis=0)
            return reduce(mix, in_order, np.zeros_like(in_order[0]))


def _rounded(numbers: AnyArray) -> AnyArray:
    """Numbers as integers that ignore rounding errors."""
    finite = np.nan_to_num(np.round(numbers, _DIGITS) * 10**_DIGITS, nan=7e17, posinf=8e17, neginf=9e17)
    return np.asarray(finite, dtype=np.int64)

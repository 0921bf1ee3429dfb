"""How the interpreter reads a step: which words describe things, which references they are tied to, what is compared.

A decomposition becomes a :class:`ComputedPlan`. Steps in other words than Break's are read as Break would say them,
words are normalised as in LF-EM, and function words are removed. What is left of a phrase is a set of words, the
references among them, and what it negates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.errors import Reason, StepError
from qdecomp.data_structures.lexicon import removed_words
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.lexicon.inflections import variants
from qdecomp.data_structures.lf_em import AnyDecomposition
from qdecomp.data_structures.limits import cache_short
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, is_reference, parse_qdmr, reference_number
from qdecomp.data_structures.reading.phrases import usual_wording

_ALL = "all"
SAME = "same"
"""Stands for the property of a projection that returns its subject."""

MAX_STEPS = 60
MAX_WORDS = 300
"""Break's longest decomposition has fewer than half as many of either."""

_SPLIT = re.compile(r"\W+")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?\Z")
_LONGEST_NUMBER = 15
# In a logical form, "at least" is the property "more", which otherwise says "more than 1".
_LARGEST_NUMBER_WITH_PROPERTY = 2


@dataclass(frozen=True, slots=True)
class Link:
    """A reference inside a phrase with the words that tie things to it; ``same`` if it says only "is"."""

    step: int
    words: frozenset[str] = frozenset()
    same: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that describe a thing, references that it is tied to, and what must not hold for it."""

    words: frozenset[str] = frozenset()
    links: tuple[Link, ...] = ()
    negated: Phrase | None = None

    def __bool__(self) -> bool:
        return bool(self.words or self.links or self.negated)

    @property
    def all_words(self) -> list[str]:
        """The words, with those that tie things to references, in order."""
        return sorted(self.words.union(*(link.words for link in self.links)))


@dataclass(frozen=True, slots=True)
class Operand:
    """What an operator works on: a step, a number, or (without either) all things; narrowed by a phrase."""

    base: int | None = None
    number: float | None = None
    phrase: Phrase = Phrase()


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison (one of ``= > >= < <=``) with a number, a step or nothing, or a phrase that must hold.

    One thing of a set is enough, unless the condition is ``universal``.
    """

    negated: bool = False
    universal: bool = False
    comparison: str | None = None
    number: float | None = None
    phrase: Phrase = Phrase()


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """An operator with what it works on, by the argument's name."""

    operator: Operator
    property: str | None
    operands: tuple[tuple[str, Operand], ...] = ()
    condition: Condition = Condition()
    references: tuple[int, ...] = ()
    text: str = field(default="", compare=False)

    def all(self, name: str) -> tuple[Operand, ...]:
        """The operands of that name."""
        return tuple(operand for each, operand in self.operands if each == name)

    def one(self, name: str) -> Operand:
        """The operand of that name; all things if there is none."""
        return next(iter(self.all(name)), Operand())


@dataclass(frozen=True, slots=True)
class ComputedPlan:
    """The steps of a decomposition as they are computed."""

    steps: tuple[PlannedStep, ...]
    roots: tuple[int, ...] = field(init=False, compare=False)
    """The steps that no other step needs: together, the answer. A selection that nothing uses is not part of it."""
    needs: tuple[frozenset[int], ...] = field(init=False, repr=False, compare=False)
    """For each step everything that it needs, directly or not; step n is at index n - 1."""

    def __post_init__(self) -> None:
        needed = {target for step in self.steps for target in step.references}
        ends = [number for number in range(1, len(self.steps) + 1) if number not in needed]
        used = [number for number in ends if self.steps[number - 1].operator is not Operator.SELECT]
        object.__setattr__(self, "roots", tuple(used or ends))
        object.__setattr__(self, "needs", tuple(self._needs(number) for number in range(1, len(self.steps) + 1)))

    def _needs(self, number: int) -> frozenset[int]:
        found: set[int] = set()
        new = {*self.steps[number - 1].references}
        while new:
            found |= new
            new = {target for each in new for target in self.steps[each - 1].references} - found
        return frozenset(found)


def read_plan(question: str, decomposition: AnyDecomposition) -> ComputedPlan:
    """Read a decomposition of a question.

    Raises :class:`~qdecomp.data_structures.errors.QDecompError` for what is not a decomposition, is longer than any
    question needs, or has no meaning over sets of things.

    >>> plan = read_plan("How many red cubes are there?", "return red cubes ;return number of #1")
    >>> sorted(plan.steps[0].one("sub").phrase.words)
    ['cube', 'red']
    """
    written = not isinstance(decomposition, LogicalForm)
    if isinstance(decomposition, LogicalForm):
        form, qdmr = decomposition, to_qdmr(decomposition)
    else:
        qdmr = parse_qdmr(decomposition) if isinstance(decomposition, str) else decomposition
        _check_size(qdmr)
        texts = [step.text for step in qdmr.steps]
        if (usual := usual_wording(texts)) != texts:
            qdmr = parse_qdmr(";".join(usual))
        form = to_logical_form(qdmr)
    _check_size(qdmr)
    names = representatives(question)
    steps = []
    for number, (step, text) in enumerate(zip(form.steps, qdmr.steps, strict=True), start=1):
        try:
            steps.append(_StepReader(step, text.tokens, names, written).read())
        except StepError as error:
            raise StepError(error.reason, number) from None
    return ComputedPlan(tuple(steps))


def _check_size(qdmr: Qdmr) -> None:
    words = sum(len(step.tokens) for step in qdmr.steps)
    if len(qdmr) > MAX_STEPS or words > MAX_WORDS:
        reason = "too long: {} steps, {} words; at most {} and {} are compared"
        raise StepError(Reason(reason, len(qdmr), words, MAX_STEPS, MAX_WORDS))


_LISTS = json.loads(files(__package__).joinpath("word_lists.json").read_text(encoding="utf-8"))
_NAMES = ("negations", "copulas", "quantifiers", "ordinals")
_NEGATIONS, _COPULAS, _QUANTIFIERS, _ORDINALS = (frozenset(_LISTS[name]) for name in _NAMES)
# Each phrase with its sign, the longest first.
_COMPARISONS = sorted(
    ((phrase.split(), sign) for sign, phrases in _LISTS["comparisons"].items() for phrase in phrases),
    key=lambda row: -len(row[0]),
)


def _number(token: str) -> float | None:
    lower = token.lower()
    if lower in _LISTS["numbers"]:
        return float(_LISTS["numbers"][lower])
    is_number = len(lower) <= _LONGEST_NUMBER and _NUMBER.match(lower)
    return float(lower.replace(",", "")) if is_number else None


@cache_short(entries=4096, longest=40)
def _first_inflection(word: str) -> str:
    return min(variants(word))


class _StepReader:
    """Reads one step; ``tokens`` are those of its text, ``names`` the classes of words."""

    def __init__(self, step: LogicalStep, tokens: Sequence[str], names: Mapping[str, str], written: bool) -> None:
        self.step = step
        self.tokens = [token.lower() for token in tokens]
        self.names = names
        self.written = written
        self.removed = removed_words(step.operator, step.properties, True)

    def read(self) -> PlannedStep:
        step = self.step
        self._refuse_missing_arguments()
        self._refuse_ordinals()
        conditioned = "equals" in OPERATORS[step.operator].properties
        compared = step.argument("condition") if conditioned else ()
        condition = (
            self._condition([token for each in compared for token in each.tokens]) if conditioned else Condition()
        )
        operands = tuple((each.name, self._operand(each)) for each in step.arguments if each not in compared)
        name = step.properties[0] if step.properties else None
        if step.operator is Operator.PROJECT:
            tokens = {token.lower() for argument in step.argument("projection") for token in argument.tokens}
            # A projection that only asks, as "what is #1" does, gives its subject.
            name = SAME if tokens <= _COPULAS - {"who"} else name
        return PlannedStep(step.operator, name, operands, condition, step.references, " ".join(self.tokens))

    def _refuse_missing_arguments(self) -> None:
        present = {argument.name for argument in self.step.arguments}
        # A group without its key or value has a logical form, but means nothing.
        also = ("key", "value") if self.step.operator is Operator.GROUP else ()
        missing = [name for name in (*OPERATORS[self.step.operator].required, *also) if name not in present]
        if missing or not present:
            what = " and ".join(missing) or "arguments"
            raise StepError(Reason("{} has no meaning without its {}", self.step.operator, what))

    def _refuse_ordinals(self) -> None:
        """Refuse what ranks things, and not an ordinal in a name."""
        is_ranking = "max" in OPERATORS[self.step.operator].properties
        for place, token in enumerate(self.tokens[:-1] if self.step.references else ()):
            following = self.tokens[place + 1]
            target = self.tokens[place + 2] if following == "of" and place + 2 < len(self.tokens) else following
            if token in _ORDINALS and (is_ranking or following.endswith("est") or is_reference(target)):
                raise StepError(Reason("an ordinal ({!r}) has no meaning over sets of things", token))

    def _words(self, token: str) -> list[str]:
        lower = token.lower()
        if lower in self.removed:
            return []
        return [self._name(piece) for piece in _SPLIT.split(lower) if piece]

    def _name(self, word: str) -> str:
        """The class of a word of the question, or else the first of the word's inflections."""
        return self.names.get(word) or self.names.get(first := _first_inflection(word), first)

    def _phrase(self, tokens: Sequence[str]) -> Phrase:
        """The words before a reference tie things to it; those after the last one belong to it, too."""
        links: list[Link] = []
        words: set[str] = set()
        same, negated = True, None
        for place, token in enumerate(tokens):
            lower = token.lower()
            number = reference_number(token)
            if number is not None:
                # "wearing #2 and #3": what ties to the first ties to the second.
                shared = links[-1].words if links and not words else frozenset(words)
                links.append(Link(number, shared, same and not shared and (not links or links[-1].same)))
                words, same = set(), True
            elif lower in _NEGATIONS:
                negated = self._phrase(tokens[place + 1 :])
                break
            else:
                words.update(self._words(token))
                same = same and lower in _COPULAS
        if links and words:
            last = links.pop()
            links.append(Link(last.step, last.words | words))
            words = set()
        return Phrase(frozenset(words), tuple(links), negated)

    def _operand(self, argument: Argument) -> Operand:
        tokens = argument.tokens
        if argument.name in ("projection", "exclude", "order", "condition"):
            return Operand(phrase=self._phrase(tokens))
        start = next((place for place, token in enumerate(tokens) if is_reference(token)), None)
        if start is None:
            numbers = [number for token in tokens if (number := _number(token)) is not None]
            if self.step.operator is Operator.ARITHMETIC and len(numbers) == 1:
                return Operand(number=numbers[0])
            return Operand(phrase=self._phrase(tokens))
        before, behind = self._phrase(tokens[:start]), self._phrase(tokens[start + 1 :])
        phrase = Phrase(before.words | behind.words, behind.links, before.negated or behind.negated)
        return Operand(reference_number(tokens[start]), phrase=phrase)

    def _condition(self, tokens: Sequence[str]) -> Condition:
        rest = list(tokens)
        negated = False
        while rest and rest[0].lower() in _COPULAS | _NEGATIONS:
            negated ^= rest.pop(0).lower() in _NEGATIONS
        comparison, number, rest = self._comparison(rest)
        if number is None and (comparison is not None or len(rest) == 1):
            place = next((place for place, token in enumerate(rest) if _number(token) is not None), None)
            if place is not None:
                comparison, number = comparison or "=", _number(rest.pop(place))
        if comparison == "=" and number is None and all(token.lower() in _QUANTIFIERS for token in rest):
            rest = []
        universal = comparison is None and self._is_universal() and rest[:1] == [_ALL]
        return Condition(negated, universal, comparison, number, self._phrase(rest[universal:]))

    def _is_universal(self) -> bool:
        """Whether a question is about all things of a step: "if all #1 are red"."""
        if self.step.operator is not Operator.BOOLEAN or _ALL not in self.tokens:
            return False
        following = [token for token in self.tokens[self.tokens.index(_ALL) + 1 :] if token not in ("of", "the")]
        return bool(following) and is_reference(following[0])

    def _comparison(self, tokens: list[str]) -> tuple[str | None, float | None, list[str]]:
        """The sign, a number that the property has, and the tokens that are left."""
        name, _, number = (self.step.properties[0] if self.step.properties else "").rpartition("-")
        if number in ("0", "1", "2"):
            return {"equals": "=", "more-than": ">", "less-than": "<"}[name], float(number), tokens
        sign = {"equals": "=", "more": ">", "less": "<"}.get(number)
        if sign is not None:
            return self._inclusive(sign, tokens), None, tokens
        if number == "exists" or name in ("and", "or"):
            return None, None, tokens
        lower = [token.lower() for token in tokens]
        for phrase, found in _COMPARISONS:
            follower = tokens[len(phrase) : len(phrase) + 1]
            if lower[: len(phrase)] == phrase and self._can_be_compared(follower, tokens, found):
                return found, None, tokens[len(phrase) :]
        return None, None, tokens

    def _can_be_compared(self, follower: Sequence[str], tokens: Sequence[str], sign: str) -> bool:
        if not follower:
            return sign == "="
        is_number = _number(follower[0]) is not None
        if self.step.operator is Operator.BOOLEAN and is_number:
            # "in at least one image" counts images; "at least one" compares.
            return _number(tokens[-1]) is not None
        return is_number or is_reference(follower[0]) or sign == "="

    def _inclusive(self, sign: str, tokens: Sequence[str]) -> str:
        """A logical form says "more" for "more than" and for "at least"; only the text distinguishes them."""
        inclusive = {"=": "=", ">": ">=", "<": "<="}[sign]
        if self.written:
            text = f" {' '.join(self.tokens)} "
            is_inclusive = any(f" {phrase} " in text for phrase in _LISTS["comparisons"][inclusive])
        else:
            number = next((found for token in tokens if (found := _number(token)) is not None), None)
            is_inclusive = number is not None and number <= _LARGEST_NUMBER_WITH_PROPERTY
        return inclusive if is_inclusive else sign

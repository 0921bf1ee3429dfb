"""QDMR → LF by the rule table, and LF → QDMR by the operators' templates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from qdecomp.data_structures.conversion.step_rules import LIST_SEPARATOR, STEP_RULES, StepRule
from qdecomp.data_structures.lexicon import property_phrases, property_words, stop_words
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator, Template
from qdecomp.data_structures.qdmr import Qdmr, Step, is_reference, parse_qdmr

# How many texts are tried for a step; nearly all take the first one or two.
_MAX_TRIALS = 200
# No rule distinguishes larger numbers of references.
_MANY_REFERENCES = 3
_GROUP_NAME = re.compile(r"(?<=\()\?P<(\w+)>")
_Group: TypeAlias = tuple[str, bool, int]
"""A group of an expression: the argument, whether the group is a list of them, and its number."""
_BEFORE_A_COMPARISON = frozenset(("is", "are", "was", "were", "be", "the"))


class StepReading(NamedTuple):
    """What a rule finds in a step: the parts of a logical step, the arguments in any order."""

    operator: Operator
    properties: tuple[str, ...]
    arguments: Sequence[tuple[str, Sequence[str]]]
    approximate: bool


def to_logical_form(qdmr: Qdmr | str) -> LogicalForm:
    """Convert every step of a decomposition, given as a value or as Break's text.

    >>> print(to_logical_form("return cubes ;return #1 that are red ;return number of #2"))
    SELECT[](sub=cubes)
    FILTER[](sub=#1, condition=that are red)
    AGGREGATE[count](arg=#2)
    """
    if not isinstance(qdmr, Qdmr):
        qdmr = parse_qdmr(qdmr)
    return LogicalForm(tuple([to_logical_step(step) for step in qdmr.steps]))


@lru_cache(maxsize=2048)
def to_logical_step(step: Step) -> LogicalStep:
    """Convert one step by the first rule that it fits; the last rules fit everything."""
    operator, properties, arguments, approximate = read_step(step)
    named = tuple([Argument(name, tuple(tokens)) for name, tokens in arguments])
    return LogicalStep(operator, properties, named, approximate)


def read_step(step: Step) -> StepReading:
    """The parts of :func:`to_logical_step`, for a caller that makes something else of them."""
    pattern, rules = _rules_for(min(len(step.references), _MANY_REFERENCES))
    match = pattern.fullmatch(step.text)
    if match is None or match.lastindex is None:
        raise AssertionError("the last rules fit everything")
    rule, groups = rules[match.lastindex]
    operator = rule.operator
    properties, phrase = ((rule.shows,), ()) if rule.shows else _find_property(operator, step.tokens)
    hides_words = OPERATORS[operator].references_hide_words
    arguments = []
    for name, tokens in _arguments(groups, match):
        if hides_words:
            tokens = _without_known_words(operator, tokens)
        elif phrase and name == "condition":
            tokens = _without_comparison(tokens, phrase)
        elif operator is Operator.DISCARD and name == "sub":
            while len(tokens) > 1 and tokens[-1].lower() in stop_words():
                tokens.pop()
        if tokens:
            arguments.append((name, tokens))
    # Without a property, a comparison has no published form.
    approximate = rule.approximate or (operator is Operator.COMPARISON and not properties)
    return StepReading(operator, properties, arguments, approximate)


@cache
def _rules_for(references: int) -> tuple[re.Pattern[str], Mapping[int, tuple[StepRule, Sequence[_Group]]]]:
    """The rules for so many references as one expression, and each rule by the number of the group that ends it."""
    alternatives: list[str] = []
    rules: dict[int, tuple[StepRule, Sequence[_Group]]] = {}
    count = 0
    for rule in STEP_RULES:
        if rule.references[0] <= references <= rule.references[1]:
            names = _GROUP_NAME.findall(rule.expression)
            groups = [
                (name.removeprefix("each_").partition("_")[0], name.startswith("each_"), number)
                for number, name in enumerate(names, start=count + 1)
            ]
            alternatives.append(f"(?:{_GROUP_NAME.sub('', rule.expression)})()")
            count += len(names) + 1
            rules[count] = rule, groups
    return re.compile("|".join(alternatives), re.IGNORECASE | re.DOTALL), rules


def _find_property(operator: Operator, tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The property of the lowest tier, found by the longest phrase, with that phrase."""
    phrases = _phrases_by_first_word(operator)
    lower = tuple([token.lower() for token in tokens]) if phrases else ()
    found = [
        candidate
        for place, token in enumerate(lower)
        for candidate in phrases.get(token, ())
        if lower[place : place + len(candidate[3])] == candidate[3]
    ]
    if not found:
        return (), ()
    _, _, name, phrase = min(found)
    return (name,), phrase


@cache
def _phrases_by_first_word(operator: Operator) -> Mapping[str, list[tuple[int, int, str, tuple[str, ...]]]]:
    """Tier, length (negative, so that the longest comes first), property and words of each phrase."""
    phrases: dict[str, list[tuple[int, int, str, tuple[str, ...]]]] = {}
    for row in property_phrases(operator):
        for phrase in row.phrases:
            phrases.setdefault(phrase[0], []).append((row.tier, -len(phrase), row.property, phrase))
    return phrases


def _arguments(groups: Iterable[_Group], match: re.Match[str]) -> list[tuple[str, list[str]]]:
    """The tokens of each argument: first the members of lists, then the pieces of one argument put together."""
    found: list[tuple[str, list[str]]] = []
    pieces: dict[str, list[str]] = {}
    for name, is_list, number in groups:
        text = match[number]
        if text and is_list:
            found += [(name, member.split()) for member in LIST_SEPARATOR.split(text)]
        elif text:
            pieces.setdefault(name, []).extend(text.split())
    found += pieces.items()
    return found


@cache
def _known_words(operator: Operator) -> frozenset[str]:
    return stop_words() if operator is Operator.ARITHMETIC else stop_words() | property_words(operator)


def _without_known_words(operator: Operator, tokens: Sequence[str]) -> list[str]:
    """Drop what the operator and its property already say; what follows a reference always says more."""
    known = _known_words(operator)
    start = _first_reference(tokens)
    return [*(token for token in tokens[:start] if token.lower() not in known), *tokens[start:]]


def _first_reference(tokens: Sequence[str]) -> int:
    return next((place for place, token in enumerate(tokens) if is_reference(token)), len(tokens))


def _without_comparison(tokens: Sequence[str], phrase: tuple[str, ...]) -> list[str]:
    lower = tuple([token.lower() for token in tokens])
    end = next((end for end in range(len(phrase), len(lower) + 1) if lower[end - len(phrase) : end] == phrase), None)
    if end is None:
        return list(tokens)
    before = list(tokens[: end - len(phrase)])
    while before and before[-1].lower() in _BEFORE_A_COMPARISON:
        before.pop()
    while before and before[0].lower() in _BEFORE_A_COMPARISON:
        before.pop(0)
    return [*before, *tokens[end:]]


def to_qdmr(form: LogicalForm) -> Qdmr:
    """Write a logical form as a decomposition, each step by a template whose text converts back, if there is one."""
    return Qdmr(tuple(to_step(step) for step in form.steps))


@lru_cache(maxsize=2048)
def to_step(step: LogicalStep) -> Step:
    """Write one logical step."""
    first: Step | None = None
    for text in islice(_texts(step), _MAX_TRIALS):
        candidate = Step(tuple(text.split()))
        if to_logical_step(candidate) == step:
            return candidate
        first = first or candidate
    return first or Step(tuple(token for argument in step.arguments for token in argument.tokens))


def _texts(step: LogicalStep) -> Iterator[str]:
    """The texts that the templates give for a step, the likeliest first, without empty ones."""
    shown = step.properties[0] if step.properties else None
    names = {argument.name for argument in step.arguments}
    for template in _templates(step.operator):
        # A template that leaves out an argument does not apply.
        if shown in template.properties and all(f"{{{name}" in template.text for name in names):
            for blanks in _blanks(template, step, names):
                # An argument that the step lacks is left out.
                text = template.text.format_map(defaultdict(str, blanks, property=template.properties[shown]))
                if text and not text.isspace():
                    yield text


@cache
def _templates(operator: Operator) -> tuple[Template, ...]:
    """The operator's templates, with those for every phrase expanded."""
    phrases = [(row.property, " ".join(phrase)) for row in property_phrases(operator) for phrase in row.phrases]
    found: list[Template] = []
    for template in OPERATORS[operator].templates:
        if template.every_phrase:
            found.extend(replace(template, properties={name: phrase}) for name, phrase in phrases)
        else:
            found.append(template)
    return tuple(found)


def _blanks(template: Template, step: LogicalStep, names: Iterable[str]) -> list[dict[str, str]]:
    """What replaces the arguments: one filling, or one for each place at which the template splits an argument."""
    blanks: dict[str, str] = {}
    split: tuple[str, list[str]] | None = None
    for name in names:
        tokens = [token for argument in step.argument(name) for token in argument.tokens]
        blanks[name] = template.separator.join(argument.text for argument in step.argument(name))
        start = _first_reference(tokens)
        blanks[f"{name}_before"], blanks[f"{name}_rest"] = " ".join(tokens[:start]), " ".join(tokens[start:])
        blanks[f"{name}_reference"] = " ".join(tokens[start : start + 1])
        blanks[f"{name}_others"] = " ".join(tokens[:start] + tokens[start + 1 :])
        if f"{{{name}_head}}" in template.text:
            split = name, tokens
    if split is None:
        return [blanks]
    name, tokens = split
    return [
        {**blanks, f"{name}_head": " ".join(tokens[:place]), f"{name}_tail": " ".join(tokens[place:])}
        for place in range(len(tokens), -1, -1)
    ]

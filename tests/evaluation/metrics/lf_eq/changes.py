"""Changes to a decomposition that alter what it computes, for testing a metric.

Each kind of change is a function from a decomposition to all decompositions that differ from it in one place.
Changes that keep the meaning, such as exchanging the members of a union, are not made.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_step, to_step
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.logical_form import Argument, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, Step, is_reference, reference_number


@dataclass(frozen=True, slots=True)
class Change:
    """A changed decomposition and the kind of its change."""

    kind: str
    decomposition: Qdmr


def changes(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Iterator[Change]:
    """One change of each kind, if there is any, chosen at random; ``words`` are those that may replace others."""
    for kind, change in CHANGES.items():
        candidates = list(change(decomposition, words, generator))
        generator.shuffle(candidates)
        for steps in candidates:
            try:
                changed = Qdmr(tuple(steps))
            except QDecompError:
                continue
            if changed != decomposition:
                yield Change(kind, changed)
                break


Candidates = Iterator[Sequence[Step]]


def _with(steps: Sequence[Step], place: int, tokens: Sequence[str]) -> list[Step]:
    return [*steps[:place], Step(tuple(tokens)), *steps[place + 1 :]]


def _leave_out_step(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    """A step is removed; what referred to it refers to the first step that it referred to, or to nothing."""
    steps = decomposition.steps
    for place, step in enumerate(steps):
        gone = f"#{place + 1}"
        if _is_count_for_arithmetic(steps, place):
            continue
        instead = [f"#{step.references[0]}"] if step.references else []
        rest = []
        for each in (*steps[:place], *steps[place + 1 :]):
            tokens = [new for token in each.tokens for new in (instead if token == gone else [token])]
            rest.append([_shifted(token, place + 1) for token in tokens])
        if rest and all(rest):
            yield [Step(tuple(tokens)) for tokens in rest]


def _is_count_for_arithmetic(steps: Sequence[Step], place: int) -> bool:
    """Whether a step counts what is then added or subtracted: there, sets count anyway."""
    if to_logical_step(steps[place]).properties != ("count",):
        return False
    users = [to_logical_step(step) for step in steps if place + 1 in step.references]
    return bool(users) and all(user.operator is Operator.ARITHMETIC for user in users)


def _is_unused(steps: Sequence[Step], place: int) -> bool:
    """Whether a selection is neither used nor the answer."""
    used = {number for step in steps for number in step.references}
    return len(steps) > 1 and not steps[place].references and place + 1 not in used


def _shifted(token: str, gone: int) -> str:
    number = reference_number(token)
    return f"#{number - 1}" if number is not None and number > gone else token


def _is_symmetric(step: LogicalStep) -> bool:
    if step.operator in (Operator.UNION, Operator.INTERSECTION, Operator.COMPARISON):
        return True
    if step.operator is Operator.ARITHMETIC:
        return step.properties != ("diff",) and step.properties != ("div",)
    return step.operator is Operator.BOOLEAN and bool(
        {"equals", "and-true", "and-false", "or-true", "or-false"} & {*step.properties}
    )


def _swap_references(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    for place, step in enumerate(decomposition.steps):
        if len(set(step.references)) == 2 and not _is_symmetric(to_logical_step(step)):
            one, other = (f"#{number}" for number in dict.fromkeys(step.references))
            swap = {one: other, other: one}
            yield _with(decomposition.steps, place, [swap.get(token, token) for token in step.tokens])


def _change_reference(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    for place, step in enumerate(decomposition.steps):
        for old in dict.fromkeys(step.references):
            for new in range(1, place + 1):
                if new not in step.references:
                    tokens = [f"#{new}" if token == f"#{old}" else token for token in step.tokens]
                    yield _with(decomposition.steps, place, tokens)


_OTHER_PROPERTIES: Mapping[Operator, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        Operator.AGGREGATE: {
            "max": ("min", "count"),
            "min": ("max", "avg"),
            "count": ("max", "sum"),
            "sum": ("count", "avg"),
            "avg": ("sum", "max"),
        },
        Operator.GROUP: {"max": ("min",), "min": ("max",), "count": ("max", "sum"), "sum": ("count",), "avg": ("sum",)},
        Operator.SUPERLATIVE: {"max": ("min",), "min": ("max",)},
        Operator.COMPARATIVE: {
            "more": ("less",),
            "less": ("more",),
            "equals": ("more", "less"),
            "equals-0": ("more-than-0",),
            "equals-1": ("more-than-1", "equals-2"),
            "equals-2": ("less-than-2", "equals-1"),
            "more-than-1": ("less-than-1",),
        },
        Operator.COMPARISON: {"max": ("min",), "min": ("max",), "true": ("false",)},
        Operator.BOOLEAN: {
            "equals-0": ("equals-1",),
            "equals-1": ("equals-2", "more-than-1"),
            "equals-2": ("equals-1", "less-than-2"),
            "more-than-1": ("equals-1",),
            "and-true": ("or-true", "and-false"),
            "or-true": ("and-true", "or-false"),
        },
        Operator.ARITHMETIC: {"diff": ("div",), "sum": ("multiply",), "div": ("diff",), "multiply": ("sum",)},
    }
)


def _change_property(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    for place, step in enumerate(decomposition.steps):
        logical = to_logical_step(step)
        for name in logical.properties:
            for other in _OTHER_PROPERTIES.get(logical.operator, {}).get(name, ()):
                changed = replace(logical, properties=(other,))
                written = to_step(changed)
                if to_logical_step(written) == changed:
                    yield _with(decomposition.steps, place, written.tokens)


# The operator that each operator becomes, with its properties (None: as they are) and the names of its arguments.
_OTHER_OPERATORS: Mapping[Operator, tuple[Operator, tuple[str, ...] | None, Mapping[str, str]]] = MappingProxyType(
    {
        Operator.UNION: (Operator.INTERSECTION, (), {"sub": "intersect"}),
        Operator.INTERSECTION: (Operator.UNION, (), {"intersect": "sub"}),
        Operator.GROUP: (Operator.AGGREGATE, None, {"value": "arg"}),
        Operator.SUPERLATIVE: (Operator.AGGREGATE, None, {"attribute": "arg"}),
        Operator.DISCARD: (Operator.DISCARD, (), {"sub": "exclude", "exclude": "sub"}),
        Operator.ARITHMETIC: (Operator.ARITHMETIC, ("sum",), {"left": "arg", "right": "arg"}),
    }
)


def _change_operator(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    """Union against intersection, a group without its key, a superlative of the whole, an exclusion reversed."""
    for place, step in enumerate(decomposition.steps):
        logical = to_logical_step(step)
        row = _OTHER_OPERATORS.get(logical.operator)
        if row is None or (logical.operator is Operator.ARITHMETIC and logical.properties != ("diff",)):
            continue
        operator, properties, names = row
        arguments = [Argument(names[each.name], each.tokens) for each in logical.arguments if each.name in names]
        if arguments:
            changed = LogicalStep(operator, logical.properties if properties is None else properties, tuple(arguments))
            written = to_step(changed)
            if to_logical_step(written).operator is operator:
                yield _with(decomposition.steps, place, written.tokens)


def _change_negation(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    for place, step in enumerate(decomposition.steps):
        logical = to_logical_step(step)
        tokens = list(step.tokens)
        lower = [token.lower() for token in tokens]
        if "not" in lower:
            yield _with(decomposition.steps, place, [token for token in tokens if token.lower() != "not"])
        elif logical.operator is Operator.FILTER and logical.argument("condition"):
            condition = logical.argument("condition")[0].tokens
            yield _with(decomposition.steps, place, [tokens[0], "that", "are", "not", *condition])
        elif logical.operator is Operator.COMPARATIVE and "is" in lower:
            at = lower.index("is") + 1
            yield _with(decomposition.steps, place, [*tokens[:at], "not", *tokens[at:]])


def _exchange_word(decomposition: Qdmr, words: Sequence[str], generator: random.Random) -> Candidates:
    """A content word is replaced; next to references that say everything, words do not count."""
    for place, step in enumerate(decomposition.steps):
        operator = to_logical_step(step).operator
        if not OPERATORS[operator].describes or not words:
            continue
        if _is_unused(decomposition.steps, place):
            continue
        for at, token in enumerate(step.tokens):
            if token.isalpha() and token.lower() not in stop_words() and not is_reference(token):
                new = generator.choice(words)
                if to_logical_step(Step((*step.tokens[:at], new, *step.tokens[at + 1 :]))).operator is operator:
                    yield _with(decomposition.steps, place, [*step.tokens[:at], new, *step.tokens[at + 1 :]])


CHANGES: Mapping[str, Callable[[Qdmr, Sequence[str], random.Random], Candidates]] = MappingProxyType(
    {
        "a step left out": _leave_out_step,
        "references swapped": _swap_references,
        "another reference": _change_reference,
        "another property": _change_property,
        "another operator": _change_operator,
        "a negation added or dropped": _change_negation,
        "a content word exchanged": _exchange_word,
    }
)

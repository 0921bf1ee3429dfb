"""The normal form of a logical form that LF-EM compares: words normalised, steps merged, steps reordered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from ..lexicon import removed_words
from ..lexicon.equivalence import representatives
from ..logical_form import LogicalForm, LogicalStep
from ..operators import OPERATORS, Operator
from ..qdmr import order_by_references

__all__ = ["NormalizedStep", "normalize", "normalize_steps", "normalized_form_text"]

_SPLIT = re.compile(r"\W+")

_Content: TypeAlias = tuple[LogicalStep, frozenset[tuple[str, int]], frozenset[str]]
_CONTENTS: dict[tuple[int, bool], _Content] = {}
_MOST_CONTENTS = 65536


class NormalizedStep(NamedTuple):
    """An operator over other steps (argument name and number of the step, from 1) and a set of words."""

    operator: Operator
    properties: tuple[str, ...]
    edges: frozenset[tuple[str, int]]
    words: frozenset[str]

    def __str__(self) -> str:
        operator, properties, edges, words = self
        ordered = sorted(edges) if len(edges) > 1 else edges
        references = ", ".join([f"{name}=#{number}" for name, number in ordered])
        return f"{_SHOWN[operator]}[{','.join(properties)}]({references}){{{','.join(sorted(words))}}}"


_SHOWN = {operator: operator.value.upper() for operator in Operator}


def normalize(question: str, form: LogicalForm, *, strict: bool = False) -> tuple[NormalizedStep, ...]:
    """Bring a logical form into the form in which equal meanings are equal values.

    ``strict`` keeps what the published metric overlooks: negation, words next to the references of an aggregate, and
    the difference between "last" and "most".
    """
    return tuple(step for step, _ in _normalized(question, form, strict))


def normalized_form_text(question: str, form: LogicalForm, *, strict: bool = False) -> str:
    """The steps of :func:`normalize`, separated by semicolons."""
    return "; ".join([text for _, text in _normalized(question, form, strict)])


def _normalized(question: str, form: LogicalForm, strict: bool) -> list[tuple[NormalizedStep, str]]:
    """The steps of the normal form, each with its text."""
    nodes = dict(enumerate(normalize_steps(question, form, strict=strict), start=1))
    targets = {number: [target for _, target in node.edges] for number, node in nodes.items()}
    # In this order, merged steps also refer only to earlier steps: to those that the steps merged into them refer to.
    order = order_by_references(targets)
    roots = nodes.keys() - {target for each in targets.values() for target in each}
    merged = _merge(nodes, order)
    needed = _needed(merged, order, roots)
    return _reorder(merged, _layers(merged, [number for number in order if number in needed]))


def normalize_steps(question: str, form: LogicalForm, *, strict: bool = False) -> tuple[NormalizedStep, ...]:
    """The first part of :func:`normalize`: every step with its words normalised, in its original place."""
    names = representatives(question, strict)
    return tuple([_normalize_step(step, names, strict) for step in form.steps])


def _normalize_step(step: LogicalStep, names: Mapping[str, str], strict: bool) -> NormalizedStep:
    _, edges, words = _content(step, strict)
    return NormalizedStep(step.operator, step.properties, edges, frozenset([names.get(word, word) for word in words]))


def _content(step: LogicalStep, strict: bool) -> _Content:
    """The references of a step and the words that count, before these are replaced by their classes.

    Steps are looked up by identity: equal ones are mostly the same object, and computing their hash takes longer than
    everything else here.
    """
    known = _CONTENTS.get((id(step), strict))
    if known is None:
        if len(_CONTENTS) >= _MOST_CONTENTS:
            _CONTENTS.clear()
        # The step is stored with the result, so that no other step can get its identity.
        known = _CONTENTS[id(step), strict] = (step, *_found_content(step, strict))
    return known


def _found_content(step: LogicalStep, strict: bool) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
    removed = removed_words(step.operator, step.properties, strict)
    hide_words = not strict and OPERATORS[step.operator].references_hide_words
    edges: list[tuple[str, int]] = []
    words: list[str] = []
    for argument in step.arguments:
        references = argument.references
        if references:
            edges += [(argument.name, number) for number in references]
            if hide_words:
                continue
        for word in argument.words:
            lower = word.lower()
            if lower in removed:
                continue
            if lower.isalnum():
                words.append(lower)
            else:
                words += [piece for piece in _SPLIT.split(lower) if piece]
    return frozenset(edges), frozenset(words)


def _merge(nodes: Mapping[int, NormalizedStep], order: Iterable[int]) -> dict[int, NormalizedStep]:
    merged: dict[int, NormalizedStep] = {}
    for number in order:
        node = nodes[number]
        mergeable = OPERATORS[node.operator].absorbs
        if mergeable:
            edges, words = node.edges, node.words
            for edge in node.edges:
                target = merged[edge[1]]
                if edge[0] == "sub" and target.operator in mergeable:
                    edges, words = edges - {edge} | target.edges, words | target.words
            if edges is not node.edges or not edges:
                node = NormalizedStep(node.operator if edges else Operator.SELECT, node.properties, edges, words)
        merged[number] = node
    return merged


def _needed(nodes: Mapping[int, NormalizedStep], order: Sequence[int], roots: Iterable[int]) -> set[int]:
    """The roots and what they refer to after merging, directly or not."""
    needed = set(roots)
    for number in reversed(order):
        if number in needed:
            needed.update([target for _, target in nodes[number].edges])
    return needed


def _layers(nodes: Mapping[int, NormalizedStep], order: Iterable[int]) -> list[list[int]]:
    """The steps that need no other step, those that need only these, and so on."""
    layers: list[list[int]] = []
    layer_of: dict[int, int] = {}
    for number in order:
        layer = 0
        for _, target in nodes[number].edges:
            below = layer_of[target]
            if below >= layer:
                layer = below + 1
        layer_of[number] = layer
        if layer == len(layers):
            layers.append([number])
        else:
            layers[layer].append(number)
    return layers


def _reorder(nodes: Mapping[int, NormalizedStep], layers: Iterable[list[int]]) -> list[tuple[NormalizedStep, str]]:
    """Number the steps by layer and then by text; equal steps become one, merged ones that nothing needs go."""
    result: list[tuple[NormalizedStep, str]] = []
    new_numbers: dict[int, int] = {}
    for members in layers:
        renamed = [_renumbered(nodes[number], new_numbers) for number in members]
        if len(renamed) == 1:
            result.append((renamed[0], str(renamed[0])))
            new_numbers[members[0]] = len(result)
            continue
        in_order = sorted([(str(node), node) for node in set(renamed)], key=itemgetter(0))
        places = {node: place for place, (_, node) in enumerate(in_order, start=len(result) + 1)}
        new_numbers.update((number, places[node]) for number, node in zip(members, renamed, strict=True))
        result.extend([(node, text) for text, node in in_order])
    return result


def _renumbered(node: NormalizedStep, numbers: Mapping[int, int]) -> NormalizedStep:
    if not node.edges:
        return node
    edges = frozenset([(name, numbers[target]) for name, target in node.edges])
    return NormalizedStep(node.operator, node.properties, edges, node.words)

"""The normal form of a logical form that LF-EM compares: words normalised, steps merged, steps reordered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from ..lexicon import removed_words
from ..lexicon.equivalence import representatives
from ..logical_form import LogicalForm, LogicalStep
from ..operators import OPERATORS, Operator
from ..qdmr import order_by_references

__all__ = ["NormalizedStep", "normalize", "normalize_steps"]

_SPLIT = re.compile(r"\W+")


class NormalizedStep(NamedTuple):
    """An operator over other steps (argument name and number of the step, from 1) and a set of words."""

    operator: Operator
    properties: tuple[str, ...]
    edges: frozenset[tuple[str, int]]
    words: frozenset[str]

    def __str__(self) -> str:
        edges = ", ".join(f"{name}=#{number}" for name, number in sorted(self.edges))
        words = ",".join(sorted(self.words))
        return f"{self.operator.value.upper()}[{','.join(self.properties)}]({edges}){{{words}}}"


def normalize(question: str, form: LogicalForm, *, strict: bool = False) -> tuple[NormalizedStep, ...]:
    """Bring a logical form into the form in which equal meanings are equal values.

    ``strict`` keeps what the published metric overlooks: negation, words beside the references of an aggregate, and
    the difference between "last" and "most".
    """
    nodes = dict(enumerate(normalize_steps(question, form, strict=strict), start=1))
    referenced = {target for node in nodes.values() for _, target in node.edges}
    roots = [number for number in nodes if number not in referenced]
    return _reorder(_merge(nodes), roots)


def normalize_steps(question: str, form: LogicalForm, *, strict: bool = False) -> tuple[NormalizedStep, ...]:
    """The first part of :func:`normalize`: every step with its words normalised, at its own place."""
    names = representatives(question, strict)
    return tuple(_normalize_step(step, names, strict) for step in form.steps)


def _normalize_step(step: LogicalStep, names: Mapping[str, str], strict: bool) -> NormalizedStep:
    edges, words = _content(step, strict)
    return NormalizedStep(step.operator, step.properties, edges, frozenset([names.get(word, word) for word in words]))


@lru_cache(maxsize=65536)
def _content(step: LogicalStep, strict: bool) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
    """The references of a step and the words that count, before these are replaced by their classes."""
    removed = removed_words(step.operator, step.properties, strict)
    hide_words = not strict and OPERATORS[step.operator].references_hide_words
    edges: set[tuple[str, int]] = set()
    words: set[str] = set()
    for argument in step.arguments:
        references = argument.references
        edges.update((argument.name, number) for number in references)
        if not (hide_words and references):
            kept = [lower for word in argument.words if (lower := word.lower()) not in removed]
            words.update(piece for word in kept for piece in _SPLIT.split(word) if piece)
    return frozenset(edges), frozenset(words)


def _order(nodes: Mapping[int, NormalizedStep]) -> list[int]:
    return order_by_references({number: [target for _, target in node.edges] for number, node in nodes.items()})


def _merge(nodes: Mapping[int, NormalizedStep]) -> dict[int, NormalizedStep]:
    merged: dict[int, NormalizedStep] = {}
    for number in _order(nodes):
        node = nodes[number]
        mergeable = OPERATORS[node.operator].absorbs
        if mergeable:
            edges, words = node.edges, node.words
            for edge in node.edges:
                target = merged[edge[1]]
                if edge[0] == "sub" and target.operator in mergeable:
                    edges, words = edges - {edge} | target.edges, words | target.words
            node = NormalizedStep(node.operator if edges else Operator.SELECT, node.properties, edges, words)
        merged[number] = node
    return merged


def _reorder(nodes: Mapping[int, NormalizedStep], roots: Iterable[int]) -> tuple[NormalizedStep, ...]:
    """Number the steps by layer and then by text; equal steps become one, merged ones that nobody needs go."""
    layers: list[list[int]] = []
    layer_of: dict[int, int] = {}
    for number in _order(_needed(nodes, roots)):
        layer = max((layer_of[target] + 1 for _, target in nodes[number].edges), default=0)
        layer_of[number] = layer
        if layer == len(layers):
            layers.append([])
        layers[layer].append(number)
    result: list[NormalizedStep] = []
    new_numbers: dict[int, int] = {}
    for members in layers:
        renamed = {number: _renumbered(nodes[number], new_numbers) for number in members}
        distinct = set(renamed.values())
        in_order = sorted(distinct, key=str) if len(distinct) > 1 else list(distinct)
        places = {node: len(result) + place for place, node in enumerate(in_order, start=1)}
        new_numbers.update((number, places[node]) for number, node in renamed.items())
        result.extend(in_order)
    return tuple(result)


def _needed(nodes: Mapping[int, NormalizedStep], roots: Iterable[int]) -> dict[int, NormalizedStep]:
    """The roots and what they refer to after merging, directly or not."""
    needed: dict[int, NormalizedStep] = {}
    waiting = list(roots)
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed[number] = nodes[number]
            waiting.extend(target for _, target in nodes[number].edges)
    return needed


def _renumbered(node: NormalizedStep, numbers: Mapping[int, int]) -> NormalizedStep:
    if not node.edges:
        return node
    edges = frozenset((name, numbers[target]) for name, target in node.edges)
    return NormalizedStep(node.operator, node.properties, edges, node.words)

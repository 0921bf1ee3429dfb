"""The normal form of a logical form that LF-EM compares: words normalised, steps merged, steps reordered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.lf_em.step_content import StepContent, content_of_step
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import order_by_references

__all__ = ["NormalizedStep", "normalize_steps", "normalized_contents_text"]

_Edges: TypeAlias = frozenset[tuple[str, int]]
# The fields of NormalizedStep as a plain tuple: one is made for every step of every pair, in half the time.
_Node: TypeAlias = tuple[str, tuple[str, ...], _Edges, frozenset[str]]

_SHOWN = {operator.value: operator.value.upper() for operator in Operator}
_ABSORBED = {operator.value: OPERATORS[operator].absorbs for operator in Operator}


class NormalizedStep(NamedTuple):
    """An operator over other steps (argument name and number of the step, from 1) and a set of words."""

    operator: Operator
    properties: tuple[str, ...]
    edges: frozenset[tuple[str, int]]
    words: frozenset[str]

    def __str__(self) -> str:
        operator, properties, edges, words = self
        return _text((operator.value, properties, edges, words))


def normalize_steps(question: str, form: LogicalForm, *, strict: bool = False) -> tuple[NormalizedStep, ...]:
    """Every step with its words normalised, in its original place.

    ``strict`` keeps what the published metric overlooks: negation, words next to the references of an aggregate, and
    the difference between "last" and "most".
    """
    return tuple([_step(node) for node in _nodes(question, _contents(form), strict)])


def normalized_contents_text(question: str, contents: Iterable[StepContent], *, strict: bool = False) -> str:
    """The form in which equal meanings are equal texts, from the contents of all steps."""
    return "; ".join([text for _, text in _normalized(_nodes(question, contents, strict))])


def _contents(form: LogicalForm) -> list[StepContent]:
    return [content_of_step(step) for step in form.steps]


def _step(node: _Node) -> NormalizedStep:
    operator, properties, edges, words = node
    return NormalizedStep(Operator(operator), properties, edges, words)


def _text(node: _Node) -> str:
    operator, properties, edges, words = node
    references = ", ".join([f"{name}=#{number}" for name, number in sorted(edges)])
    return f"{_SHOWN[operator]}[{','.join(properties)}]({references}){{{','.join(sorted(words))}}}"


def _nodes(question: str, contents: Iterable[StepContent], strict: bool) -> list[_Node]:
    names = representatives(question, strict)
    return [
        (operator, properties, frozenset(edges), frozenset([names.get(word, word) for word in words]))
        for operator, properties, edges, published_words, strict_words, _ in contents
        for words in (strict_words if strict else published_words,)
    ]


def _normalized(nodes: Sequence[_Node]) -> list[tuple[_Node, str]]:
    """The steps of the normal form, each with its text."""
    order = _order(nodes)
    # In this order, merged steps also refer only to earlier steps: to those that the steps merged into them refer to.
    merged = _merge(nodes, order)
    needed = set(order).difference([target for node in nodes for _, target in node[2]])
    for number in reversed(order):
        if number in needed:
            needed.update([target for _, target in merged[number][2]])
    return _reorder(merged, _layers(merged, [number for number in order if number in needed]))


def _order(nodes: Sequence[_Node]) -> Sequence[int]:
    """The steps' numbers, each after the steps that it refers to."""
    for number, node in enumerate(nodes, start=1):
        for _, target in node[2]:
            if target > number:
                references = {place: [target for _, target in each[2]] for place, each in enumerate(nodes, start=1)}
                return order_by_references(references)
    return range(1, len(nodes) + 1)


def _merge(nodes: Sequence[_Node], order: Iterable[int]) -> dict[int, _Node]:
    merged: dict[int, _Node] = {}
    for number in order:
        node = nodes[number - 1]
        operator, properties, edges, words = node
        mergeable = _ABSORBED[operator]
        if mergeable:
            for edge in node[2]:
                target = merged[edge[1]]
                if edge[0] == "sub" and target[0] in mergeable:
                    edges, words = edges - {edge} | target[2], words | target[3]
            if edges is not node[2] or not edges:
                node = (operator if edges else "select", properties, edges, words)
        merged[number] = node
    return merged


def _layers(nodes: dict[int, _Node], order: Iterable[int]) -> list[list[int]]:
    """The steps that need no other step, those that need only these, and so on."""
    layers: list[list[int]] = []
    layer_of: dict[int, int] = {}
    for number in order:
        layer = 0
        for _, target in nodes[number][2]:
            below = layer_of[target]
            if below >= layer:
                layer = below + 1
        layer_of[number] = layer
        if layer == len(layers):
            layers.append([number])
        else:
            layers[layer].append(number)
    return layers


def _reorder(nodes: dict[int, _Node], layers: Iterable[list[int]]) -> list[tuple[_Node, str]]:
    """Number the steps by layer and then by text; equal steps become one, merged ones that nothing needs go."""
    result: list[tuple[_Node, str]] = []
    new_numbers: dict[int, int] = {}
    for members in layers:
        renamed = [_renumbered(nodes[number], new_numbers) for number in members]
        texts = [_text(node) for node in renamed]
        if len(members) == 1:
            result.append((renamed[0], texts[0]))
            new_numbers[members[0]] = len(result)
            continue
        # Two texts are equal only if the steps are: no word contains a comma.
        found = dict(zip(texts, renamed, strict=True))
        places = {text: place for place, text in enumerate(sorted(found), start=len(result) + 1)}
        new_numbers.update([(number, places[text]) for number, text in zip(members, texts, strict=True)])
        result += [(found[text], text) for text in places]
    return result


def _renumbered(node: _Node, numbers: dict[int, int]) -> _Node:
    operator, properties, edges, words = node
    if not edges:
        return node
    return operator, properties, frozenset([(name, numbers[target]) for name, target in edges]), words

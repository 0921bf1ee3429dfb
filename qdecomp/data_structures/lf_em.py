"""LF-EM, exact match of logical forms: whether two decompositions of a question have the same normalised logical form.

Section "Evaluation" of the paper. Each step is reduced to its operator, its references and the words that count; words
that mean the same for this question become one word; steps that only narrow another one are merged into it; and the
steps are reordered by layers, so that decompositions of equal meaning are equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple, TypeAlias

from qdecomp.data_structures.conversion.qdmr_to_lf import read_step, to_logical_form
from qdecomp.data_structures.errors import DataError, ErrorText, QDecompError, QdmrSyntaxError, Side, StepError
from qdecomp.data_structures.lexicon import removed_words
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.limits import LONGEST_REMEMBERED_STEP, MOST_STEPS
from qdecomp.data_structures.logical_form import LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import (
    Qdmr,
    check_references,
    order_by_references,
    parse_step_text,
    reference_number,
    split_into_steps,
)
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.data_structures.tokenization import check_length

__all__ = [
    "METRIC_VERSION",
    "AnyDecomposition",
    "LfEmResult",
    "NormalizedStep",
    "WrittenDecomposition",
    "lf_em",
    "normalize_steps",
    "normalized_text",
]

METRIC_VERSION = "2"
"""Changes whenever a verdict may change."""

AnyDecomposition = str | Qdmr | LogicalForm
"""What can be compared: Break's text, a parsed decomposition, or a logical form."""

WrittenDecomposition = AnyDecomposition | Reading | Sequence[Any] | Mapping[str, Any]
"""What can be read as a decomposition, including text in another form, a list of steps, or an object with steps."""

_StepContent: TypeAlias = tuple[
    str, tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...], tuple[str, ...], bool
]
"""The operator, its properties, its edges (an argument and the number of a step), the words that count for the
published metric and for the strict one, and whether the published rules have no operator for the step.

Tens of thousands of these are kept. Python's garbage collector does not walk through plain tuples of texts and numbers,
as it does through values with names, and through sets.
"""

_SPLIT = re.compile(r"\W+")
# Characters of a question and a decomposition up to which their normal form is remembered: twice what Break has.
_LONGEST_REMEMBERED = 1200

_Edges: TypeAlias = frozenset[tuple[str, int]]
# The fields of NormalizedStep as a plain tuple: one is made for every step of every pair, in half the time.
_Node: TypeAlias = tuple[str, tuple[str, ...], _Edges, frozenset[str]]

_SHOWN = {operator.value: operator.value.upper() for operator in Operator}
_ABSORBED = {operator.value: OPERATORS[operator].absorbs for operator in Operator}


@dataclass(frozen=True, slots=True)
class LfEmResult:
    """The verdict with what it is based on; for a side without a logical form, None and a reason in ``error``."""

    verdict: bool
    error: ErrorText | None
    prediction_normalized: str | None
    gold_normalized: str | None

    def __bool__(self) -> bool:
        return self.verdict


def lf_em(
    question: str, prediction: WrittenDecomposition, gold: WrittenDecomposition, *, strict: bool = False
) -> LfEmResult:
    """Compare a predicted with a gold decomposition.

    The default is the published metric. ``strict`` counts the differences in meaning that the published metric
    overlooks, and reads steps that it cannot read. A side that cannot be read makes the verdict false and gives the
    reason in ``error``. Lists of steps and text that is not Break's are read as
    :func:`~qdecomp.data_structures.reading.read_decomposition` does.

    >>> question = "How many red cubes are there?"
    >>> gold = "return cubes ;return #1 that are red ;return number of #2"
    >>> lf_em(question, "return red cube ;return the number of #1", gold).verdict
    True
    >>> lf_em(question, "return red cubes ;return number of #2", gold).error
    'prediction: step 2: refers to itself (#2)'
    >>> lf_em(question, ["red cubes", "the number of #1"], gold).verdict
    True
    """
    _require_decompositions(question, prediction, gold)
    errors: list[QDecompError] = []
    normalized: list[str | None] = []
    sides: tuple[tuple[Side, WrittenDecomposition], ...] = (("prediction", prediction), ("gold", gold))
    for side, value in sides:
        try:
            normalized.append(_normalized(question, value, strict))
        except QDecompError as error:
            normalized.append(None)
            errors.append(error.of(side))
    reason = ErrorText.of(*errors) if errors else None
    # An error, its traceback and this call would keep each other until the garbage collector comes.
    del errors
    return LfEmResult(reason is None and normalized[0] == normalized[1], reason, normalized[0], normalized[1])


def _require_decompositions(question: Any, prediction: Any, gold: Any) -> None:
    """Raise for wrong types: a mistake of the caller is not a wrong prediction."""
    if not isinstance(question, str):
        raise DataError(f"the question must be a string, not {type(question).__name__}")
    for side, value in (("prediction", prediction), ("gold", gold)):
        # Most are strings; checking for a sequence is slow.
        if isinstance(value, str):
            continue
        readable = isinstance(value, Qdmr | LogicalForm | Reading | Sequence | Mapping)
        if not readable or isinstance(value, bytes | bytearray):
            raise DataError(f"{side}: a decomposition must be a string or a list of steps, not {type(value).__name__}")


def _normalized(question: str, value: WrittenDecomposition, strict: bool) -> str:
    if isinstance(value, str):
        if len(question) + len(value) <= _LONGEST_REMEMBERED:
            return _remembered_text(question, value, strict)
    elif isinstance(value, Qdmr | LogicalForm):
        return normalized_text(question, value, strict=strict)
    reading = value if isinstance(value, Reading) else read_decomposition(value)
    return normalized_text(question, reading.text, strict=strict)


# The gold side of a whole data set, published and strict, for the next system that is compared with it.
@lru_cache(maxsize=16384)
def _remembered_text(question: str, written: str, strict: bool) -> str:
    return normalized_text(question, _text_as_read(written), strict=strict)


@lru_cache(maxsize=4096)
def _text_as_read(written: str) -> str:
    reading = read_decomposition(written)
    # A refusal has no text, and its reading says so.
    return reading.text or str(reading.qdmr)


def normalized_text(question: str, decomposition: AnyDecomposition, *, strict: bool = False) -> str:
    """The text that LF-EM compares: the normalised steps, separated by semicolons.

    >>> normalized_text("How many red cubes are there?", "return red cubes ;return number of #1")
    'SELECT[](){cube,red}; AGGREGATE[count](arg=#1){}'
    """
    check_length(question)
    contents = _contents_of_decomposition(decomposition)
    if not strict:
        for number, content in enumerate(contents, start=1):
            if content[-1]:
                raise StepError("the published rules have no operator for it", number)
    return "; ".join([text for _, text in _ordered(_nodes(question, contents, strict))])


def _contents_of_decomposition(decomposition: str | Qdmr | LogicalForm) -> Sequence[_StepContent]:
    """The contents of all steps; raises as :func:`~qdecomp.data_structures.conversion.qdmr_to_lf.to_logical_form`."""
    if isinstance(decomposition, str):
        texts = split_into_steps(decomposition)
        # One check for all, not one by cache_short for every step.
        read = _remembered_content if max(map(len, texts), default=0) <= LONGEST_REMEMBERED_STEP else _content_of_text
        parts = [read(text) for text in texts]
        contents = [content for content, _ in parts if content is not None]
        # What is unusual, such as a step without words, is read again and refused or repaired there.
        if 0 < len(contents) == len(parts) <= MOST_STEPS:
            check_references([references for _, references in parts])
            return contents
    form = decomposition if isinstance(decomposition, LogicalForm) else to_logical_form(decomposition)
    return [_content_of_step(step) for step in form.steps]


def _content_of_text(text: str) -> tuple[_StepContent | None, tuple[int, ...]]:
    """The content of a step of a decomposition and the steps that it refers to, or None if it cannot be read."""
    try:
        step = parse_step_text(text)
    except QdmrSyntaxError:
        return None, ()
    return (None, ()) if step is None else (_content(*read_step(step)), step.references)


_remembered_content = lru_cache(maxsize=65536)(_content_of_text)


def _content_of_step(step: LogicalStep) -> _StepContent:
    """The content of a step of a logical form."""
    arguments = [(argument.name, argument.tokens) for argument in step.arguments]
    return _content(step.operator, step.properties, arguments, step.approximate)


def _content(
    operator: Operator, properties: tuple[str, ...], arguments: Iterable[tuple[str, Sequence[str]]], approximate: bool
) -> _StepContent:
    hides_words, removed, removed_strictly = _what_is_removed(operator, properties)
    edges: list[tuple[str, int]] = []
    published_words: list[str] = []
    strict_words: list[str] = []
    for name, tokens in arguments:
        words = []
        for token in tokens:
            if token[0] == "#" and (number := reference_number(token)) is not None:
                edges.append((name, number))
            else:
                words.append(token.lower())
        is_hidden = hides_words and len(words) < len(tokens)
        for word in words:
            pieces = (word,) if word.isalnum() else [piece for piece in _SPLIT.split(word) if piece]
            if word not in removed_strictly:
                strict_words += pieces
            if not is_hidden and word not in removed:
                published_words += pieces
    return operator.value, properties, tuple(edges), tuple(published_words), tuple(strict_words), approximate


@cache
def _what_is_removed(operator: Operator, properties: tuple[str, ...]) -> tuple[bool, frozenset[str], frozenset[str]]:
    """Whether references hide the words next to them, and the words that do not count, as published and strictly."""
    removed, removed_strictly = [removed_words(operator, properties, strict) for strict in (False, True)]
    return OPERATORS[operator].references_hide_words, removed, removed_strictly


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
    return tuple([_step(node) for node in _nodes(question, map(_content_of_step, form.steps), strict)])


def _step(node: _Node) -> NormalizedStep:
    operator, properties, edges, words = node
    return NormalizedStep(Operator(operator), properties, edges, words)


def _text(node: _Node) -> str:
    operator, properties, edges, words = node
    references = ", ".join([f"{name}=#{number}" for name, number in sorted(edges)])
    return f"{_SHOWN[operator]}[{','.join(properties)}]({references}){{{','.join(sorted(words))}}}"


def _nodes(question: str, contents: Iterable[_StepContent], strict: bool) -> list[_Node]:
    names = representatives(question, strict)
    return [
        (operator, properties, frozenset(edges), frozenset([names.get(word, word) for word in words]))
        for operator, properties, edges, published_words, strict_words, _ in contents
        for words in (strict_words if strict else published_words,)
    ]


def _ordered(nodes: Sequence[_Node]) -> list[tuple[_Node, str]]:
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

"""LF-EM, exact match of logical forms: whether two decompositions of a question have the same normalised logical form.

Section "Evaluation" of the paper. Each step is reduced to its operator, its references and the words that count; words
that mean the same for this question become one word; steps that only narrow another one are merged into it; and the
steps are reordered by layers, so that decompositions of equal meaning are equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from qdecomp.data_structures.conversion.qdmr_to_lf import read_step, to_logical_form
from qdecomp.data_structures.errors import (
    DataError,
    ErrorText,
    QDecompError,
    QdmrSyntaxError,
    Side,
    StepError,
    require_text,
)
from qdecomp.data_structures.lexicon import removed_words
from qdecomp.data_structures.lexicon.equivalence import representatives
from qdecomp.data_structures.limits import LONGEST_REMEMBERED_STEP, MOST_STEPS, cache_short
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

METRIC_VERSION = "2"  # changes whenever a verdict may change

AnyDecomposition = str | Qdmr | LogicalForm  # what can be compared
WrittenDecomposition = AnyDecomposition | Reading | Sequence[Any] | Mapping[str, Any]
"""What can be read as a decomposition, including text in another form, a list of steps, or an object with steps."""

_StepContent: TypeAlias = tuple[
    str, tuple[str, ...], tuple[tuple[str, int], ...], tuple[str, ...], tuple[str, ...], bool
]
"""The operator, its properties, its edges (an argument and the number of a step), the words that count for the
published metric and for the strict one, and whether the published rules have no operator for the step. Tens of
thousands are kept: Python's garbage collector does not walk through plain tuples of texts and numbers."""

_SPLIT = re.compile(r"\W+")
_READABLE = (str, Qdmr, LogicalForm, Reading, Sequence, Mapping)
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
    require_text(question, "the question")
    errors: list[QDecompError] = []
    normalized: list[str | None] = []
    sides: tuple[tuple[Side, WrittenDecomposition], ...] = (("prediction", prediction), ("gold", gold))
    for side, value in sides:
        # Most are strings; checking for a sequence is slow. A wrong type is the caller's mistake, not a wrong answer.
        if not isinstance(value, _READABLE) or isinstance(value, bytes | bytearray):
            raise DataError(f"{side}: a decomposition must be a string or a list of steps, not {type(value).__name__}")
        try:
            normalized.append(_normalized(question, value, strict))
        except QDecompError as error:
            normalized.append(None)
            errors.append(error.of(side))
    reason = ErrorText.of(*errors) if errors else None
    # An error, its traceback and this call would keep each other until the garbage collector comes.
    del errors
    return LfEmResult(reason is None and normalized[0] == normalized[1], reason, normalized[0], normalized[1])


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
    reading = read_decomposition(written)
    # A refusal has no text, and its reading says so.
    return normalized_text(question, reading.text or reading.qdmr, strict=strict)


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
    return "; ".join(_ordered_texts(_nodes(question, contents, strict)))


def _contents_of_decomposition(decomposition: str | Qdmr | LogicalForm) -> Sequence[_StepContent]:
    """The contents of all steps; what cannot be read raises as the conversion to a logical form does."""
    if isinstance(decomposition, str):
        parts = [_content_of_text(text) for text in split_into_steps(decomposition)]
        contents = [content for content, _ in parts if content is not None]
        # What is unusual, such as a step without words, is read again and refused or repaired there.
        if 0 < len(contents) == len(parts) <= MOST_STEPS:
            check_references([references for _, references in parts])
            return contents
    form = decomposition if isinstance(decomposition, LogicalForm) else to_logical_form(decomposition)
    return [_content_of_step(step) for step in form.steps]


@cache_short(entries=65536, longest=LONGEST_REMEMBERED_STEP)
def _content_of_text(text: str) -> tuple[_StepContent | None, tuple[int, ...]]:
    """The content of a step of a decomposition and the steps that it refers to, or None if it cannot be read."""
    try:
        step = parse_step_text(text)
    except QdmrSyntaxError:
        return None, ()
    return (None, ()) if step is None else (_content(*read_step(step)), step.references)


def _content_of_step(step: LogicalStep) -> _StepContent:
    """The content of a step of a logical form."""
    arguments = [(argument.name, argument.tokens) for argument in step.arguments]
    return _content(step.operator, step.properties, arguments, step.approximate)


def _content(
    operator: Operator, properties: tuple[str, ...], arguments: Iterable[tuple[str, Sequence[str]]], approximate: bool
) -> _StepContent:
    removed, removed_strictly = removed_words(operator, properties, False), removed_words(operator, properties, True)
    hides_words = OPERATORS[operator].references_hide_words
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


class NormalizedStep(NamedTuple):
    """An operator over other steps (argument name and number of the step, from 1) and a set of words."""

    operator: Operator
    properties: tuple[str, ...]
    edges: frozenset[tuple[str, int]]
    words: frozenset[str]


def normalize_steps(question: str, form: LogicalForm) -> tuple[NormalizedStep, ...]:
    """Every step with its words normalised as published, in its original place."""
    nodes = _nodes(question, map(_content_of_step, form.steps), strict=False)
    return tuple([NormalizedStep(Operator(node[0]), *node[1:]) for node in nodes])


def _nodes(question: str, contents: Iterable[_StepContent], strict: bool) -> list[_Node]:
    names = representatives(question, strict)
    return [
        (operator, properties, frozenset(edges), frozenset([names.get(word, word) for word in words]))
        for operator, properties, edges, published_words, strict_words, _ in contents
        for words in (strict_words if strict else published_words,)
    ]


def _ordered_texts(nodes: Sequence[_Node]) -> list[str]:
    """The texts of the steps of the normal form."""
    order = _order(nodes)
    # In this order, merged steps also refer only to earlier steps: to those that the steps merged into them refer to.
    merged = _merge(nodes, order)
    needed = set(order).difference([target for node in nodes for _, target in node[2]])
    for number in reversed(order):
        if number in needed:
            needed.update([target for _, target in merged[number][2]])
    return _renumbered_texts(merged, _layers(merged, [number for number in order if number in needed]))


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


def _renumbered_texts(nodes: dict[int, _Node], layers: Iterable[list[int]]) -> list[str]:
    """The texts of the steps, numbered by layer and then by text; equal steps become one."""
    result: list[str] = []
    numbers: dict[int, int] = {}
    for members in layers:
        texts = [_text(nodes[number], numbers) for number in members]
        # Two texts are equal only if the steps are: no word contains a comma.
        in_order = texts if len(texts) == 1 else sorted(set(texts))
        places = {text: place for place, text in enumerate(in_order, start=len(result) + 1)}
        numbers.update([(number, places[text]) for number, text in zip(members, texts, strict=True)])
        result += in_order
    return result


def _text(node: _Node, numbers: Mapping[int, int]) -> str:
    operator, properties, edges, words = node
    edges_in_order = sorted({(name, numbers[target]) for name, target in edges})
    references = ", ".join([f"{name}=#{number}" for name, number in edges_in_order])
    return f"{_SHOWN[operator]}[{','.join(properties)}]({references}){{{','.join(sorted(words))}}}"

"""The rules that take a step apart: each looks at the words of one node and proposes an edit.

The order of :data:`REWRITING_RULES` matters, since each sees what the earlier ones left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from qdecomp.evaluation.metrics.norm_em.document import (
    PHRASES_OF_OPERATOR,
    Document,
    Item,
    ReferenceItem,
    Span,
    Word,
    texts_of,
)
from qdecomp.evaluation.metrics.norm_em.operator_calls import aggregator_in, operator_arguments, step_text


@dataclass(frozen=True, slots=True)
class Drop:
    """Leave out words, each unless a phrase needs it."""

    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Extract:
    """Move spans into their own nodes, each unless that breaks up a phrase."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Nest:
    """Move all but the first word into a new node, and so on in that node."""


@dataclass(frozen=True, slots=True)
class MakeCall:
    """Turn the node into an operator call whose arguments are these spans; all of them or nothing."""

    operator: str
    property: str | None
    spans: tuple[Span, ...]


Edit: TypeAlias = Drop | Extract | Nest | MakeCall


@dataclass(frozen=True, slots=True)
class RewritingRule:
    """A rule; it need not look at a node with fewer words than ``fewest_words``, of which there are many.

    ``may_cut_own_phrases`` says that it may break up the phrases of the operator that it finds.
    """

    name: str
    propose: Callable[[Document], Edit | None]
    fewest_words: int = 2
    may_cut_own_phrases: bool = False


_Test: TypeAlias = Callable[[Item], bool]


def _reference(item: Item) -> bool:
    return isinstance(item, ReferenceItem)


def _be(item: Item) -> bool:
    return item.lemma == "be"


def _that(item: Item) -> bool:
    return item.lemma == "that"


def _determiner(item: Item) -> bool:
    return item.pos == "DET"


def _noun(item: Item) -> bool:
    return item.pos == "NOUN"


def _nominal(item: Item) -> bool:
    return item.tag.startswith("NN")


def _adjective(item: Item) -> bool:
    return item.pos == "ADJ"


def _preposition(item: Item) -> bool:
    return item.pos in ("ADP", "PART")


def _anything(item: Item) -> bool:
    return True


def _fits(pattern: tuple[_Test, ...], items: Document) -> bool:
    return len(items) == len(pattern) and all(test(item) for test, item in zip(pattern, items, strict=True))


@dataclass(frozen=True, slots=True)
class _FilterShape:
    """A whole node that is a filter: what is filtered, and the condition."""

    pattern: tuple[_Test, ...]
    filtered: Span
    condition: Span


def _filter_rule(*shapes: _FilterShape) -> Callable[[Document], Edit | None]:
    def propose(document: Document) -> Edit | None:
        for shape in shapes:
            if _fits(shape.pattern, document):
                return MakeCall("FILTER", None, (shape.filtered, shape.condition))
        return None

    return propose


@dataclass(frozen=True, slots=True)
class _Window:
    """A pattern inside a node; ``anchor`` is the place in it of the wanted word."""

    pattern: tuple[_Test, ...]
    anchor: int


def _extract_windows(wanted: _Test, *windows: _Window) -> Callable[[Document], Edit | None]:
    """Extract the first window that fits around each wanted word."""

    def propose(document: Document) -> Edit | None:
        places = (place for place, item in enumerate(document) if wanted(item))
        spans = tuple(span for place in places for span in around(document, place))
        return Extract(spans) if spans else None

    def around(document: Document, place: int) -> Iterator[Span]:
        for window in windows:
            first = place - window.anchor
            stop = first + len(window.pattern)
            if first >= 0 and _fits(window.pattern, document[first:stop]):
                yield first, stop - 1
                return

    return propose


def _drop_determiners(document: Document) -> Edit | None:
    places = tuple(
        place
        for place, item in enumerate(document)
        if isinstance(item, Word) and _determiner(item) and item.head_lemma != "be"
    )
    return Drop(places) if places else None


def _extract_noun_runs(document: Document) -> Edit | None:
    spans = []
    for nominal, group in groupby(range(len(document)), lambda place: _nominal(document[place])):
        places = list(group)
        if nominal and not (len(places) == 1 and _reference(document[places[0]])):
            spans.append((places[0], places[-1]))
    return Extract(tuple(spans)) if spans else None


def _extract_prepositional_prefix(document: Document) -> Edit | None:
    if not _fits((_reference, _preposition, _anything), document[:3]):
        return None
    last = 2
    while last + 1 < len(document) and _nominal(document[last + 1]):
        last += 1
    return Extract(((0, last),))


def _nest_compounds(document: Document) -> Edit | None:
    modifiers = document[:-1]
    if not modifiers or not all(map(_nominal, document)):
        return None
    are_compound = (isinstance(item, Word) and item.dep in ("compound", "amod") for item in modifiers)
    return Nest() if all(are_compound) else None


def _filter_by_verb(document: Document) -> Edit | None:
    verb_place = _verb_of_first(document)
    if verb_place is None:
        return None
    verb = document[verb_place]
    rest = document[verb_place + 1 :]
    if not all(isinstance(item, ReferenceItem) or _position(verb) in item.ancestors for item in rest):
        return None
    condition = 1
    if _that(document[1]) and len(document) > 2 and _be(document[2]):
        condition = 3
    elif _that(document[1]) or _be(document[1]):
        condition = 2
    if condition >= len(document):
        return None
    # One place too many, as in the official evaluator: it allows a protected phrase at the end.
    return MakeCall("FILTER", None, ((0, 0), (condition, len(document))))


def _position(item: Item) -> int:
    return item.position if isinstance(item, Word) else item.first


def _verb_of_first(document: Document) -> int | None:
    """The place of the first verb whose head is the reference that the node begins with."""
    if not document or not isinstance(document[0], ReferenceItem):
        return None
    covered = range(document[0].first, document[0].last + 1)
    for place, item in enumerate(document):
        if isinstance(item, Word) and item.pos == "VERB" and not _be(item) and item.head in covered:
            return place
    return None


_AGGREGATES = frozenset(PHRASES_OF_OPERATOR["AGGREGATE"])


def _aggregate(document: Document) -> Edit | None:
    texts = texts_of(document)
    if _fits((_reference, _that, _be), document[:3]) and " ".join(texts[3:]) in _AGGREGATES:
        place = 0
    elif document and _reference(document[-1]) and " ".join(texts[:-1]) in _AGGREGATES:
        place = len(document) - 1
    else:
        return None
    aggregator = aggregator_in(" ".join(texts))
    return None if aggregator is None else MakeCall("AGGREGATE", aggregator, ((place, place),))


def _exists(document: Document) -> Edit | None:
    if len(document) < 2 or document[0].lemma not in ("be", "if") or not _reference(document[-1]):
        return None
    if any(item.lemma not in ("there", "be", "a", "an", "any") for item in document[1:-1]):
        return None
    last = len(document) - 1
    return MakeCall("BOOLEAN", "EXIST", ((last, last),))


def _operator_call(document: Document) -> Edit | None:
    words = tuple(f"#{item.number}" if isinstance(item, ReferenceItem) else item.text for item in document)
    step = step_text(" ".join(words))
    found = None if step is None else operator_arguments(step)
    if found is None:
        return None
    spans: list[Span] = []
    properties: list[str] = []
    for argument in found.texts:
        span = _find(words, tuple(argument.split(" ")))
        if span is None:
            properties.append(argument)
        else:
            spans.append(span)
    if not found.counts_fit(len(properties), len(spans)):
        return None
    return MakeCall(found.operator, properties[0] if properties else None, tuple(spans))


def _find(texts: tuple[str, ...], wanted: tuple[str, ...]) -> Span | None:
    size = len(wanted)
    starts = (start for start in range(len(texts) - size + 1) if texts[start : start + size] == wanted)
    first = next(starts, None)
    return None if first is None else (first, first + size - 1)


REWRITING_RULES: tuple[RewritingRule, ...] = (
    RewritingRule("drop determiners", _drop_determiners, fewest_words=1),
    RewritingRule(
        "filter by a noun",
        _filter_rule(
            _FilterShape((_reference, _noun), (0, 0), (1, 1)),
            _FilterShape((_reference, _be, _noun), (0, 0), (2, 2)),
            _FilterShape((_reference, _determiner, _be, _noun), (0, 0), (3, 3)),
        ),
    ),
    RewritingRule("extract runs of nouns", _extract_noun_runs, fewest_words=1),
    RewritingRule("extract a reference with a preposition", _extract_prepositional_prefix, fewest_words=3),
    RewritingRule("nest compound nouns", _nest_compounds),
    RewritingRule(
        "extract a reference with an adjective",
        _extract_windows(
            _adjective,
            _Window((_adjective, _reference), 0),
            _Window((_reference, _be, _adjective), 2),
            _Window((_reference, _determiner, _be, _adjective), 3),
        ),
    ),
    RewritingRule(
        "extract a reference that is a noun",
        _extract_windows(
            _nominal, _Window((_reference, _be, _nominal), 2), _Window((_reference, _determiner, _be, _nominal), 3)
        ),
    ),
    RewritingRule(
        "filter by an adjective",
        _filter_rule(
            _FilterShape((_adjective, _reference), (1, 1), (0, 0)),
            _FilterShape((_reference, _be, _adjective), (0, 0), (2, 2)),
            _FilterShape((_reference, _determiner, _be, _adjective), (0, 0), (3, 3)),
        ),
    ),
    RewritingRule(
        "filter by a preposition",
        _filter_rule(_FilterShape((_reference, _preposition, _anything), (0, 0), (1, 2))),
    ),
    RewritingRule("filter by a compound noun", _filter_rule(_FilterShape((_nominal, _reference), (1, 1), (0, 0)))),
    RewritingRule("filter by a verb", _filter_by_verb),
    RewritingRule("aggregate", _aggregate, may_cut_own_phrases=True),
    RewritingRule("existence", _exists, may_cut_own_phrases=True),
    RewritingRule("operator by its words", _operator_call, may_cut_own_phrases=True),
)

"""Taking the steps of a graph apart, until each node is an operator call or a few lemmas.

Each rule looks at the words of one node and proposes an edit. Their order matters, since each sees what the earlier
ones left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from qdecomp.evaluation.metrics.annotation import Remembered, Token, step_key
from qdecomp.evaluation.metrics.break_text import StepGraph, mention
from qdecomp.evaluation.metrics.norm_em.document import (
    ALL_PHRASES,
    NO_PHRASES,
    PHRASES_OF_OPERATOR,
    Document,
    Item,
    PhraseSet,
    Span,
    document_of,
    phrases_without,
    reference_item,
    texts_of,
)
from qdecomp.evaluation.metrics.norm_em.operator_calls import MakeCall, aggregator_in, operator_call


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


Edit: TypeAlias = Drop | Extract | Nest | MakeCall
Rule: TypeAlias = Callable[[Document], Edit | None]

# What a word of a pattern stands for.
_TESTS: Mapping[str, Callable[[Item], bool]] = {
    "#": lambda item: item.reference is not None,
    "be": lambda item: item.lemma == "be",
    "that": lambda item: item.lemma == "that",
    "determiner": lambda item: item.pos == "DET",
    "noun": lambda item: item.pos == "NOUN",
    "nominal": lambda item: item.tag.startswith("NN"),
    "adjective": lambda item: item.pos == "ADJ",
    "preposition": lambda item: item.pos in ("ADP", "PART"),
    "anything": lambda item: True,
}


def _fits(pattern: str, items: Document) -> bool:
    tests = pattern.split()
    return len(items) == len(tests) and all(_TESTS[test](item) for test, item in zip(tests, items, strict=True))


def _filter(*shapes: tuple[str, Span, Span]) -> Rule:
    """A node that fits a pattern as a whole is a filter, of its first span by its second."""

    def propose(document: Document) -> Edit | None:
        spans = next((spans for pattern, *spans in shapes if _fits(pattern, document)), None)
        return None if spans is None else MakeCall("FILTER", None, tuple(spans))

    return propose


def _extract_around(wanted: str, *patterns: str) -> Rule:
    """Extract the first pattern that fits around each wanted word."""

    def propose(document: Document) -> Edit | None:
        places = [place for place, item in enumerate(document) if _TESTS[wanted](item)]
        spans = tuple(span for place in places if (span := around(document, place)) is not None)
        return Extract(spans) if spans else None

    def around(document: Document, place: int) -> Span | None:
        for pattern in patterns:
            first = place - pattern.split().index(wanted)
            end = first + len(pattern.split())
            if first >= 0 and _fits(pattern, document[first:end]):
                return first, end - 1
        return None

    return propose


def _drop_determiners(document: Document) -> Edit | None:
    places = [place for place, item in enumerate(document) if item.pos == "DET" and item.head_lemma != "be"]
    return Drop(tuple(places)) if places else None


def _extract_noun_runs(document: Document) -> Edit | None:
    spans = []
    for nominal, run in groupby(range(len(document)), lambda place: _TESTS["nominal"](document[place])):
        places = list(run)
        if nominal and (len(places) > 1 or document[places[0]].reference is None):
            spans.append((places[0], places[-1]))
    return Extract(tuple(spans)) if spans else None


def _extract_prepositional_prefix(document: Document) -> Edit | None:
    if not _fits("# preposition anything", document[:3]):
        return None
    last = 2
    while _fits("nominal", document[last + 1 : last + 2]):
        last += 1
    return Extract(((0, last),))


def _nest_compounds(document: Document) -> Edit | None:
    modifiers = document[:-1]
    are_compound = all(item.dep in ("compound", "amod") for item in modifiers)
    return Nest() if modifiers and are_compound and all(map(_TESTS["nominal"], document)) else None


def _filter_by_verb(document: Document) -> Edit | None:
    """A reference, which is the head of a verb, to whose subtree all further words belong."""
    if not _fits("#", document[:1]):
        return None
    covered = range(document[0].first, document[0].last + 1)
    verbs = [item.pos == "VERB" and item.lemma != "be" and item.head in covered for item in document]
    if True not in verbs:
        return None
    place = verbs.index(True)
    verb, rest = document[place], document[place + 1 :]
    if not all(item.reference is not None or verb.first in item.ancestors for item in rest):
        return None
    condition = 3 if _fits("that be", document[1:3]) else 2 if document[1].lemma in ("that", "be") else 1
    # One place too many, as in the official evaluator: it allows a protected phrase at the end.
    return MakeCall("FILTER", None, ((0, 0), (condition, len(document)))) if condition < len(document) else None


def _aggregate(document: Document) -> Edit | None:
    texts = texts_of(document)
    if _fits("# that be", document[:3]) and " ".join(texts[3:]) in PHRASES_OF_OPERATOR["AGGREGATE"]:
        place = 0
    elif _fits("#", document[-1:]) and " ".join(texts[:-1]) in PHRASES_OF_OPERATOR["AGGREGATE"]:
        place = len(document) - 1
    else:
        return None
    aggregator = aggregator_in(" ".join(texts))
    return None if aggregator is None else MakeCall("AGGREGATE", aggregator, ((place, place),))


def _exists(document: Document) -> Edit | None:
    last = len(document) - 1
    if last < 1 or document[0].lemma not in ("be", "if") or document[last].reference is None:
        return None
    if any(item.lemma not in ("there", "be", "a", "an", "any") for item in document[1:last]):
        return None
    return MakeCall("BOOLEAN", "EXIST", ((last, last),))


def _operator_call(document: Document) -> Edit | None:
    return operator_call([item.text if item.reference is None else f"#{item.reference}" for item in document])


REWRITING_RULES: Mapping[str, Rule] = {
    "drop determiners": _drop_determiners,
    "filter by a noun": _filter(
        ("# noun", (0, 0), (1, 1)), ("# be noun", (0, 0), (2, 2)), ("# determiner be noun", (0, 0), (3, 3))
    ),
    "extract runs of nouns": _extract_noun_runs,
    "extract a reference with a preposition": _extract_prepositional_prefix,
    "nest compound nouns": _nest_compounds,
    "extract a reference with an adjective": _extract_around(
        "adjective", "adjective #", "# be adjective", "# determiner be adjective"
    ),
    "extract a reference that is a noun": _extract_around("nominal", "# be nominal", "# determiner be nominal"),
    "filter by an adjective": _filter(
        ("adjective #", (1, 1), (0, 0)),
        ("# be adjective", (0, 0), (2, 2)),
        ("# determiner be adjective", (0, 0), (3, 3)),
    ),
    "filter by a preposition": _filter(("# preposition anything", (0, 0), (1, 2))),
    "filter by a compound noun": _filter(("nominal #", (1, 1), (0, 0))),
    "filter by a verb": _filter_by_verb,
    "aggregate": _aggregate,
    "existence": _exists,
    "operator by its words": _operator_call,
}
_MAY_CUT_OWN_PHRASES = (_aggregate, _exists, _operator_call)


def rewrite(graph: StepGraph, annotations: Remembered[tuple[Token, ...]]) -> StepGraph:
    """Split the nodes of a graph and label them with operator calls and lemmas."""
    documents = {node: document_of(annotations[step_key(label)]) for node, label in graph.labels.items()}
    rewriter = _Rewriter(documents, dict(graph.edges))
    rewriter.run()
    labels = {
        node: rewriter.calls.get(node) or " ".join(item.lemma for item in document)
        for node, document in rewriter.documents.items()
    }
    return StepGraph(labels, rewriter.edges)


class _Rewriter:
    """The nodes while they change: the words of each, its edges, and its text once it is an operator call."""

    def __init__(self, documents: dict[int, Document], edges: dict[int, tuple[int, ...]]) -> None:
        self.documents = documents
        self.edges = edges
        self.calls: dict[int, str] = {}
        self._waiting = deque(documents)

    def run(self) -> None:
        """Apply all rules to every node, including new ones: first respecting the phrases, then not."""
        while self._waiting:
            number = self._waiting.popleft()
            document = self.documents[number]
            self._run_rules(number, respect_phrases=True)
            # Without a change and without a phrase, the second pass would be like the first.
            if self.documents[number] != document or any(ALL_PHRASES.among(texts_of(document))):
                self._run_rules(number, respect_phrases=False)

    def _run_rules(self, number: int, respect_phrases: bool) -> None:
        for rule in REWRITING_RULES.values():
            if number in self.calls:
                return
            edit = rule(self.documents[number])
            own = edit.operator if isinstance(edit, MakeCall) and rule in _MAY_CUT_OWN_PHRASES else ""
            phrases = phrases_without(own) if respect_phrases else NO_PHRASES
            match edit:
                case Drop(places):
                    self._drop(number, places, phrases)
                case Extract(spans):
                    self._extract(number, spans, phrases)
                case Nest():
                    self._nest(number, phrases)
                case MakeCall():
                    self._make_call(number, edit, phrases)

    def _drop(self, number: int, places: tuple[int, ...], phrases: PhraseSet) -> None:
        document = self.documents[number]
        texts = texts_of(document)
        dropped = {place for place in places if phrases.allow(texts, (place, place))}
        self.documents[number] = tuple(item for place, item in enumerate(document) if place not in dropped)

    def _nest(self, number: int, phrases: PhraseSet) -> None:
        for last in range(len(self.documents[number]) - 1, 0, -1):
            (new,) = self._extract(number, ((1, last),), phrases)
            if new is None:
                return
            number = new

    def _make_call(self, number: int, call: MakeCall, phrases: PhraseSet) -> None:
        texts = texts_of(self.documents[number])
        if not all(_may_extract(texts, span, phrases) for span in call.spans):
            return
        arguments = self._extract(number, call.spans, phrases)
        written = ",".join(mention(argument) for argument in arguments if argument is not None)
        prefix = call.operator if call.property is None else f"{call.operator}[{call.property}]"
        self.calls[number] = f"{prefix}({written})"

    def _extract(self, number: int, spans: tuple[Span, ...], phrases: PhraseSet) -> list[int | None]:
        """Move the spans that the phrases allow into new nodes; the result has for each span the node that it is."""
        document = self.documents[number]
        texts = texts_of(document)
        results: list[int | None] = []
        shortened: list[Item] = []
        cursor = 0
        for first, last in spans:
            part = document[first : last + 1]
            if not _may_extract(texts, (first, last), phrases):
                results.append(None)
            elif _fits("#", part):
                results.append(part[0].reference)
            else:
                node = self._add_node(part)
                results.append(node)
                shortened += [*document[cursor:first], reference_item(node, part[0].first, part[-1].last)]
                cursor = last + 1
        self._store(number, (*shortened, *document[cursor:]))
        return results

    def _add_node(self, document: Document) -> int:
        # The number may already be taken if a step refers to a number far beyond the last step; the official
        # evaluator overwrites that node, too.
        number = len(self.documents) + 1
        self.calls.pop(number, None)
        self._store(number, document)
        self._waiting.append(number)
        return number

    def _store(self, number: int, document: Document) -> None:
        self.documents[number] = document
        # The newest edges come last: the order decides which of two users of a node counts as the first.
        self.edges.pop(number, None)
        self.edges[number] = tuple(dict.fromkeys(item.reference for item in document if item.reference is not None))


def _may_extract(texts: tuple[str, ...], span: Span, phrases: PhraseSet) -> bool:
    return span != (0, len(texts) - 1) and phrases.allow(texts, span)

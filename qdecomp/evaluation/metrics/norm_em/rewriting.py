"""Taking the steps of a graph apart with the rules, until each node is an operator call or a few lemmas."""

from __future__ import annotations

from collections import deque

from qdecomp.evaluation.metrics.annotation import StepAnnotator, step_key
from qdecomp.evaluation.metrics.break_text import StepGraph, mention
from qdecomp.evaluation.metrics.norm_em.document import (
    ALL_PHRASES,
    NO_PHRASES,
    Document,
    PhraseSet,
    ReferenceItem,
    Span,
    Word,
    document_of,
    lemmas_of,
    phrases_without,
    references_in,
    texts_of,
)
from qdecomp.evaluation.metrics.norm_em.rules import (
    REWRITING_RULES,
    Drop,
    Edit,
    Extract,
    MakeCall,
    Nest,
    RewritingRule,
)


def rewrite(graph: StepGraph, annotator: StepAnnotator) -> StepGraph:
    """Split the nodes of a graph and label them with operator calls and lemmas."""
    documents = {node: document_of(annotator.annotate(step_key(label))) for node, label in graph.labels.items()}
    rewriter = _Rewriter(documents, dict(graph.edges))
    rewriter.run()
    labels = {node: rewriter.calls.get(node) or lemmas_of(document) for node, document in rewriter.documents.items()}
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
            if self.documents[number] != document or ALL_PHRASES.concern(texts_of(document)):
                self._run_rules(number, respect_phrases=False)

    def _run_rules(self, number: int, respect_phrases: bool) -> None:
        for rule in REWRITING_RULES:
            document = self.documents[number]
            if number in self.calls:
                return
            edit = rule.propose(document) if len(document) >= rule.fewest_words else None
            if edit is not None:
                self._apply(number, edit, _active_phrases(rule, edit) if respect_phrases else NO_PHRASES)

    def _apply(self, number: int, edit: Edit, phrases: PhraseSet) -> None:
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
        last = len(self.documents[number]) - 1
        while last > 0:
            new = self._extract(number, ((1, last),), phrases)[0]
            if new is None:
                return
            number = new.number
            last -= 1

    def _make_call(self, number: int, call: MakeCall, phrases: PhraseSet) -> None:
        texts = texts_of(self.documents[number])
        if not all(_may_extract(texts, span, phrases) for span in call.spans):
            return
        arguments = self._extract(number, call.spans, phrases)
        written = ",".join(mention(argument.number) for argument in arguments if argument is not None)
        prefix = call.operator if call.property is None else f"{call.operator}[{call.property}]"
        self.calls[number] = f"{prefix}({written})"

    def _extract(self, number: int, spans: tuple[Span, ...], phrases: PhraseSet) -> list[ReferenceItem | None]:
        """Move the spans that the phrases allow into new nodes; the result has for each span what replaces it."""
        document = self.documents[number]
        texts = texts_of(document)
        results: list[ReferenceItem | None] = []
        shortened: list[Word | ReferenceItem] = []
        cursor = 0
        for first, last in spans:
            part = document[first : last + 1]
            if not _may_extract(texts, (first, last), phrases):
                results.append(None)
            elif len(part) == 1 and isinstance(part[0], ReferenceItem):
                results.append(part[0])
            else:
                reference = self._add_node(part)
                results.append(reference)
                shortened += [*document[cursor:first], reference]
                cursor = last + 1
        self._store(number, (*shortened, *document[cursor:]))
        return results

    def _add_node(self, document: Document) -> ReferenceItem:
        # The number may already be taken if a step refers to a number far beyond the last step; the official
        # evaluator overwrites that node, too.
        number = len(self.documents) + 1
        self.calls.pop(number, None)
        self._store(number, document)
        self._waiting.append(number)
        return ReferenceItem(number, *_positions_of(document))

    def _store(self, number: int, document: Document) -> None:
        self.documents[number] = document
        # The newest edges come last: the order decides which of two users of a node counts as the first.
        self.edges.pop(number, None)
        self.edges[number] = references_in(document)


def _positions_of(document: Document) -> Span:
    first, last = document[0], document[-1]
    return (
        first.first if isinstance(first, ReferenceItem) else first.position,
        last.last if isinstance(last, ReferenceItem) else last.position,
    )


def _active_phrases(rule: RewritingRule, edit: Edit) -> PhraseSet:
    if rule.may_cut_own_phrases and isinstance(edit, MakeCall):
        return phrases_without(edit.operator)
    return ALL_PHRASES


def _may_extract(texts: tuple[str, ...], span: Span, phrases: PhraseSet) -> bool:
    return span != (0, len(texts) - 1) and phrases.allow(texts, span)

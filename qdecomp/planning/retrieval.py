"""Multi-hop retrieval: a plan's steps as searches, each with what the earlier ones found.

One search for "Where was the director of The Zone born?" finds the film. The plan says what to look for in it, the
director, and what to search for next, where that person was born. :func:`retrieve` does this with any retriever and
without a language model:

- A step without references names something: its page is the passage of that title.
- Any other step is a search, with the answers of earlier steps filled in. What it may stand for are the names in the
  passages that it finds, the nearer to the step's own words the better, and the titles of those passages.
- The best few of these *answers* are kept for each step (a beam), each with the passages that led to it.
- Steps that are computed (comparisons, unions, counts) join the branches of the plan.

The question itself is always searched, too, and what it names is looked up, with the people whom its relation words
("director", "father") lead to, so that a plan that lost them does less harm. A passage's final score is that of the
question's search plus that of the best chain through it, which counts less if the parser was not sure of the plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from unicodedata import combining, normalize

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.lexicon import stop_words
from qdecomp.data_structures.operators import Operator
from qdecomp.planning.combining import is_combined

if TYPE_CHECKING:
    from qdecomp.planning.plan import Plan, PlanStep

# How much a chain counts beside the single search, and how much of that is left of a plan with confidence 0.
_WEIGHT = 2.5
_LEAST_WEIGHT = 0.4
# From this confidence on, a plan counts in full.
_SURE = 0.4
# Passages of a search that are read, names that are looked at in each, and those that count without a page.
_HITS = 4
_NAMES = 5
_NAMES_WITHOUT_PAGE = 3
# How many of the question's own hits may be pages of names in it, and how many count in the end.
_ANCHORS = 20
_SINGLE = 50
# What the pages count that the question names, and those that its relation words lead to from there.
_NAMED = 0.5
_RELATED = 1.0
# Each further answer of a step supports its passages less.
_NEXT_ANSWER = 0.7

_PARTICLES = "of|the|de|la|le|van|von|der|and|in|on|at|for|to|&|al|bin|di|du|del|da|a|an"
_CAPITALISED = r"(?:(?:[A-Z]|Dr|Jr|Mr|Mrs|Sr|St)\.|[^\W\d_a-zà-öø-ÿ][\w’'ʻ-]*)"
_NAME = re.compile(rf"{_CAPITALISED}(?: (?:(?:{_PARTICLES}) ){{0,2}}(?:{_CAPITALISED}|[IVX]+\b|\d+\w*))*")
_GLUED_SENTENCES = re.compile(r"(?<=[a-z)\]\"])\.(?=[A-Z])")
_SPLIT = re.compile(r" (?:(?:in|on|at|to|for|and|a|an|the) )+")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"(?:{_MONTHS})(?: \d+)?")
_PARENTHESES = re.compile(r"\([^)]*\)?")
_NO_WORD = re.compile(r"[\W_]+")
_REFERENCE = re.compile(r"#\d+")

# How texts say what a step asks for in other words; words are compared by their first letters.
_OTHER_WORDS: Mapping[str, str] = {
    "author": "written wrote novel",
    "brother": "sibling sister",
    "child": "father mother son daughter",
    "composer": "music score composed",
    "creator": "created developed",
    "daughter": "father mother",
    "director": "directed",
    "directors": "directed",
    "father": "son daughter born child",
    "founder": "founded",
    "grandfather": "daughter son father",
    "grandmother": "daughter son mother",
    "husband": "married wife",
    "mother": "son daughter born child",
    "performer": "recorded sung singer song album",
    "sibling": "brother sister",
    "sister": "sibling brother",
    "son": "father mother",
    "spouse": "married wife husband",
    "wife": "married husband",
}
_LETTERS = 5


@dataclass(frozen=True, slots=True)
class Passage:
    """What a retriever finds; ``id`` tells passages apart, or else title and text do."""

    title: str
    text: str
    score: float = 0.0
    id: str | None = None

    @property
    def key(self) -> Any:
        """What is the same for the same passage."""
        return (self.title, self.text) if self.id is None else self.id


@dataclass(frozen=True, slots=True)
class Answer:
    """What a step may stand for: a name, the passage about it if there is one, and the passages that led to it."""

    text: str
    passage: Passage | None
    score: float
    support: tuple[tuple[Passage, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Hop:
    """What became of a step: its query for the best earlier answers, what that found, and what it may stand for."""

    step: int
    query: str
    hits: tuple[Passage, ...]
    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        found = " | ".join(f"{answer.text} ({answer.score:.2f})" for answer in self.answers) or "nothing"
        return f"{self.step}. {self.query} → {found}"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The passages for a question, best first, and how they were found."""

    question: str
    passages: tuple[Passage, ...]
    hops: tuple[Hop, ...]
    searches: int

    def __str__(self) -> str:
        lines = [*map(str, self.hops), *(f"[{n}] {each.title}" for n, each in enumerate(self.passages, start=1))]
        return "\n".join(lines)


Search = Callable[[str, int], Iterable[Any]]
Read = Callable[[str, Sequence[Passage]], Any]
_Found = TypeVar("_Found")
_Work = Generator[Any, Any, _Found]


def retrieve(work: _Work[Retrieval]) -> Retrieval:
    """Follow a plan with functions that give what they find."""
    try:
        found = next(work)
        while True:
            found = work.send(found)
    except StopIteration as finished:
        retrieval: Retrieval = finished.value
        return retrieval


async def aretrieve(work: _Work[Retrieval]) -> Retrieval:
    """Follow a plan with functions whose results are awaited."""
    try:
        found = next(work)
        while True:
            found = work.send(await found)
    except StopIteration as finished:
        retrieval: Retrieval = finished.value
        return retrieval


class Retriever:
    """Follows a plan; it yields what the functions return, and is sent what they found: that, or what it awaits to."""

    def __init__(
        self, plan: Plan, search: Callable[[str, int], Any], k: int, read: Read | None, beam: int, searches: int
    ) -> None:
        if min(k, beam, searches) < 1:
            raise DataError(f"k, beam and searches must be 1 or more, not {k}, {beam} and {searches}")
        if not plan.question.strip():
            raise DataError("the plan has no question to search for; make it with Decomposition.plan()")
        self.plan, self.search, self.k, self.read, self.beam, self.most = plan, search, k, read, beam, searches
        self.left = searches
        self.found: dict[tuple[str, int], tuple[Passage, ...]] = {}
        self.answers: dict[int, tuple[Answer, ...]] = {}

    def run(self) -> _Work[Retrieval]:
        """Search for the question, follow the steps, and put both together."""
        question = self.plan.question
        single = yield from self._search(question, _SINGLE)
        anchors = _anchors(question, single)
        needed = {number for step in self.plan.steps if not is_combined(step) for number in step.needs}
        hops = []
        for step in self.plan.steps:
            if not step.needs:
                hop = yield from self._anchor(step, anchors)
            elif is_combined(step):
                joined = [answer for number in step.needs for answer in self.answers[number]]
                hop = Hop(step.number, step.text, (), tuple(joined[: self.beam]))
            else:
                hop = yield from self._hop(step, step.number in needed)
            self.answers[step.number] = hop.answers
            hops.append(hop)
        named = yield from self._in_question(question, anchors)
        passages = self._fused(single, named)
        return Retrieval(question, passages[: self.k], tuple(hops), self.most - self.left)

    def _search(self, query: str, k: int) -> _Work[tuple[Passage, ...]]:
        if (query, k) not in self.found:
            if not self.left:
                return ()
            self.left -= 1
            passages = {each.key: each for each in map(_passage, islice((yield self.search(query, k)) or (), k))}
            self.found[query, k] = tuple(passages.values())
        return self.found[query, k]

    def _page(self, name: str) -> _Work[tuple[Passage, float] | None]:
        """The passage about a name, and how well its title fits."""
        plain = _plain(name)
        if len(plain) < 3:
            return None
        fits = []
        for passage in (yield from self._search(name, _HITS + 2)):
            title = _plain(passage.title)
            if title == plain:
                fits.append((passage, 1.0 if _words(passage.title) == _words(name) else 0.95))
            elif _plain(passage.title.split(",")[0]) == plain:
                fits.append((passage, 0.75))
        return max(fits, key=lambda fit: fit[1]) if fits else None

    def _in_question(self, question: str, anchors: Sequence[tuple[Passage, str, float]]) -> _Work[tuple[Answer, ...]]:
        """What the question names, whatever the plan made of it, and what its relation words say about that."""
        pages = {passage.key: (passage, fit) for passage, title, fit in anchors if _is_name(title, question)}
        for name in _names_of(question):
            if not any(_plain(passage.title) == _plain(name) for passage, _ in pages.values()):
                page = yield from self._page(name)
                if page is not None:
                    pages.setdefault(page[0].key, page)
        answers = []
        relation = " ".join(word for word in _words(question).split() if word in _OTHER_WORDS)
        for passage, fit in pages.values():
            answers.append(Answer(passage.title, passage, _NAMED * fit, ((passage, _NAMED * fit),)))
            if relation:
                for name, closeness in _names(passage, relation, relation)[:2]:
                    page = yield from self._page(name)
                    if page is not None and page[0].key != passage.key:
                        score = _RELATED * fit * closeness * page[1]
                        answers.append(Answer(page[0].title, page[0], score, ((page[0], score),)))
        return tuple(answers)

    def _anchor(self, step: PlanStep, anchors: Sequence[tuple[Passage, str, float]]) -> _Work[Hop]:
        """A name or a description: the page of a title in the question that it overlaps with, or of that name."""
        words = set(_words(step.text).split())
        best = sorted(((_overlap(words, title), fit, n) for n, (_, title, fit) in enumerate(anchors)), reverse=True)
        answers: list[Answer] = []
        for share, fit, n in best[:2]:
            passage = anchors[n][0]
            if share >= 0.34 and passage.title not in [answer.text for answer in answers]:
                answers.append(Answer(passage.title, passage, fit * min(1, 0.6 + share), ((passage, fit),)))
        page = yield from self._page(step.text)
        if page is not None and page[0].title not in [answer.text for answer in answers]:
            answers.append(Answer(page[0].title, page[0], page[1], (page,)))
        answers.append(Answer(step.text, None, 0.5))
        return Hop(step.number, step.text, (), self._best(answers))

    def _hop(self, step: PlanStep, followed: bool) -> _Work[Hop]:
        """A search for each answer of the step that this one is about; ``followed`` if a later search needs it."""
        first, *others = step.needs
        rest = {number: self.answers[number][0].text if self.answers[number] else "" for number in others}
        asked: list[tuple[str, tuple[Passage, ...]]] = []
        answers: list[Answer] = []
        for about in self.answers[first] or (Answer("", None, 0.3),):
            query = step.fill({first: about.text, **rest}).strip()
            hits = yield from self._search(query, _HITS)
            asked.append((query, hits))
            if self.read is not None:
                said = yield self.read(query, hits)
                answers += yield from self._said(said, hits, about)
            answers += yield from self._links(step, about, hits, followed)
        query, hits = asked[0]
        return Hop(step.number, query, hits, self._best(answers) or self.answers[first])

    def _said(self, said: Any, hits: tuple[Passage, ...], about: Answer) -> _Work[list[Answer]]:
        """What the user's reader says."""
        answers = []
        for text in [said] if isinstance(said, str) else list(said or ()):
            page = yield from self._page(str(text))
            found = None if page is None else page[0]
            read_in = [(hit, about.score * _share(hit, hits)) for hit in hits[:1]]
            linked = [] if found is None else [(found, about.score)]
            answers.append(Answer(str(text), found, about.score, (*about.support, *read_in, *linked)))
        return answers

    def _links(self, step: PlanStep, about: Answer, hits: tuple[Passage, ...], followed: bool) -> _Work[list[Answer]]:
        """The names in what was found, those with a page first, and the titles of what was found."""
        relation = _REFERENCE.sub(" ", step.text)
        own = _plain(about.text)
        scores = {hit.key: (hit, _share(hit, hits)) for hit in hits}
        if about.passage is not None:
            known = scores.get(about.passage.key, (about.passage, 0.0))[1]
            scores[about.passage.key] = about.passage, max(known, 0.9)
        answers: list[Answer] = []
        for passage, share in scores.values():
            is_own = about.passage is not None and _plain(passage.title) == own
            said = is_own or (bool(own) and own in _words(f"{passage.title} {passage.text}"))
            trust = 1.0 if said else 0.5 if about.passage is None else 0.3
            score = about.score * (0.4 + 0.6 * share) * trust
            support = (*about.support, (passage, score))
            if step.operator is Operator.FILTER:
                kept = passage if about.passage is None or is_own else about.passage
                answers.append(Answer(kept.title, kept, score, support))
                continue
            answers.append(
                Answer(about.text, passage, 0.35 * score, support)
                if is_own
                else Answer(passage.title, passage, 0.6 * score, support)
            )
            near = score if is_own or about.passage is None else 0.6 * score
            for n, (name, closeness) in enumerate(_names(passage, relation, self.plan.question)):
                linked = near * (0.3 + 0.7 * closeness)
                page = yield from self._page(name)
                if page is not None and _plain(page[0].title) != own:
                    linked *= page[1] if followed else 0.5 * page[1]
                    answers.append(Answer(page[0].title, page[0], linked, (*support, (page[0], linked))))
                elif page is None and followed and n < _NAMES_WITHOUT_PAGE:
                    answers.append(Answer(name, None, 0.6 * linked, support))
        return answers

    def _best(self, answers: Iterable[Answer]) -> tuple[Answer, ...]:
        """The best answers, each name once."""
        best: dict[str, Answer] = {}
        for answer in sorted(answers, key=lambda answer: -answer.score):
            best.setdefault(_plain(answer.text), answer)
        return tuple(islice(best.values(), self.beam))

    def _fused(self, single: tuple[Passage, ...], named: tuple[Answer, ...]) -> tuple[Passage, ...]:
        """All passages by the score of the single search and of the best chain through them."""
        sure = self.plan.confidence
        weight = _WEIGHT if sure is None else _WEIGHT * (_LEAST_WEIGHT + (1 - _LEAST_WEIGHT) * min(1, sure / _SURE))
        passages = {each.key: each for each in single}
        scores = {each.key: _share(each, single) for each in single}
        chains: dict[Any, float] = {}
        found = [(n, answer) for answers in self.answers.values() for n, answer in enumerate(answers)]
        for n, answer in (*found, *((0, answer) for answer in named)):
            for passage, score in answer.support:
                passages.setdefault(passage.key, passage)
                chains[passage.key] = max(chains.get(passage.key, 0.0), score / (1 + _NEXT_ANSWER * n))
        for key, score in chains.items():
            scores[key] = scores.get(key, 0.0) + weight * score
        return tuple(passages[key] for key in sorted(scores, key=lambda key: -scores[key]))


def _passage(hit: Any) -> Passage:
    """A passage of any kind: ours, a mapping, or an object with these attributes."""
    if isinstance(hit, Passage):
        return hit
    is_mapping = isinstance(hit, Mapping)
    title, text, score, name = (
        hit.get(field) if is_mapping else getattr(hit, field, None) for field in ("title", "text", "score", "id")
    )
    if not isinstance(title, str) or not isinstance(text, str):
        raise DataError(f"a search must give passages with a title and a text, not {type(hit).__name__}")
    return Passage(title, text, float(score or 0.0), None if name is None else str(name))


def _share(hit: Passage, hits: Sequence[Passage]) -> float:
    """A hit's score as a share of the best one's; by rank if the retriever gives no scores."""
    top = max(each.score for each in hits)
    return max(hit.score, 0.0) / top if top > 0 else 1 / (1 + hits.index(hit))


def _anchors(question: str, hits: Sequence[Passage]) -> list[tuple[Passage, str, float]]:
    """The hits whose title is in the question, with the title and how well it fits."""
    asked = f" {_words(question)} "
    found = []
    for passage in hits[:_ANCHORS]:
        for title, fit in ((_words(passage.title), 1.0), (_plain(passage.title), 0.9)):
            if len(title) > 3 and f" {title} " in asked:
                found.append((passage, title, fit))
                break
    # "Ferry" is not what "Winter Ferry" is about.
    return [one for one in found if not any(f" {one[1]} " in f" {title} " and one[1] != title for _, title, _ in found)]


def _is_name(title: str, question: str) -> bool:
    """Whether a title in a question is a name: of several words, or with a capital letter inside of the question."""
    return " " in title or any(_words(name) == title for name in _names_of(question))


def _names_of(question: str) -> list[str]:
    """The names in a question, but for its first word."""
    return [name for match in _NAME.finditer(question) for name in _parts(match[0]) if match.start() or " " in name]


def _parts(name: str) -> list[str]:
    """A name, and if it may be two, both: "Antonio Vivaldi to an Italian"."""
    parts = _SPLIT.split(name)
    return [name] if len(parts) == 1 else [name, *parts]


def _overlap(words: set[str], title: str) -> float:
    others = set(title.split())
    common = len(words & others)
    part = 0.8 * common / min(len(words), len(others)) if words and (common > 1 or len(others) == 1) else 0.0
    return max(common / len(words | others), part)


@lru_cache(maxsize=512)
def _names(passage: Passage, relation: str, question: str) -> tuple[tuple[str, float], ...]:
    """The names in a passage that are nearest to the words of a step, or of the question, with how near: 0 to 1."""
    text = _GLUED_SENTENCES.sub(". ", passage.text)
    asked, in_question = _stems(relation), _stems(question)
    places = [(match.start(), match[0].lower()[:_LETTERS]) for match in re.finditer(r"\w+", text)]
    near = [place for place, word in places if word in asked]
    less_near = [place for place, word in places if word in in_question]
    title = _plain(passage.title)
    found: dict[str, float] = {}
    for match in _NAME.finditer(text):
        for name in _parts(match[0]):
            name = name.strip(" .'’-")
            plain = _plain(name)
            if len(plain) < 3 or plain == title or plain in stop_words() or _DATE.fullmatch(name):
                continue
            score = max(_closeness(match, near), 0.5 * _closeness(match, less_near)) + 0.05 * (match.start() < 250)
            found[name] = max(found.get(name, 0.0), min(score, 1.0))
    return tuple(sorted(found.items(), key=lambda item: -item[1])[:_NAMES])


def _closeness(match: re.Match[str], places: Sequence[int]) -> float:
    """How near a name is to the nearest of these places; it more often follows the word than not."""
    far = 500.0
    distances = (place - match.end() if place >= match.end() else 0.8 * (match.start() - place) for place in places)
    return 1 / (1 + min(distances, default=far) / 50)


def _stems(text: str) -> frozenset[str]:
    words = [word for word in re.findall(r"\w+", text.lower()) if word not in stop_words()]
    others = [other for word in words for other in _OTHER_WORDS.get(word, "").split()]
    return frozenset(word[:_LETTERS] for word in (*words, *others))


@lru_cache(maxsize=4096)
def _words(text: str) -> str:
    """The words in small letters without accents."""
    plain = text if text.isascii() else "".join(each for each in normalize("NFKD", text) if not combining(each))
    return _NO_WORD.sub(" ", plain.lower()).strip()


def _plain(title: str) -> str:
    """A title without what is in parentheses."""
    return _words(_PARENTHESES.sub("", title))

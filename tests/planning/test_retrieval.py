"""Retrieval with a plan: hops linked by names, branches, readers, limits and odd retrievers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from qdecomp import QDecompError
from qdecomp.planning import Passage, Plan
from tests.plans import plan_of

PAGES = (
    Passage(
        "The Glass Harbour",
        "The Glass Harbour is a 1971 film directed by Ines Valtrova in a town by the sea. It has music by Olo Brandt.",
    ),
    Passage("Ines Valtrova", "Ines Valtrova (1930-2004) was a film maker from Karlin."),
    Passage("Olo Brandt", "Olo Brandt wrote music for the stage. He lived in Ostby."),
    Passage("Winter Ferry", "Winter Ferry is a film of 1980. It was directed by Pia Dahl.It was shot in Norway."),
    Passage("Pia Dahl", "Pia Dahl, born in 1951, is a director."),
    Passage("Film", "A film has a director. Who directed what, and when a director was born, is in its credits."),
    Passage("Ferry", "A ferry is a boat. In winter a ferry may stop."),
    Passage("Born", "To be born is the first thing that happens to a director of any film."),
)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class Searcher:
    """A retriever that counts common words, and its own calls."""

    def __init__(self, pages: Iterable[Passage] = PAGES) -> None:
        self.pages = tuple(pages)
        self.queries: list[str] = []

    def __call__(self, query: str, k: int) -> list[Passage]:
        self.queries.append(query)
        asked = set(words(query))
        scored = [
            Passage(page.title, page.text, 2 * len(asked & set(words(page.title))) + len(asked & set(words(page.text))))
            for page in self.pages
        ]
        return sorted((page for page in scored if page.score), key=lambda page: -page.score)[:k]


BRIDGE = plan_of(
    "The Glass Harbour; director of #1; when was #2 born", "When was the director of The Glass Harbour born?"
)
COMPARISON = plan_of(
    "The Glass Harbour; Winter Ferry; director of #1; director of #2; age of #3; age of #4; "
    "which is highest of #5 , #6",
    "Which film has the older director, The Glass Harbour or Winter Ferry?",
)


def titles(passages: Iterable[Passage]) -> list[str]:
    return [passage.title for passage in passages]


WRONG = plan_of("films; who directed #1", "Who directed the film Winter Ferry with Olo Brandt?")


@pytest.mark.parametrize(
    ("plan", "pages", "k", "expected"),
    [
        (BRIDGE, PAGES, 2, {"The Glass Harbour", "Ines Valtrova"}),
        # Both branches are followed.
        (COMPARISON, PAGES, 4, {"The Glass Harbour", "Winter Ferry", "Ines Valtrova", "Pia Dahl"}),
        # A name without a page is searched for.
        (
            BRIDGE,
            (*PAGES[:1], Passage("A life in pictures", "The film maker Ines Valtrova was born in 1930."), *PAGES[5:]),
            2,
            {"The Glass Harbour", "A life in pictures"},
        ),
        # Accents do not separate names.
        (
            BRIDGE,
            (Passage("Inès Valtrová", "Ines Valtrova was from Karlin."), *PAGES[:1], *PAGES[2:]),
            2,
            {"The Glass Harbour", "Inès Valtrová"},
        ),
        # What the question names is found, whatever the plan says.
        (WRONG, PAGES, 2, {"Winter Ferry", "Olo Brandt"}),
    ],
)
def test_pages_that_one_search_does_not_find_are_found(
    plan: Plan, pages: Sequence[Passage], k: int, expected: set[str]
) -> None:
    assert not expected <= set(titles(Searcher(pages)(plan.question, k)))
    assert expected <= set(titles(plan.retrieve(Searcher(pages), k).passages))


def test_the_name_nearest_to_the_words_of_the_step_is_followed() -> None:
    steps = "The Glass Harbour; composer of #1; where did #2 live"
    composer = plan_of(steps, "Where did the composer of The Glass Harbour live?")
    assert composer.retrieve(Searcher()).hops[1].answers[0].text == "Olo Brandt"
    assert BRIDGE.retrieve(Searcher()).hops[1].answers[0].text == "Ines Valtrova"


def test_the_trace_has_the_queries_with_the_answers_filled_in() -> None:
    search = Searcher()
    found = BRIDGE.retrieve(search)
    assert [hop.query for hop in found.hops] == [
        "The Glass Harbour",
        "director of The Glass Harbour",
        "when was Ines Valtrova born",
    ]
    assert found.searches == len(search.queries) == len(set(search.queries))
    assert "3. when was Ines Valtrova born → " in str(found)


def test_a_reader_answers_hops() -> None:
    def read(question: str, passages: Sequence[Passage]) -> Any:
        return "Olo Brandt" if question.startswith("director") else None

    found = BRIDGE.retrieve(Searcher(), 3, read=read)
    assert found.hops[1].answers[0].text == "Olo Brandt"
    assert found.hops[2].query == "when was Olo Brandt born"


def test_async_functions_find_the_same() -> None:
    search = Searcher()

    async def asearch(query: str, k: int) -> list[Passage]:
        return search(query, k)

    assert asyncio.run(BRIDGE.aretrieve(asearch)) == BRIDGE.retrieve(Searcher())


def test_no_more_searches_than_allowed() -> None:
    search = Searcher()
    found = COMPARISON.retrieve(search, searches=3)
    assert len(search.queries) == found.searches == 3
    assert found.passages


def test_a_plan_counts_less_if_the_parser_is_not_sure() -> None:
    def rank_of_the_director(confidence: float) -> int:
        pages = (
            *PAGES,
            *(Passage(f"Harbour {n}", "when was the director of the glass harbour born") for n in range(3)),
        )
        found = Plan(BRIDGE.levels, BRIDGE.question, confidence).retrieve(Searcher(pages))
        return titles(found.passages).index("Ines Valtrova")

    assert rank_of_the_director(1.0) < rank_of_the_director(0.0)


def test_duplicates_and_more_hits_than_asked_for_change_nothing() -> None:
    taken = 0

    def many(query: str, k: int) -> Iterator[Passage]:
        nonlocal taken
        for page in (*(page for page in Searcher()(query, k) for _ in range(2)), *PAGES * 1000):
            taken += 1
            yield page

    found = BRIDGE.retrieve(many)
    assert len(set(titles(found.passages))) == len(found.passages)
    assert titles(found.passages)[:2] == ["The Glass Harbour", "Ines Valtrova"]
    assert taken < 51 * found.searches


@pytest.mark.parametrize("nothing", [[], None])
def test_a_search_that_finds_nothing_gives_nothing(nothing: Any) -> None:
    found = BRIDGE.retrieve(lambda query, k: nothing)
    assert found.passages == ()
    assert len(found.hops) == 3


def test_what_goes_wrong_is_raised() -> None:
    def broken(query: str, k: int) -> list[Passage]:
        raise TimeoutError(query)

    with pytest.raises(TimeoutError, match="When was the director"):
        BRIDGE.retrieve(broken)
    with pytest.raises(QDecompError, match="a search must give passages with a title and a text, not str"):
        BRIDGE.retrieve(lambda query, k: ["text"])
    with pytest.raises(QDecompError, match="no question"):
        Plan(BRIDGE.levels).retrieve(Searcher())
    with pytest.raises(QDecompError, match="must be 1 or more"):
        BRIDGE.retrieve(Searcher(), 0)


def test_a_search_that_hangs_ends_with_the_callers_time_limit() -> None:
    async def hanging(query: str, k: int) -> list[Passage]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(BRIDGE.aretrieve(hanging), 0.01))

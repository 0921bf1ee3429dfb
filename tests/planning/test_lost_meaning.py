"""What a plan has lost of its question's meaning, and what only looks like it."""

from __future__ import annotations

import pytest

from qdecomp.data_structures.qdmr import Qdmr, parse_qdmr
from qdecomp.planning.checks import failed_checks
from qdecomp.planning.lost_meaning import MEANING_CHECKS


def of_steps(text: str) -> Qdmr:
    """The plan with these steps, without ``return``."""
    return parse_qdmr(" ;".join(f"return {step}" for step in text.split(" ;")))


FOUND = [
    ("lost word", "Which sneakers are blue?", "sneakers"),
    (
        "lost word",
        "My dad takes aspirin. Should aspirin be mixed with heparin?",
        "aspirin ;if #1 is safe",
    ),
    ("lost negation", "Which clients have not called?", "clients ;#1 who called"),
    ("lost negation", "Which tools are no longer sold?", "tools ;#1 that are sold"),
    ("turned duty", "Who must not drive?", "people ;#1 who must drive ;#1 besides #2"),
    (
        "negated twice",
        "Which drivers have no licence?",
        "drivers ;#1 with no licence ;#1 besides #2",
    ),
    ("lost superlative", "Who wrote the longest letter?", "letters ;who wrote #1"),
    (
        "lost limit",
        "Who drove on at least three days?",
        "drivers ;days of #1 ;#1 where #2 is many",
    ),
    ("lost share", "What percentage of carts is red?", "carts ;#1 that are red"),
    (
        "lost share",
        "In which teams do more than half of members cook?",
        "teams ;members that cook of #1 ;number of #2 for each #1 ;#1 where #3 is more than half",
    ),
    ("lost average", "What is the average age of cats?", "cats ;age of #1"),
    (
        "lost group",
        "How many parcels were sent, broken down by carrier?",
        "parcels sent ;number of #1 by carrier",
    ),
    (
        "lost difference",
        "How much more did Ann pay than Bob?",
        "what Ann pay ;what Bob pay ;#1 , #2",
    ),
    (
        "lost condition",
        "How long is the road if the bridge is closed?",
        "road ;length of #1 , bridge closed",
    ),
    ("other answer", "Does Ann own the hotel?", "hotel ;Ann of #1 own"),
    ("other answer", "Who owns the hotel?", "hotel ;if Ann own #1"),
    ("other answer", "How many cats does Ann have?", "Ann ;cats that #1 have"),
    (
        "other answer",
        "Which fund has the lowest fee?",
        "fund ;fee of #1 ;lowest of #2",
    ),
    (
        "different kinds",
        "Do women in Rome earn more than men in Rome?",
        "Rome ;salary of women in #1 ;height of men from #1 ;if #2 is higher than #3",
    ),
    (
        "different kinds",
        "Are there more cats of Ann than of Bob?",
        "Ann ;Bob ;cats of #1 ;cats of #2 ;number of #3 ;if #5 is higher than #4",
    ),
    ("garbled clause", "Which data can a person ask for?", "data ;#1 that can a person ask for"),
    ("repeated phrase", "Which race was in Long Beach?", "race in Long Beach at Long Beach"),
]


@pytest.mark.parametrize(("name", "question", "plan"), FOUND)
def test_what_is_lost_is_found(name: str, question: str, plan: str) -> None:
    assert name in failed_checks(question, of_steps(plan))


def test_every_check_has_an_example() -> None:
    assert {name for name, _, _ in FOUND} == MEANING_CHECKS.keys()


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        # Other forms, misspelt words, words that plans often leave out.
        ("Which womens' shoes are sold?", "shoes ;#1 of women ;#2 that are sold"),
        ("soemthing about tigers please", "tigers"),
        ("Which cities are cheaper than Rome?", "cities ;prices of #1 ;price of Rome ;#1 where #2 is lower than #3"),
        # Talk around a question, and what only names the things that are compared.
        ("The kids won't stop asking. Do whales sleep?", "whales ;if #1 sleep"),
        (
            "Which river is longer, the Nile or the Po?",
            "the Nile ;the Po ;length of #1 ;length of #2 ;which is highest of #3 , #4",
        ),
        # Negation in another way.
        ("Which clients have not called?", "clients ;#1 who called ;#1 besides #2"),
        ("Which clients never called?", "clients ;#1 who are uncalled"),
        ("Who must not drive?", "people ;#1 who must not drive"),
        ("Is it true or not?", "it ;if #1 is true"),
        # Limits and superlatives in another way.
        ("Who drove on at least three days?", "drivers ;days #1 drove ;#1 where #2 is more than 2"),
        ("Who has the longest beard?", "beards ;length of #1 ;#1 where #2 is highest ;who has #3"),
        (
            "In which teams do more than half of members cook?",
            "teams ;members of #1 ;#2 that cook ;number of #2 for each #1 ;"
            "number of #3 for each #1 ;division of #5 and #4 for each #1 ;#1 where #6 is more than half",
        ),
        (
            "How many field goals were kicked in the first half?",
            "field goals ;#1 kicked in the first half ;number of #2",
        ),
        # Answers of other forms.
        ("Is there a flight to Rome?", "flight ;#1 to Rome"),
        ("Does Ann or Bob own the hotel?", "Ann ;Bob ;which own the hotel of #1 , #2"),
        ("How many cats and dogs are there?", "cats ;dogs ;number of #1 ;number of #2 ;#3 , #4"),
        ("What is the lowest fee of a fund?", "fund ;fee of #1 ;lowest of #2"),
        (
            "Are there more cats than dogs in Rome?",
            "Rome ;cats in #1 ;dogs in #1 ;number of #2 ;number of #3 ;if #4 is higher than #5",
        ),
        ("Which mayors were tall, if any?", "mayors ;#1 that were tall"),
        ("tell me if Ann is tall", "Ann ;if #1 is tall"),
        ("", "x"),
    ],
)
def test_a_plan_that_says_it_in_another_way_is_left_alone(question: str, plan: str) -> None:
    assert MEANING_CHECKS.keys() & failed_checks(question, of_steps(plan)) == set()

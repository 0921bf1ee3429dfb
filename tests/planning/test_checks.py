"""What makes no sense as a plan or has lost the question's meaning, what only looks like it, and no question."""

from __future__ import annotations

import pytest

from qdecomp.planning.checks import PLAN_CHECKS, not_a_question, plan_warnings
from tests.plans import qdmr_of

MORE = "Which firms have more staff than Acme?"
HALF = "How much more did Ann pay than Bob?"


FOUND = [
    ("unfinished step", MORE, "firms; staff of #1; #1 where #2 is more than", "step 3: it ends in 'than'"),
    ("unfinished step", MORE, "firms; #1 with at least", "step 2: it ends in 'at least'"),
    ("unfinished step", "How many cubes of each colour?", "cubes; number of #1 for each", "step 2: it ends in 'each'"),
    ("repeated word", "Which state has rivers?", "state state; #1 with rivers", "step 1: 'state' twice in a row"),
    ("opposite comparison", MORE, "firms; staff of #1; #1 where #2 is less than Acme",
     "step 3: 'less' is the opposite of the question's 'more'"),
    ("opposite comparison", "Towns above 5 people?", "towns; #1 with less than 5 people", "step 2: 'less' is"),
    ("opposite comparison", "Which is the smallest lake?", "lakes; #1 that is largest", "step 2: 'largest' is"),
    ("unused step", "Which rivers cross Texas?", "rivers; Texas; #1 that cross texas", "step 2: no other step uses it"),
    ("repeated step", MORE, "firms; the staff of Acme; staff of Acme; #1 with more than #2 , #3",
     "step 3: it repeats step 2"),
    ("repeated step", "Who directed the films?", "films; who directed #1; who directed #2",
     "step 3: it does with step 2 what that one did already"),
    ("one side twice", MORE, "staff of Acme; difference of #1 and #1", "step 2: #1 with itself"),
    ("lost number", "Which firms were founded in 1998?", "firms; #1 that were founded", "the question's number 1998"),
    ("lost word", "Which sneakers are blue?", "sneakers", "the question's 'blue' is in no step"),
    ("lost word", "My dad takes aspirin. Is aspirin safer with heparin?", "aspirin; if #1 is safe", "the question's"),
    ("lost negation", "Which clients have not called?", "clients; #1 who called", "the question's 'not' is in no step"),
    ("lost negation", "Which tools are no longer sold?", "tools; #1 that are sold", "the question's 'no longer'"),
    ("lost superlative", "Who wrote the longest letter?", "letters; who wrote #1", "the question's 'longest'"),
    ("lost share", "What percentage of carts is red?", "carts; #1 that are red", "the question asks for a percentage"),
    ("lost median", "What is the median age of cats?", "cats; age of #1", "the question's 'median'"),
    ("lost group", "How many parcels were sent, broken down by carrier?", "parcels sent; number of #1 by carrier",
     "the question asks for groups"),
    ("lost difference", HALF, "what Ann pay; what Bob pay; #1 , #2", "the question asks for a difference"),
    ("turned duty", "Who must not drive?", "people; #1 who must drive; #1 besides #2", "step 2: 'must', where the"),
    ("other answer", "Does Ann own the hotel?", "hotel; Ann of #1 own", "step 2: the question asks for yes or no"),
    ("other answer", "Who owns the hotel?", "hotel; if Ann own #1", "step 2: the question asks 'who'"),
    ("other answer", "How many cats does Ann have?", "Ann; cats that #1 have", "step 2: the question asks 'how many'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "question", "plan", "warning"), FOUND)
def test_what_is_odd_is_said(name: str, question: str, plan: str, warning: str) -> None:
    assert any(each.startswith(warning) for each in plan_warnings(question, qdmr_of(plan), [PLAN_CHECKS[name]]))


def test_every_check_has_an_example() -> None:
    assert {name for name, *_ in FOUND} == PLAN_CHECKS.keys()


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        ("", "x"),
        (MORE, "firms; staff of #1; staff of Acme; #1 where #2 is more than #3"),
        ("Which firms are neither a nor b?", "firms; a; b; #1 besides #2; #4 besides #3"),
        ("Is it very very big?", "it; if #1 is very very big"),
        ("Order the towns by name", "towns; names of #1; #2 sorted by #2"),
        ("How many cubes are there for each colour?", "cubes; colours of #1; number of #1 for each #2"),
        # Comparisons in another direction, or in another way.
        ("Which towns have at least 3 inns?", "towns; inns of #1; #1 where #2 is more than 2"),
        ("If the smaller bag has a tag.", "bag; #1 that is smaller; tag of #2; number of #3; if #4 is at least one"),
        ("Which firm is not larger than Acme?", "firms; #1 that is smaller than Acme"),
        ("Which flight is first?", "flights; date of #1; #1 where #2 is lowest"),
        ("cheapest flat with at least 3 rooms", "flats; #1 with at least 3 rooms; price of #2; #2 where #3 is lowest"),
        ("oldest inn with more than 50 rooms", "inns; #1 with more than 50 rooms; date of #2; #2 where #3 is lowest"),
        ("Which is better, tea or milk?", "tea; milk; which is better of #1 , #2"),
        # Other forms, and words that plans often leave out.
        ("Which womens' shoes are sold?", "shoes; #1 of women; #2 that are sold"),
        ("Which cities are cheaper than Rome?", "cities; prices of #1; price of Rome; #1 where #2 is lower than #3"),
        # Talk around a question, and what only names the things that are compared.
        ("The kids won't stop asking. Do whales sleep?", "whales; if #1 sleep"),
        ("is Pluto, I never know these days, a planet?", "Pluto; if #1 is a planet"),
        ("Which river is longer, the Nile or the Po?", "the Nile; the Po; lengths of #1 , #2; which is highest of #3"),
        # Negation in another way.
        ("Which clients have not called?", "clients; #1 who called; #1 besides #2"),
        ("Which clients never called?", "clients; #1 who are uncalled"),
        ("Who must not drive?", "people; #1 who must not drive"),
        ("Is it true or not?", "it; if #1 is true"),
        # Answers of other forms.
        ("Is there a flight to Rome?", "flight; #1 to Rome"),
        ("Does Ann or Bob own the hotel?", "Ann; Bob; which own the hotel of #1 , #2"),
        ("Are all cubes big and red?", "cubes; if all #1 are big; if all #1 are red; #2 and #3"),
        ("How many cats and dogs are there?", "cats; dogs; number of #1; number of #2; #3 , #4"),
        ("How many points did Bob score in May?", "Bob; points that #1 score; #2 in May"),
        ("Which mayors were tall, if any?", "mayors; #1 that were tall"),
    ],
)
def test_an_ordinary_plan_has_no_warning(question: str, plan: str) -> None:
    assert plan_warnings(question, qdmr_of(plan)) == ()


def test_what_is_wrong_with_the_whole_plan_comes_first() -> None:
    assert plan_warnings(MORE, qdmr_of("shops shops; x; #1 where #1 is less than; number of #3 for each")) == (
        "the question's 'firms', 'acme' are in no step",
        "step 1: 'shops' twice in a row",
        "step 2: no other step uses it",
        "step 3: it ends in 'than', and something is missing after it",
        "step 3: 'less' is the opposite of the question's 'more'",
        "step 3: #1 with itself",
        "step 4: it ends in 'each', and something is missing after it",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "a single word"),
        ("Texas?", "a single word"),
        ("hello there", "greeting"),
        ("Good morning, how are you today?", "greeting"),
        ("¿Qué ciudad tiene más ríos?", "Spanish"),
        ("Welche Stadt hat die meisten Flüsse und wie viele?", "German"),
        ("Quelle est la plus grande ville de France ?", "French"),
        ("какая самая длинная река в россии", "another alphabet"),
        ("世界で一番長い川は 何ですか", "another alphabet"),
        ("世界で一番長い川は何ですか", "another alphabet"),
    ],
)
def test_what_is_not_a_question_says_why(text: str, reason: str) -> None:
    assert reason in (not_a_question(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "red cubes",
        "rivers in texas",
        "list flights from los angeles to las vegas",
        "How many people live in Los Altos or El Paso?",
        "Which films did François Truffaut direct in Paris?",
        "how are red cubes sorted",
        "",
        "?",
    ],
)
def test_what_may_be_a_question_is_left_alone(text: str) -> None:
    assert not_a_question(text) is None

from __future__ import annotations

import pytest

from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.planning.checks import PLAN_CHECKS, failed_checks, not_a_question, plan_warnings
from qdecomp.planning.lost_meaning import MEANING_CHECKS

MORE = "Which firms have more staff than Acme?"


@pytest.mark.parametrize(
    ("question", "plan", "warning"),
    [
        (
            MORE,
            "return firms ;return staff of #1 ;return #1 where #2 is more than",
            "step 3: a comparison with nothing",
        ),
        (MORE, "return firms ;return #1 with at least", "step 2: a comparison with nothing"),
        (
            "How many cubes of each colour?",
            "return cubes ;return number of #1 for each",
            "step 2: 'for each' of nothing",
        ),
        ("Which state has rivers?", "return state state ;return #1 with rivers", "step 1: 'state' twice in a row"),
        (
            "Towns above 5 people?",
            "return towns ;return people in #1 ;return #1 where #2 is less than 5",
            "step 3: 'less' is",
        ),
        (
            MORE,
            "return firms ;return staff of #1 ;return #1 where #2 is less than Acme",
            "step 3: 'less' is the opposite",
        ),
        ("Which is the smallest lake?", "return lakes ;return #1 that is largest", "step 2: 'largest' is the opposite"),
        ("Which rivers are in Texas?", "return size of rivers ;return #1 in texas", "step 1: 'size', for which"),
        ("Who won the cup?", "return flights ;return #1 of the cup", "step 1: 'flights', for which"),
        (
            "Which rivers cross Texas?",
            "return rivers ;return Texas ;return #1 that cross texas",
            "step 2: no other step",
        ),
    ],
)
def test_what_is_odd_is_said(question: str, plan: str, warning: str) -> None:
    found = plan_warnings(question, parse_qdmr(plan))
    assert any(each.startswith(warning) for each in found)


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        (MORE, "return firms ;return staff of #1 ;return staff of Acme ;return #1 where #2 is more than #3"),
        ("Which towns have at least 3 inns?", "return towns ;return #1 with at least 3 inns"),
        ("Which towns have at least 3 inns?", "return towns ;return inns of #1 ;return #1 where #2 is more than 2"),
        ("Which firm is not larger than Acme?", "return firms ;return #1 that is smaller than Acme"),
        ("Which city is the biggest?", "return cities ;return size of #1 ;return #1 where #2 is highest"),
        ("Which flight is first?", "return flights ;return date of #1 ;return #1 where #2 is lowest"),
        ("Is it very very big?", "return it ;return if #1 is very very big"),
        ("Are there more men than women?", "return men ;return number of #1 ;return if #2 is more than of a woman"),
        ("Is it bigger than usual?", "return it ;return if #1 is bigger than usual"),
        ("Order the towns by name", "return towns ;return names of #1 ;return #2 sorted by #2"),
        ("Who won in 1998 and who lost?", "return who won in 1998 ;return who lost in 1998 ;return #1 , #2"),
        ("and what is the last flight?", "return flights ;return #1 that is last"),
        ("Which is better, tea or milk?", "return tea ;return milk ;return which is better of #1 , #2"),
        (
            "cheapest flat with at least 3 rooms",
            "return flats ;return #1 with at least 3 rooms ;return price of #2 ;return #2 where #3 is lowest",
        ),
        (
            "the oldest hotel with more than 50 rooms",
            "return hotels ;return #1 with more than 50 rooms ;return date of #2 ;return #2 where #3 is lowest",
        ),
        (
            "Is the tallest tower in Asia taller than the tallest one?",
            "return towers ;return height of #1 ;return #1 in Asia ;return height of #3 ;return highest of #2 ;"
            "return highest of #4 ;return if #6 is higher than #5",
        ),
        (
            "How many cubes are there for each colour?",
            "return cubes ;return colours of #1 ;return number of #1 for each #2",
        ),
    ],
)
def test_an_ordinary_plan_has_no_warning(question: str, plan: str) -> None:
    assert plan_warnings(question, parse_qdmr(plan)) == ()


def test_many_things_can_be_odd_about_one_plan() -> None:
    plan = "return flights flights ;return x ;return #1 where #1 is less than ;return number of #3 for each"
    assert plan_warnings(MORE, parse_qdmr(plan)) == (
        "what the question compares with is in no step: 'acme'",
        "the question's 'firms', 'staff', 'acme' are in no step",
        "step 1: 'flights' twice in a row",
        "step 1: 'flights', for which the question gives no reason",
        "step 2: no other step uses it",
        "step 3: a comparison with nothing: it ends in 'than'",
        "step 3: 'less' is the opposite of the question's 'more'",
        "step 3: #1 with itself",
        "step 4: 'for each' of nothing",
    )


NONSENSE = {
    "unfinished comparison": (MORE, "return firms ;return #1 that have more than"),
    "each of nothing": (MORE, "return firms ;return staff of #1 for each"),
    "repeated word": (MORE, "return firms firms ;return #1 with more staff than Acme"),
    "opposite comparison": (MORE, "return firms ;return #1 with less staff than Acme"),
    "resource without reason": (MORE, "return flights ;return #1 with more staff than Acme"),
    "unused step": (MORE, "return firms ;return Acme ;return #2 with more staff"),
    "repeated step": (
        MORE,
        "return firms ;return the staff of Acme ;return staff of Acme ;return #1 with more than #2 , #3",
    ),
    "one side twice": (MORE, "return staff of Acme ;return difference of #1 and #1"),
    "than without comparison": (MORE, "return firms ;return #1 that have than Acme"),
    "invented limit": (MORE, "return firms ;return staff of #1 ;return Acme #2 ;return #1 where #3 is more than one"),
    "lost side": (MORE, "return firms ;return #1 with more staff"),
    "lost number": ("Which firms were founded in 1998?", "return firms ;return #1 that were founded"),
    "half an answer": ("Who won the cup and when was it?", "return cup ;return who won #1"),
}


def test_every_check_has_an_example() -> None:
    assert NONSENSE.keys() == PLAN_CHECKS.keys() - MEANING_CHECKS.keys()


@pytest.mark.parametrize("name", NONSENSE)
def test_every_check_finds_its_nonsense(name: str) -> None:
    question, plan = NONSENSE[name]
    assert name in failed_checks(question, parse_qdmr(plan))
    assert len(plan_warnings(question, parse_qdmr(plan))) >= len(failed_checks(question, parse_qdmr(plan)))


def test_a_step_that_does_the_same_again_is_a_repetition() -> None:
    again = "return films ;return who directed #1 ;return who directed #2"
    assert plan_warnings("Who directed the films?", parse_qdmr(again)) == (
        "step 3: it does with step 2 what that one did already",
    )
    others = "return firms ;return a ;return b ;return #1 besides #2 ;return #4 besides #3"
    assert plan_warnings("Which firms are neither a nor b?", parse_qdmr(others)) == ()


def test_what_is_wrong_with_the_whole_plan_comes_first() -> None:
    found = plan_warnings(MORE, parse_qdmr("return firms ;return x ;return #1 with more staff"))
    assert found == (
        "what the question compares with is in no step: 'acme'",
        "the question's 'acme' is in no step",
        "step 2: no other step uses it",
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

"""Verdicts of LF-EM on pairs written for this project, so that the metric is protected in a clone without Break.

The verdicts follow from what the paper says about the metric (equal words by inflection, synonyms and stop words;
filters merged into what they filter; independent steps in any order) and from README's table of what is strict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from qdecomp import lf_em


class Pair(NamedTuple):
    about: str
    question: str
    prediction: str
    gold: str
    equal: bool
    equal_strictly: bool


# By verdict; of each pair what it is about, the question, a prediction and gold.
TABLE = """
== equal
- wording of an aggregate
How many red cubes are there?
return red cubes ;return the number of #1
return cubes ;return #1 that are red ;return number of #2
- a filter merged into its selection
Which boats are green?
return green boats
return boats ;return #1 that are green
- two filters in the other order
Which small boats are green?
return boats ;return #1 that are green ;return #2 that are small
return boats ;return #1 that are small ;return #2 that are green
- singular and plural
How many red cubes are there?
return red cube ;return number of #1
return red cubes ;return number of #1
- an inflected verb
Which guests arrived?
return guests ;return #1 that arrive
return guests ;return #1 that arrived
- auxiliary words
Which lamps are on the desk?
return lamps ;return #1 on a desk
return the lamps ;return #1 that are on the desk
- capital letters
Which Lamps are on the desk?
return lamps on the desk
return Lamps on the desk
- independent steps in the other order
Are there more cats than dogs?
return dogs ;return cats ;return number of #2 ;return number of #1 ;return which is highest of #3 , #4
return cats ;return dogs ;return number of #1 ;return number of #2 ;return which is highest of #3 , #4
- synonyms of an extreme
What is the longest bridge?
return bridges ;return lengths of #1 ;return #1 where #2 is largest
return bridges ;return lengths of #1 ;return #1 where #2 is highest
- operands of a union in the other order
Which are cats or dogs?
return cats ;return dogs ;return #2 , #1
return cats ;return dogs ;return #1 , #2
- a number written out
Are there two red cubes?
return red cubes ;return number of #1 ;return if #2 is equal to 2
return red cubes ;return number of #1 ;return if #2 is equal to two
== equal, but not strictly
- a negation inside of a selection, which is a stop word
Which cups are not blue?
return cups that are blue
return cups that are not blue
- words next to the reference of an aggregate
What is the second largest lake?
return lakes ;return largest of #1
return lakes ;return second largest of #1
- last and most in one class
Who spoke last?
return person who spoke most
return person who spoke last
== different
- a filter with another word
Which boats are green?
return boats ;return #1 that are blue
return boats ;return #1 that are green
- a missing filter
Which boats are green?
return boats
return boats ;return #1 that are green
- the other extreme
What is the longest bridge?
return bridges ;return lengths of #1 ;return #1 where #2 is lowest
return bridges ;return lengths of #1 ;return #1 where #2 is highest
- another aggregate
How many pages do the books have?
return books ;return pages of #1 ;return average of #2
return books ;return pages of #1 ;return sum of #2
- arguments of a difference the other way round
How much older is Ada than Ben?
return age of Ada ;return age of Ben ;return the difference of #2 and #1
return age of Ada ;return age of Ben ;return the difference of #1 and #2
- a group and a plain count
How many toys does each child have?
return children ;return toys of #1 ;return number of #2
return children ;return toys of #1 ;return number of #2 for each #1
- a comparison with another number
Which boxes weigh more than 10?
return boxes ;return weights of #1 ;return #1 where #2 is more than 12
return boxes ;return weights of #1 ;return #1 where #2 is more than 10
- a discarded set the other way round
Which cups are not blue?
return cups ;return blue cups ;return #2 besides #1
return cups ;return blue cups ;return #1 besides #2
- a reference to itself
How many red cubes are there?
return red cubes ;return number of #2
return red cubes ;return number of #1
- a reference to a step that is not there
How many red cubes are there?
return red cubes ;return number of #3
return red cubes ;return number of #1
- an empty prediction
How many red cubes are there?

return red cubes ;return number of #1
- sort keys that differ
List the songs by year
return songs ;return #1 sorted by length
return songs ;return #1 sorted by year
"""


def _pairs() -> Iterator[Pair]:
    for section in TABLE.split("\n== ")[1:]:
        verdict, *rows = section.split("\n- ")
        for row in rows:
            about, question, prediction, gold = row.rstrip("\n").split("\n")
            yield Pair(about, question, prediction, gold, verdict != "different", verdict == "equal")


PAIRS = list(_pairs())


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.about)
def test_verdict(pair: Pair) -> None:
    assert lf_em(pair.question, pair.prediction, pair.gold).verdict is pair.equal
    assert lf_em(pair.question, pair.prediction, pair.gold, strict=True).verdict is pair.equal_strictly


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.prediction], ids=lambda pair: pair.about)
def test_a_decomposition_equals_itself_unless_it_cannot_be_read(pair: Pair) -> None:
    same = lf_em(pair.question, pair.prediction, pair.prediction)
    assert same.verdict is (same.error is None)
    assert lf_em(pair.question, pair.gold, pair.gold).verdict

from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.norm_em.rules import REWRITING_RULES, Drop, Extract, MakeCall, Nest
from tests.evaluation.metrics.norm_em.annotated import document

_RULES = {rule.name: rule for rule in REWRITING_RULES}


def _filter(*spans: tuple[int, int]) -> MakeCall:
    return MakeCall("FILTER", None, spans)


@pytest.mark.parametrize(
    ("name", "step", "edit"),
    [
        ("drop determiners", "the/DT/det/1 balls/NNS", Drop((0,))),
        ("drop determiners", "#1 that/WDT/nsubj/2 sing/VBP", Drop((1,))),
        ("drop determiners", "#1 that/WDT/nsubj/2 are/VBP red/JJ", None),
        ("drop determiners", "their/PRP$/poss/1 balls/NNS of/IN all/DT/det/4 #1", Drop((0, 3))),
        ("filter by a noun", "#1 wood/NN", _filter((0, 0), (1, 1))),
        ("filter by a noun", "#1 is/VBZ wood/NN", _filter((0, 0), (2, 2))),
        ("filter by a noun", "#1 that/WDT are/VBP wood/NN", _filter((0, 0), (3, 3))),
        ("filter by a noun", "#1 #2", _filter((0, 0), (1, 1))),
        ("filter by a noun", "#1 denver/NNP", None),
        ("filter by a noun", "wood/NN #1", None),
        ("extract runs of nouns", "red/JJ wood/NN balls/NNS near/IN denver/NNP", Extract(((1, 2), (4, 4)))),
        ("extract runs of nouns", "color/NN #1 of/IN #2", Extract(((0, 1),))),
        ("extract runs of nouns", "#1 of/IN #2", None),
        ("extract a reference with a preposition", "#1 of/IN #2 that/WDT sing/VBP", Extract(((0, 2),))),
        ("extract a reference with a preposition", "#1 to/TO #2 denver/NNP sing/VBP", Extract(((0, 3),))),
        ("extract a reference with a preposition", "#1 near/IN #2", None),
        ("extract a reference with a preposition", "#1 of/IN", None),
        ("nest compound nouns", "gold/NN/compound metal/NN/compound ball/NN", Nest()),
        ("nest compound nouns", "gold/NN/nsubj ball/NN", None),
        ("nest compound nouns", "ball/NN", None),
        ("nest compound nouns", "gold/NN/compound #2", Nest()),
        ("nest compound nouns", "#2 ball/NN", None),
        ("extract a reference with an adjective", "color/NN of/IN red/JJ #1", Extract(((2, 3),))),
        ("extract a reference with an adjective", "if/IN #1 is/VBZ red/JJ or/CC blue/JJ", Extract(((1, 3),))),
        ("extract a reference with an adjective", "#1 that/WDT are/VBP red/JJ", Extract(((0, 3),))),
        ("extract a reference with an adjective", "red/JJ balls/NNS", None),
        ("extract a reference that is a noun", "if/IN #1 is/VBZ wood/NN", Extract(((1, 3),))),
        ("extract a reference that is a noun", "#1 that/WDT is/VBZ #2", Extract(((0, 3),))),
        ("extract a reference that is a noun", "#1 of/IN wood/NN", None),
        ("filter by an adjective", "red/JJ #1", _filter((1, 1), (0, 0))),
        ("filter by an adjective", "#1 are/VBP red/JJ", _filter((0, 0), (2, 2))),
        ("filter by an adjective", "#1 that/WDT are/VBP red/JJ", _filter((0, 0), (3, 3))),
        ("filter by an adjective", "#1 red/JJ", None),
        ("filter by a preposition", "#1 of/IN #2", _filter((0, 0), (1, 2))),
        ("filter by a preposition", "#1 besides/IN #2", None),
        ("filter by a compound noun", "wood/NN #1", _filter((1, 1), (0, 0))),
        ("filter by a compound noun", "red/JJ #1", None),
        ("filter by a verb", "#1 sing/VBP/relcl/0 loudly/RB/advmod/1", _filter((0, 0), (1, 3))),
        ("filter by a verb", "#1 that/WDT sing/VBP/relcl/0", _filter((0, 0), (2, 3))),
        ("filter by a verb", "#1 that/WDT are/VBP played/VBN/relcl/0", _filter((0, 0), (3, 4))),
        ("filter by a verb", "#1 were/VBD played/VBN/acl/0 #2", _filter((0, 0), (2, 4))),
        ("filter by a verb", "#1 sing/VBP/relcl/0 loudly/RB/advmod/0", None),
        ("filter by a verb", "#1 sing/VBP loudly/RB/advmod/1", None),
        ("filter by a verb", "birds/NNS sing/VBP/relcl/0", None),
        ("aggregate", "#1 that/WDT is/VBZ highest/JJS", MakeCall("AGGREGATE", "MAX", ((0, 0),))),
        ("aggregate", "least/JJS #1", MakeCall("AGGREGATE", "MIN", ((1, 1),))),
        ("aggregate", "very/RB least/JJS #1", None),
        ("aggregate", "#1", None),
        ("existence", "if/IN there/EX are/VBP any/DT #1", MakeCall("BOOLEAN", "EXIST", ((4, 4),))),
        ("existence", "if/IN #1", MakeCall("BOOLEAN", "EXIST", ((1, 1),))),
        ("existence", "if/IN there/EX are/VBP red/JJ #1", None),
        ("existence", "there/EX are/VBP #1", None),
        ("operator by its words", "number/NN of/IN #3", MakeCall("AGGREGATE", "COUNT", ((2, 2),))),
        ("operator by its words", "#2 ,/, #1", MakeCall("UNION", None, ((0, 0), (2, 2)))),
        ("operator by its words", "#1 or/CC #1", MakeCall("UNION", None, ((0, 0), (0, 0)))),
        (
            "operator by its words",
            "if/IN #1 is/VBZ more/JJR than/IN two/CD",
            MakeCall("BOOLEAN", ">", ((1, 1), (5, 5))),
        ),
        (
            "operator by its words",
            "#1 where/WRB #2 is/VBZ more/JJR than/IN #3",
            MakeCall("COMPARATIVE", ">", ((0, 0), (2, 2), (6, 6))),
        ),
        ("operator by its words", "number/NN of/IN #2 for/IN each/DT #1", None),
        # The comparator is itself a word of the step, so that nothing is left for the property.
        ("operator by its words", "if/IN #1 =/SYM is/VBZ two/CD", None),
    ],
)
def test_rule(name, step, edit):
    words = document(step)
    assert _RULES[name].propose(words) == edit
    if edit is not None:
        assert len(words) >= _RULES[name].fewest_words


def test_no_rule_that_skips_short_nodes_would_apply_to_them():
    for rule in REWRITING_RULES:
        for step in ("", "#1", "balls/NNS", "red/JJ", "sing/VBP", "#1 of/IN")[: 2 + 4 * (rule.fewest_words > 1)]:
            words = document(step)
            if len(words) < rule.fewest_words:
                assert rule.propose(words) is None, (rule.name, step)

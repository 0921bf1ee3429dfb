from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.annotation import Remembered, Token
from qdecomp.evaluation.metrics.break_text import graph_of, parse_break_text
from qdecomp.evaluation.metrics.norm_em import NormEm
from qdecomp.evaluation.metrics.norm_em.document import document_of
from qdecomp.evaluation.metrics.norm_em.operator_calls import MakeCall
from qdecomp.evaluation.metrics.norm_em.rewriting import REWRITING_RULES, Drop, Extract, Nest, rewrite
from tests.evaluation.metrics.norm_em.annotated import annotations, text_of, tokens_of


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
        ("operator by its words", "#1 or/CC #1", MakeCall("UNION", None, ((0, 0), (0, 0)))),
    ],
)
def test_rule(name, step, edit):
    rule = REWRITING_RULES[name]
    assert rule(document_of(tokens_of(step))) == edit


def test_no_rule_applies_to_nothing():
    assert not any(rule(()) for rule in REWRITING_RULES.values())


@pytest.mark.parametrize(
    ("steps", "labels"),
    [
        (["the/DT/det/1 balls/NNS"], {1: "ball"}),
        # Determiners go first, so that the adjective stands before the noun's node.
        (["the/DT/det/2 red/JJ balls/NNS"], {1: "FILTER(@@2@@,@@3@@)", 2: "ball", 3: "red"}),
        (
            ["gold/NN/compound metal/NN/compound balls/NNS"],
            {1: "FILTER(@@2@@,@@4@@)", 2: "FILTER(@@3@@,@@5@@)", 3: "ball", 4: "gold", 5: "metal"},
        ),
        (
            ["balls/NNS", "size/NN of/IN #1"],
            {2: "FILTER(@@3@@,@@4@@)", 1: "ball", 3: "size", 4: "of @@1@@"},
        ),
        # "number of" is protected, so that "number" does not become a node.
        (["balls/NNS", "the/DT/det/1 number/NN of/IN #1"], {2: "AGGREGATE[COUNT](@@1@@)", 1: "ball"}),
        (["nuts/NNS and/CC bolts/NNS"], {1: "UNION(@@2@@,@@3@@)", 2: "nut", 3: "bolt"}),
        # "number of" and "for each" are protected at first, but no operator comes of it, and then they are words.
        (
            ["cups/NNS", "balls/NNS", "number/NN of/IN #2 for/IN each/DT/det/5 #1"],
            {
                3: "FILTER(@@5@@,@@6@@)",
                2: "ball",
                1: "cup",
                4: "number",
                5: "FILTER(@@4@@,@@7@@)",
                6: "for @@1@@",
                7: "of @@2@@",
            },
        ),
        (["balls/NNS", "if/IN #1 is/VBZ more/JJR than/IN two/CD"], {2: "BOOLEAN[>](@@1@@,@@3@@)", 1: "ball", 3: "two"}),
        (["why/WRB"], {1: "why"}),
        ([""], {1: ""}),
        # A reference to nothing is an empty node, which a new node may overwrite.
        (["color/NN of/IN #9"], {1: "FILTER(@@3@@,@@4@@)", 9: "", 3: "color", 4: "of @@9@@"}),
        (["color/NN of/IN #3"], {1: "FILTER(@@3@@,@@3@@)", 3: "of @@3@@"}),
    ],
)
def test_labels(steps, labels):
    assert rewrite(graph_of(text_of(*steps)), annotations(*steps)).labels == labels


def test_edges_follow_the_words_and_may_be_more_than_the_arguments():
    steps = ("cups/NNS", "balls/NNS", "if/IN #1 is/VBZ more/JJR than/IN #2 by/IN two/CD")
    graph = rewrite(graph_of(text_of(*steps)), annotations(*steps))
    assert graph.labels[3].startswith("BOOLEAN[>](@@1@@,")
    assert 2 in graph.edges[3]


def test_a_reference_inside_a_word_is_no_reference():
    like = (Token("@@1@@-like", "JJ", "ADJ", "@@1@@-like", "", 0), Token("ball", "NN", "NOUN", "ball", "", 0))
    known = Remembered(lambda steps: [like if "like" in step else tokens_of(f"{step}/NN") for step in steps])
    text = parse_break_text("return ball ;return #1-like ball")
    assert graph_of(text).edges[2] == (1,)
    graph = rewrite(graph_of(text), known)
    assert graph.labels == {2: "FILTER(@@3@@,@@4@@)", 1: "ball", 3: "ball", 4: "@@1@@-like"}
    assert set(graph.edges[2]) == {3, 4}
    # The word cannot be renumbered, so that there is no normal form but the text.
    assert NormEm(known).normal_form(text) == text.flat

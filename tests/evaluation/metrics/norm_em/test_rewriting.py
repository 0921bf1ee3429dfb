from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.annotation import StepAnnotation, Token
from qdecomp.evaluation.metrics.break_text import graph_of, parse_break_text
from qdecomp.evaluation.metrics.norm_em import NormEm
from qdecomp.evaluation.metrics.norm_em.rewriting import rewrite
from tests.evaluation.metrics.norm_em.annotated import HandMade, annotated, broken_up


def _labels(*steps: str) -> dict[int, str]:
    text, annotator = broken_up(*steps)
    return dict(rewrite(graph_of(text), annotator).labels)


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
    ],
)
def test_labels(steps, labels):
    assert _labels(*steps) == labels


def test_edges_follow_the_words_and_may_be_more_than_the_arguments():
    text, annotator = broken_up("cups/NNS", "balls/NNS", "if/IN #1 is/VBZ more/JJR than/IN #2 by/IN two/CD")
    graph = rewrite(graph_of(text), annotator)
    assert graph.labels[3].startswith("BOOLEAN[>](@@1@@,")
    assert 2 in graph.edges[3]


def test_a_reference_to_nothing_is_an_empty_node_which_a_new_node_may_overwrite():
    assert _labels("color/NN of/IN #9") == {1: "FILTER(@@3@@,@@4@@)", 9: "", 3: "color", 4: "of @@9@@"}
    assert _labels("color/NN of/IN #3") == {1: "FILTER(@@3@@,@@3@@)", 3: "of @@3@@"}


def test_a_reference_inside_a_word_is_no_reference():
    tokens = tuple(
        Token(word, tag, pos, word, "", 0) for word, tag, pos in (("@@1@@-like", "JJ", "ADJ"), ("ball", "NN", "NOUN"))
    )
    annotator = HandMade([annotated("ball/NN"), StepAnnotation("@@1@@-like ball", tokens)])
    text = parse_break_text("return ball ;return #1-like ball")
    assert graph_of(text).edges[2] == (1,)
    graph = rewrite(graph_of(text), annotator)
    assert graph.labels == {2: "FILTER(@@3@@,@@4@@)", 1: "ball", 3: "ball", 4: "@@1@@-like"}
    assert set(graph.edges[2]) == {3, 4}
    # The word cannot be renumbered, so that there is no normal form but the text.
    assert NormEm(annotator).normal_form(text) == text.flat

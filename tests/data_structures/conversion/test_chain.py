from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdecomp.data_structures.conversion.chain import check_round_trip, convert, read_graph
from qdecomp.data_structures.errors import GraphError, QDecompError, QdmrSyntaxError
from qdecomp.data_structures.lf_em import lf_em
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.special_tokens import PRESETS
from qdecomp.files import read_break_csv

CENSUS = "Which group from the census is smaller: Pacific islander or African American?"
CENSUS_STEPS = (
    "return census groups ;return #1 that is Pacific islander ;return #1 that is African American ;"
    "return size of #2 ;return size of #3 ;return which is lowest of #4 , #5"
)


def edges_of(conversion):
    graph = conversion.graph
    counts: dict[str, int] = {}
    names = []
    for token in graph.tokens:
        counts[token] = counts.get(token, 0) + 1
        names.append(f"{token}{counts[token]}" if token.startswith("[D") else token)
    return {f"{names[edge.head]} {edge.tag} {names[edge.dependent]}" for edge in graph.edges}


def test_the_paper_census_question_with_the_paper_tokens():
    conversion = convert(CENSUS, CENSUS_STEPS, special=PRESETS["paper"])
    assert edges_of(conversion) == {
        "group span census",
        "Pacific span islander",
        "African span American",
        "islander filter-sub census",
        "American filter-sub census",
        # The resource word "size" is used twice: the first step has it, the second one copies it.
        "size project-sub islander",
        "[DUP]1 duplicate size",
        "[DUP]1 project-sub American",
        "smaller comparison-arg[min] size",
        "smaller comparison-arg[min] [DUP]1",
    }
    assert check_round_trip(conversion)
    assert str(conversion.form).splitlines() == [
        "SELECT[](sub=census groups)",
        "FILTER[](sub=#1, condition=that is Pacific islander)",
        "FILTER[](sub=#1, condition=that is African American)",
        "PROJECT[](sub=#2, projection=size of)",
        "PROJECT[](sub=#3, projection=size of)",
        "COMPARISON[min](arg=#4, arg=#5)",
    ]
    assert str(read_graph(conversion.graph).qdmr) == (
        "return group from the census ;return #1 Pacific islander ;return #1 African American ;"
        "return size of #2 ;return size of #3 ;return which is lowest of #4 , #5"
    )


@pytest.mark.parametrize(
    ("question", "steps", "edges"),
    [
        (
            "Are there more red cubes than big balls?",
            "red cubes; big balls; number of #1; number of #2; which is higher of #3 , #4",
            {"red span cubes", "[DUM]1 aggregate-arg[count] cubes", "more comparison-arg[max] [DUM]2"},
        ),
        (
            "What are the names of the oldest and the youngest driver?",
            "drivers; the oldest of #1; the youngest of #1; name of #2; name of #3; #4 , #5",
            {"names project-sub oldest", "[DUP]1 duplicate names", "[DUP]1 project-sub youngest"},
        ),
        (
            "When were the movies of Indiana Jones released?",
            "Indiana Jones; movies of #1; when were #2 released",
            {"Indiana span Jones", "movies project-sub Jones", "When span released", "released project-sub movies"},
        ),
        ("Show cubes and red balls", "cubes; balls; #2 that are red", {"red unused cubes"}),
    ],
    ids=["empty node", "shared token", "words on both sides", "unused step"],
)
def test_the_papers_examples(question, steps, edges):
    conversion = convert(question, steps, special=PRESETS["paper"])
    assert edges <= edges_of(conversion)
    assert check_round_trip(conversion)


def test_at_least_one_comes_back_without_a_one_in_the_question():
    question = "Is there any dog on the left?"
    steps = "return dogs ;return #1 on the left ;return number of #2 ;return if #3 is at least one"
    assert check_round_trip(convert(question, steps))
    assert not check_round_trip(convert(question, steps, special=PRESETS["paper"]))


@pytest.mark.parametrize(
    ("question", "steps", "error", "reason"),
    [
        ("cubes", "return #1", QdmrSyntaxError, "refers to itself"),
        ("cubes", "", QdmrSyntaxError, "there is no step"),
        ("", "return cubes", QDecompError, "words that the question does not have: cubes"),
        ("cubes", " ;".join(["return cubes"] * 12), GraphError, r"too few \[DUP\] tokens: needs 11 \[DUP\] and 0"),
    ],
)
def test_what_cannot_be_converted_says_why(question, steps, error, reason):
    with pytest.raises(error, match=reason):
        convert(question, steps)


def test_real_questions_come_back(shared_path):
    """Nearly all questions with a published logical form make the round trip, as logical form and as text."""
    examples = random.Random(1).sample(read_break_csv(shared_path / "break" / "dev.csv"), 300)
    rows = converted = forms = texts = 0
    for example in examples:
        rows += 1
        try:
            conversion = convert(example.question, example.decomposition)
        except QDecompError:
            continue
        converted += 1
        forms += bool(check_round_trip(conversion))
        text = str(read_graph(conversion.graph).qdmr)
        texts += bool(lf_em(example.question, text, example.decomposition))
    assert converted / rows >= 0.99
    assert forms / rows >= 0.975
    assert texts / rows >= 0.97


VOCABULARY = """
red cubes cube number of #1 #2 #3 return ; , is if are most highest where for each and both besides not the
sorted by difference sum how many [DUP] [RSC] # 's 1,000 \u00df \u0130
"""
texts = st.lists(st.sampled_from(VOCABULARY.split()), max_size=14).map(" ".join) | st.text(max_size=30)


@given(texts, texts)
@settings(max_examples=300, deadline=None)
def test_any_question_with_any_decomposition_gives_a_graph_or_our_error(question, decomposition):
    try:
        conversion = convert(question, decomposition)
    except QDecompError:
        return
    reading = read_graph(conversion.graph)
    assert reading.span_graph == conversion.span_graph
    assert len(reading.form) == len(conversion.form)


@pytest.mark.parametrize(
    ("question", "decomposition"),
    [
        ("cubes return", "return return"),
        ("show the return flights from denver", "return return flights ;return #1 from denver"),
    ],
)
def test_return_as_a_word_of_the_question_survives(question: str, decomposition: str) -> None:
    conversion = convert(question, decomposition)
    read = read_graph(conversion.graph).qdmr
    assert parse_qdmr(str(read)) == read
    assert "return" in [token for step in read.steps for token in step.tokens]
    assert check_round_trip(conversion).verdict

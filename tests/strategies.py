"""Hypothesis strategies for values that several test files need."""

from __future__ import annotations

from hypothesis import strategies as st

from qdecomp.data_structures.lexicon import property_phrases
from qdecomp.data_structures.logical_form import Argument, LogicalForm, LogicalStep
from qdecomp.data_structures.operators import OPERATORS, Operator
from qdecomp.data_structures.qdmr import Qdmr, Step

# Words as people type them, with what could upset a reader: escapes, signs, other scripts, keywords.
words = st.one_of(
    st.sampled_from(
        ["cubes", "red", "return", "number", "highest", "both", "a=b", "\\", "sub=", "(x)", "[y]", "é", "שלום"]
    ),
    st.text(
        st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp"), blacklist_characters="#,;"),
        min_size=1,
        max_size=8,
    ).filter(lambda text: text.split() == [text]),
)

# Steps as annotators write them, with # for a reference to any earlier step.
PHRASES = (
    "{w}",
    "# that are {w}",
    "{w} of #",
    "number of #",
    "the highest of #",
    "the second lowest of #",
    "number of # for each #",
    "# where # is highest",
    "# where # is lowest for each #",
    "# where # is more than {w}",
    "# where # is equal to two",
    "# where # is not the same as #",
    "which is lowest of # , #",
    "# , #",
    "# in both # and #",
    "# besides #",
    "# sorted by #",
    "if # is the same as #",
    "if both # and # are true",
    "are there any #",
    "the difference of # and #",
    "difference of 100 and #",
    "# in {w} near #",
)

# What rules look for, in any order and beside anything: property phrases, and the words that tell operators apart.
_PROPERTY_PHRASES = {
    " ".join(words) for operator in Operator for row in property_phrases(operator) for words in row.phrases
}
_KEYWORDS = (
    *("if", "is", "are", "did", "both", "of", "either", "there", "any", "true", "false", "where", "the", "for", "each"),
    *("which", "and", "or", ",", "sorted", "by", "not", "besides", "difference", "sum", "division", "in", "between"),
    *("what", "has", "no", "at", "one", "two"),
)
_RULE_WORDS = st.sampled_from([*sorted(_PROPERTY_PHRASES), *_KEYWORDS])
_ANY_WORDS = st.one_of(
    _RULE_WORDS, st.sampled_from(["cubes", "red", "obtain", "5"]), st.sampled_from(["#1", "#2", "#3"])
)
_MANY_WORDS = st.lists(_ANY_WORDS, min_size=1, max_size=6).map(" ".join)
_FRAMES = (
    "{}",
    "#1 where #2 is {}",
    "#1 where #2 is highest {}",
    "{} for each {}",
    "{} in both #1 and #2",
    "which {} #1 , #2",
    "difference of {} and {}",
    "{} sum of {} and {}",
    "{} sorted by {}",
    "{} besides {}",
    "number of #1 {}",
    "{} #1 {}",
    "if {} #1 {}",
)


@st.composite
def steps_of_rule_words(draw: st.DrawFn) -> Step:
    """Steps in which the words of several rules meet."""
    frame = draw(st.sampled_from(_FRAMES))
    return Step(tuple(frame.format(*(draw(_MANY_WORDS) for _ in range(frame.count("{}")))).split()))


@st.composite
def written_qdmrs(draw: st.DrawFn, max_steps: int = 6) -> Qdmr:
    """Decompositions as people write them, with every operator."""
    content = st.sampled_from(["cubes", "red cubes", "rivers", "cities", "large cities", "not shiny", "last games"])
    steps = [Step(tuple(draw(content).split()))]
    for number in range(1, draw(st.integers(1, max_steps))):
        tokens: list[str] = []
        for token in draw(st.sampled_from(PHRASES)).replace("{w}", draw(content)).split():
            tokens.append(f"#{draw(st.integers(1, number))}" if token == "#" else token)
        steps.append(Step(tuple(tokens)))
    return Qdmr(tuple(steps))


@st.composite
def logical_forms(draw: st.DrawFn, max_steps: int = 5) -> LogicalForm:
    """Any logical forms, including those that nobody would write."""
    steps = []
    for number in range(1, draw(st.integers(1, max_steps)) + 1):
        operator = draw(st.sampled_from(sorted(Operator)))
        signature = OPERATORS[operator]
        references = st.integers(1, number - 1).map("#{}".format) if number > 1 else st.nothing()
        tokens = st.lists(st.one_of(words, st.just(","), references), min_size=1, max_size=4).map(tuple)
        arguments = st.lists(st.builds(Argument, st.sampled_from(signature.arguments), tokens), max_size=3).map(tuple)
        properties = (
            st.lists(st.sampled_from(signature.properties), max_size=2) if signature.properties else st.just([])
        )
        steps.append(LogicalStep(operator, tuple(draw(properties)), draw(arguments)))
    return LogicalForm(tuple(steps))

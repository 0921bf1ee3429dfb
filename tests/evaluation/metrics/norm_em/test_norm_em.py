from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.evaluation.metrics import get_metric, prepare
from qdecomp.evaluation.metrics.annotation import Remembered, Token, annotate
from qdecomp.evaluation.metrics.norm_em import NormEm
from tests.evaluation.metrics.norm_em.annotated import annotations, plain, text_of

_RED_BALLS = ("red/JJ balls/NNS",)
_BALLS_IN_RED = ("balls/NNS", "#1 that/WDT/nsubj/2 are/VBP red/JJ")
_SECOND_IS_ITSELF = ("red/JJ balls/NNS", "who/WP painted/VBD #2")
_CIRCLE = ("balls/NNS", "#3 near/IN #1", "#2")
_IS_A_CIRCLE = "step 2: its references form a cycle (#2 → #3 → #2)"
_NOWHERE = ("who/WP painted/VBD #1", "color/NN of/IN #1 and/CC #9")
_TWO_FILTERS = (*_BALLS_IN_RED, "#2 that/WDT/nsubj/2 are/VBP shiny/JJ")
_TWO_OTHERS = ("balls/NNS", "#1 that/WDT/nsubj/2 are/VBP shiny/JJ", "red/JJ #2")


def _score(prediction: tuple[str, ...], gold: tuple[str, ...]):
    return NormEm(annotations(*prediction, *gold))("how many?", plain(*prediction), plain(*gold))


def test_the_normal_form_of_two_ways_to_say_it_is_the_same():
    forms = _score(_BALLS_IN_RED, _RED_BALLS).details
    assert set(forms.values()) == {"ball @@SEP@@ red @@SEP@@ FILTER(@@1@@,@@2@@)"}
    assert list(forms) == ["prediction_normalized", "gold_normalized"]


@pytest.mark.parametrize(
    ("prediction", "gold", "value", "error"),
    [
        (_BALLS_IN_RED, _RED_BALLS, 1.0, None),
        (_TWO_FILTERS, _TWO_OTHERS, 1.0, None),
        (("blue/JJ balls/NNS",), _RED_BALLS, 0.0, None),
        # The official evaluator loses the second step, which refers to itself, and calls the rest right.
        (_SECOND_IS_ITSELF, _RED_BALLS, 0.0, "prediction: step 2: refers to itself (#2)"),
        (_CIRCLE, _RED_BALLS, 0.0, f"prediction: {_IS_A_CIRCLE}"),
        # It leaves predictions without a normal form out of the mean.
        (_NOWHERE, _RED_BALLS, 0.0, "prediction: step 1: refers to itself (#1)"),
        (("color/NN of/IN #9",), _RED_BALLS, 0.0, "prediction: step 1: refers to #9, but there are 1 steps"),
        (_RED_BALLS, _SECOND_IS_ITSELF, 1.0, "gold: step 2: refers to itself (#2)"),
        # The gold text itself is right, whatever is wrong with it.
        (_CIRCLE, _CIRCLE, 1.0, f"prediction: {_IS_A_CIRCLE}; gold: {_IS_A_CIRCLE}"),
    ],
)
def test_verdict(prediction, gold, value, error):
    result = _score(prediction, gold)
    assert (result.value, result.error) == (value, error)


def test_where_the_official_evaluator_is_wrong_or_has_no_verdict():
    known = NormEm(annotations(*_SECOND_IS_ITSELF, *_NOWHERE))
    assert known.normal_form(text_of(*_SECOND_IS_ITSELF)) == known.normal_form(text_of(*_RED_BALLS))
    assert known.normal_form(text_of(*_NOWHERE)) is None


def test_letter_case_does_not_matter():
    assert NormEm(annotations("balls/NNS"))("", "return BALLS", "return balls").value == 1.0


def test_a_step_without_annotation_gives_no_value():
    result = NormEm(annotations("cats/NNS"))("", "return balls", "return balls")
    assert result.value is None
    assert "balls" in result.error


_WORDS = """
#1 #2 #3 #4 #9 the/DT/det/0 that/WDT/nsubj/1 are/VBP/relcl/0 is/VBZ red/JJ big/JJ balls/NNS/compound wood/NN/compound
of/IN to/TO near/IN sing/VBP/relcl/0 loudly/RB/advmod/1 if/IN there/EX any/DT more/JJR than/IN two/CD number/NN
highest/JJS where/WRB and/CC ,/, besides/IN both/DT for/IN each/DT left/JJ between/IN which/WDT
"""


@st.composite
def _steps(draw: st.DrawFn) -> tuple[str, ...]:
    """Steps of words that the rules look at, in any order, with references that may lead anywhere."""
    steps = draw(st.lists(st.lists(st.sampled_from(_WORDS.split()), max_size=7), min_size=1, max_size=5))
    return tuple(
        " ".join(
            item if item.count("/") < 3 or int(item.rsplit("/", 1)[1]) < len(step) else item.rsplit("/", 1)[0]
            for item in step
        )
        for step in steps
    )


@given(_steps(), _steps())
def test_any_prediction_gets_a_verdict_and_is_like_itself(prediction, gold):
    assert _score(prediction, gold).value in (0.0, 1.0)
    assert _score(prediction, prediction).value == float(not text_of(*prediction).is_empty)


def _official(path: Path) -> Remembered[tuple[Token, ...]]:
    """The annotations in a file; spaCy annotates two steps that it lacks, which begin with a capital "Return".

    A line is [text, unmasked?, {position: reference}, [[text, tag, pos, lemma, dep, head]]].
    """
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [row for row in map(json.loads, stream) if isinstance(row, list)]
    references = {
        text: {int(place): int(name.strip("@")) for place, name in found.items()} for text, _, found, _ in rows
    }
    known = {
        text: tuple(Token(*token, references[text].get(place)) for place, token in enumerate(tokens))
        for text, _, _, tokens in rows
    }
    return Remembered(lambda steps: [known[step] if step in known else next(annotate([step])) for step in steps])


@pytest.mark.usefixtures("spacy_pipeline")
def test_every_official_verdict_and_normal_form_with_the_official_annotations(shared_path: Path, official_rows):
    path = shared_path / "reference" / "spacy2_annotations.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no annotations: {path}")
    scorer = get_metric("norm_em").load(annotations=_official(path))
    other_forms = 0
    for row in official_rows:
        result = scorer(row["question"], row["prediction"], row["gold"])
        forms = (result.details["prediction_normalized"], result.details["gold_normalized"])
        other_forms += forms != (row["prediction_normalized"], row["gold_normalized"])
        # Where the official evaluator has no verdict the prediction is wrong, and the result says why.
        assert result.value == float(bool(row["norm_em"])), row["question_id"]
        assert (row["norm_em"] is None) == (None in forms)
        assert row["norm_em"] is not None or result.error
    assert other_forms <= 2


@pytest.mark.usefixtures("spacy_pipeline")
def test_nearly_every_official_verdict_with_current_spacy(official_rows):
    sample = official_rows[::4]
    rows = [(row["question"], row["prediction"], row["gold"]) for row in sample]
    scorer = get_metric("norm_em").load()
    prepare(scorer, rows)
    verdicts = zip((scorer(*row).value for row in rows), sample, strict=True)
    assert sum(value == float(bool(row["norm_em"])) for value, row in verdicts) >= 0.98 * len(rows)

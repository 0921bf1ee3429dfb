from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.tokenization import tokenize
from qdecomp.files import read_break_csv


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("What is the id of it?", "What is the id of it ?"),
        ("flights leaving after 5pm on the 2nd", "flights leaving after 5pm on the 2nd"),
        ("a 40-yard field-goal from 1990-2000", "a 40 - yard field - goal from 1990 - 2000"),
        ("1,000 or 3.5 at 12:30", "1,000 or 3.5 at 12:30"),
        ("Brown's dogs' and O'Brien's", "Brown 's dogs ' and O'Brien 's"),
        ("I'd say they're who doesn't, and can't; cannot", "I 'd say they 're who does n't , and ca n't ; can not"),
        ("H. V. Jagadish of the U.S. with a Ph.D.", "H. V. Jagadish of the U.S. with a Ph . D ."),
        ("code ACCT-211 (black/white)", "code ACCT-211 ( black / white )"),
        ("the PequeÃ±a £5", "the PequeÃ±a £ 5"),
        ("🇮🇹🇩🇪 pizza🍕👍🏽 or 👩‍🚀?", "🇮🇹 🇩🇪 pizza 🍕 👍🏽 or 👩‍🚀 ?"),
        ("  double   spaces \t and\nlines ", "double spaces and lines"),
        ("", ""),
    ],
)
def test_tokens(text, tokens):
    assert tokenize(text) == tuple(tokens.split())


@given(st.text())
def test_nothing_but_space_is_lost(text):
    tokens = tokenize(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(token.split() == [token] for token in tokens)


def test_nearly_all_questions_are_split_as_spacy_does(shared_path):
    spacy = pytest.importorskip("spacy")
    split = spacy.blank("en").tokenizer
    questions = [example.question for example in read_break_csv(shared_path / "break" / "dev.csv")]
    same = sum(
        [token.text for token in split(text) if not token.is_space] == list(tokenize(text)) for text in questions
    )
    assert same / len(questions) > 0.95

from __future__ import annotations

import pickle

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.mistakes import OurMistakeError, as_row_errors, is_mistake


def test_a_mistake_says_how_and_where_in_one_line() -> None:
    with pytest.raises(OurMistakeError) as caught, as_row_errors():
        raise KeyError("two\nlines")
    text = str(caught.value)
    assert "KeyError in test_mistakes.py:" in text
    assert "\n" not in text
    assert text.startswith(caught.value.reason)
    assert "two" not in caught.value.reason
    assert is_mistake(text)


def test_what_is_raised_on_purpose_stays_as_it_is() -> None:
    with pytest.raises(DataError, match="no such row") as caught, as_row_errors():
        raise DataError("no such row")
    assert not is_mistake(str(caught.value))
    assert not is_mistake(None)


def test_a_kill_is_no_mistake() -> None:
    with pytest.raises(KeyboardInterrupt), as_row_errors():
        raise KeyboardInterrupt


def test_a_mistake_comes_back_from_another_process() -> None:
    mistake = OurMistakeError("IndexError in x.py:1", "out of range")
    assert str(pickle.loads(pickle.dumps(mistake))) == str(mistake)

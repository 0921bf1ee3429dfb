from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from qdecomp.visualization.svg import escape, shorten, width_in_ems, wrap


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert escape("a\x00b\ud800c\ufffe") == "a\ufffdb\ufffdc\ufffd"
    assert escape("'\"<&>") == "&#x27;&quot;&lt;&amp;&gt;"


@given(st.text(), st.floats(3, 50))
def test_nothing_is_wider_than_asked_for(text: str, ems: float) -> None:
    assert width_in_ems(shorten(text, ems)) <= ems
    lines = wrap(text, ems, 4)
    assert len(lines) <= 4
    assert all(width_in_ems(line) <= ems for line in lines)


def test_long_words_are_broken_and_lines_too_many_are_cut() -> None:
    assert "".join(wrap("a" * 50, 8, 100)) == "a" * 50
    assert wrap("one two three four five", 4, 2)[-1].endswith("…")

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.terminal.escapes import echo_data, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red \x1b]0;title\x07 cubes", "red \\u001b]0;title\\u0007 cubes"),
        ("\x9b31m", "\\u009b31m"),
        ("a\rb\x7f\x00", "a\\u000db\\u007f\\u0000"),
        ("\u202edesrever", "\\u202edesrever"),
        ("\ud800", "\\ud800"),
        ("two\nlines\tand é שלום 🙂", "two\nlines\tand é שלום 🙂"),
    ],
)
def test_only_what_is_no_character_to_read_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_any_text_can_be_printed(text: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", printable(text))
    printable(text).encode()


@given(st.text(st.characters()))
def test_json_reads_the_escapes(text: str) -> None:
    assert json.loads(printable(json.dumps(text, ensure_ascii=False))) == text


def test_data_for_another_program_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    echo_data("\x1b[1m \ud800")
    assert capsys.readouterr().out == "\x1b[1m \\ud800\n"


def test_a_terminal_gets_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    echo_data("\x1b[1m")
    assert capsys.readouterr().out == "\\u001b[1m\n"

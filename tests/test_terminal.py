"""What the terminal shows: safe text, progress and tables."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import count
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.terminal import Table, echo_data, format_csv, format_plain, printable, progress, show_tables


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TABLE = Table("Scores", ("system", "EM", "SARI"), (("a", "1.0 [0.5, 1.5]", "70.0"), ("long name", "2.0", "9.0")))


def test_tables_have_a_line_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    show_tables([TABLE, Table("Note", ("x",), (("y",),), note="A note.")], stream)
    assert stream.getvalue() == f"{format_plain(TABLE)}\n\nNote\nx\ny\nA note.\n"


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
@pytest.mark.parametrize("columns", [24, 30])
def test_a_table_that_is_too_wide_has_a_line_for_each_cell(
    kind: type[io.StringIO], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = kind()
    monkeypatch.setenv("COLUMNS", str(columns))
    show_tables([TABLE], stream)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[:3] == ["Scores", "a", "  EM: 1.0 [0.5, 1.5]"]
    assert lines[-3:] == ["long name", "  EM: 2.0", "  SARI: 9.0"]


def test_csv_reads_back() -> None:
    rows = [["a, b", 'say "hi"', "two\nlines"], ["1", "", "ü"]]
    assert list(csv.reader(io.StringIO(format_csv(["x", "y", "z"], rows)))) == [["x", "y", "z"], *rows]


def test_a_text_that_a_spreadsheet_would_run_is_a_text() -> None:
    cells = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "plain", "a=b", -1.5, None]
    row = next(csv.reader([format_csv(["x"] * len(cells), [cells]).splitlines()[1]]))
    assert row[:5] == ["'=cmd|' /C calc'!A0", "'+1", "'-1", "'@SUM(A1)", "'\t=1"]
    assert row[5:] == ["plain", "a=b", "-1.5", ""]


def test_names_from_outside_cannot_steer_the_terminal() -> None:
    stream = io.StringIO()
    show_tables([Table("Rows", ("file",), (("\x1b[2J",),), note="\x9b2J")], stream)
    assert stream.getvalue() == "Rows\nfile\n\\u001b[2J\n\\u009b2J\n"


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


def test_everything_is_passed_on_with_a_line_every_five_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # An item takes three seconds.
    clock = count(step=3)
    # Only there: other threads ask the clock, too.
    monkeypatch.setattr("qdecomp.terminal.time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert list(progress(range(5), "counting\x1b", 5000)) == [0, 1, 2, 3, 4]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "counting\\u001b: 2 of 5,000 (0 a second, about 4.2 hours left)",
        "counting\\u001b: 4 of 5,000 (0 a second, about 4.2 hours left)",
    ]

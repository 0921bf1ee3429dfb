import csv
import io
import re

import pytest

from qdecomp.terminal.tables import Table, format_csv, format_plain, show_tables


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


TABLE = Table("Scores", ("system", "EM", "SARI"), (("a", "1.0 [0.5, 1.5]", "70.0"), ("long name", "2.0", "9.0")))


def test_plain_text_is_aligned_and_has_no_trailing_spaces() -> None:
    lines = format_plain(TABLE).split("\n")
    assert lines[0] == "Scores"
    assert lines[1].index("SARI") == lines[2].index("70.0")
    assert lines[3].endswith("9.0")
    assert len({len(line) for line in lines[1:]}) == 1
    assert all(line == line.rstrip() for line in lines)


def test_a_terminal_gets_a_drawn_table_with_all_cells_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    show_tables([TABLE], stream)
    drawn = stream.getvalue()
    assert "[0.5, 1.5]" in drawn
    assert "─" in drawn


def test_elsewhere_tables_are_plain_with_a_line_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    show_tables([TABLE, Table("Note", ("x",), (("y",),), note="A note.")], stream)
    assert stream.getvalue() == f"{format_plain(TABLE)}\n\nNote\nx\ny\nA note.\n"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()], ids=["terminal", "pipe"])
@pytest.mark.parametrize("columns", [20, 24, 30])
def test_a_table_that_is_too_wide_has_a_line_for_each_cell(
    stream: io.StringIO, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.seek(0)
    stream.truncate()
    monkeypatch.setenv("COLUMNS", str(columns))
    show_tables([TABLE], stream)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert lines[:3] == ["Scores", "a", "  EM: 1.0 [0.5, 1.5]"]
    assert lines[-3:] == ["long name", "  EM: 2.0", "  SARI: 9.0"]


def test_a_table_that_fits_obeys_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setenv("COLUMNS", "40")
        show_tables([TABLE], stream)
        lines = re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()).splitlines()
        assert max(map(len, lines)) <= 40
        assert any("system" in line and "SARI" in line for line in lines)


def test_columns_that_are_no_number_mean_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("", "0", "wide", "-3"):
        monkeypatch.setenv("COLUMNS", columns)
        stream = io.StringIO()
        show_tables([TABLE], stream)
        assert stream.getvalue() == f"{format_plain(TABLE)}\n"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells for 2 columns"):
        Table("T", ("a", "b"), (("x",),))


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

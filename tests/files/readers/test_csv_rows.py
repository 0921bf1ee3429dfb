from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from qdecomp.files import read_break_csv
from qdecomp.files.readers.csv_rows import NOT_CLOSED, CsvRows, read_table

HEADER = "question_id,question_text,decomposition\n"


def forty_rows(broken: int | None = None) -> str:
    """Forty rows; in that one, counted from 1, a quotation mark is opened and never closed."""
    rows = [f'A_{n},"which cubes, of {n}?",return cubes ;return #1 of {n}\n' for n in range(1, 41)]
    if broken is not None:
        rows[broken - 1] = f'A_{broken},which cubes?,"return cubes\n'
    return HEADER + "".join(rows)


def test_a_quote_that_is_not_closed_costs_its_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(forty_rows(broken=11))
    examples = read_break_csv(path)
    assert [example.question_id for example in examples] == [f"A_{n}" for n in range(1, 41)]
    assert [(example.row, example.error) for example in examples if example.error] == [(11, f"line 12: {NOT_CLOSED}")]
    assert examples[10].decomposition is None
    assert examples[11].decomposition == "return cubes ;return #1 of 12"


def test_a_quote_that_a_later_row_closes_costs_its_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + 'A_1,"why,return x\nA_2,"how, so?",return y\nA_3,who?,return z\n')
    assert [(each.question_id, each.error is None) for each in read_break_csv(path)] == [
        ("A_1", False),
        ("A_2", True),
        ("A_3", True),
    ]


def test_a_field_of_several_lines_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(HEADER + 'A_1,"why\nso?",return x\n\nA_2,how?,return y\n')
    columns, rows = read_table(path)
    assert columns == ["question_id", "question_text", "decomposition"]
    assert [(row.line, row.cells, row.is_blank) for row in rows] == [
        (2, ["A_1", "why\nso?", "return x"], False),
        (4, [], True),
        (5, ["A_2", "how?", "return y"], False),
    ]


@given(st.lists(st.text(alphabet='a",\n ', max_size=12), max_size=30))
def test_every_line_is_in_a_row_and_no_row_is_in_two(lines: list[str]) -> None:
    texts = [line.replace("\n", "") + "\n" for line in lines]
    rows = CsvRows()
    found = [row for text in texts for row in rows.add(text)] + list(rows.end())
    starts = [row.line for row in found]
    assert starts == sorted(set(starts))
    assert starts[:1] == ([1] if lines else [])
    assert all(row.error is None or row.error == NOT_CLOSED for row in found)

"""Every question in a file is found, in every format, whatever the file looks like."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, read_questions
from qdecomp.files.break_csv import question_from_json
from qdecomp.files.rows import NOT_CLOSED

HEADER = "question_id,question_text,decomposition\n"


def rows_of(text: str) -> list[tuple[str, str, str | None]]:
    """The id, question and error of all rows of a file with this text."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        return [(each.question_id, each.question, each.error) for each in read_questions(file.name)]


def questions_of(text: str) -> list[tuple[str, str]]:
    rows = rows_of(text)
    assert all(error is None for *_, error in rows)
    return [row[:2] for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "\n \t\nred cubes\n\n  blue, cubes \n\n",
            [("1", ""), ("2", ""), ("3", "red cubes"), ("4", ""), ("5", "blue, cubes"), ("6", "")],
            id="every line of a text is a question, blank ones too",
        ),
        pytest.param(
            "red\u2028cubes\x0b\x85?\r\nblue\n",
            [("1", "red\u2028cubes\x0b\x85?"), ("2", "blue")],
            id="other characters that look like an end of line are none",
        ),
        pytest.param(f"{HEADER}a,red\u2028cubes\x85?,\n", [("a", "red\u2028cubes\x85?")], id="in a table neither"),
        pytest.param(
            '\n{"question": "red cubes"}\n\n{"question_text": "blue cubes", "question_id": 0}\n\n',
            [("2", "red cubes"), ("0", "blue cubes")],
            id="blank lines mean nothing in JSON lines",
        ),
        pytest.param(
            '{"question": "red"}\nblue\n[1]\n',
            [("1", "red"), ("2", "blue"), ("3", "[1]")],
            id="a line that is no object among JSON lines is a question",
        ),
        pytest.param(
            f"\n{HEADER}\na,red cubes,\n  \n,,\nc\n\n",
            [("a", "red cubes"), ("6", ""), ("c", "")],
            id="blank lines mean nothing in a CSV, but rows without a question do",
        ),
        pytest.param(
            HEADER + 'a,"red\n\ncubes, ""small""",\r\nb,"blue\r\ncubes",x\nc,"d\n"',
            [("a", 'red\n\ncubes, "small"'), ("b", "blue\r\ncubes"), ("c", "d\n")],
            id="a row of a CSV may have several lines, blank ones too",
        ),
        pytest.param(
            HEADER + 'a,5" pipes,\nb,"red" cubes,\nc,blue,\n',
            [("a", '5" pipes'), ("b", "red cubes"), ("c", "blue")],
            id="a quotation mark inside of a field opens nothing",
        ),
        pytest.param(
            '[{"question": "red cubes", "id": 7},\n "blue cubes"]',
            [("7", "red cubes"), ("2", "blue cubes")],
            id="the members of an array are questions, objects or not",
        ),
        pytest.param('{"question": "red", "question_text": "blue"}\n', [("1", "blue")], id="question_text counts"),
        pytest.param("question,question_text\nred,blue\n", [("2", "blue")], id="question_text counts in a table"),
    ],
)
def test_every_question_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert questions_of(text) == expected
    # A mark of the byte order belongs to no format.
    assert questions_of(f"\ufeff{text}") == expected


def test_an_object_that_is_cut_off_is_no_question() -> None:
    assert rows_of('{"question": "red"}\n{"question": "Which rivers\n')[1:] == [
        ("2", '{"question": "Which rivers', "not JSON")
    ]


@pytest.mark.parametrize("value", [{}, {"question": None}, {"question": 3}, {"questions": "red cubes"}])
def test_an_object_without_a_question_says_so(value: dict[str, object]) -> None:
    found = question_from_json({"question_id": "a", **value})
    assert (found.question, found.error) == ("", "this object has no string named question")


@pytest.mark.parametrize("count", [0, 19, 20, 60])
def test_a_quotation_mark_that_is_never_closed_costs_no_other_row(count: int) -> None:
    others = [(str(number), f"cubes {number}") for number in range(count)]
    text = HEADER + 'z,"red cubes,\n' + "".join(f"{number},{question},x\n" for number, question in others)
    rows = rows_of(text)
    assert rows == [("z", "red cubes,\n", NOT_CLOSED), *((*other, None) for other in others)]


def test_a_field_too_large_for_the_library_is_an_error_of_its_row() -> None:
    limit = csv.field_size_limit()
    first, second = rows_of(HEADER + f"a,{'x' * (limit + 1)},\nb,red,\n")
    assert (first[:2], second) == (("2", ""), ("b", "red", None))
    assert "field larger than field limit" in (first[2] or "")


def written(questions: list[str]) -> list[str]:
    """The rows of a CSV with ids q0, q1 and so on, as the library writes them."""
    rows = []
    for number, question in enumerate(questions):
        stream = io.StringIO(newline="")
        csv.writer(stream).writerow([f"q{number}", question])
        rows.append(stream.getvalue())
    return rows


def short(text: str) -> bool:
    """Whether it has few enough lines not to be taken for a mistake."""
    return text.count("\n") + text.count("\r") < 19


# Python 3.10's library writes no NUL character.
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")).filter(short)))
def test_a_csv_that_the_library_writes_comes_back(questions: list[str]) -> None:
    expected = [(f"q{number}", question) for number, question in enumerate(questions)]
    assert questions_of("".join(["question_id,question_text\n", *written(questions)])) == expected


@given(st.lists(st.text(st.sampled_from('a ,"\n')).filter(short).map("b".__add__)), st.integers(0, 30))
def test_a_row_that_is_not_closed_leaves_all_others_as_they_are(questions: list[str], place: int) -> None:
    rows = written(questions)
    rows.insert(place, 'z,"red cubes\n')
    found = rows_of("".join(["question_id,question_text\n", *rows]))
    assert found.pop(min(place, len(questions))) == ("z", "red cubes\n", NOT_CLOSED)
    assert found == [(f"q{number}", question, None) for number, question in enumerate(questions)]


def test_break_rows(tmp_path: Path) -> None:
    row = "GEO_1,which rivers,\"return rivers ;return #1 , #1\",\"['select', 'union']\",train\n"
    (tmp_path / "a.csv").write_text(f"{HEADER.strip()},operators,split\n{row}GEO_2,what,,,\n")
    first, second = read_break_csv(tmp_path / "a.csv")
    assert (first.row, first.question_id, first.source) == (1, "GEO_1", "GEO")
    assert first.operators == ("select", "union")
    assert (second.decomposition, second.operators) == (None, ())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "missing columns: question_id, question_text"),
        (b"a,b\n1,2\n", "missing columns: question_id, question_text"),
        (b"\xff\xfe\x00\x01", "not a UTF-8 text file"),
        (HEADER.encode() + b"x\x00y,\xff\n", "not a UTF-8 text file"),
    ],
)
def test_what_is_not_breaks_file_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        read_break_csv(tmp_path / "a.csv")

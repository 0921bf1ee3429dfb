"""Every question in a file is found, in every format, whatever the file looks like."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files import BreakExample, read_questions
from qdecomp.files.break_csv import question_from_json
from qdecomp.files.rows import NOT_CLOSED

HEADER = "question_id,question_text,decomposition\n"


class QuestionRow(NamedTuple):
    """What counts about a question here."""

    question_id: str
    question: str
    error: str | None = None

    @classmethod
    def of(cls, example: BreakExample) -> QuestionRow:
        return cls(example.question_id, example.question, example.error)


def rows_of(text: str, name: str = "questions") -> list[QuestionRow]:
    """All rows of a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode())
        return list(map(QuestionRow.of, read_questions(path)))


def questions_of(text: str) -> list[tuple[str, str]]:
    assert all(row.error is None for row in rows_of(text))
    return [row[:2] for row in rows_of(text)]


def test_every_line_of_a_text_is_a_question_blank_ones_too() -> None:
    text = "\n \t\nred cubes\n\n  blue, cubes \n\n\n"
    expected = ["", "", "red cubes", "", "blue, cubes", "", ""]
    assert questions_of(text) == [(str(number), question) for number, question in enumerate(expected, 1)]


@pytest.mark.parametrize(("text", "count"), [("", 0), ("\n", 1), ("\n\n\n", 3), ("a", 1), ("a\n", 1)])
def test_a_text_has_as_many_questions_as_lines(text: str, count: int) -> None:
    assert len(rows_of(text)) == count


def test_other_characters_that_look_like_an_end_of_line_are_none() -> None:
    assert questions_of("red\u2028cubes\x0b\x85?\r\nblue\n") == [("1", "red\u2028cubes\x0b\x85?"), ("2", "blue")]
    assert questions_of("question_id,question_text\na,red\u2028cubes\x85?\n") == [("a", "red\u2028cubes\x85?")]


def test_a_mark_of_the_byte_order_belongs_to_no_format() -> None:
    for text in ("red cubes\n", '\n{"question_id": "2", "question": "red cubes"}\n', HEADER + "2,red cubes\n"):
        assert rows_of("\ufeff" + text) == rows_of(text)
    assert questions_of("\ufeff\nred\n") == [("1", ""), ("2", "red")]


def test_blank_lines_mean_nothing_in_json_lines() -> None:
    text = '\n{"question": "red cubes"}\n\n{"question_text": "blue cubes", "question_id": 0}\n\n'
    assert questions_of(text) == [("2", "red cubes"), ("0", "blue cubes")]


def test_a_line_that_is_no_json_among_json_lines_is_a_question() -> None:
    assert questions_of('{"question": "red"}\n{"question": "bl\n[1]\n') == [
        ("1", "red"),
        ("2", '{"question": "bl'),
        ("3", "[1]"),
    ]


@pytest.mark.parametrize("value", [{}, {"question": None}, {"question": 3}, {"questions": "red cubes"}])
def test_an_object_without_a_question_says_so(value: dict[str, object]) -> None:
    row = QuestionRow.of(question_from_json({"question_id": "a", **value}))
    assert row == QuestionRow("a", "", "this object has no string named question")


def test_blank_lines_mean_nothing_in_a_csv_but_rows_without_a_question_do() -> None:
    text = "\n" + HEADER + "\na,red cubes,\n  \n,,\nc\n\n"
    assert questions_of(text) == [("a", "red cubes"), ("6", ""), ("c", "")]


def test_a_row_of_a_csv_may_have_several_lines_blank_ones_too() -> None:
    text = HEADER + 'a,"red\n\ncubes, ""small""",\r\nb,"blue\r\ncubes",x\nc,"d\n"'
    assert questions_of(text) == [("a", 'red\n\ncubes, "small"'), ("b", "blue\r\ncubes"), ("c", "d\n")]


def test_a_quotation_mark_inside_of_a_field_opens_nothing() -> None:
    assert questions_of(HEADER + 'a,5" pipes,\nb,"red" cubes,\nc,blue,\n') == [
        ("a", '5" pipes'),
        ("b", "red cubes"),
        ("c", "blue"),
    ]


@pytest.mark.parametrize("count", [0, 1, 18, 19, 20, 21, 60])
def test_a_quotation_mark_that_is_never_closed_costs_no_other_row(count: int) -> None:
    others = [(str(number), f"cubes {number}") for number in range(count)]
    text = HEADER + 'z,"red cubes,\n' + "".join(f"{number},{question},x\n" for number, question in others)
    rows = rows_of(text)
    assert rows[0] == QuestionRow("z", "red cubes,\n", NOT_CLOSED)
    assert rows[1:] == [QuestionRow(*other) for other in others]


def test_quotes_of_a_later_row_do_not_close_it() -> None:
    text = HEADER + 'a,"red cubes,\nb,green cubes,\nc,"blue, long",\nd,"black,\ne,white,'
    rows = rows_of(text)
    assert [row.question_id for row in rows] == ["a", "b", "c", "d", "e"]
    assert [row.error for row in rows] == [NOT_CLOSED, None, None, NOT_CLOSED, None]
    assert [rows[number].question for number in (1, 2, 4)] == ["green cubes", "blue, long", "white"]


def test_a_field_too_large_for_the_library_is_an_error_of_its_row() -> None:
    limit = csv.field_size_limit()
    rows = rows_of(HEADER + f"a,{'x' * (limit + 1)},\nb,red,\n")
    assert [row[:2] for row in rows] == [("2", ""), ("b", "red")]
    assert rows[0].error is not None
    assert "field larger than field limit" in rows[0].error


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


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])).filter(short)))
def test_a_csv_that_the_library_writes_comes_back(questions: list[str]) -> None:
    expected = [(f"q{number}", question) for number, question in enumerate(questions)]
    assert questions_of("".join(["question_id,question_text\n", *written(questions)])) == expected


@given(st.lists(st.text(st.sampled_from('a ,"\n')).filter(short).map("b".__add__)), st.integers(0, 30))
def test_a_row_that_is_not_closed_leaves_all_others_as_they_are(questions: list[str], place: int) -> None:
    rows = written(questions)
    rows.insert(place, 'z,"red cubes\n')
    found = rows_of("".join(["question_id,question_text\n", *rows]))
    assert found.pop(min(place, len(questions))) == QuestionRow("z", "red cubes\n", NOT_CLOSED)
    assert found == [QuestionRow(f"q{number}", question) for number, question in enumerate(questions)]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("broken.parquet", b"PAR1" + bytes(100), "this Parquet file cannot be read"),
        ("table.csv", b"a,b\n1,2\n", "there is no column question_text or question"),
        ("latin.txt", "caf\u00e9".encode("latin-1"), "not a UTF-8 text file"),
    ],
)
def test_a_message_names_its_file_once(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        list(read_questions(path))
    assert str(error.value).startswith(f"{path}: {reason}")
    assert str(error.value).count(name) == 1


def test_json_lines_in_a_file_that_is_called_csv_are_read() -> None:
    rows = rows_of('{"question_id": "a", "question": "which cubes are red ?"}\n', "questions.csv")
    assert rows == [QuestionRow("a", "which cubes are red ?")]


def test_the_members_of_an_array_are_questions_objects_or_not() -> None:
    text = '[{"question": "red cubes", "id": 7},\n "blue cubes"]'
    assert questions_of(text) == [("7", "red cubes"), ("2", "blue cubes")]


@pytest.mark.parametrize(
    "text", ['{"question": "red", "question_text": "blue"}\n', "question,question_text\nred,blue\n"]
)
def test_question_text_counts_if_there_are_both(text: str) -> None:
    assert [question for _, question in questions_of(text)] == ["blue"]

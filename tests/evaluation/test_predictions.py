import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.predictions import Gold, PredictionRow, name_systems, read_gold, read_predictions
from qdecomp.files.rows import NOT_CLOSED
from tests.files.test_rows import forty_rows

HEAD = "question_id,question_text,decomposition\n"
GOLD = f"""{HEAD}ATIS_dev_1,show flights to oslo,return flights ;return #1 to oslo
CLEVR_dev_2,how many cubes are there?,return cubes ;return number of #1
DROP_dev_3,"who scored, and who did not?",return players ;return #1 who scored
"""
ONE, TWO, THREE = "ATIS_dev_1", "CLEVR_dev_2", "DROP_dev_3"

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


@pytest.fixture
def gold(write: Write) -> Gold:
    return read_gold(write("gold.csv", GOLD))


def record(question_id: str, decomposition: str | None = "return a", error: str | None = None) -> str:
    return json.dumps({"question_id": question_id, "decomposition": decomposition, "error": error}) + "\n"


def problems(found: object) -> list[tuple[str, int, str | None]]:
    return [(str(problem.kind), problem.row, problem.question_id) for problem in getattr(found, "problems", ())]


def test_gold_has_sources_and_a_row_without_decomposition_is_a_problem(write: Write) -> None:
    gold = read_gold(write("gold.csv", GOLD.replace("return cubes ;return number of #1", "")))
    assert [example.source for example in gold.examples] == ["ATIS", "CLEVR", "DROP"]
    assert problems(gold) == [("no gold", 2, TWO)]


def test_a_quote_that_is_not_closed_costs_its_own_row_only(write: Write) -> None:
    gold = read_gold(write("gold.csv", forty_rows(broken=11)))
    assert len(gold.examples) == 40
    (problem,) = gold.problems
    assert (problem.row, problem.message) == (11, f"line 12: {NOT_CLOSED}; counts as wrong")
    system = read_predictions(write("predictions.csv", forty_rows(broken=20)), gold)
    assert [problem[:2] for problem in problems(system)] == [("malformed", 20), ("missing", 20)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "missing columns: question_id"),
        ("just some words\n", "not Break's CSV"),
        (HEAD, "no questions in it"),
        ("question_id,question_text\nA_1,why?\n", "no row has a decomposition"),
        (f"{HEAD}A_1,why?,\n", "no row has a decomposition"),
        (f"{HEAD},why?,return x\n", "row 1 has no question_id"),
        (f"{HEAD}A_1,why?,return x\nA_2,how?,x\nA_1,who?,z\n", "row 3 has the question_id of row 1: A_1"),
        (None, "no such file"),
    ],
)
def test_what_cannot_be_gold_is_an_error_that_names_the_file(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "gold.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=message) as caught:
        read_gold(path)
    assert str(path) in str(caught.value)


def test_names_of_systems(write: Write) -> None:
    path = write("a=b.jsonl", "")
    assert name_systems([str(path)]) == [("a=b", path, None)]
    assert name_systems(["CopyNet + BERT=out/x.jsonl"]) == [("CopyNet + BERT", Path("out/x.jsonl"), None)]


@pytest.mark.parametrize(
    "options", [["one/predictions.jsonl", "two/predictions.jsonl"], ["=file.jsonl"], ["name="], [" =x"], [""]]
)
def test_two_systems_of_one_name_and_half_an_option_are_errors(options: list[str]) -> None:
    with pytest.raises(DataError, match="NAME=FILE"):
        name_systems(options)


@pytest.mark.parametrize(
    ("name", "text", "texts", "found"),
    [
        ("p.jsonl", record(THREE) + record(ONE, "return b") + record(TWO), ["return b", "return a", "return a"], []),
        # A file needs no particular name.
        ("p.txt", record(ONE) + record(TWO) + record(THREE), ["return a"] * 3, []),
        (
            "p.jsonl",
            record(ONE) + record("X_9") + record(ONE, "return b"),
            ["return a", None, None],
            [("extra", 2, "X_9"), ("duplicate", 3, ONE), ("missing", 2, TWO), ("missing", 3, THREE)],
        ),
        (
            "p.jsonl",
            record(ONE, None) + record(TWO, "  ") + record(THREE),
            [None, None, "return a"],
            [("empty", 1, ONE), ("empty", 2, TWO)],
        ),
        ("p.csv", 'decomposition\nreturn a\n"return b, c"\nreturn d\n\n', ["return a", "return b, c", "return d"], []),
        (
            "p.csv",
            f"question_id,decomposition\n{THREE},return d\n{TWO},return c\n,return x\n",
            [None, "return c", "return d"],
            [("malformed", 3, None), ("missing", 1, ONE)],
        ),
        ("p.csv", "decomposition\nreturn a\n\nreturn c\n", ["return a", None, "return c"], [("empty", 2, TWO)]),
        # A row with loose commas keeps its place.
        (
            "p.csv",
            "decomposition\nreturn a\nreturn b, c\nreturn d\n",
            ["return a", None, "return d"],
            [("malformed", 2, TWO)],
        ),
    ],
)
def test_rows_are_matched_by_id_or_else_by_order(
    write: Write, gold: Gold, name: str, text: str, texts: list[str | None], found: list[tuple[str, int, str | None]]
) -> None:
    system = read_predictions(write(name, text), gold)
    assert [prediction.text for prediction in system.predictions] == texts
    assert problems(system) == found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{oh dear", "not JSON"),
        ("[1, 2]", "a JSON list, not an object"),
        ('{"decomposition": "return x"}', "no question_id"),
        (
            f'{{"question_id": "{ONE}", "text": "return x"}}',
            "no decomposition; found fields: question_id, text; "
            "use --column NAME to say which one has the decomposition",
        ),
        (
            f'{{"question_id": "{ONE}", "decomposition": 3}}',
            "the decomposition is a JSON int, not a string or a list of steps",
        ),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_row_is_told_and_the_others_count(write: Write, gold: Gold, line: str, message: str) -> None:
    system = read_predictions(write("p.jsonl", f"{record(TWO)}\n{line}\n"), gold)
    malformed = [problem for problem in system.problems if problem.kind == "malformed"]
    assert [(problem.row, problem.message) for problem in malformed] == [(3, message)]
    assert [prediction.text for prediction in system.predictions] == [None, "return a", None]


def test_a_question_without_decomposition_keeps_the_reason(write: Write, gold: Gold) -> None:
    system = read_predictions(write("p.jsonl", record(ONE, None, "no root") + record(TWO, "  ")), gold)
    reasons = ["no decomposition (no root)", "no decomposition", "missing"]
    assert list(system.predictions) == [PredictionRow(None, f"prediction: {reason}") for reason in reasons]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"decomposition\nreturn a\n", r"rows, but .* has 3 questions; without a question_id"),
        ("p.csv", b"decomposition\n" + b"return a\n" * 4, r"rows, but .* has 3 questions; without a question_id"),
        ("p.jsonl", b"", "the file is empty"),
        ("p.csv", b" \n\n", "the file is empty"),
        ("p.csv", b"decomposition\n", "only a header"),
        ("p.jsonl", b"not json\n", "no row can be used; row 1: not JSON; a record is one line"),
        ("p.csv", b"answer\nreturn a\n", "a CSV with a column decomposition"),
        ("p", b"some words\n", "1 rows, but .* has 3 questions"),
        ("p.jsonl", b'{"decomposition": "a", "prediction": "b"}\n', "there is decomposition and prediction"),
        ("p.jsonl", (record("X_1") + record("X_2")).encode(), "none of its questions is in"),
        ("p.jsonl", b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe", "not a UTF-8 text file"),
        ("p.csv", b"\x00\x00\x00\x00", r"p\.csv"),
        (".", b"", "this is a folder"),
    ],
)
def test_unusable_files_are_errors_that_name_the_file(
    tmp_path: Path, gold: Gold, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    if name != ".":
        path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_predictions(path, gold)
    assert str(path) in str(caught.value)

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.evaluation.predictions import (
    Gold,
    PredictionRow,
    ProblemKind,
    SystemPredictions,
    name_systems,
    read_gold,
    read_predictions,
)
from qdecomp.files.rows import NOT_CLOSED
from tests.files.test_rows import forty_rows

GOLD = """question_id,question_text,decomposition,operators,split
ATIS_dev_1,show flights to oslo,return flights ;return #1 to oslo,,dev
CLEVR_dev_2,how many cubes are there?,return cubes ;return number of #1,,dev
DROP_dev_3,"who scored, and who did not?",return players ;return #1 who scored,,dev
"""

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


def records(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def record(question_id: str, decomposition: str | None = "return cubes", error: str | None = None) -> dict[str, object]:
    return {"question_id": question_id, "decomposition": decomposition, "error": error}


def problems(system: SystemPredictions) -> list[tuple[ProblemKind, int, str | None]]:
    return [(problem.kind, problem.row, problem.question_id) for problem in system.problems]


def texts(system: SystemPredictions) -> list[str | None]:
    return [prediction.text for prediction in system.predictions]


class TestGold:
    def test_reads_questions_with_their_source(self, gold: Gold) -> None:
        assert [example.source for example in gold.examples] == ["ATIS", "CLEVR", "DROP"]
        assert not gold.problems

    def test_a_row_without_decomposition_is_a_problem(self, write: Write) -> None:
        gold = read_gold(write("gold.csv", GOLD.replace("return cubes ;return number of #1", "")))
        assert [(problem.kind, problem.row) for problem in gold.problems] == [(ProblemKind.NO_GOLD, 2)]

    def test_a_quote_that_is_not_closed_costs_its_own_row_only(self, write: Write) -> None:
        gold = read_gold(write("gold.csv", forty_rows(broken=11)))
        assert len(gold.examples) == 40
        assert [(problem.kind, problem.row, problem.message) for problem in gold.problems] == [
            (ProblemKind.NO_GOLD, 11, f"line 12: {NOT_CLOSED}; counts as wrong")
        ]
        system = read_predictions(write("predictions.csv", forty_rows(broken=20)), gold)
        assert [(problem.kind, problem.row) for problem in system.problems] == [
            (ProblemKind.MALFORMED, 20),
            (ProblemKind.MISSING, 20),
        ]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "missing columns: question_id"),
            ("just some words\n", "not Break's CSV"),
            ("question_id,question_text,decomposition\n", "no questions in it"),
            ("question_id,question_text\nA_1,why?\n", "no row has a decomposition"),
            ("question_id,question_text,decomposition\nA_1,why?,\n", "no row has a decomposition"),
            ("question_id,question_text,decomposition\n,why?,return x\n", "row 1 has no question_id"),
            (
                "question_id,question_text,decomposition\nA_1,why?,return x\nA_2,how?,return y\nA_1,who?,return z\n",
                "row 3 has the question_id of row 1: A_1",
            ),
        ],
    )
    def test_what_cannot_be_gold_is_an_error_that_names_the_file(self, write: Write, text: str, message: str) -> None:
        path = write("gold.csv", text)
        with pytest.raises(DataError, match=message) as caught:
            read_gold(path)
        assert str(path) in str(caught.value)

    def test_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="no such file"):
            read_gold(tmp_path / "none.csv")


class TestNames:
    def test_a_file_may_have_an_equals_sign_in_its_name(self, write: Write) -> None:
        path = write("a=b.jsonl", "")
        assert name_systems([str(path)]) == [("a=b", path, None)]

    def test_names_may_contain_what_files_may(self) -> None:
        assert name_systems(["CopyNet + BERT=out/x.jsonl"]) == [("CopyNet + BERT", Path("out/x.jsonl"), None)]

    def test_two_systems_of_one_name_are_an_error(self) -> None:
        with pytest.raises(DataError, match="NAME=FILE"):
            name_systems(["one/predictions.jsonl", "two/predictions.jsonl"])

    @pytest.mark.parametrize("option", ["=file.jsonl", "name=", " =x"])
    def test_half_an_option_is_an_error(self, option: str) -> None:
        with pytest.raises(DataError, match="FILE or NAME=FILE"):
            name_systems([option])


class TestRecords:
    def test_are_matched_by_id_in_any_order(self, write: Write, gold: Gold) -> None:
        rows = records(record("DROP_dev_3", "return c"), record("ATIS_dev_1", "return a"), record("CLEVR_dev_2"))
        system = read_predictions(write("p.jsonl", rows), gold)
        assert texts(system) == ["return a", "return cubes", "return c"]
        assert not system.problems
        assert (system.name, system.rows) == ("p", 3)

    def test_need_no_particular_file_name(self, write: Write, gold: Gold) -> None:
        rows = records(*(record(example.question_id) for example in gold.examples))
        assert read_predictions(write("predictions.txt", rows), gold).problems == []

    def test_missing_extra_and_duplicate_rows_are_told_by_number(self, write: Write, gold: Gold) -> None:
        rows = records(record("ATIS_dev_1", "return a"), record("X_9"), record("ATIS_dev_1", "return b"))
        system = read_predictions(write("p.jsonl", rows), gold)
        assert texts(system) == ["return a", None, None]
        assert problems(system) == [
            (ProblemKind.EXTRA, 2, "X_9"),
            (ProblemKind.DUPLICATE, 3, "ATIS_dev_1"),
            (ProblemKind.MISSING, 2, "CLEVR_dev_2"),
            (ProblemKind.MISSING, 3, "DROP_dev_3"),
        ]
        assert system.predictions[1] == PredictionRow(None, "prediction: missing")

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{oh dear", "not JSON"),
            ("[1, 2]", "a JSON list, not an object"),
            ('{"decomposition": "return x"}', "no question_id"),
            (
                '{"question_id": "ATIS_dev_1", "text": "return x"}',
                "no decomposition; found fields: question_id, text; "
                "use --column NAME to say which one has the decomposition",
            ),
            (
                '{"question_id": "ATIS_dev_1", "decomposition": 3}',
                "the decomposition is a JSON int, not a string or a list of steps",
            ),
            ("[" * 100_000, "not JSON"),
        ],
    )
    def test_a_malformed_row_is_told_and_the_others_count(
        self, write: Write, gold: Gold, line: str, message: str
    ) -> None:
        system = read_predictions(write("p.jsonl", f"{records(record('CLEVR_dev_2'))}\n{line}\n"), gold)
        malformed = [problem for problem in system.problems if problem.kind is ProblemKind.MALFORMED]
        assert [(problem.row, problem.message) for problem in malformed] == [(3, message)]
        assert texts(system) == [None, "return cubes", None]

    def test_a_record_without_decomposition_keeps_its_reason(self, write: Write, gold: Gold) -> None:
        rows = records(record("ATIS_dev_1", None, "no root"), record("CLEVR_dev_2", "  "), record("DROP_dev_3"))
        system = read_predictions(write("p.jsonl", rows), gold)
        assert [kind for kind, _, _ in problems(system)] == [ProblemKind.EMPTY, ProblemKind.EMPTY]
        assert system.predictions[0] == PredictionRow(None, "prediction: no decomposition (no root)")
        assert system.predictions[1] == PredictionRow(None, "prediction: no decomposition")


class TestCsv:
    def test_of_the_leaderboard_is_matched_by_order(self, write: Write, gold: Gold) -> None:
        system = read_predictions(write("p.csv", 'decomposition\nreturn a\n"return b, c"\nreturn d\n\n'), gold)
        assert texts(system) == ["return a", "return b, c", "return d"]
        assert not system.problems

    def test_with_ids_is_matched_by_id(self, write: Write, gold: Gold) -> None:
        rows = "question_id,decomposition\nDROP_dev_3,return d\nCLEVR_dev_2,return c\n,return x\n"
        system = read_predictions(write("p.csv", rows), gold)
        assert texts(system) == [None, "return c", "return d"]
        assert problems(system) == [(ProblemKind.MALFORMED, 3, None), (ProblemKind.MISSING, 1, "ATIS_dev_1")]

    def test_an_empty_line_of_the_only_column_is_an_empty_prediction(self, write: Write, gold: Gold) -> None:
        system = read_predictions(write("p.csv", "decomposition\nreturn a\n\nreturn c\n"), gold)
        assert texts(system) == ["return a", None, "return c"]
        assert problems(system) == [(ProblemKind.EMPTY, 2, "CLEVR_dev_2")]

    def test_a_row_with_loose_commas_keeps_its_place(self, write: Write, gold: Gold) -> None:
        system = read_predictions(write("p.csv", "decomposition\nreturn a\nreturn b, c\nreturn d\n"), gold)
        assert texts(system) == ["return a", None, "return d"]
        assert problems(system) == [(ProblemKind.MALFORMED, 2, "CLEVR_dev_2")]
        assert "quoted" in system.problems[0].message

    @pytest.mark.parametrize("rows", ["return a\n", "return a\nreturn b\nreturn c\nreturn d\n"])
    def test_another_number_of_rows_is_an_error_without_ids(self, write: Write, gold: Gold, rows: str) -> None:
        with pytest.raises(DataError, match=r"rows, but .* has 3 questions; without a question_id"):
            read_predictions(write("p.csv", f"decomposition\n{rows}"), gold)


class TestUnusableFiles:
    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("p.jsonl", "", "the file is empty"),
            ("p.csv", " \n\n", "the file is empty"),
            ("p.csv", "decomposition\n", "only a header"),
            ("p.jsonl", "not json\n", "no row can be used; row 1: not JSON; a record is one line"),
            ("p.csv", "answer\nreturn a\n", "a CSV with a column decomposition"),
            ("p", "some words\n", "1 rows, but .* has 3 questions"),
            ("p.jsonl", records({"decomposition": "a", "prediction": "b"}), "there is decomposition and prediction"),
            ("p.jsonl", records(record("X_1"), record("X_2")), "none of its questions is in"),
        ],
    )
    def test_are_errors_that_name_the_file(self, write: Write, gold: Gold, name: str, text: str, message: str) -> None:
        path = write(name, text)
        with pytest.raises(DataError, match=message) as caught:
            read_predictions(path, gold)
        assert str(path) in str(caught.value)

    def test_a_folder(self, tmp_path: Path, gold: Gold) -> None:
        with pytest.raises(DataError, match="this is a folder"):
            read_predictions(tmp_path, gold)

    def test_binary_content(self, tmp_path: Path, gold: Gold) -> None:
        path = tmp_path / "p.jsonl"
        path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe")
        with pytest.raises(DataError, match="not a UTF-8 text file"):
            read_predictions(path, gold)

    def test_text_with_zero_bytes(self, tmp_path: Path, gold: Gold) -> None:
        path = tmp_path / "p.csv"
        path.write_bytes(b"\x00\x00\x00\x00")
        with pytest.raises(DataError, match=r"p\.csv"):
            read_predictions(path, gold)

from __future__ import annotations

import hashlib
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from qdecomp.data_structures.graph_codecs import parse_conllu, parse_dot
from qdecomp.data_structures.logical_form import parse_logical_form
from qdecomp.parsers.bulk import FileSummary, parse_file, parse_records
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.calibration import RECOMMENDED_CONFIDENCE
from qdecomp.parsers.parser import load
from qdecomp.parsers.source import ParserSource
from qdecomp.version import VERSION
from tests.cli_runs import json_lines, refusal, run_qdecomp

run, refused = partial(run_qdecomp, "parse"), partial(refusal, "parse")

QUESTION = "how many red cubes are there ?"
OTHER = "which rivers are in texas ?"


def test_a_question_is_shown_with_its_steps_and_how_sure_the_parser_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION) == 0
    output = capsys.readouterr().out
    assert output.startswith(QUESTION)
    assert "\n1. " in output
    assert "red" in output.split("1. ", 1)[1]
    assert re.search(r"^confidence [01]\.\d\d$", output, re.MULTILINE)
    assert "or: " not in output
    assert "aggregate-arg" not in output


def test_a_plan_that_is_probably_wrong_is_shown_with_the_next_candidates(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = "If the ship leaves on the 3rd and takes 28 days, will it be here before the other one that is not red?"
    confidence = load().parse(asked).confidence
    assert confidence is not None
    assert confidence < RECOMMENDED_CONFIDENCE
    assert run(asked, QUESTION) == 0
    wrong, sure = capsys.readouterr().out.split(f"\n{QUESTION}\n")
    assert f"confidence {confidence:.2f}, probably wrong\nor: " in wrong
    assert wrong.count("or: ") == 2
    assert "or: " not in sure
    path = tmp_path / "out.txt"
    assert run(asked, "--candidates", "2", "--output", str(path)) == 0
    assert path.read_text(encoding="utf-8").count("\nor: ") == 1
    assert run(asked, "--min-confidence", "0.99") == 0
    assert "or: " not in capsys.readouterr().out


def test_the_graph_is_shown_when_it_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(QUESTION, "--graph") == 0
    assert "aggregate-arg" in capsys.readouterr().out
    assert run(QUESTION, "--graph", "--output", tmp_path / "out.txt") == 0
    assert "aggregate-arg" in (tmp_path / "out.txt").read_text(encoding="utf-8")


def test_without_the_solver_a_missing_graph_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    assert run("How many fewer people live in Iceland than in Malta?", "--graph") == 0
    assert "\nno graph: converting to a graph needs more packages: pip install" in capsys.readouterr().out


def test_a_step_in_a_pipe_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    asked = f"Which rivers are in {' '.join(['Texas', *['New York'] * 15])}?"
    assert run(asked) == 0
    assert capsys.readouterr().out.startswith(f"{asked}\n")


def test_formats_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for name in ("json", "qdmr", "lf", "dot", "conllu"):
        assert run(QUESTION, "--format", name) == 0
        found[name] = capsys.readouterr().out.rstrip("\n")
    record = json.loads(found["json"])
    fields = {"question_id", "question", "decomposition", "logical_form", "graph", "score", "confidence", "error"}
    assert set(record) == fields
    assert found["qdmr"] == record["decomposition"]
    assert str(parse_logical_form(found["lf"])) == "\n".join(record["logical_form"])
    # A parser that writes has no graph of its own; the other forms show that of its steps.
    assert record["graph"] is None
    assert "cubes" in parse_dot(found["dot"]).tokens
    assert parse_conllu(found["conllu"]) == parse_dot(found["dot"])


@pytest.mark.parametrize("name", ["svg", "html", "text"])
def test_pictures_and_texts_go_to_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "new" / f"file.{name}"
    assert run(QUESTION, "--format", name, "--output", str(path)) == 0
    text = path.read_text(encoding="utf-8")
    assert "cubes" in text
    assert ("<svg" in text) == (name != "text")
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("arguments", "questions"), [((QUESTION, OTHER), [QUESTION, OTHER]), (QUESTION.split(), [QUESTION])]
)
def test_words_without_quotes_are_one_question(
    capsys: pytest.CaptureFixture[str], arguments: Sequence[str], questions: list[str]
) -> None:
    assert run(*arguments, "--format", "json") == 0
    assert [json.loads(line)["question"] for line in capsys.readouterr().out.splitlines()] == questions


def test_the_svg_of_two_questions_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION, OTHER, "--format", "svg") == 0
    picture = ElementTree.fromstring(capsys.readouterr().out)
    inner = picture.findall("{http://www.w3.org/2000/svg}svg")
    assert len(inner) == 2
    heights = [float(each.get("height") or 0) for each in inner]
    assert float(inner[1].get("y") or 0) > heights[0]
    assert float(picture.get("height") or 0) >= sum(heights)
    assert float(picture.get("width") or 0) == max(float(each.get("width") or 0) for each in inner)


@pytest.mark.parametrize("name", ["q.csv", "questions.JSONL.gz", "there", "data/dev.csv"])
def test_a_file_name_is_not_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text(QUESTION)
    assert f"{name!r} is the name of a file; give it with --input" in refused(name)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "give either questions or a file"),
        ("cubes? --input q.txt", "give either questions or a file"),
        ("--input q.txt --input q.txt", "give one --input; run the command once for each"),
        ("--input q.txt --format svg", "qdecomp render"),
        ("cubes? --column text", "--column only works with --input"),
        ("cubes? --graph --format json", "JSON records have a field for the graph"),
        ("--input q.txt --output out.jsonl --part-rows 5", "--part-rows only works with a folder"),
        ("cubes? --output out/", "a folder only works with a file of questions"),
        ("--input out --output out/part-000000.jsonl", "would overwrite out"),
        ("cubes? --cluster tcp://127.0.0.1:1", "give --input and --output"),
        ("--input q.txt --output out.jsonl --cluster tcp://127.0.0.1:1 --processes 2", "either --processes or"),
    ],
)
def test_what_makes_no_sense_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text(QUESTION)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "_manifest.json").write_text("{}")
    monkeypatch.setattr("sys.stdin", None)
    assert reason in refused(*arguments.split())


@pytest.mark.parametrize("arguments", [("which river is in", "texas"), ("which", "river is in", "New York")])
def test_words_beside_quoted_ones_are_refused(arguments: tuple[str, ...]) -> None:
    assert "put every question in quotes" in refused(*arguments)


def test_a_question_without_a_decomposition_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("?!") == 0
    assert "no decomposition: the question has no word in it" in capsys.readouterr().out
    assert run("?!", QUESTION, "--format", "qdmr", "--strict") == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("return ")
    assert "no word in it" in captured.err


def test_every_question_of_a_file_has_a_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions, output = tmp_path / "q.txt", tmp_path / "out.jsonl"
    questions.write_text(f"{QUESTION}\n\n{OTHER}\n?\n", encoding="utf-8")
    assert run("--input", questions, "--output", output) == 0
    assert "4 questions; 2 without a decomposition" in capsys.readouterr().err
    found = json_lines(output)
    assert [record["question"] for record in found] == [QUESTION, "", OTHER, "?"]
    assert [record["question_id"] for record in found] == ["1", "2", "3", "4"]
    assert [record["error"] for record in found[1::2]] == ["the question is empty", "the question has no word in it"]
    assert found[0]["decomposition"].startswith("return ")
    assert run("--input", questions, "--output", output, "--strict") == 1
    assert "4 of them from an earlier run" in capsys.readouterr().err
    # Without an output, records go to standard output.
    assert run("--input", questions) == 0
    records = map(json.loads, capsys.readouterr().out.splitlines())
    assert [{**record, "key": kept["key"]} for record, kept in zip(records, found, strict=True)] == found


def test_an_output_of_other_questions_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(QUESTION)
    (tmp_path / "b.txt").write_text(OTHER)
    output = tmp_path / "out.jsonl"
    assert run("--input", tmp_path / "a.txt", "--output", output) == 0
    before = output.read_bytes()
    for other in (("b.txt",), ("a.txt", "--candidates", "2")):
        told = refused("--output", output, "--input", tmp_path / other[0], *other[1:])
        assert "made from other input or with other settings" in told
    assert output.read_bytes() == before
    assert run("--input", tmp_path / "b.txt", "--output", output, "--overwrite") == 0
    assert [record["question"] for record in json_lines(output)] == [OTHER]


def test_a_file_without_a_line_end_is_one_record(tmp_path: Path) -> None:
    path, output = tmp_path / "large.txt", tmp_path / "out.jsonl"
    path.write_bytes(b"how many cubes are red and " * 100_000)
    assert run("--input", path, "--output", output) == 0
    (record,) = json_lines(output)
    assert record["error"].startswith("the question is too long: 2,699,")


@pytest.mark.parametrize("arguments", [(), ("--input", "-")])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"id,question\na,{QUESTION}\nb,{OTHER}\n".encode(), ""),
        (b"\xff\xfe", "standard input: not UTF-8 text"),
        (b"", "standard input: there are no questions in it"),
    ],
)
def test_what_is_piped_in_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    text: bytes,
    message: str,
) -> None:
    (tmp_path / "piped").write_bytes(text)
    with (tmp_path / "piped").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert run(*arguments) == (2 if message else 0)
    told = capsys.readouterr()
    assert message in told.err
    assert told.err.count("\n") == bool(message)
    found = [json.loads(line) for line in told.out.splitlines()]
    expected = [] if message else [("a", QUESTION), ("b", OTHER)]
    assert [(record["question_id"], record["question"]) for record in found] == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", "id,text\n1,red\n", "no column question_text or question; found columns: id, text; use --column"),
        ("q.txt", "id,text\n1,red cubes\n", "found columns: id, text; use --column NAME"),
        ("q.csv", "My Question\nred cubes\n", "found columns: My Question; use --column NAME"),
        ("q.tsv", "id\ttext\n1\tred\n", "(its columns, id, text, are separated by tabs; separate them by commas)"),
        ("q.txt", "id;text\n1;red cubes\n", "are separated by semicolons; separate them by commas)"),
        ("q.json", '[{"question": "red cubes"},', "this JSON array cannot be read"),
        ("q.jsonl", '{"id": 1, "text": "red"}', "the first object has no question_text or question; found fields"),
        ("binary", bytes(range(256)) * 10, "not a UTF-8 text file"),
        ("empty.txt", "", "there are no questions in it"),
        ("missing.txt", None, "there is no such file"),
        (".", None, "this is a folder"),
    ],
)
def test_a_file_without_questions_is_refused_with_what_it_has(
    tmp_path: Path, name: str, content: str | bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    told = refused("--input", tmp_path / name, "--output", tmp_path / "out.jsonl")
    assert f"{tmp_path / name}: " in told
    assert message in told
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", f"id,my text\na,{QUESTION}\n"),
        ("q.txt", f"my text,id\n{QUESTION},a\n"),
        ("q.jsonl", json.dumps({"id": "a", "my text": QUESTION, "question": "another"})),
    ],
)
def test_a_column_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert run("--input", str(tmp_path / name), "--column", "my text") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["question_id"], record["question"]) == ("a", QUESTION)
    told = refused("--input", tmp_path / name, "--column", "your text")
    assert "'your text'" in told
    assert "my text" in told


def test_a_question_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"how many \x1b]0;red\x07 cubes are \x9b31m there ? \u202e {QUESTION}") == 0
    captured = capsys.readouterr()
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(captured.out + captured.err)
    assert "\\u001b]0;red\\u0007" in captured.out


def test_half_of_a_character_is_an_error_of_its_question_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, output = tmp_path / "questions.jsonl", tmp_path / "out.jsonl"
    questions.write_text(f'{{"question": "how many \\ud800 cubes ?"}}\n{{"question": "{QUESTION}"}}\n')
    assert run("--input", str(questions), "--output", str(output)) == 0
    first, second = json_lines(output)
    assert first["question"] == "how many ? cubes ?"
    assert first["error"] == "the question has half of a character in it (a lone surrogate)"
    assert second["decomposition"] is not None
    assert run("--input", str(questions)) == 0
    assert "how many ? cubes ?" in capsys.readouterr().out
    assert run("how many \udcff cubes ?") == 0
    assert "\\udcff" in capsys.readouterr().out


def questions_file(tmp_path: Path, count: int) -> Path:
    path = tmp_path / "questions.txt"
    path.write_text("".join(f"how many cubes are {'very ' * number}red ?\n" for number in range(count)))
    return path


def test_a_file_is_parsed_from_python_as_by_the_command(tmp_path: Path) -> None:
    questions, one, other = questions_file(tmp_path, 5), tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    assert run("--input", str(questions), "--output", str(one), "--candidates", "2") == 0
    parser = load(candidates=2)
    assert parse_file(parser, questions, other) == FileSummary(5)
    assert other.read_bytes() == one.read_bytes()
    assert parse_file(parser, questions, other) == FileSummary(5, resumed=5)
    assert [{**record, "key": ""} for record in parse_records(parser, questions)] == [
        {**record, "key": ""} for record in json_lines(one)
    ]


def test_the_keys_of_records_are_those_of_version_0_1_0(tmp_path: Path) -> None:
    questions, output = questions_file(tmp_path, 6), tmp_path / "out.jsonl"
    assert run("--input", str(questions), "--output", str(output)) == 0
    settings = json.dumps([VERSION, [*ParserSource(BUNDLED).contents(), None], None, 0, 0.0])
    rows = [[str(number), line, None] for number, line in enumerate(questions.read_text().splitlines(), start=1)]
    keys = [hashlib.blake2b(json.dumps([settings, *row]).encode(), digest_size=8).hexdigest() for row in rows]
    assert [record["key"] for record in json_lines(output)] == keys

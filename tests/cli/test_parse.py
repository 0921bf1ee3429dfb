from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

import pytest

from qdecomp.data_structures.graph_codecs import parse_conllu, parse_dot
from qdecomp.data_structures.logical_form import parse_logical_form
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.parsers.bulk import FileSummary, parse_file, parse_records
from qdecomp.parsers.bundle import BUNDLED
from qdecomp.parsers.calibration import RECOMMENDED_CONFIDENCE
from qdecomp.parsers.parser import load
from qdecomp.version import VERSION
from tests.cli_runs import json_lines, run_qdecomp

run = partial(run_qdecomp, "parse")

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
    assert run(QUESTION) == 0
    without = capsys.readouterr().out
    assert "aggregate-arg" not in without
    assert run(QUESTION, "--graph") == 0
    assert "aggregate-arg" in capsys.readouterr().out
    path = tmp_path / "out.txt"
    assert run(QUESTION, "--graph", "--output", str(path)) == 0
    assert "aggregate-arg" in path.read_text(encoding="utf-8")
    assert run(QUESTION, "--graph", "--format", "json") == 2
    assert "JSON records have a field for the graph" in capsys.readouterr().err


def test_formats_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    found = {}
    for name in ("json", "qdmr", "lf", "dot", "conllu"):
        assert run(QUESTION, "--format", name) == 0
        found[name] = capsys.readouterr().out.rstrip("\n")
    record = json.loads(found["json"])
    fields = {"question_id", "question", "decomposition", "logical_form", "graph", "score", "confidence", "error"}
    assert set(record) == fields
    assert parse_qdmr(found["qdmr"]) == parse_qdmr(record["decomposition"])
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


def test_several_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION, OTHER, "--format", "json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["question"] for line in lines] == [QUESTION, OTHER]


def test_the_svg_of_two_questions_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION, OTHER, "--format", "svg") == 0
    picture = ElementTree.fromstring(capsys.readouterr().out)
    inner = picture.findall("{http://www.w3.org/2000/svg}svg")
    assert len(inner) == 2
    heights = [float(each.get("height") or 0) for each in inner]
    assert float(inner[1].get("y") or 0) > heights[0]
    assert float(picture.get("height") or 0) >= sum(heights)
    assert float(picture.get("width") or 0) == max(float(each.get("width") or 0) for each in inner)


def test_words_without_quotes_are_one_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*QUESTION.split(), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["question"] == QUESTION


@pytest.mark.parametrize("name", ["q.csv", "questions.JSONL.gz", "there", "data/dev.csv"])
def test_a_file_name_is_not_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text(QUESTION)
    assert run(name) == 2
    assert f"{name!r} is the name of a file; give it with --input" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("which river is in", "texas"), ("which", "river is in", "New York")])
def test_words_beside_quoted_ones_are_refused(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert run(*arguments) == 2
    assert "put every question in quotes" in capsys.readouterr().err


def test_a_question_without_a_decomposition_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("?!") == 0
    assert "no decomposition: the question has no word in it" in capsys.readouterr().out
    assert run("?!", QUESTION, "--format", "qdmr", "--strict") == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("return ")
    assert "no word in it" in captured.err


def test_either_questions_or_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text(QUESTION)
    assert run() == 2
    assert run(QUESTION, "--input", str(path)) == 2
    assert run("--input", str(path), "--format", "svg") == 2
    assert "qdecomp render" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.txt", f"{QUESTION}\n\n{OTHER}\n?\n"),
        ("q.jsonl", "".join(json.dumps({"question": text}) + "\n" for text in (QUESTION, "", OTHER, "?"))),
        ("q.json", json.dumps([{"question": QUESTION}, "", {"question": OTHER}, "?"], indent=1)),
        ("q.csv", f"question_id,question_text\n1,{QUESTION}\n2,\n3,{OTHER}\n4,?\n"),
    ],
)
def test_every_question_of_a_file_has_a_record(
    tmp_path: Path, name: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    output = tmp_path / "out.jsonl"
    assert run("--input", str(tmp_path / name), "--output", str(output)) == 0
    found = json_lines(output)
    assert [record["question"] for record in found] == [QUESTION, "", OTHER, "?"]
    assert [record["question_id"] for record in found] == ["1", "2", "3", "4"]
    assert [record["error"] for record in found[1::2]] == ["the question is empty", "the question has no word in it"]
    assert found[0]["decomposition"].startswith("return ")
    assert "4 questions; 2 without a decomposition" in capsys.readouterr().err
    assert run("--input", str(tmp_path / name), "--output", str(output), "--strict") == 1
    assert "4 of them from an earlier run" in capsys.readouterr().err


def test_without_an_output_records_go_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.txt").write_text(f"{QUESTION}\n{OTHER}\n")
    assert run("--input", str(tmp_path / "q.txt")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["question"] for line in lines] == [QUESTION, OTHER]


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    questions = [f"how many cubes are larger than {number} spheres ?" for number in range(400)]
    (tmp_path / "q.txt").write_text("\n".join(questions))
    output = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "qdecomp", "parse", "--batch-size", "1"]
    command += ["--input", str(tmp_path / "q.txt"), "--output", str(output)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (output.exists() and output.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = output.read_bytes()
    kept = before[: before.rindex(b"\n") + 1]
    done = kept.count(b"\n")
    assert 0 < done < len(questions)
    assert run("--input", str(tmp_path / "q.txt"), "--output", str(output), "--batch-size", "1") == 0
    assert output.read_bytes().startswith(kept)
    assert [record["question"] for record in json_lines(output)] == questions


def test_an_output_of_other_questions_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text(QUESTION)
    (tmp_path / "b.txt").write_text(OTHER)
    output = tmp_path / "out.jsonl"
    assert run("--input", str(tmp_path / "a.txt"), "--output", str(output)) == 0
    before = output.read_bytes()
    assert run("--input", str(tmp_path / "b.txt"), "--output", str(output)) == 2
    assert "made from other input or with other settings" in capsys.readouterr().err
    assert run("--input", str(tmp_path / "a.txt"), "--output", str(output), "--candidates", "2") == 2
    assert output.read_bytes() == before
    assert run("--input", str(tmp_path / "b.txt"), "--output", str(output), "--overwrite") == 0
    assert [record["question"] for record in json_lines(output)] == [OTHER]


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "empty.txt").write_bytes(b"")
    output = tmp_path / "out.jsonl"
    for name, message in {
        "binary": "not a UTF-8 text file",
        "empty.txt": "there are no questions in it",
        "missing.txt": "there is no such file",
        ".": "this is a folder",
    }.items():
        assert run("--input", str(tmp_path / name), "--output", str(output)) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    assert not output.exists()


def test_a_hundred_megabytes_without_a_line_end_are_one_record(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"how many cubes are red and " * 3_900_000)
    assert path.stat().st_size > 100_000_000
    output = tmp_path / "out.jsonl"
    assert run("--input", str(path), "--output", str(output)) == 0
    with output.open(encoding="utf-8") as stream:
        (record,) = map(json.loads, stream)
    assert record["error"].startswith("the question is too long: 105,")


def parse_in_a_process(text: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "qdecomp", "parse", *arguments]
    return subprocess.run(command, input=text, capture_output=True, check=False)


@pytest.mark.parametrize("arguments", [(), ("--input", "-")])
def test_what_is_piped_in_is_read(arguments: tuple[str, ...]) -> None:
    done = parse_in_a_process(f"id,question\na,{QUESTION}\nb,{OTHER}\n".encode(), *arguments)
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(record["question_id"], record["question"]) for record in found] == [("a", QUESTION), ("b", OTHER)]


def test_standard_input_that_cannot_be_read_is_one_line() -> None:
    for text, message in ((b"\xff\xfe", b"standard input: not UTF-8 text"), (b"", b"there are no questions in it")):
        done = parse_in_a_process(text, "--input", "-")
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "q.csv",
            "id,text\n1,red cubes\n",
            "no column question_text or question; found columns: id, text; use --column NAME",
        ),
        ("q.txt", "id,text\n1,red cubes\n", "found columns: id, text; use --column NAME"),
        ("q.csv", "My Question\nred cubes\n", "found columns: My Question; use --column NAME"),
        (
            "q.tsv",
            "id\ttext\n1\tred cubes\n",
            "(its columns, id, text, are separated by tabs; separate them by commas)",
        ),
        (
            "q.txt",
            "id;text\n1;red cubes\n",
            "(its columns, id, text, are separated by semicolons; separate them by commas)",
        ),
        ("q.json", '[{"question": "red cubes"},', "this JSON array cannot be read"),
        (
            "q.jsonl",
            '{"id": 1, "text": "red cubes"}\n',
            "the first object has no question_text or question; found fields: id, text; use --column NAME",
        ),
    ],
)
def test_a_file_without_questions_is_refused_with_what_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    output = tmp_path / "out.jsonl"
    assert run("--input", str(tmp_path / name), "--output", str(output)) == 2
    error = capsys.readouterr().err
    assert f"{name}: " in error
    assert message in error
    assert error.count("\n") == 1
    assert not output.exists()


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
    assert run("--input", str(tmp_path / name), "--column", "your text") == 2
    error = capsys.readouterr().err
    assert "'your text'" in error
    assert "my text" in error


def test_a_column_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(QUESTION, "--column", "text") == 2
    assert "--column only works with --input" in capsys.readouterr().err


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


def questions_file(tmp_path: Path, count: int = 40) -> Path:
    path = tmp_path / "questions.txt"
    things = ("cubes", "rivers in texas", "flights from denver to boston", "players who scored two goals", "dogs")
    lines = [f"how many {things[number % 5]} are {'very ' * (number % 7)}red ?" for number in range(count)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_resumed_run_writes_the_bytes_of_one_that_was_not_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = str(questions_file(tmp_path))
    whole, resumed = tmp_path / "whole.jsonl", tmp_path / "resumed.jsonl"
    assert run("--input", questions, "--output", str(whole), "--batch-size", "2") == 0
    for size in ("2", "3"):
        # No digit depends on which questions are parsed together.
        resumed.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:17]) + b'{"cut')
        assert run("--input", questions, "--output", str(resumed), "--batch-size", size) == 0
        assert "17 of them from an earlier run" in capsys.readouterr().err
        assert resumed.read_bytes() == whole.read_bytes()


def test_a_parser_is_known_by_its_content_and_not_by_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, output = str(questions_file(tmp_path, 2)), tmp_path / "out.jsonl"
    folder = tmp_path / "parser"
    shutil.copytree(BUNDLED, folder)
    assert run("--input", questions, "--output", str(output)) == 0
    before = output.read_bytes()
    # The same parser in another place resumes the file; another parser in the same place does not.
    assert run("--input", questions, "--output", str(output), "--parser", str(folder)) == 0
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"name": "trained again"}), encoding="utf-8")
    capsys.readouterr()
    assert run("--input", questions, "--output", str(output), "--parser", str(folder)) == 2
    assert "made from other input or with other settings" in capsys.readouterr().err
    assert output.read_bytes() == before


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
    parser = load()
    settings = json.dumps([VERSION, parser.key(32), None, 0, 0.0])
    rows = [[str(number), line, None] for number, line in enumerate(questions.read_text().splitlines(), start=1)]
    keys = [hashlib.blake2b(json.dumps([settings, *row]).encode(), digest_size=8).hexdigest() for row in rows]
    assert [record["key"] for record in json_lines(output)] == keys


def test_text_is_printed_without_what_draws_pictures() -> None:
    program = f"""
import sys
from qdecomp.cli import main
try:
    main(["parse", {QUESTION!r}])
except SystemExit:
    print(*(name for name in sys.modules if name.startswith("qdecomp.visualization")), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(QUESTION)
    assert done.stderr.split() == []

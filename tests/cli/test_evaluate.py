import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.cli_runs import json_lines, refusal, run_qdecomp, write_json_lines

run, refused = partial(run_qdecomp, "evaluate"), partial(refusal, "evaluate")

GOLD = """question_id,question_text,decomposition
CLEVR_dev_1,How many red cubes are there?,return cubes ;return #1 that are red ;return number of #2
CLEVR_dev_2,How many spheres are there?,return spheres ;return number of #1
GEO_dev_3,What is the longest river?,return rivers ;return the longest of #1
"""
GOOD = """decomposition
return red cubes ;return number of #1
return spheres ;return number of #1
return lakes
"""


def write_records(path: Path, *answers: object) -> Path:
    """Records of the questions of ``GOLD``; None is a missing one."""
    ids = ("CLEVR_dev_1", "CLEVR_dev_2", "GEO_dev_3")
    records = [{"question_id": each, "decomposition": answer} for each, answer in zip(ids, answers, strict=False)]
    return write_json_lines(path, [record for record in records if record["decomposition"] is not None])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "gold.csv").write_text(GOLD)
    (tmp_path / "good.csv").write_text(GOOD)
    write_records(tmp_path / "poor.jsonl", None, "return spheres ;return number of #2")
    return tmp_path


def test_scores_two_systems_in_both_formats(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(
        *("--gold", files / "gold.csv", "--predictions", files / "good.csv", f"second={files / 'poor.jsonl'}"),
        *("--json", files / "out" / "scores.json", "--details", files / "out" / "details.jsonl"),
    )
    assert code == 0
    captured = capsys.readouterr()
    assert "66.7 [0.0, 100.0]" in captured.out
    assert "Paired tests" in captured.out
    assert "poor.jsonl: 2 missing rows\n  row 1 of the gold file (CLEVR_dev_1)" in captured.err
    scores = json.loads((files / "out" / "scores.json").read_text())
    assert [system["name"] for system in scores["systems"]] == ["good", "second"]
    assert [system["overall"]["lf_em"]["mean"] for system in scores["systems"]] == [pytest.approx(2 / 3), 0.0]
    assert scores["systems"][1]["problem_counts"] == {"missing": 2}
    details = json_lines(files / "out" / "details.jsonl")
    assert [line["lf_em"] for line in details] == [True, True, False, False, False, False]
    assert [line["exact_match"] for line in details][:3] == [False, True, False]


def test_strict_makes_a_missing_row_fatal(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = files / "scores.json"
    code = run("--gold", files / "gold.csv", "--predictions", files / "poor.jsonl", "--strict", "--json", scores)
    assert code == 1
    assert not scores.exists()
    captured = capsys.readouterr()
    assert "--strict" in captured.err
    assert captured.out == ""
    assert run("--gold", files / "gold.csv", "--predictions", files / "good.csv", "--strict", "--metrics", "em") == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--gold": "none.csv"}, "there is no such file"),
        ({"--gold": "good.csv"}, "not Break's CSV"),
        ({"--predictions": "none.jsonl"}, "there is no such file"),
        ({"--predictions": "."}, "this is a folder"),
        ({"--metrics": "em,bleu"}, "there is no metric 'bleu'"),
        ({"--json": "gold.csv/scores.json"}, "cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(files: Path, changes: dict[str, str], message: str) -> None:
    options = {"--gold": "gold.csv", "--predictions": "good.csv", "--metrics": "em"} | changes
    arguments = [
        part if part.startswith("--") or name == "--metrics" else files / part
        for name, value in options.items()
        for part in (name, value)
    ]
    assert message in refused(*arguments)
    assert "give at least one file of predictions" in refused("--gold", files / "gold.csv")


def test_the_script_is_the_same_command(files: Path, project_root: Path) -> None:
    arguments = ["--gold", str(files / "gold.csv"), "--predictions", str(files / "good.csv"), "--metrics", "em"]
    script = subprocess.run(
        [sys.executable, str(project_root / "scripts" / "evaluate.py"), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    assert script.stdout.startswith("Scores\nsystem  questions")


BROKEN = {
    "return cubes ;return number of #2": "refers to itself",
    "return #2 that are red ;return size of #1": "cycle",
    "return cubes ;return number of #7": "refers to #7",
    "": "no decomposition",
}


def test_rows_that_break_other_evaluators_are_wrong_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = "return spheres ;return number of #1"
    texts = [right, *BROKEN]
    gold = [f"CLEVR_dev_{row},How many spheres are there?,{right}\n" for row in range(len(texts))]
    (tmp_path / "gold.csv").write_text("question_id,question_text,decomposition\n" + "".join(gold))
    (tmp_path / "system.csv").write_text("decomposition\n" + "".join(f'"{text}"\n' for text in texts))
    details = tmp_path / "details.jsonl"
    arguments = ("--gold", tmp_path / "gold.csv", "--predictions", tmp_path / "system.csv", "--details", details)
    assert run(*arguments, "--metrics", "em,sari,lf_em,norm_em,ged") == 0
    first, *broken = json_lines(details)
    names = ("exact_match", "lf_em", "norm_em", "ged", "error")
    assert [first[name] for name in names] == [True, True, True, 0.0, None]
    for line, reason in zip(broken, BROKEN.values(), strict=True):
        assert (line["exact_match"], line["lf_em"], line["lf_em_strict"], line["norm_em"]) == (False,) * 4
        assert reason in line["error"]
    assert "row 5 (CLEVR_dev_4): no decomposition; counts as wrong" in capsys.readouterr().err


def test_a_file_that_looks_misread_has_a_warning(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["The question asks\nHere is why.", "number of #1", "return rivers ;return the longest of #1"]
    assert run("--gold", files / "gold.csv", write_records(files / "model.jsonl", *texts), "--metrics", "em") == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert "2 of 3 predictions do not look like decompositions" in warning
    assert "it was read as one step, but has several lines: 'return The question asks' …" in warning
    assert "qdecomp prompt" in warning


def test_half_of_a_character_in_a_prediction_is_said_and_escaped(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = write_records(files / "half.jsonl", None, "return \ud800 spheres ;return number of #1")
    given = ("--gold", files / "gold.csv", "--predictions", half)
    assert run(*given, "--details", files / "details.jsonl", "--json", files / "scores.json") == 0
    assert "half.jsonl: 1 odd row\n  row 1 (CLEVR_dev_2): half of a character" in capsys.readouterr().err
    details = json_lines(files / "details.jsonl")
    assert "\ud800" in details[1]["prediction"]
    assert json.loads((files / "scores.json").read_text(encoding="utf-8"))["systems"][0]["problem_counts"]["odd"] == 1


def test_a_column_of_predictions_can_be_named(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (files / "model.csv").write_text(GOOD.replace("decomposition", "text"))
    write_json_lines(files / "model.jsonl", [{"question_id": "CLEVR_dev_2", "text": ["spheres", "number of #1"]}])
    for name, found in (("model.csv", "found columns: text"), ("model.jsonl", "found fields: question_id, text")):
        told = refused("--gold", files / "gold.csv", files / name)
        assert found in told
        assert "--column NAME" in told
        assert run("--gold", files / "gold.csv", files / name, "--column", "text", "--metrics", "lf_em") == 0
        assert "LF-EM" in capsys.readouterr().out


def _many_rows(folder: Path) -> tuple[str, ...]:
    """A gold file and two prediction files with all kinds of problems, one of them in another order."""
    golds, first, second = ["question_id,question_text,decomposition"], [], []
    for number in range(60):
        word, source = (
            ("cubes", "spheres", "rivers", "lakes", "teams")[number % 5],
            ("CLEVR", "GEO", "DROP")[number % 3],
        )
        steps = f"return {word} ;return #1 that are red ;return number of #2"
        golds.append(f"{source}_dev_{number},How many red {word} are there?,{'' if number == 7 else steps}")
        answer = [steps, f"return red {word} ;return number of #1", f"return {word}", "return #9 of it", ""][number % 5]
        first.append(json.dumps({"question_id": f"{source}_dev_{number}", "decomposition": answer}))
        second.append(json.dumps({"question_id": f"{source}_dev_{number}", "decomposition": [word, "number of #1"]}))
    extra = ["no JSON", first[3], json.dumps({"question_id": "X", "decomposition": "return x"})]
    (folder / "gold.csv").write_text("\n".join(golds))
    (folder / "first.jsonl").write_text("\n".join([*first[30:], *extra, *first[:20], *first[21:30]]))
    (folder / "second.jsonl").write_text("\n".join(reversed(second)))
    return "--gold", str(folder / "gold.csv"), str(folder / "first.jsonl"), str(folder / "second.jsonl")


def test_rows_on_the_disk_and_several_processes_change_no_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = _many_rows(tmp_path)
    runs = []
    for options, kibibytes in ((), 32_768), ((), 8), (("--processes", "2"), 8):
        monkeypatch.setattr("qdecomp.files.store._KIBIBYTES_IN_MEMORY", kibibytes)
        outputs = ("--json", tmp_path / "scores.json", "--details", tmp_path / "details.jsonl")
        assert run(*given, *outputs, *options) == 0
        captured = capsys.readouterr()
        files = [path.read_bytes() for path in (tmp_path / "scores.json", tmp_path / "details.jsonl")]
        runs.append((captured.out, captured.err, *files))
    assert "first.jsonl: 1 malformed row" in runs[0][1]
    assert "1 duplicate row" in runs[0][1]
    assert runs[1] == runs[0]
    assert runs[2] == runs[0]

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from qdecomp.data_structures.errors import DataError

# The id, the small parser's confidence (none without a plan), and whether each of the two is right.
ROWS = [("a", 0.9, True, True), ("b", 0.6, True, False), ("c", 0.3, False, True), ("d", None, False, True)]
RIGHT, WRONG = "return cubes ;return number of #1", "return spheres"


def write(path: Path, records: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    question = "how many cubes are there ?"
    small, large = (
        [
            {"question_id": row[0], "confidence": row[1] if which == 2 else None}
            | {"decomposition": None if row[1] is None and which == 2 else RIGHT if row[which] else WRONG}
            for row in ROWS
        ]
        for which in (2, 3)
    )
    gold = tmp_path / "gold.csv"
    gold.write_text(
        "question_id,question_text,decomposition\n" + "".join(f"{row[0]},{question},{RIGHT}\n" for row in ROWS)
    )
    verdicts = [[{"question_id": row[0], "verdict": row[which]} for row in ROWS] for which in (2, 3)]
    return {
        "small": write(tmp_path / "small.jsonl", small),
        "large": write(tmp_path / "large.jsonl", large),
        "gold": str(gold),
        "first": write(tmp_path / "first.jsonl", verdicts[0]),
        "second": write(tmp_path / "second.jsonl", verdicts[1]),
    }


@pytest.mark.parametrize("by_gold", [True, False])
def test_the_curve_goes_from_the_first_parser_to_the_second(
    run: Callable[..., Result], files: dict[str, str], tmp_path: Path, by_gold: bool
) -> None:
    by_metric = ["--large", files["large"], "--gold", files["gold"]]
    judged = by_metric if by_gold else ["--verdicts", files["first"], files["second"]]
    points, figure = tmp_path / "points.json", tmp_path / "curve.svg"
    result = run("speed.cascade", "--small", files["small"], *judged, "--json", points, "--figure", figure)
    assert result.exit_code == 0
    assert [(each["below"], each["calls"], each["right"]) for each in json.loads(points.read_text())] == [
        (0.0, 0.25, 0.75),
        (0.3, 0.25, 0.75),
        (0.6, 0.5, 1.0),
        (0.9, 0.75, 0.75),
        (1.0, 1.0, 0.75),
    ]
    assert "90% are right from 50% on, below 0.60" in result.output
    assert "<svg" in figure.read_text(encoding="utf-8")


def test_what_decides_is_named(run: Callable[..., Result], files: dict[str, str]) -> None:
    assert "give either --gold with --large" in run("speed.cascade", "--small", files["small"]).output
    with pytest.raises(DataError, match=r"small\.jsonl: row 1: a question_id and a verdict"):
        run("speed.cascade", "--small", files["small"], "--verdicts", files["small"], files["large"])

"""The mean of archives: numbers by hand, words that only one of them knows, and archives that do not fit together."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from qdecomp.data_structures.errors import DataError
from scripts.average_archives import main

torch = pytest.importorskip("torch", reason="torch is not installed; make install installs it")


def write(path: Path, words: list[str], weights: dict[str, list[object]]) -> Path:
    folder = path.parent / f"{path.name}.content"
    (folder / "vocabulary").mkdir(parents=True)
    (folder / "vocabulary" / "target_tokens.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    (folder / "config.json").write_text(f'{{"name": "{path.name}"}}', encoding="utf-8")
    torch.save({name: torch.tensor(value) for name, value in weights.items()}, folder / "weights.th")
    with tarfile.open(path, "w:gz") as archive:
        for each in folder.iterdir():
            archive.add(each, arcname=each.name)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def unpack(path: Path, folder: Path) -> Path:
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_the_mean_has_the_words_and_the_config_of_the_last(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a.tar.gz",
        ["of", "size"],
        {"encoder": [1.0, 2.0], "words": [[0.0], [1.0], [2.0]], "counts": [7]},
    )
    second = write(
        tmp_path / "b.tar.gz",
        ["size", "age", "of"],
        {"encoder": [3.0, 6.0], "words": [[4.0], [6.0], [9.0], [5.0]], "counts": [8]},
    )
    output = tmp_path / "mean" / "model.tar.gz"
    result = run(first, second, "--output", output)
    assert result.exit_code == 0, result.output
    folder = unpack(output, tmp_path / "found")
    weights = torch.load(folder / "weights.th", weights_only=True)
    assert weights["encoder"].tolist() == [2.0, 4.0]
    # Padding, "size" and "of" are known to both, "age" to the second alone.
    assert weights["words"].tolist() == [[2.0], [4.0], [9.0], [3.0]]
    assert weights["counts"].tolist() == [8]
    assert (folder / "vocabulary" / "target_tokens.txt").read_text(encoding="utf-8") == "size\nage\nof\n"
    assert (folder / "config.json").read_text(encoding="utf-8") == '{"name": "b.tar.gz"}'


def test_the_mean_of_one_is_itself(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.tar.gz", ["of"], {"encoder": [1.5], "words": [[0.0], [1.0]]})
    assert run(archive, "--output", tmp_path / "mean.tar.gz").exit_code == 0
    weights = torch.load(unpack(tmp_path / "mean.tar.gz", tmp_path / "found") / "weights.th", weights_only=True)
    assert {name: weight.tolist() for name, weight in weights.items()} == {"encoder": [1.5], "words": [[0.0], [1.0]]}


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"graph": [1.0]}, "are parsers of different kinds"),
        ({"encoder": [1.0, 2.0]}, "differ in the size of encoder"),
    ],
)
def test_parsers_that_do_not_fit_together(tmp_path: Path, weights: dict[str, list[object]], message: str) -> None:
    first = write(tmp_path / "a.tar.gz", ["of"], {"encoder": [1.0]})
    second = write(tmp_path / "b.tar.gz", ["of"], weights)
    result = run(first, second, "--output", tmp_path / "mean.tar.gz")
    assert isinstance(result.exception, DataError)
    assert message in str(result.exception)
    assert not (tmp_path / "mean.tar.gz").exists()


def test_no_archive_is_overwritten(tmp_path: Path) -> None:
    archive = write(tmp_path / "a.tar.gz", ["of"], {"encoder": [1.0]})
    before = archive.read_bytes()
    result = run(archive, "--output", archive)
    assert isinstance(result.exception, DataError)
    assert archive.read_bytes() == before

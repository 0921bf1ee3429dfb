"""Average the weights of parsers whose trainings started from the same weights.

    python scripts/average_archives.py a/model.tar.gz b/model.tar.gz --output out/mean/model.tar.gz

The mean is often at least as good as the best of them, and no parser has to be chosen. Its config and vocabulary are
the last one's. Where their vocabularies differ, the weights of a word are the mean over the parsers that know it.
"""

from __future__ import annotations

import tarfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from script_errors import run_script

from qdecomp.data_structures.errors import DataError
from qdecomp.training.archives import unpacked

if TYPE_CHECKING:
    from torch import Tensor

_WEIGHTS = "weights.th"
_WORDS = Path("vocabulary") / "target_tokens.txt"


@dataclass(frozen=True, slots=True)
class Trained:
    """The weights of a parser by name, and the words that it can write; index 0 of their weights is padding."""

    path: Path
    weights: dict[str, Tensor]
    words: tuple[str, ...]

    def rows(self) -> dict[str, int]:
        """The row of each word in a weight that has one for every word."""
        return {word: place for place, word in enumerate(("", *self.words))}


def read_archive(path: Path, folder: Path) -> Trained:
    """The weights and words of an archive that is unpacked in a folder."""
    import torch

    try:
        weights = torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True)
    except OSError:
        raise DataError(f"{path}: not the archive of a parser: it has no {_WEIGHTS}") from None
    words = folder / _WORDS
    lines = words.read_text(encoding="utf-8").split("\n")[:-1] if words.is_file() else []
    return Trained(path, weights, tuple(lines))


def mean_weights(parsers: Sequence[Trained]) -> dict[str, Tensor]:
    """The mean of all weights, in the shapes of the last parser."""
    last = parsers[-1]
    for parser in parsers:
        if parser.weights.keys() != last.weights.keys():
            raise DataError(f"{parser.path} and {last.path} are parsers of different kinds")
    return {name: _mean(name, parsers) for name in last.weights}


def _mean(name: str, parsers: Sequence[Trained]) -> Tensor:
    last = parsers[-1]
    result = last.weights[name].clone()
    if not result.is_floating_point():
        return result
    if len({parser.words for parser in parsers}) > 1 and _has_a_row_for_each_word(name, parsers):
        rows = [(parser.weights[name], parser.rows()) for parser in parsers]
        for word, row in last.rows().items():
            known = [weight[places[word]] for weight, places in rows if word in places]
            result[row] = sum(each.double() for each in known) / len(known)
        return result
    for parser in parsers:
        if parser.weights[name].shape != result.shape:
            raise DataError(f"{parser.path} and {last.path} differ in the size of {name}")
    total = sum(parser.weights[name].double() for parser in parsers)
    assert not isinstance(total, int)
    return (total / len(parsers)).to(result.dtype)


def _has_a_row_for_each_word(name: str, parsers: Sequence[Trained]) -> bool:
    weights = [parser.weights[name] for parser in parsers]
    return all(
        weight.dim() and weight.shape[0] == len(parser.words) + 1
        for weight, parser in zip(weights, parsers, strict=True)
    )


@click.command(help=__doc__)
@click.argument("archives", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The archive to write.")
def main(archives: tuple[Path, ...], output: Path) -> None:
    """Read the archives, average, and write an archive."""
    import torch

    if any(output.exists() and output.samefile(archive) for archive in archives):
        raise DataError(f"{output} is one of the archives; choose another place for the output")
    with ExitStack() as stack:
        folders = [stack.enter_context(unpacked(archive)) for archive in archives]
        parsers = [read_archive(path, folder) for path, folder in zip(archives, folders, strict=True)]
        torch.save(mean_weights(parsers), folders[-1] / _WEIGHTS)
        output.parent.mkdir(parents=True, exist_ok=True)
        temporary = output.with_name(f".{output.name}")
        with tarfile.open(temporary, "w:gz") as archive:
            for path in sorted(folders[-1].iterdir()):
                archive.add(path, arcname=path.name)
        temporary.replace(output)
    click.echo(f"{output}: the mean of {len(archives)} parsers")


if __name__ == "__main__":
    run_script(main)

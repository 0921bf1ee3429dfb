"""Write further training questions from those of Break: the same decompositions, worded the way people type.

    python scripts/augment_questions.py --input train.csv --output augmented.csv --share 0.15 --seed 7

Every kind below draws its own share of the rows. The output has the columns of Break's CSV and only the new rows; an id
is the original's followed by the kind, so that its first part is still the source of the row.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from break_rows import COLUMNS, read_rows, write_rows
from script_errors import run_script

from qdecomp.files import source_of

# What people put in front of a request, for questions and for statements that name what they want.
_OPENINGS = (
    "can you tell me",
    "could you please tell me",
    "i want to know",
    "i would like to know",
    "please tell me",
    "tell me",
    "do you know",
    "hi,",
    "quick question:",
    "just wondering,",
)
_REQUEST_OPENINGS = ("please", "could you", "can you", "i need you to", "hey,")
_REQUEST_WORDS = frozenset(("list", "show", "find", "give", "return", "count", "name", "tell", "what's", "whats"))
_QUESTION_WORDS = frozenset(("what", "which", "who", "where", "when", "how", "whose", "why"))

Row = Mapping[str, str]
Augmentation = Callable[[Row, Row, random.Random], "tuple[str, str] | None"]
"""From a row, another row of its source and a random generator to a new question and its decomposition, or None."""


def plain(row: Row, _: Row, __: random.Random) -> tuple[str, str] | None:
    """Lower case without punctuation, as in a search box."""
    question = " ".join(re.sub(r"[?!.,;:\"]+(?=\s|$)", " ", row["question_text"].lower()).split())
    return None if question == row["question_text"] else (question, row["decomposition"].lower())


def opened(row: Row, _: Row, chance: random.Random) -> tuple[str, str] | None:
    """With a conversational opening."""
    question = row["question_text"].strip()
    first = question.split(" ")[0].lower()
    openings = _REQUEST_OPENINGS if first in _REQUEST_WORDS else _OPENINGS if first in _QUESTION_WORDS else None
    if openings is None:
        return None
    return f"{chance.choice(openings)} {question[0].lower()}{question[1:]}", row["decomposition"]


def misspelled(row: Row, _: Row, chance: random.Random) -> tuple[str, str] | None:
    """With two letters of one long word swapped, both in the question and in its decomposition, which copies it."""
    words = sorted(set(re.findall(r"\b[a-z]{5,}\b", row["question_text"])))
    if not words:
        return None
    word = chance.choice(words)
    place = chance.randrange(1, len(word) - 1)
    wrong = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    pattern = rf"\b{word}\b"
    if wrong == word:
        return None
    return re.sub(pattern, wrong, row["question_text"]), re.sub(pattern, wrong, row["decomposition"])


def joined(row: Row, other: Row, chance: random.Random) -> tuple[str, str] | None:
    """Two short questions in one; the answer is both answers."""
    first, second = (_steps(entry["decomposition"]) for entry in (row, other))
    if row is other or not first or not second or len(first) + len(second) > 8:
        return None
    question = row["question_text"].strip().rstrip("?.! ")
    other_question = other["question_text"].strip()
    if "?" not in row["question_text"] or "?" not in other_question:
        return None
    between = chance.choice((" and ", ", and ", "? ", " and also "))
    start = other_question[0] if between == "? " else other_question[0].lower()
    moved = [_moved(step, len(first)) for step in second]
    last = f"#{len(first)} , #{len(first) + len(second)}"
    return f"{question}{between}{start}{other_question[1:]}", " ;".join(
        f"return {step}" for step in [*first, *moved, last]
    )


AUGMENTATIONS: Mapping[str, Augmentation] = {
    "plain": plain,
    "opened": opened,
    "misspelled": misspelled,
    "joined": joined,
}


def _steps(decomposition: str) -> list[str]:
    parts = [re.sub(r"^\s*return\b", "", part).strip() for part in decomposition.split(";")]
    return [part for part in parts if part]


def _moved(step: str, count: int) -> str:
    return re.sub(r"#(\d+)", lambda match: f"#{int(match[1]) + count}", step)


def augment(rows: list[dict[str, str]], shares: Mapping[str, float], seed: int) -> list[dict[str, str]]:
    """The new rows of all kinds, each kind drawn independently from the seed."""
    by_source: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_source.setdefault(source_of(row["question_id"]), []).append(row)
    result = []
    for kind, share in shares.items():
        chance = random.Random(f"{seed} {kind}")
        for row in chance.sample(rows, round(share * len(rows))):
            other = chance.choice(by_source[source_of(row["question_id"])])
            found = AUGMENTATIONS[kind](row, other, chance)
            if found is not None:
                values = (f"{row['question_id']}_{kind}", *found, "", row.get("split", ""))
                result.append(dict(zip(COLUMNS, values, strict=True)))
    return result


@click.command(help=__doc__)
@click.option("--input", "source", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), required=True)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(list(AUGMENTATIONS)), help="Only these kinds.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    default=0.15,
    show_default=True,
    help="The share of the rows, for each kind.",
)
@click.option("--seed", type=int, default=7, show_default=True)
def main(source: Path, output: Path, kinds: tuple[str, ...], share: float, seed: int) -> None:
    """Read Break's CSV and write the new rows."""
    rows = read_rows(source)
    found = augment(rows, dict.fromkeys(kinds or AUGMENTATIONS, share), seed)
    write_rows(output, found, source)
    click.echo(f"{len(found)} new rows of {len(rows)}")


if __name__ == "__main__":
    run_script(main)

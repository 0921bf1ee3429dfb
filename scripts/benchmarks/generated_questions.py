"""Any number of random questions with decompositions and predictions, made from patterns and words."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["GeneratedQuestion", "generate_questions", "write_questions"]


class GeneratedQuestion(NamedTuple):
    """A question, its decomposition, and what a parser might have said."""

    question_id: str
    question: str
    decomposition: str
    prediction: str


# A question and its steps; {a}, {b} are things, {p}, {q} what they are like, {n} is a name, {v} a verb.
_PATTERNS = (
    ("GEO", "how many {p} {a} are in {n} ?", ("{a}", "#1 in {n}", "#2 that are {p}", "number of #3")),
    (
        "CLEVR",
        "what is the colour of the {p} {a} behind the {q} {b} ?",
        ("{p} {a}", "{q} {b}", "#1 behind #2", "colour of #3"),
    ),
    (
        "DROP",
        "which {a} had the most {b} in {n} ?",
        ("{a}", "#1 in {n}", "{b} of #2", "number of #3 for each #2", "#2 where #4 is highest"),
    ),
    (
        "NLVR2",
        "if there are at least two {p} {a} beside the {b} .",
        ("{a}", "#1 that are {p}", "{b}", "#2 beside #3", "number of #4", "if #5 is at least two"),
    ),
    (
        "SPIDER",
        "show the {a} of all {b} that {v} {n} or {p} {b} .",
        ("{b}", "#1 that {v} {n}", "#1 that are {p}", "#2 or #3", "{a} of #4"),
    ),
    (
        "HOTPOT",
        "who {v} more {a} , the {p} {b} or {n} ?",
        (
            "the {p} {b}",
            "{n}",
            "{a} that #1 {v}",
            "{a} that #2 {v}",
            "number of #3",
            "number of #4",
            "which is highest of #5 , #6",
        ),
    ),
    (
        "ATIS",
        "{a} from {n} to the {q} {b} that {v} no {p} stop",
        ("{a}", "#1 from {n}", "#2 to the {q} {b}", "#3 that {v} no {p} stop"),
    ),
    (
        "COMQA",
        "what {p} {a} did the {q} {b} of {n} {v} ?",
        ("{b} of {n}", "#1 that are {q}", "{a} that #2 {v}", "#3 that are {p}"),
    ),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_THINGS = _words(
    """cubes spheres rivers lakes teams players flights dogs bottles buses cities states songs films books authors
    schools students courses orders products stores doctors patients planes airports meals trains stations parks
    bridges towers museums painters poems kings wars treaties battles ships goals yards passes points games
    seasons coaches stadiums"""
)
_LIKE = _words(
    """red large small old new tall short cheap early late famous empty full open closed wooden round dark bright fast
    slow northern local public private heavy light wide narrow quiet young rich poor busy clean broken foreign modern"""
)
_VERBS = _words("won built wrote crossed visited sold owned painted lost taught joined left hosted carried ordered")
_SYLLABLES = _words("ka lo mir ten dor vel an ri so bel har nim tu pas ger ol en da fer quin")


def generate_questions(count: int, seed: int = 0) -> Iterator[GeneratedQuestion]:
    """Random questions: about half of the predictions equal the decomposition, or mean the same."""
    chance = random.Random(seed)
    for number in range(count):
        source, pattern, steps = chance.choice(_PATTERNS)
        a, b = chance.sample(_THINGS, 2)
        p, q = chance.sample(_LIKE, 2)
        name = "".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))).capitalize()
        words = {"a": a, "b": b, "p": p, "q": q, "n": name, "v": chance.choice(_VERBS)}
        filled = [step.format(**words) for step in steps]
        yield GeneratedQuestion(
            f"{source}_dev_{number}", pattern.format(**words), _text(filled), _text(_predicted(filled, chance))
        )


def _text(steps: list[str]) -> str:
    return " ;".join(f"return {step}" for step in steps)


def _predicted(steps: list[str], chance: random.Random) -> list[str]:
    kind = chance.random()
    if kind < 0.4:
        return steps
    place = chance.randrange(len(steps))
    if kind < 0.55:
        return [*steps[:place], f"the {steps[place]}", *steps[place + 1 :]]
    if kind < 0.8:
        return [*steps[:place], steps[place].replace("#1", "#2"), *steps[place + 1 :]]
    if kind < 0.98:
        return [*steps[:place], f"{steps[place]} {chance.choice(_LIKE)}", *steps[place + 1 :]]
    return [*steps, "#99 of it"]


def write_questions(count: int, gold: Path, predictions: Path, seed: int = 0) -> None:
    """Write questions as Break's CSV, and their predictions as JSON lines."""
    with gold.open("w", encoding="utf-8", newline="") as csv_stream, predictions.open("w", encoding="utf-8") as lines:
        writer = csv.writer(csv_stream)
        writer.writerow(("question_id", "question_text", "decomposition"))
        for each in generate_questions(count, seed):
            writer.writerow(each[:3])
            lines.write(json.dumps({"question_id": each.question_id, "decomposition": each.prediction}) + "\n")

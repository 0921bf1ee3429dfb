"""No input makes reading slow or raises anything but an error of this project."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from qdecomp.data_structures import lexicon, qdmr, reading, tokenization
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form
from qdecomp.data_structures.errors import QDecompError, QdmrSyntaxError
from qdecomp.data_structures.lexicon import equivalence, inflections
from qdecomp.data_structures.limits import LONGEST_ANSWER, LONGEST_DECOMPOSITION, LONGEST_STEP, MOST_STEP_WORDS
from qdecomp.data_structures.reading import forms, lists, markup, phrases, read_decomposition, references, structured

# CPU seconds of this thread on a slow machine: ours takes a twentieth. What is not linear takes ten times as long.
MOST_SECONDS = 1.0

# What the patterns look for, in pieces: to be repeated until a text is as long as it may be.
TYPED = """
    a. a é ſ İ ␣ ⇥ ⏎ ␣⏎ \u200b \ufe0f 0 9 1 x , ,␣ - -␣ -> => →␣ * ** a* _ __ _a # #1 #1␣ #1. ( (a [ [1 [1] { {1
    {" [" [' " ' ` ``` ~~~ ```⏎ < <a <step> <step </step> <br <plan> </think> 1. 1.␣ 1) a) (1) 1␣-␣ step step␣1 Q1
    steps␣1,␣ steps␣1␣and␣ return return␣ return␣a; ;␣return␣ ; ;␣ and␣ then␣ first,␣ next,␣ .␣ >␣ [x]␣ | |␣ |- ||
    |a|⏎ \\n decomposition decomposition: plan␣ questions␣ @@1 @@ $1 the␣answer␣of␣ answer␣ find␣ how␣many␣ of␣the␣
    which␣of␣ what␣is␣the␣ is␣ count␣the␣ filter␣#1␣ find␣all␣of␣ sub- sub␣question a␣b␣
"""
PIECES = [piece.replace("␣", " ").replace("⏎", "\n").replace("⇥", "\t") for piece in TYPED.split()]
ENDS = (("", ""), ("return ", "x"), ("Find ", "?"), ("1. ", "\n#1"))


def _pumped(length: int, count: int) -> Iterator[str]:
    draw = random.Random(1)
    repeated = [*PIECES, *("".join(draw.choices(PIECES, k=draw.choice((2, 3)))) for _ in range(count))]
    for piece in repeated:
        before, after = draw.choice(ENDS)
        yield before + piece * ((length - len(before) - len(after)) // len(piece)) + after


def _patterns() -> Iterator[Any]:
    modules = (reading, forms, lists, markup, phrases, references, structured)
    for module in (*modules, lexicon, equivalence, inflections, qdmr, tokenization):
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern):
                yield pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    tables = {
        "form": [form.shown_by for form in forms.FORMS],
        "style": [re.compile(style.form, re.IGNORECASE) for style in references.STYLES],
        "phrasing": [
            re.compile(row.form, re.IGNORECASE) for row in (*phrases.QUESTIONS, *phrases.COMMANDS, *phrases.WORDINGS)
        ],
        "emphasis": [pattern for pattern, _ in markup._EMPHASIS],
    }
    for name, patterns in tables.items():
        yield from (pytest.param(pattern, id=f"{name} {place}") for place, pattern in enumerate(patterns))


# Patterns that are only matched where a text begins, or that see no more than a few characters or a line's cells.
ANCHORED = frozenset({forms._RULE, phrases._ABBREVIATION, qdmr._RETURN_WITHIN, structured._NUMBERED_NAME})


@pytest.mark.parametrize("pattern", list(_patterns()))
def test_no_pattern_takes_more_than_linear_time(pattern: re.Pattern[str]) -> None:
    for text in _pumped(4_000, 40):
        started = time.thread_time()
        if pattern in ANCHORED:
            pattern.match(text)
        else:
            for _ in pattern.finditer(text):
                pass
        seconds = time.thread_time() - started
        assert seconds < MOST_SECONDS, (text[:40], seconds)


def test_no_rule_for_steps_takes_long_for_the_longest_step() -> None:
    for text in _pumped(LONGEST_STEP, 60):
        for step in (text, " ".join(text.split()[:MOST_STEP_WORDS])):
            started = time.thread_time()
            with suppress(QDecompError):
                to_logical_form(f"cubes; spheres; {step}")
            assert time.thread_time() - started < MOST_SECONDS, text[:40]


def test_reading_the_longest_text_takes_a_moment() -> None:
    for text in _pumped(LONGEST_DECOMPOSITION // 2, 40):
        started = time.thread_time()
        for written in (text, [text, "b"]):
            with suppress(QDecompError):
                read_decomposition(written)
        assert time.thread_time() - started < MOST_SECONDS, text[:40]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["a." * 15_000 + "x", "b"], "30,002 characters; at most 10,000 are allowed"),
        (["a"] * 101, "101 steps; at most 100 are allowed"),
        (["a"] * 1_000_000, "2,001 members; at most 2,000 are allowed"),
        ({"steps": ["a"], "thoughts": ["x" * 1000] * 300}, "201,000 characters; at most 200,000 are allowed"),
        ("x" * (LONGEST_ANSWER + 1) + "</think>return cubes", "200,021 characters; at most 10,000 are allowed"),
    ],
    ids=["long step", "steps", "members", "other members", "thoughts"],
)
def test_what_is_too_long_is_refused_before_it_is_read(written: Any, message: str) -> None:
    started = time.thread_time()
    with pytest.raises(QdmrSyntaxError, match=re.escape(message)):
        read_decomposition(written)
    assert time.thread_time() - started < MOST_SECONDS


@pytest.mark.parametrize(
    ("written", "steps"),
    [
        ("{'a', ['b']}", ("b",)),
        ("İ. cubes\nb. spheres", ("İ. cubes", "b. spheres")),
        ("1. cubes\n2. those of step fıve", ("cubes", "those of step fıve")),
        ("step ſix: cubes", ("step ſix: cubes",)),
        (f"| n | step |\n|---|---|\n| {'9' * 5000} | cubes |", ("cubes",)),
        ("a\n#0000000001 b", ("a", "#1 b")),
    ],
)
def test_odd_characters_and_numbers_are_words(written: str, steps: tuple[str, ...]) -> None:
    assert read_decomposition(written).steps == steps

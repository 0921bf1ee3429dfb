from __future__ import annotations

import subprocess
import sys
from string import ascii_lowercase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qdecomp.data_structures.lexicon.inflections import inflections, lemmas, variants


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("cubes", "cube"),
        ("City", "cities"),
        ("taller", "tall"),
        ("working", "work"),
        ("flew", "flying"),
        ("children", "child"),
        ("zorkmids", "zorkmid"),
        ("primary_conference", "primary_conferences"),
        ("Älvsborg", "älvsborgs"),
        # what is no English word is only itself
        *((word, word.lower()) for word in ("", "1995", "#3", "a" * 10_000, "שלום", "\x00")),
    ],
)
def test_inflections_of_one_word(word: str, other: str) -> None:
    assert other in variants(word)
    assert word.lower() in variants(word)


@given(st.text(ascii_lowercase + "_'", max_size=6))
@example("ys")
@example("a_ys")
def test_any_short_word_is_among_its_inflections(word: str) -> None:
    assert word in variants(word)


def test_spacy_is_not_loaded_for_inflections() -> None:
    code = (
        "import sys; from qdecomp.data_structures.lexicon.inflections import variants; "
        "variants('cities'); print('spacy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


_WORDS = (
    *("cities", "city", "red", "flew", "children", "taller", "best", "leaves", "data", "people", "saw"),
    # In files of their own, in the code of lemminflect, or nowhere.
    *("all", "another", "abdomen", "bless", "can", "may", "will", "be", "dare", "ought", "zorkmids"),
)


@pytest.mark.parametrize("word", _WORDS)
def test_what_is_known_is_what_lemminflect_says(word: str) -> None:
    # Importing it first keeps spaCy out, which lemminflect would load.
    found = lemmas(word)
    lemminflect = pytest.importorskip("lemminflect")
    assert found == lemminflect.getAllLemmas(word)
    for part in ("NOUN", "VERB", "ADJ", "ADV", "AUX"):
        known = lemminflect.getAllInflections(word, upos=part)
        assert inflections(word, part) == (known or lemminflect.getAllInflectionsOOV(word, upos=part))

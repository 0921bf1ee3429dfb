from __future__ import annotations

import pytest

from qdecomp.data_structures.lexicon.inflection_tables import inflections, lemmas

# Importing it first keeps spaCy out, which lemminflect would load.
lemmas("cities")
lemminflect = pytest.importorskip("lemminflect")

_WORDS = (
    *("cities", "city", "red", "flew", "children", "taller", "best", "leaves", "data", "people", "saw"),
    # In files of their own, in the code of lemminflect, or nowhere.
    *("all", "another", "abdomen", "bless", "can", "may", "will", "be", "dare", "ought", "zorkmids"),
)


@pytest.mark.parametrize("word", _WORDS)
def test_what_is_known_is_what_lemminflect_says(word: str) -> None:
    found = lemmas(word)
    assert found == lemminflect.getAllLemmas(word)
    for part in ("NOUN", "VERB", "ADJ", "ADV", "AUX"):
        known = lemminflect.getAllInflections(word, upos=part)
        assert inflections(word, part) == (known or lemminflect.getAllInflectionsOOV(word, upos=part))

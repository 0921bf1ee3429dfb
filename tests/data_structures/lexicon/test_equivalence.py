from __future__ import annotations

from qdecomp.data_structures.lexicon import stop_words, synonym_classes
from qdecomp.data_structures.lexicon.equivalence import merged_classes, representatives, word_class


def test_inflections_of_the_question_and_synonyms_are_one_class() -> None:
    names = representatives("What is the height of the taller men?")
    assert names["tall"] == names["taller"] == names["tallest"]
    assert names["men"] == names["man"]
    assert names["elevation"] == names["height"] == "elevation"
    assert "rivers" not in names


def test_classes_that_share_a_word_are_merged_whatever_the_order() -> None:
    classes = [word_class(frozenset(words)) for words in ("ab", "cd", "bc", "xy")]
    for some in (classes, classes[::-1]):
        assert merged_classes(some) == {**dict.fromkeys("abcd", "a"), **dict.fromkeys("xy", "x")}


def test_word_lists_are_clean() -> None:
    for strict in (False, True):
        words = [word for group in synonym_classes(strict) for word in group]
        assert len(words) == len(set(words)), "a word stands in two classes"
        assert all(word == word.lower() for word in words)
    assert {"the", "of", ","} <= stop_words()

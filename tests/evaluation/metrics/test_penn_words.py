from __future__ import annotations

import pytest

from qdecomp.evaluation.metrics.penn_words import INFLECTED_CLASSES, LemmaTables, WordTable, lemma_of, part_of_speech


def _tables(**classes: tuple[str, dict[str, tuple[str, ...]]]) -> LemmaTables:
    given = {name: WordTable(frozenset(words.split()), irregular) for name, (words, irregular) in classes.items()}
    return LemmaTables({name: given.get(name, WordTable(frozenset(), {})) for name in INFLECTED_CLASSES})


_TABLES = _tables(
    noun=("leaf leave vase vas datum", {"data": ("datum",), "oxen": ("ox",)}),
    verb=("ride rid stripe strip", {"left": ("leave",), "might": ("may",), "lay": ("lie", "lain")}),
    adj=("large", {}),
    adv=("well", {"better": ("well",)}),
)


@pytest.mark.parametrize(
    ("word", "tag", "part"),
    [
        ("that", "WDT", "DET"),
        ("that", "IN", "SCONJ"),
        ("That", "IN", "SCONJ"),
        ("THAT", "IN", "ADP"),
        ("in", "IN", "ADP"),
        ("to", "TO", "PART"),
        ("nobody", "NN", "PRON"),
        ("is", "VBZ", "AUX"),
        ("is", "VB", "VERB"),
        ("can", "MD", "VERB"),
        ("has", "VBZ", "AUX"),
        ("its", "PRP$", "DET"),
        ("denver", "NNP", "PROPN"),
        ("``", "``", "PUNCT"),
        ("x", "no such tag", "X"),
    ],
)
def test_part_of_speech(word, tag, part):
    assert part_of_speech(word, tag) == part


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("are", "VBP", "be"),
        ("is", "VBP", "is"),
        ("had", "VBD", "have"),
        ("their", "PRP$", "-PRON-"),
        ("i", "PRP", "i"),
        ("balls", "NNS", "ball"),
        ("balls", "NNPS", "balls"),
        ("Balls", "NNS", "ball"),
        ("leaves", "NNS", "leave"),
        ("vases", "NNS", "vase"),
        ("data", "NNS", "datum"),
        ("s", "NNS", "s"),
        ("riding", "VBG", "ride"),
        ("striped", "VBN", "stripe"),
        ("left", "VBN", "leave"),
        ("left", "JJ", "left"),
        ("might", "MD", "may"),
        # Of two irregular lemmas the last one counts.
        ("lay", "VBD", "lain"),
        ("larger", "JJR", "large"),
        ("better", "RBR", "well"),
        ("sooner", "RBR", "sooner"),
        ("“", "``", '"'),
        ("2,000s", "NNS", "2,000"),
    ],
)
def test_lemma(word, tag, lemma):
    assert lemma_of(word, tag, _TABLES) == lemma

from __future__ import annotations

import pytest

from qdecomp.data_structures.errors import GraphError
from qdecomp.data_structures.special_tokens import PRESETS, SpecialTokens, question_length, words_end


def test_the_paper_has_ten_words_and_five_of_each():
    paper = PRESETS["paper"]
    assert len(paper.resources) == 10
    assert (paper.duplicates, paper.dummies) == (5, 5)
    assert len(paper.appended) == 21
    assert paper.appended[0] == "[RSC]"
    assert paper.appended[-5:] == ("[DUM]",) * 5


def test_places_are_found_again():
    tokens = ("red", "cubes", *PRESETS["default"].appended)
    assert question_length(tokens) == 2
    assert tokens[: words_end(tokens)] == ("red", "cubes", *PRESETS["default"].words)
    assert question_length(("red", "cubes")) == words_end(("red", "cubes")) == 2


@pytest.mark.parametrize(("resources", "duplicates", "dummies"), [(("a", "a"), 1, 1), ((), -1, 0), ((), 0, -1)])
def test_nonsense_is_refused(resources, duplicates, dummies):
    with pytest.raises(GraphError):
        SpecialTokens(resources, duplicates, dummies)

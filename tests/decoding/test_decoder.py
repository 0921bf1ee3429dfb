from __future__ import annotations

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import DECODERS, make_decoder
from tests.decoding.decoding_examples import problem


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_decodes(name):
    found = problem((3, 4, "filter-sub", 0.9))
    decoded = make_decoder(name).decode(*found.arguments)
    assert [(edge.head, edge.dependent, edge.tag) for edge in decoded.graph.edges] == [(3, 4, "filter-sub")]
    assert (decoded.method, decoded.optimal) == ("greedy", True)


def test_a_decoder_takes_options():
    found = problem((3, 4, "filter-sub", 0.9), (4, 3, "filter-sub", 0.9))
    assert make_decoder("ilp").decode(*found.arguments).method == "ilp"
    assert make_decoder("ilp", time_limit=0).decode(*found.arguments).method == "repair"


def test_an_unknown_decoder_or_option_is_an_error():
    with pytest.raises(DataError, match="'lp'; use one of greedy, ilp"):
        make_decoder("lp")
    with pytest.raises(DataError, match=r"decoder 'greedy': .*time_limit"):
        make_decoder("greedy", time_limit=2)

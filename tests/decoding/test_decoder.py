from __future__ import annotations

import re

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.decoding import DECODERS, make_decoder
from qdecomp.decoding.ilp import IlpDecoder
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


def test_settings_may_be_an_object():
    assert make_decoder({"type": "ilp", "time_limit": 0.5}) == IlpDecoder(0.5)
    assert make_decoder({"type": "ilp"}) == make_decoder("ilp") == IlpDecoder()
    settings = {"type": "ilp", "time_limit": 0.5}
    assert make_decoder(settings, time_limit=3) == IlpDecoder(3)
    assert settings == {"type": "ilp", "time_limit": 0.5}


@pytest.mark.parametrize("name", ["lp", None, 3, ["ilp"]])
def test_an_unknown_decoder_is_an_error(name):
    message = re.escape(f"there is no decoder {name!r}; choose from greedy, greedy_valid, ilp, projection")
    for settings in (name, {"type": name}):
        with pytest.raises(DataError, match=message):
            make_decoder(settings)
    with pytest.raises(DataError, match="there is no decoder None"):
        make_decoder({"time_limit": 2})


def test_an_unknown_option_is_an_error():
    with pytest.raises(DataError, match="decoder 'greedy': there is no option 'time_limit'; known options: none"):
        make_decoder("greedy", time_limit=2)
    with pytest.raises(DataError, match="decoder 'ilp': there is no option 'time'; known options: time_limit"):
        make_decoder({"type": "ilp", "time": 2})
    with pytest.raises(DataError, match="the time limit is 'long'; give seconds, 0 or more"):
        make_decoder({"type": "ilp", "time_limit": "long"})

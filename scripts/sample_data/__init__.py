"""The tables from which ``scripts/make_sample_data.py`` makes the sample set in ``data/``."""

from pathlib import Path

from sample_data.shape import read_source

_NAMES = ("atis", "geo", "spider", "academic", "clevr", "nlvr2", "drop", "comqa", "cwq")
SOURCES = tuple(read_source(Path(__file__).with_name(f"{name}.yaml")) for name in _NAMES)

"""The tables from which ``scripts/make_sample_data.py`` makes the sample set in ``data/``."""

from sample_data.shape import read_source

__all__ = ["SOURCES"]

SOURCES = tuple(map(read_source, ("ATIS", "GEO", "SPIDER", "ACADEMIC", "CLEVR", "NLVR2", "DROP", "COMQA", "CWQ")))

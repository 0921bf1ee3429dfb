"""The tables from which ``scripts/make_sample_data.py`` makes the sample set in ``data/``."""

from sample_data.databases import ACADEMIC, SPIDER
from sample_data.flights import ATIS
from sample_data.geography import GEO
from sample_data.image_pairs import NLVR2
from sample_data.images import CLEVR
from sample_data.reports import DROP
from sample_data.web import COMQA, CWQ

__all__ = ["SOURCES"]

SOURCES = (ATIS, GEO, SPIDER, ACADEMIC, CLEVR, NLVR2, DROP, COMQA, CWQ)

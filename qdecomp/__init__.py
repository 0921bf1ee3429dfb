"""Question decomposition with dependency graphs: QDMR, logical forms, graphs, parsers and their metrics."""

from qdecomp.version import VERSION

__all__ = ["VERSION", "__version__"]

__version__ = VERSION

"""Equal in meaning: both decompositions are run in random worlds, and must compute the same in all of them."""

from .evidence import Evidence
from .metric import load
from .verdict import LF_EQ_VERSION, LfEqResult, lf_eq

__all__ = ["LF_EQ_VERSION", "Evidence", "LfEqResult", "lf_eq", "load"]

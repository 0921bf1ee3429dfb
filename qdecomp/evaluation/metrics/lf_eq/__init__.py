"""Equal in meaning: both decompositions are run in random worlds, and must compute the same in all of them."""

from qdecomp.evaluation.metrics.lf_eq.evidence import WorldEvidence
from qdecomp.evaluation.metrics.lf_eq.lf_eq_metric import load_lf_eq
from qdecomp.evaluation.metrics.lf_eq.verdict import LF_EQ_VERSION, LfEqResult, lf_eq

__all__ = ["LF_EQ_VERSION", "LfEqResult", "WorldEvidence", "lf_eq", "load_lf_eq"]

"""LF-Eq, equal in meaning: both decompositions are run in random worlds, and must compute the same in all of them."""

from qdecomp.evaluation.metrics.lf_eq.verdict import LF_EQ_VERSION, LfEqResult, WorldEvidence, lf_eq

__all__ = ["LF_EQ_VERSION", "LfEqResult", "WorldEvidence", "lf_eq"]

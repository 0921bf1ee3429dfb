"""LF-EM, exact match of logical forms: normalise, merge, reorder, compare."""

from qdecomp.data_structures.lf_em.metric import METRIC_VERSION, LfEmResult, lf_em, normalized_text

__all__ = ["METRIC_VERSION", "LfEmResult", "lf_em", "normalized_text"]

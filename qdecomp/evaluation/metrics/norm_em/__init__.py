"""NormEM: exact match after both decompositions were brought into a normal form."""

from qdecomp.evaluation.metrics.norm_em.norm_em_metric import NormEm, NormEmVerdict, load_norm_em

__all__ = ["NormEm", "NormEmVerdict", "load_norm_em"]

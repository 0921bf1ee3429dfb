"""NormEM: exact match after both decompositions were brought into a normal form."""

from .metric import NormEm, NormEmVerdict, load

__all__ = ["NormEm", "NormEmVerdict", "load"]

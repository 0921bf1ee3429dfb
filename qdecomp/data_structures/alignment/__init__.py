"""The alignment of a logical form's words to the question's tokens."""

from qdecomp.data_structures.alignment.align import Alignment, align

__all__ = ["Alignment", "align"]

"""Whether a conversion loses anything: does the graph convert back to the logical form that it was made from?

>>> from qdecomp.data_structures.conversion.chain import convert
>>> decomposition = "return cubes ;return #1 that are red ;return number of #2"
>>> check_round_trip(convert("How many red cubes are there?", decomposition)).verdict
True
"""

from __future__ import annotations

from qdecomp.data_structures.conversion.chain import Conversion, logical_form_from_graph
from qdecomp.data_structures.lf_em.metric import LfEmResult, lf_em

__all__ = ["check_round_trip"]


def check_round_trip(conversion: Conversion) -> LfEmResult:
    """Compare the logical form of the graph with the one that was converted, by LF-EM."""
    return lf_em(conversion.question, logical_form_from_graph(conversion.graph), conversion.form)

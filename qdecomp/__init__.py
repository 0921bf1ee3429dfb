"""Question decomposition with dependency graphs: QDMR, logical forms, graphs, parsers and their metrics.

>>> from qdecomp import lf_em, parse_qdmr, to_logical_form
>>> print(to_logical_form("return rivers ;return number of #1"))
SELECT[](sub=rivers)
AGGREGATE[count](arg=#1)
"""

# First, because it says in one line that this Python or this installation cannot work.
from qdecomp.version import VERSION

# isort: split
from qdecomp.data_structures.conversion.qdmr_to_lf import to_logical_form, to_qdmr
from qdecomp.data_structures.errors import QDecompError
from qdecomp.data_structures.lf_em import LfEmResult, lf_em
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.qdmr import Qdmr, parse_qdmr
from qdecomp.data_structures.reading import Reading, read_decomposition
from qdecomp.evaluation.scores import Scores, evaluate
from qdecomp.parsers.decomposition import Decomposition
from qdecomp.parsers.parser import Parser, load
from qdecomp.planning import Plan, PlanRun, PlanStep, SubQuestion

__all__ = [
    "VERSION",
    "Decomposition",
    "LfEmResult",
    "LogicalForm",
    "Parser",
    "Plan",
    "PlanRun",
    "PlanStep",
    "QDecompError",
    "Qdmr",
    "Reading",
    "Scores",
    "SubQuestion",
    "__version__",
    "evaluate",
    "lf_em",
    "load",
    "parse_qdmr",
    "read_decomposition",
    "to_logical_form",
    "to_qdmr",
]

__version__ = VERSION

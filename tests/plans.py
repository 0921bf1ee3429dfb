"""Plans for the tests of what is said about them and done with them; their steps stand without ``return``."""

from qdecomp import Decomposition, Qdmr, parse_qdmr
from qdecomp.planning import Plan


def qdmr_of(steps: str) -> Qdmr:
    """The decomposition with these steps: ``cubes; number of #1``."""
    return parse_qdmr(" ;".join(f"return {step}" for step in steps.split("; ")))


def plan_of(steps: str, question: str = "q") -> Plan:
    """The plan with these steps."""
    return Decomposition.of_text(question, str(qdmr_of(steps))).plan()

"""Plans for the tests of what is done with them."""

from qdecomp import Decomposition
from qdecomp.planning import Plan


def plan_of(steps: str, question: str = "q") -> Plan:
    """The plan with these steps, which stand without ``return``: ``cubes; number of #1``."""
    return Decomposition.of_text(question, " ;".join(f"return {step}" for step in steps.split("; "))).plan()

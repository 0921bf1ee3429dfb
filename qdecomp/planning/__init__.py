"""Plans of sub-questions: their levels, their wording, and running them with any function that answers questions."""

from qdecomp.planning.plan import Plan, PlanStep
from qdecomp.planning.retrieval import Passage, Retrieval
from qdecomp.planning.running import PlanRun, StepRun, StepStart
from qdecomp.planning.sub_questions import SubQuestion

__all__ = ["Passage", "Plan", "PlanRun", "PlanStep", "Retrieval", "StepRun", "StepStart", "SubQuestion"]

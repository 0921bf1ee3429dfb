"""Plans of sub-questions: their levels, their wording, and running them with any function that answers questions."""

from .plan import Plan, PlanStep
from .running import PlanRun, StepRun
from .sub_questions import SubQuestion

__all__ = ["Plan", "PlanRun", "PlanStep", "StepRun", "SubQuestion"]

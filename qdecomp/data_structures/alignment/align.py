"""Token alignment: which tokens of the question (or resource words) express each step, found by an integer program.

The program minimises the costs of :mod:`~qdecomp.data_structures.alignment.costs`. What has only one candidate is
decided at once. A choice that affects no other choice takes the cheapest candidate. Only the rest goes to CP-SAT, which
is loaded when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qdecomp.data_structures.alignment.candidate_tokens import AlignmentProblem, make_problem
from qdecomp.data_structures.alignment.costs import WEIGHTS, ChoiceGroup, Chosen, Costs, CostWeights, TokenChoice
from qdecomp.data_structures.errors import AlignmentError, Reason
from qdecomp.data_structures.limits import MOST_ALIGNMENT_CHOICES, above
from qdecomp.data_structures.logical_form import LogicalForm
from qdecomp.data_structures.operators import Operator

__all__ = ["Alignment", "align", "solve_alignment"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The token positions of each step, sorted.

    ``missing`` are the words, with their step from 0, that no token is equivalent to. ``optimal`` is False if the time
    limit ended the search; the alignment is then the best that was found.
    """

    steps: tuple[tuple[int, ...], ...]
    missing: tuple[tuple[int, str], ...] = ()
    optimal: bool = True


def align(form: LogicalForm, tokens: Sequence[str]) -> Alignment:
    """Align the steps of a logical form with a question's tokens and the resource words after them.

    >>> from qdecomp.data_structures.logical_form import parse_logical_form
    >>> form = parse_logical_form(["SELECT[](sub=water buffalo)", "FILTER[](sub=#1, condition=in the river)"])
    >>> align(form, "Is the water in the river where the water buffalo are ?".split()).steps
    ((8, 9), (5,))
    """
    problem = make_problem(form, tokens)
    missing = tuple((number, word) for number, step in enumerate(problem.steps) for word in step.missing)
    chosen, optimal = solve_alignment(problem)
    steps: list[list[int]] = [[] for _ in problem.steps]
    for number, position in sorted(chosen):
        steps[number].append(position)
    for number, step in enumerate(form.steps):
        if step.operator is Operator.SELECT and not steps[number]:
            words = ", ".join(problem.steps[number].missing)
            raise AlignmentError(Reason("it selects by words that the question does not have: {}", words), number + 1)
    return Alignment(tuple(map(tuple, steps)), missing, optimal)


def solve_alignment(problem: AlignmentProblem, weights: CostWeights = WEIGHTS) -> tuple[frozenset[TokenChoice], bool]:
    """The best choices, and whether they are proved to be the best."""
    chosen = Chosen((k, need[0]) for k, step in enumerate(problem.steps) for need in step.needs if len(need) == 1)
    costs = Costs(problem, weights)
    optimal = True
    for component in _components(list(_open_groups(problem, chosen)), costs):
        if len(component) == 1:
            chosen.add([_cheapest(component[0], costs, chosen)])
            continue
        from qdecomp.data_structures.alignment.alignment_program import solve_component

        choices = sum(len(group.options) for group in component)
        if reason := above(MOST_ALIGNMENT_CHOICES, choices, "ways to align words"):
            raise AlignmentError(Reason("{}; do the question or the steps repeat the same words many times?", reason))
        best, proven = solve_component(component, costs, chosen)
        chosen.add(best)
        optimal = optimal and proven
    return frozenset(chosen), optimal


def _open_groups(problem: AlignmentProblem, chosen: Chosen) -> Iterator[ChoiceGroup]:
    """What is not yet decided: needs with several candidates, and anchors that are still free."""
    for step, candidates in enumerate(problem.steps):
        for need in candidates.needs:
            if not any(step in chosen.steps_at(position) for position in need):
                yield ChoiceGroup(step, need)
        free = tuple(position for position in candidates.anchors if not chosen.steps_at(position))
        if free:
            yield ChoiceGroup(step, free, is_anchor=True)


def _cheapest(group: ChoiceGroup, costs: Costs, chosen: Chosen) -> TokenChoice:
    return min(group.choices, key=lambda choice: costs.cost_given(choice, chosen, group.is_anchor))


def _components(groups: Sequence[ChoiceGroup], costs: Costs) -> list[list[ChoiceGroup]]:
    """Groups that affect each other: by a common token, or by neighbours in the same or in related steps."""
    leader = list(range(len(groups)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    # One group stands for all at a position, and for all of a step there, since these belong together.
    at: dict[int, int] = {}
    of_step_at: dict[TokenChoice, int] = {}
    for number, group in enumerate(groups):
        for choice in group.choices:
            leader[find(at.setdefault(choice[1], number))] = find(number)
            of_step_at.setdefault(choice, number)
    for number, group in enumerate(groups):
        for position in group.options:
            for neighbour in costs.neighbours.get(position, ()):
                for step in costs.relatives[group.step]:
                    other = of_step_at.get((step, neighbour))
                    if other is not None:
                        leader[find(other)] = find(number)
    found: dict[int, list[ChoiceGroup]] = {}
    for number, group in enumerate(groups):
        found.setdefault(find(number), []).append(group)
    return list(found.values())

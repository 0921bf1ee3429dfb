"""``qdecomp prompt``: print a prompt for a language model whose answer can be read and scored."""

from __future__ import annotations

from typing import NamedTuple

import click

from qdecomp.terminal import echo_data

_INSTRUCTIONS = """\
Break a question down into simple steps that answer it together.

- Write one step in each line, numbered from 1. Write nothing else.
- A step is a short phrase that names what is wanted, not a sentence and not an answer.
- #1 stands for the answer of step 1. A step uses what earlier steps found by their numbers.
- Each step does one thing. The last step answers the question.
- Keep to the words of the question where you can.

Use these phrases where they fit:
"""


class PromptExample(NamedTuple):
    """A question and the steps that answer it."""

    question: str
    steps: tuple[str, ...]


PHRASES: tuple[tuple[str, str], ...] = (
    ("rivers", "all things of a kind"),
    ("#1 that are red", "those of step 1 that fit a description"),
    ("capitals of #1", "something that belongs to step 1"),
    ("number of #1", "how many there are; also highest, lowest, sum or average of #1"),
    ("number of #2 for each #1", "a figure for each member of a group"),
    ("#1 where #2 is highest", "those with the highest (or lowest) figure"),
    ("#1 where #2 is more than 100", "those whose figure fits a condition"),
    ("which is higher of #1 , #2", "the better one of two"),
    ("#1 , #2", "both together"),
    ("#1 in both #2 and #3", "what two steps have in common"),
    ("#1 besides #2", "what is left without others"),
    ("#1 sorted by #2", "in an order"),
    ("difference of #1 and #2", "a calculation; also sum, multiplication or division of"),
    ("if #1 is the same as #2", "a question that is answered by yes or no"),
)
"""A phrase and what it says, one for each operator."""

EXAMPLES: tuple[PromptExample, ...] = (
    PromptExample(
        "How many red mugs are on the shelf?", ("mugs", "#1 that are red", "#2 on the shelf", "number of #3")
    ),
    PromptExample(
        "Who directed the film that won the most prizes in Venice?",
        (
            "films",
            "prizes of #1 won in Venice",
            "number of #2 for each #1",
            "#1 where #3 is highest",
            "director of #4",
        ),
    ),
    PromptExample(
        "Is the bridge in Porto longer than the one in Lisbon?",
        ("bridge in Porto", "bridge in Lisbon", "length of #1", "length of #2", "if #3 is more than #4"),
    ),
    PromptExample(
        "Which libraries lend both games and tools?",
        ("libraries", "#1 that lend games", "#1 that lend tools", "#1 in both #2 and #3"),
    ),
    PromptExample(
        "How many more goals did Ana score than Bea in 2019?",
        (
            "goals in 2019",
            "#1 that Ana scored",
            "#1 that Bea scored",
            "number of #2",
            "number of #3",
            "difference of #4 and #5",
        ),
    ),
    PromptExample(
        "List the names and prices of all lamps that are not made of glass, the cheapest first.",
        (
            "lamps",
            "#1 that are made of glass",
            "#1 besides #2",
            "names of #3",
            "prices of #3",
            "#4 , #5",
            "#6 sorted by #5",
        ),
    ),
)
"""Questions of different kinds."""


@click.command("prompt")
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option(
    "--examples",
    type=click.IntRange(0, len(EXAMPLES)),
    default=len(EXAMPLES),
    show_default=True,
    help="How many worked examples the prompt has.",
)
def command(questions: tuple[str, ...], examples: int) -> None:
    """Print a prompt that asks a language model for the decomposition of a question.

    Give the prompt to any model. Save its answers as JSON lines with a question_id and a decomposition, and score them
    with qdecomp evaluate, which reads what models write.
    """
    echo_data(prompt_for(" ".join(questions), examples))


def prompt_for(question: str, examples: int = len(EXAMPLES)) -> str:
    """The prompt for a question, with this many worked examples."""
    phrases = "".join(f"- {phrase}: {what}\n" for phrase, what in PHRASES)
    shown = "\n\n".join(_shown(example) for example in EXAMPLES[:examples])
    parts = [f"{_INSTRUCTIONS}{phrases}".rstrip("\n"), shown, f"Question: {' '.join(question.split())}\nSteps:"]
    return "\n\n".join(part for part in parts if part)


def _shown(example: PromptExample) -> str:
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(example.steps, start=1))
    return f"Question: {example.question}\nSteps:\n{steps}"

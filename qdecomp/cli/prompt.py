"""``qdecomp prompt``: print a prompt for a language model whose answer can be read and scored."""

from __future__ import annotations

import click

from qdecomp.cli.prompt_examples import EXAMPLES, PHRASES, PromptExample
from qdecomp.terminal import echo_data

__all__ = ["command", "prompt_for"]

_INSTRUCTIONS = """\
Break a question down into simple steps that answer it together.

- Write one step in each line, numbered from 1. Write nothing else.
- A step is a short phrase that names what is wanted, not a sentence and not an answer.
- #1 stands for the answer of step 1. A step uses what earlier steps found by their numbers.
- Each step does one thing. The last step answers the question.
- Keep to the words of the question where you can.

Use these phrases where they fit:
"""


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

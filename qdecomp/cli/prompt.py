"""``qdecomp prompt``: print a prompt for a language model whose answer can be read and scored."""

from __future__ import annotations

import click

from qdecomp.terminal import echo_data


@click.command("prompt")
@click.argument("questions", nargs=-1, required=True, metavar="QUESTION...")
@click.option(
    "--examples",
    metavar="FILE",
    help="A CSV with questions and decompositions, such as Break's or data/asked_train.csv of a clone, from which the "
    "examples that resemble the question are taken; needs the extra llm.  [default: six examples of different kinds]",
)
@click.option("--k", type=click.IntRange(0, 50), help="How many examples the prompt has.  [default: 8 of a file, or 6]")
def command(questions: tuple[str, ...], examples: str | None, k: int | None) -> None:
    """Print a prompt that asks a language model for the decomposition of a question.

    Give the prompt to any model. Save its answers as JSON lines with a question_id and a decomposition, and score them
    with qdecomp evaluate, which reads what models write. qdecomp parse --parser URL asks the model itself.
    """
    from qdecomp.parsers.prompting import DEFAULT_EXAMPLES, EXAMPLES, open_examples, prompt_for

    question = " ".join(questions)
    if examples is not None:
        chosen = open_examples(examples)(question, DEFAULT_EXAMPLES if k is None else k)
    elif k is not None and k > len(EXAMPLES):
        raise click.UsageError(f"--k {k}: there are {len(EXAMPLES)} examples; give a file with more: --examples FILE")
    else:
        chosen = list(EXAMPLES[:k])
    echo_data(prompt_for(question, chosen))

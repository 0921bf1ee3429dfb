"""Reading decompositions that were not written as Break writes them: the lists, JSON and sentences of language models.

:func:`read_decomposition` is the only door. What it finds is Break's text, so that everything behind it (logical
forms, metrics, pages) works on one form. The tables are ``forms.FORMS`` (how steps are told apart),
``markup.WRAPPINGS`` (what stands around them), ``references.STYLES`` (how steps name each other) and
``phrases.QUESTIONS`` (how a sub-question says what a step says). To read another form is to add a row.
"""

from .forms import BREAK
from .reader import read_decomposition
from .values import Reading

__all__ = ["BREAK_FORM", "Reading", "read_decomposition"]

BREAK_FORM = BREAK.name
"""What :attr:`Reading.form` says of Break's own text."""

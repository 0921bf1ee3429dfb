"""Reading decompositions that were not written as Break writes them: the lists, JSON and sentences of language models.

:func:`read_decomposition` is the only entry point. It returns Break's text, so that everything after it (logical
forms, metrics, pages) works on one form. The tables are ``forms.FORMS`` (how steps are separated),
``markup.WRAPPINGS`` (what is around them), ``references.STYLES`` (how steps name each other),
``phrases.QUESTIONS`` and ``COMMANDS`` (how sentences say what steps say) and ``wordings.WORDINGS`` (other words for the
same). To read another form, add a row.
"""

from qdecomp.data_structures.reading.forms import BREAK
from qdecomp.data_structures.reading.reader import read_decomposition
from qdecomp.data_structures.reading.values import Reading

__all__ = ["BREAK_FORM", "Reading", "read_decomposition"]

BREAK_FORM = BREAK.name
"""The value of :attr:`Reading.form` for Break's own text."""

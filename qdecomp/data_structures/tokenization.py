"""The tokens of a question, which are the nodes of its graphs.

This is a light tokenizer of our own, so that graphs do not depend on what is installed. It splits as spaCy's English
tokenizer does, with two differences that graphs need: "id" is one token, not "i d", and "5pm" is one token as in
the steps that annotators write.
"""

from __future__ import annotations

import re

from qdecomp.data_structures.errors import DataError, Reason, require_text
from qdecomp.data_structures.limits import LONGEST_QUESTION, MOST_WORDS, above

_ENDINGS = "s|re|ve|ll|d|m"
# Garbled letters, such as "Ã±", stay in their word; currency signs do not.
_LETTER = r"[\w\u00a6-\u00aa\u00ac-\u00b6\u00b8-\u00ba\u00bc-\u00be]"
_TOKEN = re.compile(
    rf"""
    (?:[^\W\d_]\.){{2,}}                                              # U.S.
  | [^\W\d_]\.(?=\s+[^\W\d_])                                       # H. V. Jagadish
  | \d+(?:[.,:]\d+)*{_LETTER}*                                       # 1,000  5pm  2nd
  | ['’](?:{_ENDINGS})(?!\w)                                         # 's
  | {_LETTER}+?(?=n['’]t(?!\w)) | n['’]t(?!\w)                      # do n't
  | can(?=not(?!\w))                                                 # can not
  | {_LETTER}+(?:['’](?!(?:{_ENDINGS})(?!\w)){_LETTER}+)*(?:-\d\w*)?  # O'Brien  ACCT-211
  | [\U0001f1e6-\U0001f1ff]{{2}} | \S(?:\ufe0f|[\U0001f3fb-\U0001f3ff]|\u200d\S)+  # 🇮🇹  👍🏽
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def tokenize(question: str) -> tuple[str, ...]:
    """Split a question into tokens without spaces.

    >>> tokenize("Who didn't see O'Brien's 40-yard field goals in the U.S.?")
    ('Who', 'did', "n't", 'see', "O'Brien", "'s", '40', '-', 'yard', 'field', 'goals', 'in', 'the', 'U.S.', '?')
    """
    return tuple(_TOKEN.findall(question))


def with_whole_numbers(text: str, question: str) -> str:
    """A step's text with numbers as in the question, since the tokens of steps have commas of their own.

    >>> with_whole_numbers("#1 where #2 is higher than 1 , 000 dollars", "Which cost more than 1,000 dollars?")
    '#1 where #2 is higher than 1,000 dollars'
    """
    if " , " in text:
        for token in tokenize(question):
            if "," in token[1:-1]:
                text = text.replace(token.replace(",", " , "), token)
    return text


def question_words(question: str) -> tuple[str, ...]:
    """The words of a question to parse or convert; one that is empty or too long is a :class:`DataError`."""
    check_length(question)
    words = tokenize(question)
    if not words:
        raise DataError("the question is empty")
    if reason := above(MOST_WORDS, len(words), "words"):
        raise DataError(Reason("the question is too long: {}", reason))
    if has_half_character(question):
        raise DataError("the question has half of a character in it (a lone surrogate)")
    if not any(map(str.isalnum, question)):
        raise DataError("the question has no word in it")
    return words


def check_length(question: str) -> None:
    """Raise if a question has too many characters."""
    require_text(question, "a question")
    if reason := above(LONGEST_QUESTION, len(question), "characters"):
        raise DataError(Reason("the question is too long: {}", reason))


def has_half_character(text: str) -> bool:
    """Whether a text has a lone surrogate, which no encoding can represent: JSON's escapes can produce one."""
    return _HALF_CHARACTER.search(text) is not None

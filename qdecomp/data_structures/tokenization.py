"""The tokens of a question, which are the nodes of its graphs.

A light tokenizer of our own, so that graphs do not depend on what is installed. It splits as spaCy's English
tokenizer does, with a few differences that graphs need: "id" is one token and not "i d", and a time such as "5pm"
or an e-mail part is split only where annotators' words end.
"""

from __future__ import annotations

import re

__all__ = ["tokenize"]

_ENDINGS = "s|re|ve|ll|d|m"
_TOKEN = re.compile(
    rf"""
    (?:[^\W\d_]\.){{2,}}                              # U.S.
  | [^\W\d_]\.(?=\s+[^\W\d_])                         # H. V. Jagadish
  | \d+(?:[.,:]\d+)*(?:-?\w+)?                        # 1,000  5pm  2nd  40-yard
  | ['’](?:{_ENDINGS})(?!\w)                          # 's
  | \w+?(?=n['’]t(?!\w)) | n['’]t(?!\w)               # do n't
  | \w+(?:['’](?!(?:{_ENDINGS})(?!\w))\w+)*(?:-\d\w*)?  # O'Brien  ACCT-211
  | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)


def tokenize(question: str) -> tuple[str, ...]:
    """Split a question into tokens without spaces.

    >>> tokenize("Who didn't see O'Brien's 40-yard field-goals in the U.S.?")
    ('Who', 'did', "n't", 'see', "O'Brien", "'s", '40-yard', 'field', '-', 'goals', 'in', 'the', 'U.S.', '?')
    """
    return tuple(_TOKEN.findall(question))

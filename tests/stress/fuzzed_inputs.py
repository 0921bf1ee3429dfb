"""Where inputs come from: Hypothesis draws pieces of text and a seed, from which many inputs are assembled.

Drawing takes Hypothesis a hundred times as long as most of our functions need, so each drawn example gives
:data:`INPUTS_OF_A_DRAW` inputs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from qdecomp.data_structures.edge_tags import tag_vocabulary
from qdecomp.data_structures.operators import OPERATORS, Operator

INPUTS_OF_A_DRAW = 200

_STEPS = (
    *("number of #1", "#1 that are red", "#1 where #2 is highest", "both #1 and #2", "#1 , #2", "#1 besides #2"),
    *("#1 for each #2", "if #1 is the same as #2", "difference of #1 and #2", "#1 sorted by #2", "is there any #1"),
    *("#1 in both #2 and #3", "which is lowest of #1 , #2", "#1 where #2 is more than 3", "highest of #1"),
    "sum of #1 for each",
)
_SINGLE = """
cubes red balls rivers texas larger cube citys ys y 5 2.5 1,000 é שלום return returns Return the of in a
? 's n't O'Brien U.S. - ; ;; , " ' “ \\ = ( ) [ ] { } | : <script> &amp;
#1 #2 #3 #0 #12 #0000000012 #99999999999999999999 # ## #1's (#2) #１
[RSC] [DUP] [DUM] [CLS] [UNK] =1+1 @x NaN Infinity null 1e999 -1 Step - ``` <step>
"""
_WORDS = (
    *_SINGLE.split(),
    *("\n", "\r\n", "\t", "\0", "\x1b[31m", "\u2028", "\ufeff", "\ud800", "\U0001f600", "\u0301", "ﷺ", "İ", "ß", "ǅ"),
    *("return return", " ;return ", "1. Find all cubes.", "2. How many [1] are there?", '["a", "b"]', "Step 1:", "- "),
    *_STEPS,
)
_JSON = ("", 0, -1, 1e308, float("nan"), float("inf"), None, True, [], {}, b"x", 10**400, "x", 0.5, "9" * 400)


@dataclass(frozen=True, slots=True)
class Pieces:
    """What one input is assembled from: a random generator, and the texts that were drawn."""

    chance: random.Random
    drawn: tuple[str, ...]

    def word(self) -> str:
        """A word that was drawn, or one that caused trouble before."""
        return self.chance.choice(self.drawn if self.drawn and self.chance.random() < 0.3 else _WORDS)

    def text(self, most: int = 12) -> str:
        """Words, with and without spaces between them; sometimes very many of them."""
        count = self.chance.randrange(most + 1) if self.chance.random() < 0.98 else self.chance.randrange(400)
        glue = self.chance.choice((" ", " ", " ", " ", "", " ;return "))
        return glue.join(self.word() for _ in range(count))

    def question(self) -> str:
        """Mostly words of a question."""
        return f"{self.chance.choice(('which', 'how many', 'what is the', ''))} {self.text(20)} ?"

    def question_about(self, decomposition: str) -> str:
        """A question with the words of a decomposition, so that it can be converted, or with others."""
        if self.chance.random() < 0.2:
            return self.question()
        words = [word for word in decomposition.split() if "#" not in word and ";" not in word]
        self.chance.shuffle(words)
        return " ".join(words[: self.chance.randrange(1, 40)])

    def decomposition(self) -> str:
        """Steps that refer to each other, sensibly or not."""
        if self.chance.random() < 0.2:
            return self.text()
        count = self.chance.randrange(1, 8) if self.chance.random() < 0.98 else self.chance.randrange(1, 130)
        steps = [self.chance.choice(("cubes", "red balls", "rivers"))]
        for number in range(1, count):
            words = self.text(4) if self.chance.random() < 0.3 else self.chance.choice(_STEPS)
            steps.append(words.replace("#1", f"#{number}").replace("#2", f"#{self.chance.randrange(1, number + 1)}"))
        return " ;".join(f"return {step}" for step in steps)

    def logical_form(self) -> list[str]:
        """Lines like those of a logical form."""
        lines = []
        for number in range(self.chance.randrange(1, 6)):
            operator = self.chance.choice(list(Operator))
            names = OPERATORS[operator].arguments
            values = (
                f"{self.chance.choice(names)}={self._reference_or_words(number)}"
                for _ in range(self.chance.randrange(4))
            )
            properties = self.chance.choice(("", *OPERATORS[operator].properties))
            lines.append(f"{operator.value.upper()}[{properties}]({', '.join(values)})")
        return lines if self.chance.random() < 0.8 else [self.spoiled(line) for line in lines]

    def _reference_or_words(self, number: int) -> str:
        return f"#{number}" if number and self.chance.random() < 0.5 else self.text(3) or "x"

    def spoiled(self, text: str) -> str:
        """The text with pieces removed, doubled or inserted."""
        for _ in range(self.chance.randrange(4)):
            start = self.chance.randrange(len(text) + 1)
            end = min(len(text), start + self.chance.randrange(6))
            text = text[:start] + self.chance.choice(("", self.word(), text[start:end] * 2)) + text[end:]
        return text

    def graph(self) -> dict[str, Any]:
        """A dependency graph as JSON, or nearly one."""
        tokens = [self.word() if self.chance.random() < 0.1 else f"w{i}" for i in range(self.chance.randrange(1, 12))]
        if self.chance.random() < 0.5:
            tokens += ["[RSC]", "size", "[DUP]", "[DUP]", "[DUM]"]
        tags = ("span", "duplicate", "unused", "filter-sub", "project-sub", *tag_vocabulary())
        count = self.chance.randrange(8) if self.chance.random() < 0.98 else self.chance.randrange(260)
        places = [self.chance.randrange(len(tokens)) for _ in range(2 * count)]
        edges: list[Any] = [
            [head, dependent, self.chance.choice(tags), 0.5]
            for head, dependent in zip(places[::2], places[1::2], strict=True)
        ]
        if self.chance.random() < 0.1:
            edges.append([self.json(), self.json(), self.word()])
        return {"tokens": tokens, "edges": edges}

    def json(self) -> Any:
        """Any JSON value, and some that are not JSON."""
        return self.chance.choice(_JSON) if self.chance.random() < 0.7 else self.word()

    def record(self) -> dict[str, Any]:
        """A prediction record with some fields that are wrong."""
        record: dict[str, Any] = {
            "question_id": self.word(),
            "question": self.question(),
            "decomposition": self.decomposition(),
            "logical_form": self.logical_form() if self.chance.random() < 0.5 else None,
            "graph": self.graph() if self.chance.random() < 0.5 else None,
            "score": -self.chance.random(),
            "error": None,
        }
        for name in self.chance.sample(sorted(record), self.chance.choice((0, 0, 0, 1, 2))):
            record[name] = self.json()
        return record


def pieces_of(draw: tuple[Sequence[str], int]) -> Iterator[Pieces]:
    """The pieces of each input that a draw stands for."""
    drawn, seed = draw
    for number in range(INPUTS_OF_A_DRAW):
        yield Pieces(random.Random(f"{seed}-{number}"), tuple(drawn))


def draws() -> st.SearchStrategy[tuple[list[str], int]]:
    """Texts of any characters, including surrogates, and a seed."""
    texts = st.text(st.characters(exclude_categories=()), max_size=8)
    return st.tuples(st.lists(texts, min_size=1, max_size=6), st.integers(0, 2**32))

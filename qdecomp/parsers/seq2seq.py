"""The bundled seq2seq parser: it generates a decomposition token by token, or copies words of the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isfinite
from pathlib import Path

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR, copied_ids, text_from_target_tokens
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.coverage import check_penalty, unsaid_words
from qdecomp.parsers.bundle import VOCABULARY, Seq2SeqConfig
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text
from qdecomp.parsers.network import Seq2SeqNetwork, groups_of_a_length
from qdecomp.parsers.pieces import WordPieces, make_ready
from qdecomp.parsers.plan_rules import PlanRules, RuleNames
from qdecomp.parsers.search import BeamSearch, Cost, Found, Hypothesis

# A plan whose score is so much lower than that of another of as many tokens has never become the answer: on 1,049
# training rows that were held out, no answer differs from those with 4.
_MOST_BEHIND = 3.0
_LIMITS = {"beam_size": (1, 100), "max_steps": (1, 1_000), "candidates": (0, 100)}


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How many hypotheses are kept, for how many tokens, which rules hold, and how many candidates are given.

    Each word of the question that a plan leaves out takes ``coverage_penalty`` off its score.
    """

    beam_size: int = 5
    max_steps: int = 150
    plan_rules: RuleNames = True
    candidates: int = 0
    coverage_penalty: float = 0.0

    def __post_init__(self) -> None:
        for name, (least, most) in _LIMITS.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise DataError(f"{name} is {str(value)[:20]}; give a whole number from {least} to {most:,}")
        check_penalty(self.coverage_penalty)

    def search(self, tokens: Sequence[str], start: str, end: str) -> BeamSearch:
        """The search with these settings for a vocabulary."""
        rules = PlanRules(tokens, STEP_SEPARATOR, end, self.plan_rules)
        return BeamSearch(
            tokens.index(start),
            tokens.index(end),
            rules,
            max(self.beam_size, self.candidates),
            self.max_steps,
            max(1, self.candidates),
            inf if self.candidates else _MOST_BEHIND,
        )


class Seq2SeqParser:
    """Networks, the tokens that they can generate, and a search."""

    def __init__(self, folder: Path, config: Seq2SeqConfig, settings: SearchSettings) -> None:
        ids = {token: number for number, token in enumerate(config.tokens)}
        self._network = Seq2SeqNetwork(folder, len(ids), ids[config.unknown])
        self._pieces = WordPieces(folder / VOCABULARY, config.max_pieces)
        self._tokens, self._ids = config.tokens, ids
        self._settings = settings
        self._search = settings.search(config.tokens, config.start, config.end)

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A decomposition for each question of a batch; one that cannot be parsed has an error."""
        ready = make_ready(questions, self._pieces)
        sources = [
            Source(questions[number], tuple(word.lower() for word in words), self._tokens)
            for number, words in ready.words.items()
        ]
        found: dict[int, Decomposition] = {}
        for group in groups_of_a_length([len(source.words) for source in sources]):
            asked = [sources[number] for number in group]
            ids = [copied_ids(source.words, self._ids, len(self._tokens)) for source in asked]
            state = self._network.begin([ready.pieces[number] for number in group], ids, self._search.beam_size)
            results = self._search(state, len(group), coverage_cost(asked, self._settings.coverage_penalty))
            answers = map(partial(decomposition_of, candidates=self._settings.candidates), results, asked)
            found |= zip(group, answers, strict=True)
        return ready.with_answers([found[number] for number in range(len(sources))])


@dataclass(frozen=True, slots=True)
class Source:
    """A question, its words as they are copied, and the vocabulary; ids beyond it are those of the words."""

    question: str
    words: Sequence[str]
    tokens: Sequence[str]

    def text(self, hypothesis: Hypothesis) -> str:
        """The decomposition of a hypothesis, spelled as in the question."""
        first = len(self.tokens)
        words = [self.tokens[each] if each < first else self.words[each - first] for each in hypothesis.tokens]
        return text_from_target_tokens(words, self.question)


def coverage_cost(sources: Sequence[Source], penalty: float) -> Cost | None:
    """What a search takes off the scores of plans: the penalty for each word of the question that a plan leaves out."""
    if not penalty:
        return None

    def cost(number: int, hypothesis: Hypothesis) -> float:
        source = sources[number]
        return penalty * len(unsaid_words(source.question, source.text(hypothesis)))

    return cost


def decomposition_of(found: Found, source: Source, candidates: int = 0) -> Decomposition:
    """What a search found for a question, with up to so many candidates."""
    best, *others = found.hypotheses
    margin = best.score - found.next_score
    answer = replace(
        decomposition_from_text(source.question, source.text(best), best.score),
        margin=margin if isfinite(margin) else None,
    )
    if not candidates:
        return answer
    kept = [best, *(each for each in others if each.finished)]
    return replace(answer, candidates=tuple(Candidate(source.text(each), each.score) for each in kept))

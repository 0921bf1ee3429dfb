"""Makes predictions with networks that write decompositions token by token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR, copied_ids, text_from_target_tokens
from qdecomp.data_structures.errors import DataError
from qdecomp.decoding.coverage import check_penalty, unsaid_words
from qdecomp.parsers.backends import NetworkOfWriter
from qdecomp.parsers.beam_search import BeamSearch, Cost, Found
from qdecomp.parsers.calibration import Calibration
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text
from qdecomp.parsers.hypothesis import Hypothesis
from qdecomp.parsers.plan_rules import PlanRules, RuleNames
from qdecomp.parsers.questions import make_ready
from qdecomp.parsers.word_pieces import WordPieces
from qdecomp.parsers.writer_tables import groups_of_a_length

__all__ = ["SearchSettings", "Writer"]

# A plan whose score is so much lower than that of another of as many tokens has never become the answer: on 1,049
# training rows that were held out, no answer differs from those with 4.
_MOST_BEHIND = 3.0


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
        for name, least in (("beam_size", 1), ("max_steps", 1), ("candidates", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise DataError(f"{name} is {value!r}; give a whole number, {least} or more")
        check_penalty(self.coverage_penalty)


class Writer:
    """Networks, the tokens that they can write, and a search."""

    def __init__(
        self,
        network: NetworkOfWriter,
        word_pieces: WordPieces,
        tokens: Sequence[str],
        *,
        start: str,
        end: str,
        search: SearchSettings,
    ) -> None:
        if network.token_count != len(tokens):
            raise DataError("the weights and the tokens do not match")
        self._network = network
        self._word_pieces = word_pieces
        self._tokens = tuple(tokens)
        self._ids = {token: number for number, token in enumerate(tokens)}
        self.calibration: Calibration | None = None
        self._beam_search = BeamSearch(
            self._ids[start],
            self._ids[end],
            PlanRules(tokens, STEP_SEPARATOR, end, search.plan_rules),
            max(search.beam_size, search.candidates),
            search.max_steps,
            max(1, search.candidates),
            inf if search.candidates else _MOST_BEHIND,
        )
        self._search = search

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A prediction for each question, in one batch; one that cannot be parsed has an error."""
        ready = make_ready(questions, self._word_pieces)
        if not ready.pieces:
            return ready.with_answers([])
        sources = [tuple(word.lower() for word in words) for words in ready.words.values()]
        ids = [copied_ids(source, self._ids, self._network.first_word) for source in sources]
        states = self._network.encode(ready.pieces)
        asked = [questions[number] for number in ready.words]
        found: dict[int, Decomposition] = {}
        for group in groups_of_a_length([len(source) for source in sources]):
            encoded, copied = [states[number] for number in group], [ids[number] for number in group]
            state = self._network.begin(encoded, copied, self._beam_search.beam_size)
            group_sources, group_questions = [sources[number] for number in group], [asked[number] for number in group]
            results = self._beam_search(state, len(group), self._cost(group_sources, group_questions))
            predictions = map(self._prediction, results, group_sources, group_questions)
            found |= zip(group, predictions, strict=True)
        return ready.with_answers([found[number] for number in range(len(sources))])

    def _cost(self, sources: Sequence[Sequence[str]], questions: Sequence[str]) -> Cost | None:
        if not self._search.coverage_penalty:
            return None

        def cost(number: int, hypothesis: Hypothesis) -> float:
            text = self._text(hypothesis, sources[number], questions[number])
            return self._search.coverage_penalty * len(unsaid_words(questions[number], text))

        return cost

    def _prediction(self, found: Found, source: Sequence[str], question: str) -> Decomposition:
        best, *others = found.hypotheses
        read = decomposition_from_text(question, self._text(best, source, question), best.score)
        margin = best.score - found.next_score
        prediction = replace(read, margin=margin if isfinite(margin) else None)
        if not self._search.candidates:
            return prediction
        kept = [best, *(each for each in others if each.finished)]
        candidates = tuple(Candidate(self._text(each, source, question), each.score) for each in kept)
        return replace(prediction, candidates=candidates)

    def _text(self, hypothesis: Hypothesis, source: Sequence[str], question: str) -> str:
        first = self._network.first_word
        words = [self._tokens[number] if number < first else source[number - first] for number in hypothesis.tokens]
        return text_from_target_tokens(words, question)

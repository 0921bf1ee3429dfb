"""The bundled seq2seq parser: it generates a decomposition token by token, or copies words of the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from math import exp, inf, isfinite, log1p
from pathlib import Path
from typing import Any, NamedTuple

from qdecomp.data_structures.conversion.target_tokens import STEP_SEPARATOR, copied_ids, text_from_target_tokens
from qdecomp.data_structures.errors import DataError
from qdecomp.data_structures.tokenization import tokenize
from qdecomp.decoding.coverage import check_penalty, uncovered_words
from qdecomp.parsers.bundle import VOCABULARY, Seq2SeqConfig
from qdecomp.parsers.calibration import Kind
from qdecomp.parsers.decomposition import Candidate, Decomposition, decomposition_from_text
from qdecomp.parsers.network import Array, DecoderState, Ranker, Seq2SeqNetwork, groups_of_a_length
from qdecomp.parsers.pieces import Asked, WordPieces, answers_of, asked
from qdecomp.parsers.plan_rules import NamePlaces, PlanRules, RuleNames, name_places
from qdecomp.parsers.search import BeamSearch, Cost, Found, Hypothesis

# A plan whose score is so much lower than that of another of as many tokens has never become the answer: on 1,049
# training rows that were held out, no answer differs from those with 4.
MOST_BEHIND = 3.0
"""How far behind the best hypothesis those may be that are ranked or can become the answer."""
# Chosen of eight values on held-out rows: .531 of the best plans are then right, with the ranker alone .529. Of plans
# that differ in their wording only, the one that the search prefers is more often the annotator's.
_WEIGHT_OF_SEARCH = 0.3
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

    def with_options(self, options: Mapping[str, Any]) -> SearchSettings:
        """The same settings but for these; the candidates are no option of the search."""
        names = [each.name for each in fields(self) if each.name != "candidates"]
        for option in options:
            if option not in names:
                raise DataError(f"there is no option {option!r}; the options are {', '.join(names)}")
        return replace(self, **options)


class Seq2SeqParser:
    """Networks, the tokens that they can generate, a search, and perhaps a ranker of what it finds.

    ``kind`` is what the parser's calibration wants to know about questions.
    """

    def __init__(self, folder: Path, config: Seq2SeqConfig, settings: SearchSettings, kind: Kind | None = None) -> None:
        self.kind = kind
        self._ids = {token: number for number, token in enumerate(config.tokens)}
        self._network = Seq2SeqNetwork(folder, len(self._ids), self._ids[config.unknown])
        self._ranker = None if config.ranker is None else Ranker(folder, config.tokens, config.unknown)
        self._pieces = WordPieces(folder / VOCABULARY, config.max_pieces)
        self._tokens, self._settings = config.tokens, settings
        rules = PlanRules(config.tokens, STEP_SEPARATOR, config.end, settings.plan_rules)

        def search(wanted: int, most_behind: float) -> BeamSearch:
            beam_size = max(settings.beam_size, wanted)
            return BeamSearch(self._ids[config.start], rules, beam_size, settings.max_steps, wanted, most_behind)

        self._candidates = search(settings.candidates, inf) if settings.candidates else None
        # The answer does not depend on how many candidates are asked for: it is the best of this search.
        self._search = search(settings.beam_size if self._ranker else 1, MOST_BEHIND)

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """A decomposition for each question of a batch; one that cannot be parsed has an error."""
        return answers_of(questions, self._pieces, self._parse)

    def _parse(self, ready: list[Asked]) -> list[Decomposition]:
        answers: dict[int, Decomposition] = {}
        for group in self._begun(ready):
            found = self._ranked(group, self._found(group, self._search))
            if self._candidates is not None:
                others = self._ranked(group, self._found(group, self._candidates))
                found = list(map(_followed_by, found, others))
            decompose = partial(decomposition_of, candidates=self._settings.candidates)
            decomposed = list(map(decompose, found, group.sources))
            if self.kind is not None:
                kinds = map(self.kind, group.words)
                decomposed = [replace(each, kind=kind) for each, kind in zip(decomposed, kinds, strict=True)]
            answers |= zip(group.numbers, decomposed, strict=True)
        return [answers[number] for number in range(len(answers))]

    def word_states(self, questions: Sequence[str]) -> Iterator[tuple[Source, Array]]:
        """Those questions of a batch that can be parsed, and the states of their words in the encoder (words, size)."""
        for group in self._begun(self._asked(questions)):
            yield from zip(group.sources, group.words, strict=True)

    def candidates(self, questions: Sequence[str]) -> Iterator[tuple[Source, Found]]:
        """Those questions of a batch that can be parsed, and the candidates for each, without the ranker."""
        for group in self._begun(self._asked(questions)):
            yield from zip(group.sources, self._found(group, self._candidates or self._search), strict=True)

    def _asked(self, questions: Sequence[str]) -> list[Asked]:
        return [found for each in questions if isinstance(found := asked(each, self._pieces), Asked)]

    def _begun(self, ready: Sequence[Asked]) -> Iterator[_Begun]:
        for group in groups_of_a_length([len(each.words) for each in ready]):
            chosen = [ready[number] for number in group]
            sources = [self._source(each.question, [word.lower() for word in each.words]) for each in chosen]
            begun = self._network.begin([each.pieces for each in chosen], [source.ids for source in sources])
            yield _Begun(group, sources, *begun)

    def _source(self, question: str, words: Sequence[str]) -> Source:
        return Source(question, words, copied_ids(words, self._ids, len(self._tokens)), self._tokens)

    def _found(self, group: _Begun, search: BeamSearch) -> list[Found]:
        cost = coverage_cost(group.sources, self._settings.coverage_penalty)
        return search(group.state.of_width(search.beam_size), [source.names() for source in group.sources], cost)

    def _ranked(self, group: _Begun, found: list[Found]) -> list[Found]:
        if self._ranker is None:
            return found
        return list(map(partial(ranked, self._ranker), group.words, group.sources, found))


class _Begun(NamedTuple):
    """Questions of a group, by their numbers, before the search."""

    numbers: list[int]
    sources: list[Source]
    state: DecoderState
    words: list[Array]
    """The states of each question's words in the encoder (words, size)."""


def ranked(ranker: Ranker, words: Array, source: Source, found: Found) -> Found:
    """The finished hypotheses by how likely they are right; the logarithm of that becomes their score.

    Their log-odds are those of the ranker and a share of their score in the search.
    """
    finished = [each for each in found.hypotheses if each.finished]
    if not finished:
        return found
    hypotheses = [each for each in finished if each.score >= finished[0].score - MOST_BEHIND]
    logits = ranker(words, source.ids, hypotheses)
    odds = [logit + _WEIGHT_OF_SEARCH * each.score for each, logit in zip(hypotheses, logits, strict=True)]
    scored = [replace(each, score=-log1p(exp(-logit))) for each, logit in zip(hypotheses, odds, strict=True)]
    scored.sort(key=lambda each: -each.score)
    return Found(tuple(scored), scored[1].score if len(scored) > 1 else -inf)


def _followed_by(found: Found, others: Found) -> Found:
    """The best hypothesis, then the others that are not it."""
    best = found.hypotheses[0]
    return Found((best, *(each for each in others.hypotheses if each.tokens != best.tokens)), found.next_score)


@dataclass(frozen=True, slots=True)
class Source:
    """A question, its words as they are copied, and the vocabulary, beyond which ids are those of the words."""

    question: str
    words: Sequence[str]
    ids: Sequence[int]
    tokens: Sequence[str]

    def text(self, hypothesis: Hypothesis) -> str:
        """The decomposition of a hypothesis, spelled as in the question."""
        return text_from_target_tokens(self.target_tokens(hypothesis), self.question)

    def target_tokens(self, hypothesis: Hypothesis) -> list[str]:
        """The tokens of a hypothesis as they are generated or copied."""
        first = len(self.tokens)
        return [self.tokens[each] if each < first else self.words[each - first] for each in hypothesis.tokens]

    def names(self) -> NamePlaces | None:
        """Where its names are; a token of the vocabulary is not tied to a name."""
        return name_places(tokenize(self.question), self.ids, len(self.tokens))


def coverage_cost(sources: Sequence[Source], penalty: float) -> Cost | None:
    """What a search takes off the scores of plans: the penalty for each word of the question that a plan leaves out."""
    if not penalty:
        return None

    def cost(number: int, hypothesis: Hypothesis) -> float:
        source = sources[number]
        return penalty * len(uncovered_words(source.question, source.text(hypothesis)))

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
    kept = [best, *(each for each in others if each.finished)][:candidates]
    return replace(answer, candidates=tuple(Candidate(source.text(each), each.score) for each in kept))

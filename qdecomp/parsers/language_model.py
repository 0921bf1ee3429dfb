"""A language model as a parser: it is asked with a prompt, its answer is checked, and asked for again if it is wrong.

    parser = qdecomp.load("http://127.0.0.1:8080/v1", model="qwen2.5")    # any endpoint that speaks OpenAI's protocol
    parser = qdecomp.load(answer, model="mine")                           # or a function from messages to a text

An answer that cannot be read, has no logical form, or leaves out what the question says is asked for once more, with
its mistakes named. If no answer is a plan, there is none, and the reason is said. What goes wrong with the endpoint
(no connection, no permission, too slow) is a :class:`ModelError` and stops the run; all answers so far are in a cache
on disk, so that nothing is asked twice.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

from qdecomp.data_structures.errors import DataError, QDecompError
from qdecomp.data_structures.qdmr import parse_qdmr
from qdecomp.data_structures.reading import read_decomposition
from qdecomp.data_structures.tokenization import question_words
from qdecomp.decoding.coverage import uncovered_words
from qdecomp.files.sources import cache_folder
from qdecomp.files.store import RecordCache
from qdecomp.parsers.decomposition import Answered, Decomposition, decomposition_from_text, failed_decomposition
from qdecomp.parsers.prompting import DEFAULT_EXAMPLES, PromptExample, messages_for, open_examples
from qdecomp.planning.checks import plan_warnings

Messages = Sequence[Mapping[str, str]]

FORMS = ("json_schema", "grammar", "regex", "text")
"""How a model is held to the form of a plan: see :mod:`qdecomp.parsers.plan_form`; ``text`` does not hold it."""

KEY_VARIABLE = "QDECOMP_API_KEY"
"""The environment variable with the key of an endpoint, if the settings name no other."""

# Another prompt or another check of answers is another parser.
_VERSION = 1
_LONGEST_ANSWER = 20_000
_MISTAKES_NAMED = 5
_AGAIN = "Write all steps again, as in the examples, and nothing else."
_LOOKS_AFTER_AN_INTERRUPT = 20
# A word that the question has and no step may be one that a plan expresses otherwise; this many are too many.
_MOST_UNSAID = 2
_SAME_BEGINNING = 4
_WORD = re.compile(r"\w+")
_REFERENCE = re.compile(r"#\d+")
_NAME = re.compile(r"(?<=\s)[A-Z0-9]\w*")


class ModelError(QDecompError):
    """The endpoint of a language model gave no answer; the message says why, and never contains a key."""


class FormRefusedError(QDecompError):
    """The endpoint cannot hold a model to this form."""


class Completion(NamedTuple):
    """What a model wrote, and the tokens of that and of the prompt."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


Ask = Callable[[Messages, str], Completion]
"""Asks a model for an answer in a form; raises a :class:`ModelError` or a :class:`FormRefusedError`."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which language model, and how it is asked."""

    model: str
    url: str = ""
    """The address of an endpoint, as ``http://127.0.0.1:8080/v1``; none for a function."""
    examples: str | None = None
    """A CSV with questions and decompositions; by default, a selection that comes with the package."""
    k: int = DEFAULT_EXAMPLES
    """How many examples a prompt has."""
    form: str = "auto"
    """One of :data:`FORMS`, or the first of them that the endpoint accepts."""
    timeout: float = 60.0
    """Seconds that an answer may take, with all retries."""
    retries: int = 3
    """How often a call is repeated after 408, 409, 429, 5xx, a lost connection or half an answer, waiting longer each
    time."""
    concurrency: int = 4
    """Calls at the same time."""
    max_calls: int | None = None
    """Calls of one process; after that, the run stops."""
    max_tokens: int = 600
    """Tokens of an answer."""
    cache: bool = True
    """Whether answers are kept on disk."""
    key_variable: str | None = None
    """The environment variable with the key; by default QDECOMP_API_KEY, or OpenAI's own for OpenAI's address."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model.strip():
            raise DataError("give the name of the language model: model=… (--model NAME)")
        if self.form not in ("auto", *FORMS):
            raise DataError(f"there is no form {self.form!r}; choose from auto, {', '.join(FORMS)}")
        for name, least in {"k": 0, "retries": 0, "concurrency": 1, "max_tokens": 1, "max_calls": 1}.items():
            value = getattr(self, name)
            if not (value is None and name == "max_calls") and (not isinstance(value, int) or value < least):
                raise DataError(f"{name} is {value}; give a whole number, {least} or more")
        if not isinstance(self.timeout, int | float) or not 0 < self.timeout <= 3600:
            raise DataError(f"timeout is {self.timeout}; give seconds, above 0 and at most 3600")

    def fingerprint(self) -> str:
        """What plans depend on, as one short text."""
        examples = open_examples(self.examples).fingerprint if self.k else ""
        chosen = [_VERSION, self.model, self.url, self.k, examples, self.form, self.max_tokens]
        return hashlib.blake2b(json.dumps(chosen).encode(), digest_size=16).hexdigest()


@dataclass(slots=True)
class Usage:
    """What a parser has asked: calls, answers from the cache, and the tokens of the calls."""

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Checked(NamedTuple):
    """An answer of the model as Break's text, what is wrong with it, and whether it is a plan all the same."""

    text: str
    mistakes: tuple[str, ...]
    is_plan: bool = False


class LanguageModel:
    """Answers questions by asking a language model."""

    def __init__(self, settings: ModelSettings, ask: Ask, cancel: Callable[[], None] = lambda: None) -> None:
        """``cancel`` ends all calls in flight."""
        self.settings = settings
        self.usage = Usage()
        self._ask, self.cancel = ask, cancel
        self._examples = open_examples(settings.examples) if settings.k else None
        self._forms = [settings.form] if settings.form != "auto" else list(FORMS if settings.url else FORMS[-1:])
        self._cache = RecordCache(cache_folder() / "answers.sqlite", "answers") if settings.cache else None
        self._lock = threading.Lock()
        self._interrupted = threading.Event()

    def __call__(self, questions: Sequence[str]) -> list[Decomposition]:
        """The plans of a batch; as many questions are asked at the same time as the settings say."""
        self._interrupted.clear()
        different = list(dict.fromkeys(questions))
        one_by_one = self.settings.concurrency == 1 or len(different) == 1
        answers = map(self._answer, different) if one_by_one else self._in_threads(different)
        found = dict(zip(different, answers, strict=True))
        return [found[question] for question in questions]

    def complete(self, messages: Messages) -> str:
        """What the model writes in answer to other messages than those of the parser."""
        return self._completion(messages, "text").text

    def _in_threads(self, questions: Sequence[str]) -> list[Decomposition]:
        executor = ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="qdecomp-model")
        futures = [executor.submit(self._answer, question) for question in questions]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except BaseException:
            # An interrupt: nobody waits for what is in flight, and nothing else is asked.
            self._interrupted.set()
            executor.shutdown(wait=False, cancel_futures=True)
            for _ in range(_LOOKS_AFTER_AN_INTERRUPT):
                self.cancel()
                if not wait(futures, timeout=0.1).not_done:
                    break
            raise
        # After an error, what is in flight is still answered, and kept; nothing else is begun.
        executor.shutdown(cancel_futures=True)
        for future in futures:
            if not future.cancelled() and (error := future.exception()) is not None:
                raise error
        return [future.result() for future in futures]

    def _answer(self, question: str) -> Decomposition:
        try:
            question_words(question)
        except QDecompError as error:
            return failed_decomposition(question, error)
        examples = [] if self._examples is None else self._examples(question, self.settings.k)
        while True:
            form = self._forms[0]
            try:
                return self._answer_in(question, examples, form)
            except FormRefusedError as error:
                with self._lock:
                    if self._forms == [form]:
                        raise ModelError(str(error)) from None
                    # Another thread may have been refused before.
                    if self._forms[0] == form:
                        del self._forms[0]

    def _answer_in(self, question: str, examples: Sequence[PromptExample], form: str) -> Decomposition:
        """The better one of two answers, if the first one has mistakes."""
        messages = messages_for(question, examples, as_json=form == "json_schema")
        found, asked = [], []
        for _ in range(2):
            asked.append(self._completion(messages, form))
            found.append(_checked(question, asked[-1].text))
            if not found[-1].mistakes:
                break
            named = "\n".join(f"- {mistake}" for mistake in found[-1].mistakes[:_MISTAKES_NAMED])
            again = f"That answer cannot be used:\n{named}\n{_AGAIN}"
            messages += [
                {"role": "assistant", "content": asked[-1].text[:_LONGEST_ANSWER]},
                {"role": "user", "content": again},
            ]
        best = min(found, key=lambda each: (not each.is_plan, len(each.mistakes)))
        prompt, written = sum(each.prompt_tokens for each in asked), sum(each.completion_tokens for each in asked)
        answered = Answered(self.settings.model, len(asked), prompt, written)
        if not best.is_plan:
            reason = f"{self.settings.model} gave no plan, asked {len(asked)} times: {best.mistakes[0]}"
            return replace(failed_decomposition(question, reason), answered=answered)
        return replace(decomposition_from_text(question, best.text), answered=answered)

    def _completion(self, messages: Messages, form: str) -> Completion:
        """The model's answer, or the one that it gave before."""
        asked = [self.settings.url, self.settings.model, self.settings.max_tokens, form, messages]
        key = hashlib.blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()
        kept = None if self._cache is None else self._cache.find([key]).get(key)
        if kept is not None:
            with self._lock:
                self.usage.cached += 1
            return Completion(**kept)
        if self._interrupted.is_set():
            raise ModelError("the run was interrupted")
        with self._lock:
            if self.settings.max_calls is not None and self.usage.calls >= self.settings.max_calls:
                raise ModelError(
                    f"the limit of {self.settings.max_calls:,} calls is reached (max_calls, --max-calls); "
                    "what was answered is kept: run it again to go on"
                )
            self.usage.calls += 1
        completion = self._ask(messages, form)
        with self._lock:
            self.usage.prompt_tokens += completion.prompt_tokens
            self.usage.completion_tokens += completion.completion_tokens
        if self._cache is not None:
            self._cache.keep({key: completion._asdict()})
        return completion


def _checked(question: str, answer: str) -> _Checked:
    if not answer.strip():
        return _Checked("", ("it is empty",))
    if len(answer) > _LONGEST_ANSWER:
        return _Checked("", (f"it has {len(answer):,} characters, and no plan needs so many",))
    try:
        reading = read_decomposition(answer)
        found = decomposition_from_text(question, reading.text)
        if found.error is not None:
            return _Checked(reading.text, (str(found.error),))
        qdmr = parse_qdmr(reading.text)
    except QDecompError as error:
        return _Checked("", (str(error),))
    lost = _lost_words(question, reading.text)
    if lost and len(lost) == len(uncovered_words(question, "")):
        return _Checked(reading.text, ("no step says anything that the question says",))
    forward = [
        f"step {number} refers to #{reference}, which comes later"
        for number, step in enumerate(qdmr.steps, start=1)
        for reference in step.references
        if reference > number
    ]
    doubts = [] if reading.doubt is None else [f"it may be misread: {reading.doubt}"]
    left_out = [f"no step says {', '.join(map(repr, lost))}"] if lost else []
    return _Checked(reading.text, (*doubts, *forward, *plan_warnings(question, qdmr), *left_out), is_plan=True)


def _lost_words(question: str, text: str) -> tuple[str, ...]:
    """Names and numbers of the question that no step has, and other words if they are many.

    >>> _lost_words("Who is taller, Ann or Bob?", "return Ann ;return height of #1")
    ('bob',)
    >>> _lost_words("Who is the tallest of them?", "return who ;return #1 whose height is highest")
    ()
    """
    words = _REFERENCE.sub(" ", text)
    said = {word[:_SAME_BEGINNING] for word in _WORD.findall(words.lower())}
    names = {name.lower() for name in _NAME.findall(question)}
    unsaid = [word for word in uncovered_words(question, words) if word[:_SAME_BEGINNING] not in said]
    lost = [word for word in unsaid if word in names]
    # "the tallest" is often "whose height is highest".
    others = [word for word in unsaid if word not in names and not word.endswith(("er", "est"))]
    return tuple(lost + others if len(others) > _MOST_UNSAID else lost)


def checked_url(url: str) -> str:
    """The address of an endpoint without a slash at its end; one that has a password in it is refused."""
    try:
        parts = urlsplit(url)
        is_address = parts.port != 0 and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # the port is not a number
        is_address = False
    if not is_address:
        raise DataError(f"{url[:100]!r} is not an address such as http://127.0.0.1:8080/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise DataError(
            f"{parts.scheme}://{parts.hostname}: give the address without a user, a password or a query; a key belongs "
            f"into the environment variable {KEY_VARIABLE}"
        )
    return url.rstrip("/")


def open_model(settings: ModelSettings, function: Callable[[list[dict[str, str]]], str] | None = None) -> LanguageModel:
    """The language model behind an endpoint or a function."""
    if function is not None:
        return LanguageModel(settings, partial(_asked, function))
    from qdecomp.parsers.endpoint import Endpoint

    endpoint = Endpoint(settings)
    return LanguageModel(settings, endpoint, endpoint.cancel)


def _asked(function: Callable[[list[dict[str, str]]], str], messages: Messages, form: str) -> Completion:
    text = function([dict(message) for message in messages])
    if not isinstance(text, str):
        raise DataError(f"the function must return the model's answer, a text, not {type(text).__name__}")
    return Completion(text)

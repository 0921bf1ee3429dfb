"""The endpoint of a language model that speaks OpenAI's protocol: OpenAI's own, vLLM, llama.cpp, Ollama, LM Studio …

The client is the package ``openai`` (the extra ``llm``), which repeats calls that failed, waiting longer each time.
Here, an answer has an end: a total time, a size, no redirects. The key is read from the environment, and removed from
every text that comes back.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from qdecomp.data_structures.errors import missing_extra
from qdecomp.parsers.language_model import (
    KEY_VARIABLE,
    Completion,
    FormRefusedError,
    Messages,
    ModelError,
    ModelSettings,
)
from qdecomp.parsers.plan_form import gbnf, json_schema, regular_expression

_OPENAI = "api.openai.com"
_LARGEST_ANSWER = 2_000_000
_LONGEST_REASON = 200
# What a request is answered with that has something in it which the endpoint does not know.
_REFUSALS = frozenset({400, 415, 422, 501})
# Some servers fail where they cannot make a grammar of a form.
_BROKEN = 500
_SECONDS_BEFORE_A_RETRY = 0.5


_FORM_OPTIONS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "json_schema": lambda: {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "plan", "strict": True, "schema": json_schema()},
        }
    },
    "grammar": lambda: {"extra_body": {"grammar": gbnf()}},
    "regex": lambda: {"extra_body": {"structured_outputs": {"regex": regular_expression()}}},
    "text": dict,
}
# Options that not every model takes, and what it takes instead.
_INSTEAD = {"max_tokens": "max_completion_tokens", "temperature": None}


class _HalfAnswerError(Exception):
    """What came back is not a whole answer."""


class _OtherOptionError(Exception):
    """The model does not take one of the options."""


class Endpoint:
    """Asks the model of the settings."""

    def __init__(self, settings: ModelSettings) -> None:
        try:
            import openai
        except ImportError:
            raise missing_extra("a language model as a parser", "llm") from None
        self._openai = openai
        self._settings = settings
        self.url = settings.url
        self._client: Any = None
        self._accepted: set[str] = set()
        self._options = {"max_tokens": settings.max_tokens, "temperature": 0}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: set[concurrent.futures.Future[Completion]] = set()
        self._lock = threading.Lock()

    def __call__(self, messages: Messages, form: str) -> Completion:
        """The model's answer, within the time of the settings."""
        with self._lock:
            if self._loop is None:
                # Its thread ends with the process.
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="qdecomp-endpoint", daemon=True).start()
        in_time = asyncio.wait_for(self._tried(messages, form), self._settings.timeout)
        call = asyncio.run_coroutine_threadsafe(in_time, self._loop)
        self._calls.add(call)
        try:
            return call.result()
        except concurrent.futures.CancelledError:
            raise ModelError(f"{self.url}: the call was interrupted") from None
        except (TimeoutError, asyncio.TimeoutError):
            seconds = f"{self._settings.timeout:g} seconds"
            raise ModelError(f"{self.url}: no answer within {seconds} (timeout, --timeout)") from None
        finally:
            call.cancel()
            self._calls.discard(call)

    def cancel(self) -> None:
        """End all calls in flight."""
        for call in tuple(self._calls):
            call.cancel()

    async def _tried(self, messages: Messages, form: str) -> Completion:
        """The answer; half a one is asked for again, as the client does after other failures."""
        for tries in range(self._settings.retries + 1):
            try:
                for _ in _INSTEAD:
                    with contextlib.suppress(_OtherOptionError):
                        return await self._completion(messages, form)
                return await self._completion(messages, form)
            except _HalfAnswerError as error:
                reason = str(error)
            await asyncio.sleep(_SECONDS_BEFORE_A_RETRY * 2**tries if tries < self._settings.retries else 0)
        raise ModelError(f"{self.url}: {reason}, {self._settings.retries + 1} times")

    async def _completion(self, messages: Messages, form: str) -> Completion:
        openai, key = self._openai, self._key()
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                base_url=self.url,
                api_key=key or "none",
                organization="",
                project="",
                max_retries=self._settings.retries,
                timeout=self._settings.timeout,
                http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        options = dict(self._options)
        request = self._client.chat.completions.with_streaming_response.create(
            model=self._settings.model,
            messages=[dict(message) for message in messages],
            **options,
            **_FORM_OPTIONS[form](),
        )
        content = bytearray()
        failure: Exception | None = None
        try:
            async with request as response:
                async for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _LARGEST_ANSWER:
                        raise ModelError(f"{self.url}: the answer has no end; more than {_LARGEST_ANSWER:,} bytes came")
        except openai.APIStatusError as error:
            failure = self._refusal(error, key, form, options)
        except openai.APITimeoutError:
            failure = asyncio.TimeoutError()
        except openai.APIConnectionError as error:
            reason = _shown(str(error.__cause__ or error), key)
            failure = ModelError(f"{self.url}: no connection ({reason}); is the server running there?")
        except openai.OpenAIError as error:
            failure = ModelError(f"{self.url}: {_shown(str(error), key)}")
        except (OSError, ValueError) as error:
            failure = _HalfAnswerError(_shown(str(error), key))
        except Exception as error:
            # The client's own errors of a broken connection, whose package depends on its version.
            if not type(error).__module__.startswith("http"):
                raise
            failure = _HalfAnswerError(f"the connection broke ({_shown(str(error), key)})")
        if failure is not None:
            # Not raised above, where the client's error would be its context: a worker could not send that back.
            raise failure
        found = _completion_of(bytes(content).replace(key.encode(), b"***") if key else bytes(content))
        self._accepted.add(form)
        return found

    def _refusal(self, error: Any, key: str, form: str, options: Mapping[str, Any]) -> Exception:
        """What an answer with an HTTP status that is not 200 means."""
        status = error.status_code
        if 300 <= status < 400:
            place = _shown(error.response.headers.get("location", "nowhere"), key)
            return ModelError(f"{self.url}: redirects to {place}, which is not followed; give that address")
        if status in (401, 403):
            variable = self._settings.key_variable or KEY_VARIABLE
            return ModelError(f"{self.url}: {status}, the key in {variable} is missing or has no permission")
        if status == 400 and error.param in _INSTEAD and error.param in options:
            instead = _INSTEAD[error.param]
            if self._options.pop(error.param, None) is not None and instead is not None:
                self._options[instead] = options[error.param]
            return _OtherOptionError()
        reason = _shown(str(error.message), key)
        if status == 404 and not self.url.endswith("/v1"):
            reason += "; most addresses end with /v1"
        if form != "text" and (status in _REFUSALS or (status == _BROKEN and form not in self._accepted)):
            return FormRefusedError(f"{self.url}: {status}, {reason}")
        again = f", also when asked {self._settings.retries + 1} times" if status == 429 or status >= 500 else ""
        return ModelError(f"{self.url}: {status}{again} ({reason})")

    def _key(self) -> str:
        variable = self._settings.key_variable
        if variable is not None:
            if not os.environ.get(variable):
                raise ModelError(f"{self.url}: the environment variable {variable} has no key in it")
            return os.environ[variable]
        # OpenAI's key goes nowhere else.
        is_openai = urlsplit(self.url).hostname == _OPENAI
        return os.environ.get(KEY_VARIABLE) or (os.environ.get("OPENAI_API_KEY", "") if is_openai else "")


def _completion_of(content: bytes) -> Completion:
    try:
        value = json.loads(content)
        text = value["choices"][0]["message"]["content"]
        usage = value.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        what = "nothing came back" if not content.strip() else "what came back is not a chat completion"
        raise _HalfAnswerError(what) from None
    if text is not None and not isinstance(text, str):
        raise _HalfAnswerError("what came back is not a chat completion")
    return Completion(text or "", *(count if isinstance(count, int) and count >= 0 else 0 for count in counts))


def _shown(text: str, key: str) -> str:
    """A message of others in one line, without the key."""
    shown = " ".join(text.split())
    return (shown.replace(key, "***") if key else shown)[:_LONGEST_REASON]

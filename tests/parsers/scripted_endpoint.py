"""An endpoint of a language model that answers as a script says: well, late, with errors, half, without an end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-very-secret-0123456789"

Answer = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """A request, and the ways to answer it."""

    server: ScriptedEndpoint

    def do_POST(self) -> None:
        """Answer as the script says."""
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        with self.server.lock:
            self.body: dict[str, Any] = json.loads(content)
            self.server.bodies.append(self.body)
            self.server.headers.append(dict(self.headers))
            answers = self.server.answers
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
        try:
            answer(self)
        except (BrokenPipeError, ConnectionResetError):
            self.server.hung_up.set()

    do_GET = do_POST  # noqa: N815

    def send(self, status: int, content: bytes, **headers: str) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class ScriptedEndpoint(ThreadingHTTPServer):
    """Gives the answers in their order, and the last one again and again."""

    daemon_threads = True

    def __init__(self, answers: list[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.answers = answers
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.hung_up = threading.Event()
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def endpoint(*answers: Answer) -> Iterator[ScriptedEndpoint]:
    """An endpoint for the length of a block."""
    server = ScriptedEndpoint(list(answers))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def completion(text: str | None) -> bytes:
    """What an endpoint sends for a text."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


def says(text: str | None, seconds: float = 0) -> Answer:
    """A whole answer after some seconds."""

    def answer(request: Request) -> None:
        time.sleep(seconds)
        request.send(200, completion(text), **{"content-type": "application/json"})

    return answer


def fails(status: int, message: str = "no", **headers: str) -> Answer:
    """An error that repeats the key, as some endpoints do."""

    def answer(request: Request) -> None:
        shown = f"{message} {request.headers.get('authorization', '')}"
        request.send(status, json.dumps({"error": {"message": shown}}).encode(), **headers)

    return answer


def refuses(option: str) -> Answer:
    """An error about one of the options."""
    content = json.dumps({"error": {"message": "not supported", "param": option}}).encode()
    return lambda request: request.send(400, content, **{"content-type": "application/json"})


def half(request: Request) -> None:
    """Half a JSON, with a whole answer's length."""
    content = completion("1. rivers")
    request.send(200, content[: len(content) // 2])


def cut(request: Request) -> None:
    """Less than was promised."""
    request.send_response(200)
    request.send_header("content-length", "1000")
    request.end_headers()
    request.wfile.write(b'{"choices": [')
    request.close_connection = True


def without_end(seconds: float) -> Answer:
    """An answer that goes on and on."""

    def answer(request: Request) -> None:
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b" " * 10_000)
            time.sleep(seconds)

    return answer

"""A headless Chromium that tests drive over a pipe with its DevTools protocol, so that no other package is needed."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

_FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe"
)
_SECONDS_TO_ANSWER = 120
# The browser reads from descriptor 3 and writes to 4; the pipes may have these numbers the other way round.
_LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for end, number in zip(ends, (3, 4)):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page in a browser."""

    def __init__(self, command: list[str]) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(to_browser), str(from_browser), *command],
            pass_fds=(to_browser, from_browser),
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._received = b""
        self._events: list[str] = []
        self.problems: list[str] = []
        """The errors and warnings that the console of the pages has shown."""
        self._has_scripts = True
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, details = event.get("method", ""), event.get("params", {})
        self._events.append(method)
        level = details["type"] if method == "Runtime.consoleAPICalled" else details.get("entry", {}).get("level")
        if method == "Runtime.exceptionThrown" or level in ("error", "warning"):
            self.problems.append(json.dumps(details))

    def _wait_for(self, event: str) -> None:
        while event not in self._events:
            self._note(self._next())
        self._events.clear()

    def _next(self) -> dict[str, Any]:
        end = monotonic() + _SECONDS_TO_ANSWER
        while b"\0" not in self._received:
            if not select.select([self._read], [], [], max(0.0, end - monotonic()))[0]:
                pytest.skip("chromium did not answer in time")
            piece = os.read(self._read, 1 << 20)
            assert piece, "chromium has ended"
            self._received += piece
        message, _, self._received = self._received.partition(b"\0")
        return json.loads(message)

    def look(self, *, width: int = 1280, height: int = 900, dark: bool = False, scripts: bool = True) -> None:
        """Set the window and what the reader prefers."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self._has_scripts = scripts

    def open(self, path: Path | str, fragment: str = "") -> None:
        """Open a file or an address and wait until it is loaded and painted."""
        # If only the fragment differed, the page would not be loaded again.
        self.call("Page.navigate", url="about:blank")
        self._wait_for("Page.loadEventFired")
        self.call("Page.navigate", url=(path.as_uri() if isinstance(path, Path) else path) + fragment)
        self._wait_for("Page.loadEventFired")
        if self._has_scripts:
            self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, or what its promise gives."""
        options = {"returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self.call("Runtime.evaluate", expression=expression, **options)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def run_body(self, body: str) -> Any:
        """What the statements return."""
        return self.run(f"(() => {{{body}}})()")

    def wait_until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        self.run(
            "new Promise((done, fail) => { const end = Date.now() + 60000; const look = () => {"
            f"if ({condition}) done(true); else if (Date.now() > end) fail(new Error('not in time'));"
            "else setTimeout(look, 20); }; look(); })"
        )

    def type_text(self, text: str) -> None:
        """Type into the focused element."""
        self.call("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        """Press a key by its name and its number."""
        options: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        typed = {"Enter": {"text": "\r"}, " ": {"text": " "}}.get(key, {})
        self.call("Input.dispatchKeyEvent", type="keyDown", **options, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **options)

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """A browser with a fresh profile; skips the test if there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium to show pages in; install it, for example with: apt install chromium")
    browser = Browser([program, *_FLAGS.split(), f"--user-data-dir={profile}"])
    try:
        yield browser
    finally:
        browser.close()

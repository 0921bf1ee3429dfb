"""Write the hashes of all packages into requirements.lock and requirements-adapters.txt.

Run ``python scripts/lock_hashes.py`` after a change of a version. Of the files of a release, those count that
Python 3.11 on Linux can install: its wheels for x86-64 and ARM, or else the source. The index is PyPI; PIP_INDEX_URL
names another.
"""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote
from urllib.request import urlopen

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

FILES = ("requirements.lock", "requirements-adapters.txt")
# Installed as the CPU or CUDA build that the user chooses, each from another index with files of its own.
WITHOUT_HASH = {"torch"}
_LINK = re.compile(r'<a [^>]*href="[^"#]*/([^"/#]+)#sha256=([0-9a-f]{64})"')


def _tags() -> frozenset[Tag]:
    platforms = [
        f"{kind}_{machine}"
        for machine in ("x86_64", "aarch64")
        for kind in (
            "manylinux1",
            "manylinux2010",
            "manylinux2014",
            *(f"manylinux_2_{minor}" for minor in range(5, 40)),
        )
    ]
    return frozenset([*cpython_tags((3, 11), platforms=platforms), *compatible_tags((3, 11), "cp311", platforms)])


def hashes(name: str, version: str, tags: frozenset[Tag]) -> list[str]:
    """The hashes of the files of a release that can be installed, sorted."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    with urlopen(f"{index}/{canonicalize_name(name)}/", timeout=60) as page:
        files = {unquote(unescape(file)): digest for file, digest in _LINK.findall(page.read().decode())}
    wheels, sources = [], []
    for file, digest in files.items():
        if file.endswith(".whl") and f"-{version}-" in file:
            if parse_wheel_filename(file)[3] & tags:
                wheels.append(digest)
        elif file.endswith(f"-{version}.tar.gz"):
            sources.append(digest)
    return sorted(wheels or sources)


def main() -> None:
    """Rewrite the files."""
    tags = _tags()
    for path in map(Path, FILES):
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            pin = re.match(r"([\w.-]+)==([^\s\\]+)", line)
            if pin and pin[1] not in WITHOUT_HASH:
                found = hashes(*pin.groups(), tags)
                if not found:
                    raise SystemExit(f"{path}: the index has no file of {pin[0]}")
                line = " ".join([pin[0], *(f"--hash=sha256:{digest}" for digest in found)])
            lines.append(line)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

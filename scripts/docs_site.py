"""What the documentation site needs beyond mkdocs: a hook (see mkdocs.yml) and an extension of mkdocstrings.

The hook adds the project's Markdown files outside docs/ and the notebooks as pages, and turns links between files into
links between pages. Without it, every page can be read on GitHub.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
# Files outside docs/, and the pages that they become.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RESULTS.md": "results.md",
    "data/README.md": "sample_data.md",
    "integrations/hugging_face_evaluate/lf_em/README.md": "hugging_face_evaluate.md",
    "integrations/lm_evaluation_harness/break_qdmr/README.md": "lm_evaluation_harness.md",
    "training_config/README.md": "settings.md",
    "qdecomp/parsers/minilm_break/MODEL_CARD.md": "model_card.md",
} | {
    path.relative_to(ROOT).as_posix(): f"notebooks/{path.stem}.md"
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
}
# What else a link may lead to. A symbolic link in docs/ stands for the image.
_OTHERS = {"README.md": "index.md", "qdecomp/parsers/minilm_break/calibration.svg": "images/calibration.svg"}
_SOURCES = {page: source for source, page in PAGES.items()}

_CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
_ROLE = re.compile(r":(?:class|meth|func|mod|data|attr):`~?([^`]+)`")
# From the first prompt to the next empty line.
_EXAMPLE = re.compile(r"(?:^>>> .*\n(?:.+\n?)*\n?)+", re.MULTILINE)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files in docs/."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        content = _notebook(json.loads(text), posixpath.basename(source)) if source.endswith(".ipynb") else text
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, **others: Any) -> str:
    """Let the links of a page lead to pages."""
    name = page.file.src_uri
    source = _SOURCES.get(name, f"docs/{name}")
    parts = _CODE.split(markdown)
    # Code is every second part; a link in it does not count.
    parts[::2] = [_LINK.sub(lambda link: f"{link[1]}({_target(link[2], source, name)})", part) for part in parts[::2]]
    return "".join(parts)


def _target(target: str, source: str, page: str) -> str:
    path, _, anchor = target.partition("#")
    if not path or ":" in path:
        return target
    place = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    other = PAGES.get(place) or _OTHERS.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else "")
    if not other:
        raise PluginError(f"{source}: {target} is not a page of the site")
    return posixpath.relpath(other, posixpath.dirname(page) or ".") + (f"#{anchor}" if anchor else "")


def _notebook(notebook: dict[str, Any], name: str) -> str:
    """A notebook with its stored outputs as Markdown, with a link to the file below its title."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f"<div>{''.join(data['text/html'])}</div>".replace("\n", " "))
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    return "\n\n".join([parts[0], f'<a href="{name}" download>Download this notebook</a>', *parts[1:]])


class AsMarkdown(Extension):
    """Turns docstrings into Markdown: roles become code, examples become blocks."""

    def on_instance(self, *, obj: Object, **others: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            text = _ROLE.sub(r"`\1`", obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(lambda match: f"```python\n{match[0].rstrip()}\n```\n\n", text).rstrip()

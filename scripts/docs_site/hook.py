"""The hook that mkdocs.yml names: gives mkdocs the pages of the site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# mkdocs runs this file alone.
sys.path.insert(0, str(ROOT))

from scripts.docs_site.pages import Site, SiteError  # noqa: E402

_SITE = Site(ROOT)


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files in docs/."""
    for page in _SITE.sources:
        if files.get_file_from_path(page) is None:
            files.append(File.generated(config, page, content=""))
    return files


def on_page_markdown(markdown: str, *, page: Any, **others: Any) -> str:
    """Give each page its sections of README and its links."""
    try:
        return _SITE.page(page.file.src_uri)
    except SiteError as error:
        raise PluginError(str(error)) from None

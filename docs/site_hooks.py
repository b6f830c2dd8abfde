"""Hooks of the documentation site: links to files of the repository, and `llms.txt` for agents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_LINK_OUT = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)]*\)")
_ABOUT = """# evalcase

> Evaluates LLMs and AI agents with eval cases written in YAML or JSONL: it checks the cases, runs
> them against a target, grades the answers, keeps every result, and compares runs.

"""


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Files outside of the documentation are not part of the site: show their names alone."""
    return _LINK_OUT.sub(r"\1", markdown)


def on_post_build(config: dict[str, Any], **_: Any) -> None:  # noqa: ANN401 - as mkdocs calls it
    site, docs = Path(config["site_dir"]), Path(config["docs_dir"])
    index = (docs / "index.md").read_text(encoding="utf-8")
    (site / "llms.txt").write_text(_ABOUT + index.partition("\n")[2].lstrip(), encoding="utf-8")
    pages = sorted(docs.glob("*.md"))
    whole = "\n\n".join(path.read_text(encoding="utf-8") for path in pages)
    (site / "llms-full.txt").write_text(_ABOUT + whole, encoding="utf-8")

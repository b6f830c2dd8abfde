"""Hooks of the documentation site: links to files of the repository, the help of each command, and
`llms.txt` for agents."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

_LINK_OUT = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!docs/)[^)]*\)")
_COMMAND = re.compile(r"^## evalcase (\w+)\n", re.MULTILINE)
_ABOUT = """# evalcase

> Evaluates LLMs and AI agents with eval cases written in YAML or JSONL: it checks the cases, runs
> them against a target, grades the answers, keeps every result, and compares runs.

"""


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - as mkdocs calls it
    """Files outside of the documentation are not part of the site: show their names alone. A
    section about a command begins with its help."""
    return _LINK_OUT.sub(r"\1", _COMMAND.sub(_show_help, markdown))


def _show_help(heading: re.Match[str]) -> str:
    command = [sys.executable, "-m", "evalcase", heading[1], "--help"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return f"{heading[0]}\n```text\n{shown}```\n"


def on_post_build(config: dict[str, Any], **_: Any) -> None:  # noqa: ANN401 - as mkdocs calls it
    site, docs = Path(config["site_dir"]), Path(config["docs_dir"])
    index = (docs / "index.md").read_text(encoding="utf-8")
    (site / "llms.txt").write_text(_ABOUT + index.partition("\n")[2].lstrip(), encoding="utf-8")
    pages = [path.read_text(encoding="utf-8") for path in sorted(docs.glob("*.md"))]
    whole = "\n\n".join(_COMMAND.sub(_show_help, page) for page in pages)
    (site / "llms-full.txt").write_text(_ABOUT + whole, encoding="utf-8")

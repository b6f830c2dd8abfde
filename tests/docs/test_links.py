"""Links inside the documentation lead somewhere, headings included."""

from __future__ import annotations

import re
from pathlib import Path

from docs.regenerate import ROOT, pages
from tests.for_each import for_each

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def prose(path: Path) -> str:
    return _FENCED.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> set[str]:
    """The anchors that a code host gives to the headings of a page."""
    headings = (re.sub(r"[^\w\- ]", "", found.lower()) for found in _HEADING.findall(prose(path)))
    return {heading.replace(" ", "-") for heading in headings}


@for_each("page", pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_internal_links_resolve(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        assert path.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(path), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in _LINK.findall(prose(page)):
            path = (page.parent / link.partition("#")[0]).resolve()
            if path.is_dir():
                waiting.extend(path.rglob("README.md"))
            elif path.suffix == ".md":
                waiting.append(path)
    assert set(pages()) <= reached


def test_the_readme_itself_links_every_guide() -> None:
    linked = {(ROOT / link.partition("#")[0]) for link in _LINK.findall(prose(ROOT / "README.md"))}
    assert sorted(set((ROOT / "docs").glob("*.md")) - linked) == []


def test_pages_agree_on_how_evalcase_is_installed() -> None:
    for page in [*pages(), *(ROOT / "examples").rglob("*.yml")]:
        assert "pip install evalcase" not in page.read_text(encoding="utf-8"), page

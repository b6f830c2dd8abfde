"""The tags that the suites of a project use, the most frequent first."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from evalcase.format.document import Document, parse_document, read_lines
from evalcase.format.source import (
    UnreadableError,
    discover_files,
    format_of,
    open_bytes,
    read_source,
)
from evalcase.types.value import JSON

_MOST_FILES = 500
_MOST_BYTES = 1_000_000
"""Of a file: larger ones are left out, and so their tags are those of the others."""


class TagsInUse:
    """Reads each file again only when it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], Counter[str]]] = {}

    def find(self, root: str, open_texts: Iterable[JSON] = ()) -> list[str]:
        """All tags below a folder, and those of values that are open in the editor."""
        counts: Counter[str] = Counter()
        for number, path in enumerate(discover_files([root])):
            if number >= _MOST_FILES:
                break
            if isinstance(path, str):
                counts.update(self._tags_of(path))
        for value in open_texts:
            counts.update(_tags_in(value))
        return [tag for tag, _ in counts.most_common()]

    def _tags_of(self, path: str) -> Counter[str]:
        try:
            about = os.stat(path)
            stamp = about.st_mtime_ns, about.st_size
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                small = about.st_size <= _MOST_BYTES
                known = stamp, Counter(_read_tags(path) if small else ())
                self._known[path] = known
        except (OSError, UnreadableError):
            return Counter()
        return known[1]


def _read_tags(path: str) -> Iterator[str]:
    format = format_of(path)
    if format == "jsonl":
        with open_bytes(path) as file:
            for line in read_lines(file, path):
                if isinstance(line, Document):
                    yield from _tags_in(line.value)
    elif isinstance(format, str):
        yield from _tags_in(parse_document(read_source(path), format, path).value)


def _tags_in(value: JSON) -> Iterator[str]:
    """Those of suites and cases: what `tags` holds, at the top or one level below a list."""
    cases: list[JSON] = [value]
    while cases:
        each = cases.pop()
        if isinstance(each, list):
            cases += each
        elif isinstance(each, dict):
            tags = each.get("tags")
            yield from (tag for tag in (tags if isinstance(tags, list) else ()) if type(tag) is str)
            cases += [held for held in each.values() if isinstance(held, list)]

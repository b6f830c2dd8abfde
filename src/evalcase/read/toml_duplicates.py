"""What a TOML text says twice, and where first: tomllib names neither as a person would."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.model.problem import Span
from evalcase.read.places import Branch
from evalcase.read.toml_places import TomlScanner


class Duplicate(NamedTuple):
    """What stands in a text for a second time."""

    what: str
    first: Span
    second: Span


def find_duplicate(text: str) -> Duplicate | None:
    """The first key or table that a text has twice. Up to there it has to be valid."""
    try:
        _Watcher(text).read()
    except _FoundError as found:
        return found.duplicate
    except (IndexError, ValueError, RecursionError):
        return None  # it is no TOML at another place
    return None


class _FoundError(Exception):
    def __init__(self, duplicate: Duplicate) -> None:
        super().__init__()
        self.duplicate = duplicate


class _Watcher(TomlScanner):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._headers: dict[tuple[str, ...], Span] = {}

    def note_pair(self, table: Branch, key: str, span: Span) -> None:
        known = table.children.get(key)
        if known is not None:
            raise _FoundError(Duplicate(f"the key `{key}`", known[0], span))

    def note_header(self, keys: tuple[str, ...], span: Span, is_item: bool) -> None:
        if is_item:
            # Each item has tables of its own.
            self._headers = {
                each: place for each, place in self._headers.items() if each[: len(keys)] != keys
            }
        elif keys in self._headers:
            shown = ".".join(key if key.isidentifier() else f'"{key}"' for key in keys)
            raise _FoundError(Duplicate(f"the table `[{shown}]`", self._headers[keys], span))
        else:
            self._headers[keys] = span

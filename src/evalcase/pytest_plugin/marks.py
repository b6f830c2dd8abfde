"""Tags of a case as marks of pytest, for `-m`. Nobody has to register them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pytest

from evalcase.types.case import Case

_MEANT_FOR_PYTEST = frozenset(
    {"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}
)
"""Marks that would do something to a test. A tag is only a name."""


_REGISTERED = pytest.StashKey[set[str]]()
_UNUSABLE = re.compile(r"[^\w+\-.\[\]\\/]")
"""What can't stand in an expression after `-m`, or not in the name of a mark that is registered."""


def marks_of_tags(
    tags: Iterable[str], config: pytest.Config | None
) -> Iterator[pytest.MarkDecorator]:
    """A mark for each tag, but for those that pytest would take for orders. `needs gpu` can't be
    written in an expression, so it is `needs_gpu`, too. Where pytest is strict about what stands
    after `-m`, it asks its configuration."""
    names = dict.fromkeys(name for tag in tags for name in (tag, _UNUSABLE.sub("_", tag)))
    for name in names:
        if name not in _MEANT_FOR_PYTEST:
            if config is not None:
                _register_mark(name, config)
            yield mark_named(name)


def mark_named(name: str) -> pytest.MarkDecorator:
    """`getattr(pytest.mark, name)` without its question whether somebody has registered it."""
    return pytest.MarkDecorator(pytest.Mark(name, (), {}, _ispytest=True), _ispytest=True)


def _register_mark(name: str, config: pytest.Config) -> None:
    known = config.stash.setdefault(_REGISTERED, set())
    if name not in known and not _UNUSABLE.search(name):
        known.add(name)
        config.addinivalue_line("markers", f"{name}: a tag of eval cases")


def why_skipped(case: Case) -> str:
    """Why a case is skipped; empty if it is not."""
    return case.skip if isinstance(case.skip, str) else "skip: true" if case.skip else ""

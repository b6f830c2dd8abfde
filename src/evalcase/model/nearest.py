"""The known name that a wrong one was probably meant to be, and the hint that names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalcase.errors import UnknownCaseError

ALIKE = 0.6
"""How alike two names must be, from 0 to 1, for one to be taken for the other."""


def find_nearest(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """The known name that is most like another; None if none is like it."""
    from difflib import get_close_matches  # slow to import, and only a mistake needs it

    close = get_close_matches(name, list(known), 1, alike)
    return close[0] if close else None


def plain_name(name: str) -> str:
    """A name as ours are written: what is left when case and dashes tell nothing apart."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def nearest_meaning(name: str, meant: Mapping[str, str], alike: float = ALIKE) -> str | None:
    """What the name most like another stands for. Case and dashes don't tell names apart."""
    plain = plain_name(name)
    if plain in meant:
        return meant[plain]
    close = find_nearest(plain, meant, alike)
    return None if close is None else meant[close]


def hint_at(close: str | None) -> str | None:
    """The hint that names what was probably meant; None if nothing is near."""
    return None if close is None else f"did you mean `{close}`?"


def did_you_mean(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """A hint that names the nearest of some names; None if none is near."""
    return hint_at(find_nearest(name, known, alike))


def unknown_case(id: object, whose: str, known: Iterable[str]) -> UnknownCaseError:
    """The error for an id that none of some cases has."""
    hint = did_you_mean(id, known) if isinstance(id, str) else None
    return UnknownCaseError(f"{whose} has no case {id!r:.80}" + (f": {hint}" if hint else ""))

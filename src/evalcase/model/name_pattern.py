"""Names chosen by a pattern: `*` is any text and `?` one character, and nothing else is special.

Brackets stand for themselves, unlike in shells: ids and the names of tools may have them, and who
names `x[1]` means that and not `x1`.
"""

from __future__ import annotations


def fits_pattern(name: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase  # seldom needed at a start

    return name == pattern or fnmatchcase(name, pattern.replace("[", "[[]"))

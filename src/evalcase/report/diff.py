"""Two versions of a file in, a unified diff out."""

from __future__ import annotations

from collections.abc import Iterator


def unified_diff(before: bytes, after: bytes, path: str) -> Iterator[str]:
    """The lines of a diff that `patch` and `git apply` take."""
    from difflib import unified_diff as diff

    for line in diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}"):
        if line.endswith("\n"):
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str]:
    lines = data.decode("utf-8", "replace").split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])

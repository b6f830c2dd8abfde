"""Comments by the path of what they are about in, a tree of them beside the value out.

A comment about something that isn't in the value stands where it would be, so none is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from evalcase.model.finding import KeyPath
from evalcase.text.visible import make_visible

Comments: TypeAlias = "Mapping[KeyPath, str]"


class Notes:
    """What stands between the lines of a value: comments, and blank lines."""

    __slots__ = ("above", "below", "blank", "inner", "spaced")

    def __init__(self) -> None:
        self.above: list[str] = []
        """Comments above it."""
        self.below: list[str] = []
        """Comments below the last thing in it."""
        self.inner: dict[str | int, Notes] = {}
        """The notes of what is in it, by key or number."""
        self.blank = False
        """Whether a blank line stands above it."""
        self.spaced = False
        """Whether blank lines stand between the things in it."""

    def at(self, step: str | int) -> Notes:
        """The notes of something in it, to be added to."""
        return self.inner.setdefault(step, Notes())

    @property
    def breaks(self) -> bool:
        """Whether something has to stand inside of it, so that one line won't do."""
        return bool(self.inner or self.below)

    def leading(self, value: object) -> Iterator[str]:
        """The comments before a value that starts on the line of its dash: the first thing in it
        starts there, too."""
        yield from self.above
        if self.inner and isinstance(value, dict | list):
            step, first = next(iter(value.items())) if isinstance(value, dict) else (0, value[0])
            if step in self.inner:
                yield from self.inner[step].leading(first)


NO_NOTES = Notes()
"""For all that nothing is said about. It is never changed."""


def place_comments(value: object, comments: Comments) -> Notes:
    """The notes of a value. A comment whose path leads nowhere goes as far as it leads: to the end
    of a list or mapping, or above whatever else is there."""
    root = Notes()
    for path, comment in comments.items():
        notes, here = root, value
        for step in path:
            if not isinstance(here, dict | list) or not here:
                notes.above.append(comment)
                break
            if not _has_step(here, step):
                notes.below.append(comment)
                break
            notes, here = notes.at(step), _take_step(here, step)
        else:
            notes.above.append(comment)
    return root


def comment_lines(comments: list[str] | Iterator[str], indent: int) -> Iterator[str]:
    """Comments as lines of a file, with nothing in them that could end a line."""
    for comment in comments:
        for line in comment.split("\n"):
            yield f"{' ' * indent}{f'# {make_visible(line)}'.rstrip()}\n"


def _has_step(value: dict[str, object] | list[object], step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(step, int) and 0 <= step < len(value)


def _take_step(value: dict[str, object] | list[object], step: str | int) -> object:
    if isinstance(value, dict):
        return value[step]  # type: ignore[index]
    assert isinstance(step, int)
    return value[step]

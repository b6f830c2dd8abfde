"""Text from users in, text that is safe to show out: what a terminal would obey or hide is spelt.

Only characters that steer (escapes, bidirectional overrides) or can't be seen or encoded are
replaced, so that text in any script stays as it was written.
"""

from __future__ import annotations

import re

STEERING = (
    "\x7f-\x9f"  # DEL and C1: U+009B starts an escape sequence just as ESC [ does
    "\u2028-\u202e\u2066-\u2069"  # line separators, bidirectional embeddings and overrides
    "\ud800-\udfff"  # what isn't UTF-8 in a file name arrives as lone surrogates
    "\ufeff\ufffe\uffff"
)
"""The part of a regular expression's character class for what must not be written as it is."""

BIDI_MARKS = "\u061c\u200e\u200f"
"""The same for marks that only turn the direction of text: they may belong to it."""

UNSEEN = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e007f"
)

_HIDDEN = re.compile(f"[\x00-\x1f{STEERING}{UNSEEN}]")


def make_visible(text: str) -> str:
    """Spell control and invisible characters as `<U+001B>`, line ends too."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_spell_character, text)


def name_blank(text: str, nothing: str = "(empty)") -> str:
    """What stands for a text in which nothing can be seen; none for any other."""
    if not text:
        return nothing
    return "" if text.strip() else "(only white space)"


def _spell_character(match: re.Match[str]) -> str:
    return f"<U+{ord(match[0]):04X}>"

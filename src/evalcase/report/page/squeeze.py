"""Script and style as they are read in, the same without comments and blanks out: a page is kept,
sent and opened more often than its source is read in it.

Names stay as they are, so that what a browser says of an error can be found in the source. It rests
on how the source is written: every statement ends in a semicolon, a division has a blank on either
side, and no text goes over several lines.
"""

from __future__ import annotations

import re

from evalcase.text.late_pattern import late_pattern

_WITHIN_TEMPLATE = (
    r"`(?:[^`\\$]|\\.|\$(?!\{{)|\$\{{(?:[^`'{{}}]|'[^']*'|\{{[^{{}}]*\}}{deeper})*\}})*`"
)


def _template(depth: int) -> str:
    """A template literal with others inside, so many deep."""
    return _WITHIN_TEMPLATE.format(deeper="|" + _template(depth - 1) if depth else "")


_LITERAL = (
    rf"""'(?:[^'\\]|\\.)*'|{_template(2)}|/(?![ /*])(?:[^/\\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+/"""
)
_SCRIPT = late_pattern(
    rf"(?P<literal>{_LITERAL})|//.*\s*|;(?:\s|//.*)*(?=\}})"
    r"|\s*(?P<sign>[=<>!&|?:,;(){}\[\]*%])(?:\s|//.*)*"
    r"|(?<![+-])\s+(?P<sum>[+-])\s+(?![+-])|\s*(?P<over>/)\s"
)
_COMMENT = late_pattern(r"/\*.*?\*/", re.DOTALL)
_STYLE = late_pattern(r"\s*([{};,>])\s*|(?<=:)\s+")


def squeeze_script(text: str) -> str:
    """The same script, with blanks only where words would run together."""
    lines = "\n".join(line for line in map(str.strip, text.splitlines()) if line)
    return _SCRIPT.sub(lambda found: found[found.lastgroup] if found.lastgroup else "", lines)


def squeeze_style(text: str) -> str:
    """The same style, with blanks only where they mean something."""
    bare = _COMMENT.sub("", text).strip()
    return _STYLE.sub(lambda found: found[1] or "", bare).replace(";}", "}")

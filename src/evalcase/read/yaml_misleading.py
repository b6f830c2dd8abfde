"""Whether a YAML text may have been meant otherwise than it is read: a good file costs a look for a
few bytes, and needs no libyaml for it."""

from __future__ import annotations

import re

_COMMENT_BYTES = re.compile(rb"#(?<=[^\s,:\[{\"'\]}] #)[^\s#]")
_QUOTE_BYTES = re.compile(
    rb"\xe2\x80[\x98-\x9f](?:(?<=[:,-] \xe2\x80[\x98-\x9f])|(?<=[\[{]\xe2\x80[\x98-\x9f]))"
)
_PLAIN_LINE = re.compile(rb"[ ]*(?:- +)*(?:[^\s:\"'#]+: +|(?<=- ))[^\s\"'|>\[{&*!#%@`-]")


def may_mislead(source: bytes) -> bool:
    """Whether there is anything that `find_lints` should look at."""
    return _QUOTE_BYTES.search(source) is not None or _may_cut_text(source)


def _may_cut_text(source: bytes) -> bool:
    """Whether a `#` stands in a line that looks like plain text: most are in quotes, or below a
    header."""
    for found in _COMMENT_BYTES.finditer(source):
        line = source.rfind(b"\n", 0, found.start()) + 1
        if _PLAIN_LINE.match(source, line, found.start()):
            return True
    return False

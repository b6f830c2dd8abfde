"""Any text in, text out that XML 1.0 can hold: what it can't is spelt, nothing is dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FOREIGN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Characters outside of XML 1.0, and those that steer a terminal or the direction of text."""
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_WHITE = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_TEXT = str.maketrans({**_ENTITIES, "\r": "&#13;"})
_ATTRIBUTE = str.maketrans({**_ENTITIES, **_WHITE})


def xml_text(text: str) -> str:
    """The text of an element."""
    return _FOREIGN.sub(_spell_character, text).translate(_TEXT)


def xml_tag(name: str, attributes: Mapping[str, str], end: str = ">") -> str:
    """The start of an element; with `/>` as its end, the whole of an empty one."""
    said = "".join(
        f' {key}="{_FOREIGN.sub(_spell_character, value).translate(_ATTRIBUTE)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{said}{end}"


def _spell_character(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

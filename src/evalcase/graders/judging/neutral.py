"""Control tokens of chat templates in foreign text, broken so that no model obeys them.

Some servers read `<|im_end|>` in the content of a message as the end of it: what follows then
speaks with another's voice. In the judge's view, and only there, a character of no width stands
inside of each.
"""

from __future__ import annotations

import re

BREAK = "\u200b"

_TOKEN = re.compile(
    r"<\|[^|<>\n]{0,60}\|>"  # <|im_start|>, <|eot_id|>, <|assistant|>
    r"|<\uff5c[^\uff5c<>\n]{0,60}\uff5c>"  # the same with full-width bars
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
    r"|<</?SYS>>"
    r"|</?s>"
    r"|<(?:start|end)_of_(?:turn|image|audio)>"
    r"|<(?:bos|eos|pad|unk|mask|sep|cls|extra_id_\d{1,4})>"
    r"|<\|[a-z_]{1,30}>|<[a-z_]{1,30}\|>"  # Gemma's <|turn> and <turn|>
    r"|<\[(?:begin|end)[^\]<>\n]{0,60}\]>",
    re.IGNORECASE,
)


def neutralise_tokens(text: str) -> tuple[str, int]:
    """The text with every control token broken after its first character, and their number."""
    return _TOKEN.subn(lambda found: found[0][0] + BREAK + found[0][1:], text)

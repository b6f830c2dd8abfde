"""Keep the record small: cut what is too long, and say how much is gone."""

from __future__ import annotations


def cap_text(text: str, limit: int) -> tuple[str, bool]:
    """The first `limit` bytes of a text as UTF-8, cut between characters, with a mark that says
    how many more there were; and whether anything was cut."""
    if len(text) * 4 <= limit:  # no character takes more
        return text, False
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text, False
    end = max(limit, 0)
    while end and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    kept = data[:end].decode("utf-8", "surrogatepass")
    return f"{kept}\n[{len(data) - end:,} more bytes were cut]", True

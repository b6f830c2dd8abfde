"""Texts as messages, whatever bytes they are.

Text that is not valid Unicode (bytes that are no UTF-8, lone surrogates) can't be written to most
files. Its message has U+FFFD in the place of what is wrong, so that graders and reports can read
it, and a key `content_base64` with the bytes as they came: nothing is lost, and the key is the
flag. (Lone surrogates of Python text are encoded as UTF-8 would, were they allowed.)
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from evalcase.types.message import Message, take_message
from evalcase.util.json import whole_text

RAW = "content_base64"


def text_message(text: str) -> Message:
    """An assistant message with a text of any characters."""
    if text.isascii():
        return take_message({"role": "assistant", "content": text})
    return Message(make_valid({"role": "assistant", "content": text}))


def bytes_message(data: bytes) -> Message:
    """An assistant message with a text of any bytes."""
    try:
        return Message({"role": "assistant", "content": data.decode()})
    except UnicodeDecodeError:
        content, raw = data.decode(errors="replace"), b64encode(data).decode()
        return Message({"role": "assistant", "content": content, RAW: raw})


def make_valid(message: dict[str, Any]) -> dict[str, Any]:
    """The message, its text marked if it was not valid."""
    content = message.get("content")
    if isinstance(content, str) and whole_text(content) != content:
        data = content.encode(errors="surrogatepass")
        message = {**message, "content": data.decode(errors="replace")}
        message[RAW] = b64encode(data).decode()
    return message

"""What code in a worker prints, without the secrets that the worker knows."""

from __future__ import annotations

from collections.abc import Callable
from io import TextIOWrapper
from typing import BinaryIO


class ScrubbedOutput(TextIOWrapper):
    """A stream that takes out what is known to be secret by the time of writing."""

    def __init__(self, buffer: BinaryIO, scrub: Callable[[str], str]) -> None:
        super().__init__(buffer, errors="backslashreplace", write_through=True)
        self._scrub = scrub

    def write(self, text: str) -> int:
        super().write(self._scrub(text))
        if "\n" in text:
            self.flush()
        return len(text)

"""The files that are open in an editor: their texts as they are now, and what was last found in
them. Checks run beside the event loop, one at a time for each file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from evalcase.config.config import Config
from evalcase.editor.reading import (
    CancellableCatalogue,
    FileRole,
    Reading,
    StaleError,
    config_around,
    read_text,
    role_of,
)
from evalcase.format.positions import split_lines
from evalcase.util.environment import monotonic

PAUSE_S = 0.15
"""So long nothing may be typed before a text is checked."""
_LONGEST_PAUSE_S = 1.0


class OpenFile:
    """One file. `changed` is set whenever it has to be checked again."""

    def __init__(self, uri: str, path: str, text: str, version: int | None) -> None:
        self.uri = uri
        self.path = path
        self.text = text
        self.version = version
        self.role: FileRole | None = role_of(path, text)
        self.reading: Reading | None = None
        self.good: Reading | None = None
        """The last reading of a text that could be read as such."""
        self.changed = asyncio.Event()
        self.watcher: asyncio.Task[None] | None = None
        self.pause_s = PAUSE_S
        self._lock = asyncio.Lock()
        self._lines: tuple[str, list[str]] = "", [""]

    @property
    def lines(self) -> list[str]:
        """The lines of the text as it is now."""
        if self._lines[0] is not self.text:
            jsonl = self.role is not None and self.role.format == "jsonl"
            self._lines = self.text, self.text.split("\n") if jsonl else split_lines(self.text)
        return self._lines[1]

    def change(self, text: str, version: int | None) -> None:
        self.text, self.version = text, version
        self.role = role_of(self.path, text)
        self.changed.set()

    def forget(self) -> None:
        """Something beside the text has changed, which it is checked by."""
        self.reading = None
        self.changed.set()

    @property
    def is_read(self) -> bool:
        """Whether the last reading is of the text as it is now."""
        return self.reading is not None and self.reading.text is self.text

    async def read(self, config_of: Callable[[str], Config]) -> Reading | None:
        """The reading of the text as it is; None for a file that is not evalcase's business."""
        while self.role is not None and not self.is_read:
            await self.read_once(config_of)
        return self.reading if self.role is not None else None

    async def read_once(self, config_of: Callable[[str], Config]) -> None:
        """Check the text, unless that is done. If it is changed meanwhile, this is given up."""
        async with self._lock:
            role, text = self.role, self.text
            if role is None or self.is_read:
                return
            begun = monotonic()
            try:
                reading = await asyncio.to_thread(self._check, text, role, config_of)
            except StaleError:
                return
            # Who types in a large file shouldn't have to pay for a check after every word.
            self.pause_s = min(max(PAUSE_S, monotonic() - begun), _LONGEST_PAUSE_S)
            self.reading = reading
            if reading.is_readable:
                self.good = reading

    def _check(self, text: str, role: FileRole, config_of: Callable[[str], Config]) -> Reading:
        config = config_of(os.path.dirname(self.path))
        known = CancellableCatalogue(config, lambda: self.text is not text)
        return read_text(text, self.path, role, known)


class OpenFiles:
    """All of them, by their addresses."""

    def __init__(self) -> None:
        self.by_uri: dict[str, OpenFile] = {}

    def config_of(self, folder: str) -> Config:
        """The configuration around a folder, as the editor has it."""
        texts = {
            os.path.realpath(each.path): each.text
            for each in list(self.by_uri.values())
            if each.role is not None and each.role.kind == "config"
        }
        return config_around(folder, texts)

    def suites(self) -> list[OpenFile]:
        """Those that a configuration is used by."""
        found = self.by_uri.values()
        return [each for each in found if each.role is not None and each.role.kind != "config"]

"""A project that is open in an editor: texts in, what the editor shows out."""

from __future__ import annotations

from pathlib import Path

from tests.editors.language_server import Document, LanguageServer


class EditedProject:
    """Each text is a new file, so that nothing is left of the one before."""

    def __init__(self, folder: Path, server: LanguageServer, language: str) -> None:
        self.folder = folder
        self.server = server
        self.language = language
        self.opened = 0

    def open(self, text: str, name: str | None = None) -> Document:
        self.opened += 1
        path = self.folder / f"{self.opened}-{name or f'a.eval.{self.language}'}"
        return self.server.open(path, text, self.language)

    def at(self, text: str, name: str | None = None) -> Document:
        """Open a text in which `|` is where the cursor stands."""
        before, _, after = text.partition("|")
        document = self.open(before + after, name)
        document.cursor = before.count("\n"), len(before) - before.rfind("\n") - 1
        return document

    def once_ready(self, wrong: str) -> EditedProject:
        """Wait until a text that is wrong is underlined: the schema is read by then."""
        while not self.open(wrong).underlined():
            pass
        return self

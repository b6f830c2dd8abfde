"""How long an editor waits for the language server: a real process, asked over its pipes."""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.figures import Figure
from benchmarks.generate import write

SIZES = (10, 1_000, 10_000)
ROUNDS = 5
LIMIT_S = 120


def editing_figures(folder: Path) -> Iterator[Figure]:
    """Wall time as a person waits for it, for files of several sizes."""
    if importlib.util.find_spec("pygls") is None:
        print("left out: the language server needs pygls, of the extra `lsp`", file=sys.stderr)
        return
    for count in SIZES:
        path = write(folder, count, ".yaml")
        for what, took in asyncio.run(_measure(path, path.read_text("utf-8"))).items():
            yield Figure(f"editor: {what}, {count:,} cases", took * 1000, "ms")


async def _measure(path: Path, text: str) -> dict[str, float]:
    editor = _Client(path.with_suffix(".eval.yaml"), text)
    await editor.start()
    try:
        took = {"opened → problems": await _timed(editor.open)}
        for what, ask in editor.asked().items():
            took[what] = statistics.median([await _timed(ask) for _ in range(ROUNDS)])
        return took
    finally:
        await editor.stop()


async def _timed(what: Callable[[], Awaitable[object]]) -> float:
    begun = perf_counter()
    await asyncio.wait_for(what(), LIMIT_S)
    return perf_counter() - begun


class _Client:
    """pygls' own client, with one file open."""

    def __init__(self, path: Path, text: str) -> None:
        from lsprotocol import types
        from pygls.lsp.client import LanguageClient

        self.types: Any = types
        self.client: Any = LanguageClient("benchmarks", "1")
        self.uri, self.text, self.version = path.as_uri(), text, 0
        self.folder = path.parent
        self.news: asyncio.Queue[int | None] = asyncio.Queue()
        # A field of the last case.
        before, _, _ = text.rpartition("expected_output:")
        self.at = types.Position(before.count("\n"), len(before) - before.rindex("\n") + 1)

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.news.put_nowait(params.version)

    async def start(self) -> None:
        types = self.types
        await self.client.start_io(sys.executable, "-m", "evalcase", "lsp", cwd=self.folder)
        capabilities = types.ClientCapabilities()
        root = self.folder.as_uri()
        await self.client.initialize_async(types.InitializeParams(capabilities, root_uri=root))
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()

    async def open(self) -> None:
        types = self.types
        self.version = 1
        item = types.TextDocumentItem(self.uri, "yaml", self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self._checked()

    def asked(self) -> dict[str, Callable[[], Awaitable[object]]]:
        types = self.types
        document = types.TextDocumentIdentifier(self.uri)
        return {
            "a key pressed → problems": self._type,
            "completion": lambda: self.client.text_document_completion_async(
                types.CompletionParams(document, self.at)
            ),
            "hover": lambda: self.client.text_document_hover_async(
                types.HoverParams(document, self.at)
            ),
            "symbols": lambda: self.client.text_document_document_symbol_async(
                types.DocumentSymbolParams(document)
            ),
        }

    async def _type(self) -> None:
        """Write something more at the end, and wait for the check."""
        types = self.types
        self.version += 1
        self.text += "#"
        document = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        change = types.TextDocumentContentChangeWholeDocument(self.text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self._checked()

    async def _checked(self) -> None:
        while await self.news.get() != self.version:
            pass

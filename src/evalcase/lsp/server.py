"""The server: notifications and requests of an editor in, answers out. It executes nothing of the
project, and writes nothing; edits are made by the editor, if its user wants them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from evalcase import __version__
from evalcase.editor.columns import Encoding, to_column
from evalcase.lsp.answers import Answers
from evalcase.lsp.convert import Converter
from evalcase.lsp.opened import OpenFile, OpenFiles

_WATCHED = ("**/evalcase.toml", "**/pyproject.toml", "**/*.py", "**/*.json", "**/*.suite.yaml")
_RUNS = "**/.evalcase/runs/*/run.json"
TRIGGERS = [":", " ", "-", '"', "'", "[", "{", ","]


class Server(LanguageServer):
    """One connection to one editor."""

    def __init__(self) -> None:
        super().__init__(
            "evalcase", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.files = OpenFiles()
        self.answers = Answers(self.files)
        self.is_shut_down = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def encoding(self) -> Encoding:
        """The units that columns are counted in, as was agreed on."""
        agreed = self.workspace.position_encoding
        name = agreed.value if isinstance(agreed, types.PositionEncodingKind) else agreed
        return cast("Encoding", name)

    def find(self, uri: str) -> OpenFile | None:
        return self.files.by_uri.get(uri)

    def converter(self, file: OpenFile, lines: Sequence[str] | None = None) -> Converter:
        return Converter(file.uri, file.lines if lines is None else lines, self.encoding)

    def place(self, file: OpenFile, at: types.Position) -> tuple[int, int]:
        """The line and column of a position in code points, inside of the text."""
        line = min(at.line, len(file.lines) - 1)
        return line, to_column(file.lines[line], at.character, self.encoding)

    def open(self, document: types.TextDocumentItem) -> None:
        path = to_fs_path(document.uri)
        if path is None or not document.uri.startswith("file:"):
            return
        file = OpenFile(document.uri, path, document.text, document.version)
        self.files.by_uri[document.uri] = file
        file.changed.set()
        file.watcher = asyncio.ensure_future(self._watch(file))
        self._recheck_suites(file)

    def change(self, uri: str, text: str, version: int) -> None:
        file = self.find(uri)
        if file is not None:
            file.change(text, version)
            self._recheck_suites(file)

    def close(self, uri: str) -> None:
        file = self.files.by_uri.pop(uri, None)
        if file is not None:
            if file.watcher is not None:
                file.watcher.cancel()
            self._publish(uri, [], None)
            self._recheck_suites(file)

    def recheck(self) -> None:
        """Files beside those that are open have changed."""
        for file in self.files.by_uri.values():
            file.forget()

    def _recheck_suites(self, file: OpenFile) -> None:
        """Where a configuration is written, the suites that name it are looked at again."""
        if file.role is not None and file.role.kind == "config":
            for each in self.files.suites():
                each.forget()

    async def _watch(self, file: OpenFile) -> None:
        """Check a file whenever it has changed and nobody types for a while."""
        pause = 0.0  # one that was just opened is not being written yet
        while True:
            await file.changed.wait()
            file.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(file.changed.wait(), pause)
                continue
            await file.read_once(self.files.config_of)
            pause = file.pause_s
            if file.role is None:
                self._publish(file.uri, [], file.version)
            elif file.is_read and file.reading is not None:
                convert = self.converter(file)
                problems = [convert.diagnostic(each, file.path) for each in file.reading.problems]
                self._publish(file.uri, problems, file.version)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        params = types.PublishDiagnosticsParams(uri, found, version)
        self.text_document_publish_diagnostics(params)

    def in_background(self, task: asyncio.Task[None]) -> None:
        """Keep a task until it is done."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def watch_files(self) -> None:
        """Ask the editor to tell of changes on disk, if it can."""
        workspace = self.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace is not None else None
        if watched is None or not watched.dynamic_registration:
            return
        watchers = [types.FileSystemWatcher(pattern) for pattern in (*_WATCHED, _RUNS)]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        registration = types.Registration("evalcase-files", method, options)
        await self.client_register_capability_async(types.RegistrationParams([registration]))

    async def refresh_hints(self) -> None:
        """Have the editor ask for verdicts again, if it can."""
        workspace = self.client_capabilities.workspace
        hints = workspace.inlay_hint if workspace is not None else None
        if hints is not None and hints.refresh_support:
            await self.workspace_inlay_hint_refresh_async(None)


async def end_with_client(process_id: int) -> None:
    """End when the editor is gone, also where somebody else keeps our standard input open."""
    while True:
        await asyncio.sleep(_LOOK_S)
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            os._exit(1)
        except OSError:
            continue


_LOOK_S = 5.0

"""The server: notifications and requests of an editor in, answers out. It executes nothing of the
project, and writes nothing; edits are made by the editor, if its user wants them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from evalcase import __version__
from evalcase.editor.answers import Answers
from evalcase.editor.documents import PAUSE_S, OpenFile
from evalcase.editor.protocol import Encoding

_WATCHED = ("**/evalcase.toml", "**/pyproject.toml", "**/*.py", "**/*.json", "**/*.suite.yaml")
_RUNS = "**/.evalcase/runs/*/run.json"
TRIGGERS = [":", " ", "-", '"', "'", "[", "{", ","]


class Server(LanguageServer):
    """One connection to one editor."""

    def __init__(self) -> None:
        super().__init__(
            "evalcase", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self.files: dict[str, OpenFile] = {}
        self.answers = Answers(self.files, lambda: self.encoding)
        self.is_shut_down = False
        self._asking: asyncio.Task[None] | None = None
        """Held, so that it is not collected before it is done."""

    @property
    def encoding(self) -> Encoding:
        """The units that columns are counted in, as was agreed on."""
        agreed = self.workspace.position_encoding
        name = agreed.value if isinstance(agreed, types.PositionEncodingKind) else agreed
        return cast("Encoding", name)

    def open(self, document: types.TextDocumentItem) -> None:
        path = to_fs_path(document.uri)
        if path is None or not document.uri.startswith("file:"):
            return
        file = OpenFile(document.uri, path, document.text, document.version)
        self.files[document.uri] = file
        file.watcher = asyncio.ensure_future(self._watch(file))

    def change(self, document: types.VersionedTextDocumentIdentifier, text: str) -> None:
        file = self.files.get(document.uri)
        if file is not None:
            file.change(text, document.version)

    def close(self, uri: str) -> None:
        file = self.files.pop(uri, None)
        if file is not None and file.watcher is not None:
            file.watcher.cancel()
            self._publish(uri, [], None)

    def check_all(self) -> None:
        """Files beside those that are open have changed."""
        for file in self.files.values():
            file.check_again()

    async def _watch(self, file: OpenFile) -> None:
        """Check a file after each change, once the user stops typing."""
        pause = 0.0  # one that was just opened is not being written yet
        while True:
            await file.changed.wait()
            file.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(file.changed.wait(), pause)
                continue
            reading = await asyncio.to_thread(file.read)
            pause = PAUSE_S
            if file.role is None:
                self._publish(file.uri, [], file.version)
            elif reading is not None and reading.text is file.text:
                convert = self.answers.convert(file)
                problems = [convert.diagnostic(each, file.path) for each in reading.problems]
                self._publish(file.uri, problems, file.version)

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        params = types.PublishDiagnosticsParams(uri, found, version)
        self.text_document_publish_diagnostics(params)

    def change_on_disk(self, changes: Sequence[types.FileEvent]) -> None:
        runs = [each for each in changes if "/.evalcase/runs/" in each.uri]
        if len(runs) < len(changes):
            self.check_all()
        if runs:
            self.ask(self._refresh_hints())

    def note_end(self) -> None:
        self.is_shut_down = True

    def ask(self, question: Coroutine[Any, Any, None]) -> None:
        """Have the editor asked for something."""
        self._asking = asyncio.ensure_future(question)

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

    async def _refresh_hints(self) -> None:
        """Have the editor ask for verdicts again, if it can."""
        workspace = self.client_capabilities.workspace
        hints = workspace.inlay_hint if workspace is not None else None
        if hints is not None and hints.refresh_support:
            await self.workspace_inlay_hint_refresh_async(None)


def make_server() -> Server:
    """A server with all of its features, which has not been started."""
    server = Server()
    notices: dict[str, Callable[[Any], None]] = {
        types.INITIALIZED: lambda _: server.ask(server.watch_files()),
        types.SHUTDOWN: lambda _: server.note_end(),
        types.TEXT_DOCUMENT_DID_OPEN: lambda params: server.open(params.text_document),
        types.TEXT_DOCUMENT_DID_CHANGE: lambda params: server.change(
            params.text_document, params.content_changes[-1].text
        ),
        types.TEXT_DOCUMENT_DID_SAVE: lambda _: server.check_all(),
        types.TEXT_DOCUMENT_DID_CLOSE: lambda params: server.close(params.text_document.uri),
        types.WORKSPACE_DID_CHANGE_WATCHED_FILES: lambda params: server.change_on_disk(
            params.changes
        ),
    }
    for method, hear in notices.items():
        server.feature(method)(hear)

    def answer(
        method: str, find: Callable[[OpenFile, Any], object], options: object = None
    ) -> None:
        """Answer what is asked about a file that is open, in a thread."""

        @server.feature(method, options)
        async def handle(params: Any) -> object:  # noqa: ANN401 - what is asked about
            file = server.files.get(params.text_document.uri)
            return None if file is None else await asyncio.to_thread(find, file, params)

    answers, kind = server.answers, types.CodeActionKind
    completion = types.CompletionOptions(trigger_characters=TRIGGERS)
    actions = types.CodeActionOptions([kind.QuickFix, kind.SourceFixAll])
    answer(types.TEXT_DOCUMENT_COMPLETION, answers.complete, completion)
    answer(types.TEXT_DOCUMENT_HOVER, answers.explain)
    answer(types.TEXT_DOCUMENT_DEFINITION, answers.define)
    answer(types.TEXT_DOCUMENT_CODE_ACTION, answers.fix, actions)
    answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, answers.list_cases)
    answer(types.TEXT_DOCUMENT_INLAY_HINT, answers.show_verdicts)
    return server

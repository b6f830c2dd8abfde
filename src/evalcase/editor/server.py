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
from evalcase.editor.answers import Answers
from evalcase.editor.open_files import OpenFile, OpenFiles
from evalcase.editor.protocol import Converter, Encoding, make_hover, make_location, to_column

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
        """Check a file after each change, once the user stops typing."""
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
        """Ask the editor to status_of of changes on disk, if it can."""
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


def make_server() -> Server:
    """A server with all of its features, which has not been started."""
    server = Server()
    _follow_files(server)
    _answer_at_cursor(server)
    _answer_about_files(server)
    _begin_and_end(server)
    return server


def _begin_and_end(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def begin(_: types.InitializedParams) -> None:
        server.in_background(asyncio.ensure_future(server.watch_files()))
        if server.process_id is not None:
            server.in_background(asyncio.ensure_future(end_with_client(server.process_id)))

    @server.feature(types.SHUTDOWN)
    def shut_down(_: None) -> None:
        server.is_shut_down = True


def _follow_files(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def open_file(params: types.DidOpenTextDocumentParams) -> None:
        server.open(params.text_document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def change_file(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.change(document.uri, params.content_changes[-1].text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def save_file(_: types.DidSaveTextDocumentParams) -> None:
        server.recheck()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def close_file(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def change_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        runs = [each for each in params.changes if "/.evalcase/runs/" in each.uri]
        if len(runs) < len(params.changes):
            server.recheck()
        if runs:
            await server.refresh_hints()


def _answer_at_cursor(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS)
    )
    async def complete(params: types.CompletionParams) -> list[types.CompletionItem]:
        file = server.find(params.text_document.uri)
        if file is None:
            return []
        line, column = server.place(file, params.position)
        convert = server.converter(file)
        found = await server.answers.complete(file, line, column)
        return [convert.completion(line, number, each) for number, each in enumerate(found)]

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def explain(params: types.HoverParams) -> types.Hover | None:
        file = server.find(params.text_document.uri)
        if file is None:
            return None
        line, column = server.place(file, params.position)
        convert = server.converter(file)
        found = await server.answers.explain(file, line, column)
        if found is None:
            return None
        return make_hover(found[0], convert.on_line(line, found[1].start, found[1].end))


def _answer_about_files(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def define(params: types.DefinitionParams) -> types.Location | None:
        file = server.find(params.text_document.uri)
        if file is None:
            return None
        found = await server.answers.define(file, *server.place(file, params.position))
        return None if found is None else make_location(found)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
    )
    async def fix(params: types.CodeActionParams) -> list[types.CodeAction]:
        return await _mend_problems(server, params)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def list_cases(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        file = server.find(params.text_document.uri)
        if file is None:
            return []
        found = await server.answers.list_cases(file)
        convert = server.converter(file)
        return [convert.symbol(each) for each in found]

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        return await _hint_verdicts(server, params)


async def _mend_problems(server: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    file, only = server.find(params.text_document.uri), params.context.only
    if file is None:
        return []
    first, last = params.range.start.line, params.range.end.line
    found = []
    if _is_wanted(only, types.CodeActionKind.QuickFix):
        found += await server.answers.fix(file, first, last, everything=False)
    if only is not None and _is_wanted(only, types.CodeActionKind.SourceFixAll):
        found += await server.answers.fix(file, first, last, everything=True)
    convert = server.converter(file)
    return [convert.action(each, file.version, file.path) for each in found]


def _is_wanted(only: object, kind: types.CodeActionKind) -> bool:
    """Whether an editor asks for actions of a kind: it may name any that begins like it."""
    kinds = list(only) if isinstance(only, list | tuple) else None
    if kinds is None:
        return True
    names = [each.value if isinstance(each, types.CodeActionKind) else str(each) for each in kinds]
    return any(f"{kind.value}.".startswith(f"{name}.") or not name for name in names)


async def _hint_verdicts(server: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
    file = server.find(params.text_document.uri)
    if file is None:
        return []
    found = await server.answers.hint(file, params.range.start.line, params.range.end.line)
    convert = server.converter(file)
    return [
        types.InlayHint(
            convert.position(each.line, each.column),
            each.status.label,
            tooltip=types.MarkupContent(types.MarkupKind.Markdown, each.status.about),
            padding_left=True,
        )
        for each in found
    ]

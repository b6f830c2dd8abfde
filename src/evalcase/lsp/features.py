"""Which notifications and requests of the protocol the server attends to, and how."""

from __future__ import annotations

import asyncio

from lsprotocol import types

from evalcase.lsp.convert import make_hover, make_location
from evalcase.lsp.server import TRIGGERS, Server, end_with_client


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
    async def mend(params: types.CodeActionParams) -> list[types.CodeAction]:
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
        found += await server.answers.mend(file, first, last, everything=False)
    if only is not None and _is_wanted(only, types.CodeActionKind.SourceFixAll):
        found += await server.answers.mend(file, first, last, everything=True)
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
            each.told.label,
            tooltip=types.MarkupContent(types.MarkupKind.Markdown, each.told.about),
            padding_left=True,
        )
        for each in found
    ]

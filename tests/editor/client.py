"""An editor as the language server sees it: pygls' own client, over the pipes of a real process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.cli.command import EVALCASE, LIMIT_S, environment

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., None])


class Editor:
    """Opens, changes and asks; `|` in a text is where the cursor stands."""

    def __init__(self, folder: Path, encodings: Sequence[str] | None = None) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.client = LanguageClient("tests", "1")
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self.news = asyncio.Event()
        self.versions: dict[str, int] = {}
        self.registered: list[types.Registration] = []
        self.has_registered = asyncio.Event()
        self.refreshed = asyncio.Event()
        self._listen()
        self.wait(self.client.start_io(*EVALCASE, "lsp", env=environment(), cwd=folder))
        self.began = self.wait(self._begin(encodings))

    def _listen(self) -> None:
        feature: Callable[[str], Callable[[F], F]] = self.client.feature

        @feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params
            self.news.set()

        @feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += params.registrations
            self.has_registered.set()

        @feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        def refresh(_: None) -> None:
            self.refreshed.set()

    async def _begin(self, encodings: Sequence[str] | None) -> types.InitializeResult:
        general = types.GeneralClientCapabilities(position_encodings=encodings)
        workspace = types.WorkspaceClientCapabilities(
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
                dynamic_registration=True
            ),
            inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        )
        capabilities = types.ClientCapabilities(general=general, workspace=workspace)
        result = await self.client.initialize_async(
            types.InitializeParams(capabilities, root_uri=self.folder.as_uri())
        )
        self.client.initialized(types.InitializedParams())
        return result

    def wait(self, what: Awaitable[T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(what, LIMIT_S))

    @property
    def process(self) -> asyncio.subprocess.Process:
        server = self.client._server
        assert server is not None
        return server

    def open(self, path: Path, text: str) -> str:
        """Open a file, which need not exist; its address."""
        uri = path.as_uri()
        self.versions[uri] = 1
        self.published.pop(uri, None)
        item = types.TextDocumentItem(uri, "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self.versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    def close(self, uri: str) -> None:
        document = types.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(document))

    def problems(self, uri: str, version: int | None = None) -> list[types.Diagnostic]:
        """What is published of the newest version, once it is."""
        wanted = self.versions[uri] if version is None else version
        return list(self.wait(self._await_problems(uri, wanted)).diagnostics)

    async def _await_problems(self, uri: str, version: int) -> types.PublishDiagnosticsParams:
        while True:
            found = self.published.get(uri)
            if found is not None and found.version == version:
                return found
            self.news.clear()
            await self.news.wait()

    def await_codes(self, uri: str, *codes: str) -> list[types.Diagnostic]:
        """What is published once it has these codes: also where only what is beside a text has
        changed."""

        async def published() -> types.PublishDiagnosticsParams:
            while True:
                found = self.published.get(uri)
                if found is not None and [each.code for each in found.diagnostics] == [*codes]:
                    return found
                self.news.clear()
                await self.news.wait()

        return list(self.wait(published()).diagnostics)

    def complete(self, uri: str, at: tuple[int, int]) -> dict[str, types.CompletionItem]:
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), types.Position(*at))
        found = self.wait(self.client.text_document_completion_async(params)) or []
        assert isinstance(found, Sequence)
        return {each.label: each for each in found}

    def hover(self, uri: str, at: tuple[int, int]) -> str | None:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(*at))
        found = self.wait(self.client.text_document_hover_async(params))
        if found is None:
            return None
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    def define(self, uri: str, at: tuple[int, int]) -> types.Location | None:
        params = types.DefinitionParams(types.TextDocumentIdentifier(uri), types.Position(*at))
        found = self.wait(self.client.text_document_definition_async(params))
        assert found is None or isinstance(found, types.Location)
        return found

    def actions(
        self, uri: str, at: types.Range, only: Sequence[types.CodeActionKind] | None = None
    ) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), at, context)
        found = self.wait(self.client.text_document_code_action_async(params)) or []
        return [each for each in found if isinstance(each, types.CodeAction)]

    def hints(self, uri: str) -> list[types.InlayHint]:
        whole = types.Range(types.Position(0, 0), types.Position(1_000_000, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), whole)
        found = self.wait(self.client.text_document_inlay_hint_async(params))
        return [*(found or ())]

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        params = types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        found = self.wait(self.client.text_document_document_symbol_async(params)) or []
        return [each for each in found if isinstance(each, types.DocumentSymbol)]

    def stop(self) -> int:
        """Shut down as editors do; the exit code of the server."""
        self.wait(self.client.shutdown_async(None))
        self.client.exit(None)
        code = self.wait(self.process.wait())
        self.drop()
        return code

    def drop(self) -> None:
        stop: Callable[[], Awaitable[None]] = self.client.stop
        self.wait(stop())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


def split_at_cursor(text: str) -> tuple[str, tuple[int, int]]:
    """The text without its `|`, and where that stood, in units of UTF-16."""
    before, _, after = text.partition("|")
    last = before[before.rfind("\n") + 1 :]
    return before + after, (before.count("\n"), len(last.encode("utf-16-le")) // 2)


def apply(text: str, edits: Sequence[types.TextEdit]) -> str:
    """The text with edits made as an editor makes them, in UTF-16."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode("utf-16-le")) // 2 + 1)
    data = text.encode("utf-16-le")

    def offset(at: types.Position) -> int:
        return 2 * (starts[at.line] + at.character)

    for edit in sorted(edits, key=lambda each: offset(each.range.start), reverse=True):
        new = edit.new_text.encode("utf-16-le")
        data = data[: offset(edit.range.start)] + new + data[offset(edit.range.end) :]
    return data.decode("utf-16-le")

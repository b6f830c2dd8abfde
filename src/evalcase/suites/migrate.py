"""Deprecated names in a file, renamed in place: every other byte stays as it is.

A name is renamed only where that is a plain rename. What the result means is compared with what
the file meant before, and nothing is written unless the two are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from evalcase.model.finding import Finding
from evalcase.model.json_value import are_same
from evalcase.model.problem import Problem, Span, in_order
from evalcase.plugins.known import Installed
from evalcase.read.discover import find_sidecars, format_of, is_sidecar, nothing_there, outside_link
from evalcase.read.document import Document, Format, parse_document
from evalcase.read.places import Alias, Branch, find_node
from evalcase.read.source import (
    BOM,
    STDIN,
    UnreadableError,
    folder_of,
    open_bytes,
    tell_undecodable,
    tell_unreadable,
)
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.suite import resolve_line, resolve_sidecar, resolve_suite
from evalcase.resolve.suite_fields import NOTHING_SHARED
from evalcase.suites.named_files import SuiteFiles
from evalcase.suites.renames import OLD_NAME_CODES, Rename, apply_renames, plan_renames
from evalcase.system.files import read_bytes


class Migration(NamedTuple):
    """A file before and after, and what was done or had to be left."""

    path: str
    before: bytes
    after: bytes
    renames: list[Rename]
    left: list[Problem]
    """Deprecated names that are no plain rename."""
    errors: list[Problem]
    """Why the file, or a line of it, could not be read."""

    @property
    def changed(self) -> bool:
        return self.before != self.after


def migrate_file(path: str, stdin_format: Format = "yaml") -> Iterator[Migration]:
    """Plan the migration of a file, and of the suite fields beside it. Nothing is written."""
    format = nothing_there(path) or (stdin_format if path == STDIN else format_of(path))
    if isinstance(format, Problem):
        yield Migration(path, b"", b"", [], [], [format])
        return
    try:
        with open_bytes(path) as file:
            yield migrate_bytes(read_bytes(file, -1), format, path)
    except (UnreadableError, OSError) as error:
        problem = (
            error.problem if isinstance(error, UnreadableError) else tell_unreadable(path, error)
        )
        yield Migration(path, b"", b"", [], [], [problem])
    if format == "jsonl" and path != STDIN:
        for sidecar in find_sidecars(path):
            outside = outside_link(sidecar)
            if outside is None:
                yield from migrate_file(sidecar)
            else:
                yield Migration(sidecar, b"", b"", [], [], [outside])


def migrate_bytes(data: bytes, format: Format, path: str) -> Migration:
    """Plan the migration of a file's content."""
    mark = BOM if data.startswith(BOM) else b""
    body = data[len(mark) :]
    result = Migration(path, data, data, [], [], [])
    after: list[bytes] = []
    for number, piece in _split_pieces(body, format):
        after.append(_migrate_piece(piece, number, format, result))
    return result._replace(after=mark + b"".join(after))


def _split_pieces(body: bytes, format: Format) -> Iterator[tuple[int, bytes]]:
    """A JSONL file line by line, with line numbers; any other file as a whole."""
    if format != "jsonl":
        yield 1, body
        return
    start, number = 0, 1
    while start < len(body):
        end = body.find(b"\n", start) + 1 or len(body)
        yield number, body[start:end]
        start, number = end, number + 1


def _migrate_piece(piece: bytes, number: int, format: Format, result: Migration) -> bytes:
    if format == "jsonl" and not piece.strip():
        return piece
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        result.errors.append(tell_undecodable(piece, result.path, number))
        return piece
    end = text[len(text.rstrip("\r\n")) :] if format == "jsonl" else ""
    document = parse_document(text.removesuffix(end), format, result.path)
    document.first_line = number
    if not document.readable or document.faults:
        result.errors.extend(document.problems)
        return piece
    return (_migrate_document(document, format, result) + end).encode()


def _migrate_document(document: Document, format: Format, result: Migration) -> str:
    meaning, findings = _resolve_document(document, format)
    planned, left = plan_renames(document, findings)

    def keeps_meaning(renames: list[Rename]) -> bool:
        after = parse_document(apply_renames(document, renames), format, document.path)
        return (
            after.readable
            and not after.faults
            and are_same(_resolve_document(after, format)[0], meaning)
        )

    renames = _renames_that_go(document, findings, [rename for rename, _ in planned], keeps_meaning)
    done = {rename.span for rename in renames}
    left += [each._replace(hint=_TOO_MUCH) for rename, each in planned if rename.span not in done]
    offset = document.first_line - 1
    shifted = [_lower_rename(rename, offset) for rename in renames]
    result.renames.extend(shifted)
    unique = {(finding.path, finding.code): finding for finding in left}
    # A key in an anchor may stand beside its primary in one case, and alone in the next.
    places = {rename.span for rename in shifted}
    problems = in_order(document.place(unique.values()))
    result.left.extend(problem for problem in problems if problem.span not in places)
    return apply_renames(document, renames)


def _lower_rename(rename: Rename, lines: int) -> Rename:
    edits = [edit._replace(span=_lower_span(edit.span, lines)) for edit in rename.edits]
    return rename._replace(span=_lower_span(rename.span, lines), edits=tuple(edits))


def _lower_span(span: Span, lines: int) -> Span:
    return span._replace(line=span.line + lines, end_line=span.end_line + lines)


_TOO_MUCH = "another name here may change what the file means"


def _renames_that_go(
    document: Document,
    findings: list[Finding],
    planned: list[Rename],
    works: Callable[[list[Rename]], bool],
) -> list[Rename]:
    """The renames that keep what a file means: all of them nearly always."""
    if not planned or works(sorted(planned)):
        return sorted(planned)
    shared = _used_otherwise(document, findings, {rename.span for rename in planned})
    rest = sorted(rename for rename in planned if rename.span not in shared)
    return sorted(_Search(works).largest_part([], rest))


def _used_otherwise(document: Document, findings: list[Finding], keys: set[Span]) -> set[Span]:
    """Keys in anchors that are a deprecated name in one place, and data in another."""
    root = document.places()
    found: Counter[Span] = Counter()
    for finding in findings:
        if finding.code in OLD_NAME_CODES and finding.at == "key":
            found[find_node(root, finding.path, "key").span] += 1
    uses: Counter[Span] = Counter()
    nodes = [root]
    while nodes:
        node = nodes.pop()
        while isinstance(node, Alias):
            node = node.target
        if isinstance(node, Branch):
            merged = (each[:2] for key, each in node.merged.items() if key not in node.children)
            for key_span, child in (*node.children.values(), *merged):
                uses[key_span] += key_span in keys
                nodes.append(child)
    return {key for key in keys & found.keys() if uses[key] != found[key]}


class _Search:
    """Looks for renames that go together by halving, for so many tries and no more: each of them
    reads the whole file."""

    def __init__(self, works: Callable[[list[Rename]], bool]) -> None:
        self._works = works
        self._tries = _MOST_TRIES

    def largest_part(self, certain: list[Rename], more: list[Rename]) -> list[Rename]:
        if not more or not self._tries:
            return certain
        self._tries -= 1
        if self._works(sorted(certain + more)):
            return certain + more
        if len(more) == 1:
            return certain
        half = len(more) // 2
        return self.largest_part(self.largest_part(certain, more[:half]), more[half:])


_MOST_TRIES = 40


def _resolve_document(document: Document, format: Format) -> tuple[Any, list[Finding]]:
    """What a document means: its fields, its cases and the errors in it; and what is found."""
    findings = Findings(_INSTALLED, SuiteFiles(folder_of(document.path)))
    if format == "jsonl":
        made = resolve_line(document.value, findings, Ids(), NOTHING_SHARED)
        meaning: Any = [case and case.to_dict() for case in made]
    elif is_sidecar(document.path):
        fields, shared = resolve_sidecar(document.value, "", findings)
        variables = shared.variables
        meaning = [fields, list(shared[:-1]), variables and variables.raw]
    else:
        fields, cases, _ = resolve_suite(document.value, "", findings)
        meaning = [fields, [case and case.to_dict() for case in cases]]
    others = sorted(each.code for each in findings.found if each.code not in OLD_NAME_CODES)
    return [meaning, others], findings.found


_INSTALLED = Installed()

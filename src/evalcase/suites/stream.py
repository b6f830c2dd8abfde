"""JSONL as a stream of cases: one line in memory at a time, however large the file is."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from evalcase.model.case import Case
from evalcase.model.finding import Finding
from evalcase.model.json_value import JSON
from evalcase.model.problem import Problem, Span, in_order
from evalcase.model.value import replace
from evalcase.plugins.known import Installed
from evalcase.read.discover import find_sidecars, outside_link, suite_name
from evalcase.read.document import Document, parse_document
from evalcase.read.jsonl import Line, document_of, read_lines
from evalcase.read.source import (
    STDIN,
    TEXT,
    UnreadableError,
    folder_of,
    open_bytes,
    read_source,
    tell_unreadable,
)
from evalcase.resolve.advice import ADVICE
from evalcase.resolve.case import resolve_case
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.suite import VARIED, resolve_line, resolve_sidecar
from evalcase.resolve.suite_fields import NOTHING_SHARED, SuiteFields
from evalcase.suites.held_files import HeldFiles
from evalcase.suites.named_files import OnFile, SuiteFiles
from evalcase.suites.old_sidecar import object_to_others
from evalcase.suites.watched_file import watch_file
from evalcase.system.attachments import Attachments, attachments_in

if TYPE_CHECKING:
    from evalcase.model.known import Known
    from evalcase.resolve.foreign import Foreign


def stream_cases(
    path: str, known: Known | None = None, on_file: OnFile = lambda _: None,
    on_read: Callable[[], None] | None = None,
) -> Iterator[Case | Problem | None]:  # fmt: skip
    """The cases and problems of a JSONL file as they come; None for a case with errors.
    `on_file` is told of files that it names, before they are read; `on_read` is called whenever
    some of the file was read, before anything comes of that."""
    try:
        file = open_bytes(path)
        file = file if on_read is None else watch_file(file, on_read)
        yield from open_stream(path, file, known or Installed(), on_file)
    except UnreadableError as error:
        yield error.problem
    except OSError as error:
        yield tell_unreadable(path, error)


class Sidecar(NamedTuple):
    """The suite fields beside a JSONL file, and what is wrong with them."""

    about: SuiteFields
    problems: list[Problem]
    document: Document | None = None
    """What they stand in, if it could be read."""


class CaseStream:
    """A JSONL file and the suite fields beside it. It can be iterated over once."""

    def __init__(
        self, path: str, file: IO[bytes], known: Known, sidecar: Sidecar, on_file: OnFile
    ) -> None:
        self.path = path
        self.file = file
        self.known = known
        self.sidecar_problems = sidecar.problems
        self.sidecar = sidecar.document
        self.fields: dict[str, Any] = sidecar.about.fields
        self.shared = sidecar.about.shared
        self.files = SuiteFiles(folder_of(path), on_file)
        self.origins: array[int] | None = None
        """Which line each case comes from, once one has made several."""
        self._foreign: Foreign | None = None
        self._looked_at = self._is_named = False
        self._findings = Findings(known)

    def __iter__(self) -> Iterator[Case | Problem | None]:
        ids, shared, at = Ids(), self.shared, -1
        varies = shared.variables is not None
        with self.file:
            yield from self.sidecar_problems
            for at, line in enumerate(read_lines(self.file, self.path)):
                if isinstance(line, Problem):
                    yield line
                    yield None
                    continue
                value = line[2]
                if varies or (type(value) is dict and not VARIED.isdisjoint(value)):
                    yield from self._vary(line, at, ids)
                    continue
                if self.origins is not None:
                    self.origins.append(at)
                case, problems = self._resolve(line, ids)
                if problems:
                    yield from problems
                yield case
            if shared.variables is not None:
                shared.variables.finish()
                yield from self._problems_beside()
            yield from self.files.problems
        if at < 0:
            yield Problem("no-cases", "the file has no cases", self.path, Span(1, 1, 1, 1))

    def _resolve(self, line: Line, ids: Ids) -> tuple[Case | None, Sequence[Problem]]:
        """The case of a line without variables, and what is wrong with it."""
        findings = self._findings
        _, _, value, faults, findings.doubts = line
        if findings.first_targets:
            findings.forget_targets()  # those of another line have no place in this one
        case = resolve_case(value, (), findings, ids, self.shared)
        if not (faults or findings.found or findings.files):
            return case, ()
        self._findings = Findings(self.known)
        if findings.found and self._is_foreign(value, findings.found):
            return None, self._name_foreign(line)
        problems = self._problems(line, findings)
        return None if findings.errors or faults else case, problems

    def _vary(self, line: Line, at: int, ids: Ids) -> Iterator[Case | Problem | None]:
        """The cases that one line makes, each with its problems before it."""
        if self.origins is None:
            self.origins = array("q", range(at))
        findings = Findings(self.known, self.files)
        _, _, value, faults, findings.doubts = line
        for case in resolve_line(value, findings, ids, self.shared):
            self.origins.append(at)
            if findings.found and self._is_foreign(value, findings.found):
                yield from self._name_foreign(line)
                yield None
                return
            yield from self._problems(line, findings)
            yield from self._problems_beside()
            yield None if findings.errors or faults else case
            findings.drain()
            line = (*line[:3], (), line[4])  # what is wrong with its text is told by now
        yield from self._problems(line, findings)

    def _problems_beside(self) -> list[Problem]:
        """What was found in the suite fields, now that there is a case to put them to."""
        variables = self.shared.variables
        if variables is None or self.sidecar is None or not variables.findings.found:
            return []
        problems = self.sidecar.place(variables.findings.found)
        variables.findings.drain()
        return problems

    @cached_property
    def _held(self) -> HeldFiles:
        return HeldFiles(folder_of(self.path))

    def _problems(self, line: Line, findings: Findings) -> list[Problem]:
        findings.check_files(self._attachments)
        held = self._held.problems_in(findings)
        document = document_of(line, self.path)
        if document.faults:
            findings.leave_out(ADVICE)
        problems = in_order(document.problems + document.place(findings.found))
        return [self._with_first_line(problem) for problem in problems] + held

    def _is_foreign(self, value: JSON, found: Sequence[Finding]) -> bool:
        """Whether a case with problems is another tool's, like those at the start of the file."""
        from evalcase.resolve.foreign import is_of, name_foreign_cases

        if not self._looked_at:
            self._looked_at = True
            self._foreign = name_foreign_cases(self._first_values(), found)
        return self._foreign is not None and is_of(self._foreign, value)

    def _name_foreign(self, line: Line) -> list[Problem]:
        """Say whose file it is, for the first of its lines only."""
        if self._foreign is None or self._is_named:
            return []
        self._is_named = True
        return document_of(line, self.path).place([self._foreign.finding(self.path)])

    def _first_values(self) -> list[JSON]:
        position = self.file.tell()
        self.file.seek(0)
        lines = islice(read_lines(self.file, self.path), _LINES_TO_TELL)
        values = [line[2] for line in lines if isinstance(line, tuple)]
        self.file.seek(position)
        return values

    def _with_first_line(self, problem: Problem) -> Problem:
        if problem.code != "duplicate-id" or problem.case not in self._first_lines:
            return problem
        number = self._first_lines[problem.case]
        return replace(problem, message=f"{problem.message}; the first is at line {number}")

    @cached_property
    def _attachments(self) -> Attachments:
        return attachments_in(folder_of(self.path))

    @cached_property
    def _first_lines(self) -> dict[str, int]:
        """The first line of each id: read anew when it is asked for, because no line is kept."""
        position = self.file.tell()
        self.file.seek(0)
        first: dict[str, int] = {}
        ids, findings = Ids(), Findings(None, self.files)
        for line in read_lines(self.file, self.path):
            if isinstance(line, tuple):
                number, _, value, *_ = line
                for case in resolve_line(value, findings, ids, self.shared):
                    first.setdefault((case and case.id) or findings.case or "", number)
                findings = Findings(None, self.files)
        self.file.seek(position)
        return first


_LINES_TO_TELL = 20
"""So many are looked at to tell whose file it is."""


def open_stream(
    path: str, file: IO[bytes], known: Known, on_file: OnFile = lambda _: None
) -> CaseStream:
    """The stream of a file that is open, with the suite fields that lie beside it."""
    return CaseStream(path, file, known, _read_sidecar(path, known, on_file), on_file)


def _read_sidecar(path: str, known: Known, on_file: OnFile) -> Sidecar:
    name = suite_name(path)
    nothing = SuiteFields({"name": name}, NOTHING_SHARED)
    names = [] if path in (STDIN, TEXT) else find_sidecars(path)
    if not names:
        return Sidecar(nothing, [] if path in (STDIN, TEXT) else object_to_others(path))
    problem = _object_to_sidecars(names)
    if problem is not None:
        return Sidecar(nothing, [problem])
    try:
        return read_sidecar_text(read_source(names[0]), names[0], name, known, on_file)
    except UnreadableError as error:
        return Sidecar(nothing, [error.problem])


def read_sidecar_text(
    source: bytes, path: str, name: str, known: Known, on_file: OnFile = lambda _: None
) -> Sidecar:
    """The suite fields in a text that stands, or is to stand, beside a JSONL file. `name` is that
    of a suite which doesn't name itself."""
    document = parse_document(source, "yaml", path)
    findings = Findings(known, SuiteFiles(folder_of(path), on_file), document.doubts)
    nothing = SuiteFields({"name": name}, NOTHING_SHARED)
    about = resolve_sidecar(document.value, name, findings) if document.readable else nothing
    findings.check_files(attachments_in(folder_of(path)))
    held = HeldFiles(folder_of(path)).problems_in(findings)
    problems = in_order(document.problems + document.place(findings.found) + held)
    findings.drain()
    return Sidecar(about, problems, document if document.readable else None)


def _object_to_sidecars(names: list[str]) -> Problem | None:
    if len(names) == 1:
        return outside_link(names[0])
    message = f"there are suite fields for the same file in {os.path.basename(names[0])}"
    return Problem("conflicting-fields", message, names[1], hint="keep one of the two")

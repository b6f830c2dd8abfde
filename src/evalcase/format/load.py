"""A file to a suite, or to the problems that keep it from being one."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from io import BytesIO
from itertools import islice
from logging import getLogger
from typing import IO, Any, NamedTuple, TypeVar

from evalcase.format.case import NOTHING_SHARED, Ids
from evalcase.format.document import Document, Findings, parse_document, read_lines
from evalcase.format.fields import CASE_CONTAINERS, LONE_CASE, SUITE
from evalcase.format.positions import Format
from evalcase.format.source import (
    STDIN,
    TEXT,
    UnreadableError,
    check_text,
    discover_files,
    find_sidecars,
    folder_of,
    format_at,
    number_lines,
    open_bytes,
    outside_link,
    read_source,
    suite_name,
    tell_unreadable,
)
from evalcase.format.suite import (
    Resolved,
    SuiteFields,
    name_foreign,
    name_foreign_cases,
    resolve_one,
    resolve_sidecar,
    resolve_suite,
)
from evalcase.format.tables import OnFile, SuiteFiles, ignore_file
from evalcase.format.variables import resolve_line
from evalcase.graders.base import Known
from evalcase.types.case import Case, Suite
from evalcase.types.problem import Problem, Span, in_order
from evalcase.types.value import JSON, replace
from evalcase.util.environment import collector_paused

_LOGGER = getLogger("evalcase")
T = TypeVar("T")


class Loaded(NamedTuple):
    """A file's suite if it is valid, and its problems in any case."""

    path: str
    suite: Suite | None
    problems: list[Problem]
    cases: int
    """How many cases were seen, valid or not."""
    is_read: bool = True
    """Whether there is a file with readable content."""
    read: Sequence[Case | None] = ()
    """The first case that each written case of a document makes; None for one with errors."""
    numbers: Sequence[int] = ()
    """The number of the written case that each case of the suite comes from."""


def load_file(
    path: str, known: Known, stdin_format: Format = "yaml", keep: bool = True,
    on_file: OnFile = ignore_file,
) -> Loaded:  # fmt: skip
    """Read one file, or standard input as `-`. `known` knows the graders and targets that the file
    may name. Without `keep`, the cases of JSONL are only checked."""
    try:
        format = format_at(path, stdin_format)
        if format == "jsonl":
            stream = CaseStream(path, known, on_file)
            return _load_lines(stream, stream, keep)
        return _load_document(path, read_source(path), format, known, on_file)
    except UnreadableError as error:
        return Loaded(path, None, [error.problem], 0, is_read=error.problem.span is not None)


def load_each(
    paths: Iterable[str], known: Known, stdin_format: Format = "yaml", keep: bool = True
) -> Iterator[Loaded]:
    """Read the suites that some paths stand for. Folders are searched."""
    for path in discover_files(paths):
        if isinstance(path, Problem):
            yield Loaded(path.path, None, [path], 0, is_read=False)
        else:
            yield load_file(path, known, stdin_format, keep)


def load_text(text: str, format: Format, known: Known, path: str = TEXT) -> Loaded:
    """Read a suite from text, as if it stood at its path, by default in the current folder."""
    try:
        text = check_text(text, path)
    except UnreadableError as error:
        return Loaded(path, None, [error.problem], 0)
    if format == "jsonl":
        stream = CaseStream(path, known)
        return _load_lines(stream, stream.read(BytesIO(text.encode())))
    return _load_document(path, text, format, known)


def load_case(text: str, known: Known) -> tuple[Case | None, list[Problem]]:
    """Load one case from YAML text."""
    try:
        document = parse_document(check_text(text, TEXT), "yaml", TEXT)
    except UnreadableError as error:
        return None, [error.problem]
    files = SuiteFiles(os.curdir)
    case, problems = _check(
        document, known, files, lambda value, found: resolve_one(value, found, LONE_CASE)
    )
    return case, problems + files.problems


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _check(
    document: Document, known: Known, files: SuiteFiles, resolve: Callable[[JSON, Findings], T]
) -> tuple[T | None, list[Problem]]:
    """What a document stands for, None if it can't be read; and all that is wrong with it."""
    if not document.readable:
        return None, document.problems
    findings = Findings(known, files, unusual=document.unusual)
    resolved = resolve(document.value, findings)
    inside = files.check(findings)
    problems = [*document.problems, *document.place(findings.found), *inside]
    findings.drain()
    return resolved, problems


@collector_paused()
def _load_document(
    path: str, text: str, format: Format, known: Known, on_file: OnFile = ignore_file
) -> Loaded:
    files = SuiteFiles(folder_of(path), on_file)

    def resolve(value: JSON, findings: Findings) -> Resolved:
        resolved = resolve_suite(value, suite_name(path), findings)
        foreign = name_foreign(value, findings.found) if findings.found else None
        if foreign is not None:
            findings.replace_all(foreign.finding(path))
        return resolved

    resolved, problems = _check(parse_document(text, format, path), known, files, resolve)
    if resolved is None:
        return Loaded(path, None, problems, 0)
    fields, cases, origins = resolved
    valid = [case for case in cases if case is not None]
    loaded = _make_loaded(path, fields, valid, problems + files.problems, len(cases), origins)
    # Of several cases that are made of one, the last to come is the first.
    first = dict(zip(reversed(origins), reversed(cases), strict=True))
    return loaded._replace(read=[first[number] for number in sorted(first)])


def _load_lines(
    stream: CaseStream, items: Iterable[Case | Problem | None], keep: bool = True
) -> Loaded:
    cases: list[Case] = []
    problems: list[Problem] = []
    seen = 0
    with collector_paused():
        for item in items:
            if item is None or isinstance(item, Case):
                seen += 1
                if keep and item is not None:
                    cases.append(item)
            else:
                problems.append(item)
    loaded = _make_loaded(stream.path, stream.fields, cases, problems, seen, stream.origins)
    return loaded._replace(is_read=stream.is_read)


def _make_loaded(
    path: str, fields: dict[str, Any], cases: list[Case], problems: list[Problem], seen: int,
    numbers: Sequence[int],
) -> Loaded:  # fmt: skip
    suite, problems = None, in_order(problems)
    if not has_errors(problems):
        warnings = tuple(problem for problem in problems if problem.severity == "warning")
        suite = Suite(path, fields, tuple(cases), warnings, partial(_case_span, numbers))
    return Loaded(path, suite, problems, seen, numbers=numbers)


def log_warnings(problems: Iterable[Problem], logged: set[tuple[str, str]]) -> None:
    """Log warnings, each of those in the same words once."""
    for each in problems:
        kind = each.code, each.message
        if each.severity == "warning" and kind not in logged:
            logged.add(kind)
            _LOGGER.warning("%s: %s: %s", each.place, *kind)


# Positions of cases


def case_spans(path: str, numbers: Sequence[int]) -> list[Span | None]:
    """The spans of some cases of a file, by their numbers from 0 as they are written.

    A span is None if the file is gone, or has no such case any more.
    """
    spans: dict[int, Span] = {}
    try:
        format = format_at(path)
        if format == "jsonl":
            wanted = set(numbers)
            with open_bytes(path) as file:
                for at, (line, data) in enumerate(number_lines(file)):
                    if at in wanted:
                        text = data.decode("utf-8", "replace").rstrip()
                        spans[at] = Span(line, 1, line, len(text) + 1)
                        if len(spans) == len(wanted):
                            break
        else:
            document = parse_document(read_source(path), format, path)
            if document.readable:
                paths = document.positions.item_paths(CASE_CONTAINERS)
                spans = {at: document.positions.span(each) for at, each in enumerate(paths)}
    except (UnreadableError, OSError):
        pass
    return [spans.get(number) for number in numbers]


def _case_span(numbers: Sequence[int], path: str, case: int) -> Span | None:
    """The span of a case; `numbers` has the number that each case has as it is written."""
    return case_spans(path, [numbers[case]])[0]


def find_case_span(path: str, id: str, known: Known) -> Span | None:
    """Where a case of a valid suite stands; None if the suite is no file, or hasn't got it."""
    suite = load_file(path, known).suite
    return suite.place(id) if suite is not None and id in suite else None


# JSONL

_LINES_TO_TELL = 20
"""How many lines of a file say whether it is another tool's."""


class CaseStream:
    """The cases and problems of a JSONL file and the suite fields beside it, in their order, with
    one line in memory at a time; None for a case with errors. It can be iterated over once."""

    _file: IO[bytes]

    def __init__(self, path: str, known: Known, on_file: OnFile = ignore_file) -> None:
        self.path = path
        self.is_read = True
        """Whether there is a file with readable content."""
        self._files = SuiteFiles(folder_of(path), on_file)
        self._findings = Findings(known, self._files)
        self._sidecar = _find_sidecar(path, known, self._files)
        self._shared = self._sidecar.about.shared
        self.fields: dict[str, Any] = self._sidecar.about.fields
        self.origins = array("q")
        """The number of the line, blank ones not counted, that each case comes from."""
        self.line = 0
        """The number of the line that the last case comes from, blank ones counted."""

    def __iter__(self) -> Iterator[Case | Problem | None]:
        try:
            file = open_bytes(self.path)
        except UnreadableError as error:
            self.is_read = error.problem.span is not None
            return iter([error.problem])
        return self.read(file)

    def read(self, file: IO[bytes]) -> Iterator[Case | Problem | None]:
        """The cases of a file that is open, and is closed at the end."""
        self._file = file
        with file:
            yield from self._sidecar.problems
            try:
                yield from self._read_cases()
            except OSError as error:
                yield tell_unreadable(self.path, error)
            if self._shared.variables is not None:
                self._shared.variables.finish()
                yield from self._problems_of_sidecar()
            yield from self._files.problems

    def _read_cases(self) -> Iterator[Case | Problem | None]:
        ids, findings, shared = Ids(), self._findings, self._shared
        must_look = shared.variables is not None
        is_ours = False
        at = -1
        for at, line in enumerate(read_lines(self._file, self.path)):
            if not isinstance(line, Document):
                yield line
                yield None
                continue
            self.line = line.first_line
            findings.unusual = line.unusual
            for case in resolve_line(line.value, findings, ids, shared):
                self.origins.append(at)
                if findings.found and not is_ours:
                    start = [each.value for each in self._read_again(_LINES_TO_TELL)]
                    foreign = name_foreign_cases(start, findings.found)
                    if foreign is not None:
                        findings.replace_all(foreign.finding(self.path))
                        yield from line.place(findings.found)
                        yield None
                        return
                    is_ours = True
                if must_look or findings.found or findings.references:
                    yield from self._problems_of(line)
                    case = None if findings.errors else case  # noqa: PLW2901
                    findings.drain()
                yield None if line.faults else case
            if line.faults or findings.found:  # what is known once all cases of the line are made
                yield from line.problems
                yield from self._problems_of(line)
                findings.drain()
        if at < 0:
            yield Problem("no-cases", "the file has no cases", self.path, Span(1, 1, 1, 1))

    def _problems_of(self, line: Document) -> list[Problem]:
        findings = self._findings
        inside = self._files.check(findings)
        placed = in_order(line.place(findings.found))
        for number, each in enumerate(placed):
            # The file is read again for the first line of an id, because no line is kept.
            if each.code == "duplicate-id" and (first := self._first_lines.get(each.case)):
                message = f"{each.message}; the first is at line {first}"
                placed[number] = replace(each, message=message)
        return [*placed, *inside, *self._problems_of_sidecar()]

    def _problems_of_sidecar(self) -> list[Problem]:
        """What was found in the suite fields when they were applied to a case."""
        variables, document = self._shared.variables, self._sidecar.document
        if variables is None or document is None:
            return []
        problems = document.place(variables.findings.found)
        variables.findings.drain()
        return problems

    @cached_property
    def _first_lines(self) -> dict[str | None, int]:
        """The first line of each id."""
        first: dict[str | None, int] = {}
        ids = Ids()
        for line in self._read_again():
            findings = Findings(None, self._files)
            for case in resolve_line(line.value, findings, ids, self._shared):
                first.setdefault(case.id if case else findings.case, line.first_line)
        return first

    def _read_again(self, most: int | None = None) -> Iterator[Document]:
        position = self._file.tell()
        self._file.seek(0)
        for line in islice(read_lines(self._file, self.path), most):
            if isinstance(line, Document):
                yield line
        self._file.seek(position)


class Sidecar(NamedTuple):
    """The suite fields beside a JSONL file, and what is wrong with them."""

    about: SuiteFields
    problems: list[Problem]
    document: Document | None = None
    """The document that holds them, if there is one."""


def read_sidecar(
    text: str, path: str, name: str, known: Known, files: SuiteFiles | None = None
) -> Sidecar:
    """The suite fields in the text of a sidecar. `name` is for a suite that has no name."""
    document, files = parse_document(text, "yaml", path), files or SuiteFiles(folder_of(path))
    about, problems = _check(
        document, known, files, lambda value, found: resolve_sidecar(value, name, found)
    )
    nothing = SuiteFields({"name": name}, NOTHING_SHARED)
    return Sidecar(about or nothing, in_order(problems), document)


def _find_sidecar(path: str, known: Known, files: SuiteFiles) -> Sidecar:
    sidecars = find_sidecars(path) if path not in (STDIN, TEXT) else []
    outside = outside_link(sidecars[0]) if sidecars else None
    if not sidecars:
        problems = list(_find_stray(path))
    elif len(sidecars) > 1:
        message = f"there are suite fields for the same file in {os.path.basename(sidecars[0])}"
        problem = Problem("conflicting-fields", message, sidecars[1], hint="keep one of the two")
        problems = [problem]
    elif outside is not None:
        problems = [outside]
    else:
        try:
            text = read_source(sidecars[0])
            return read_sidecar(text, sidecars[0], suite_name(path), known, files)
        except UnreadableError as error:
            problems = [error.problem]
    return Sidecar(SuiteFields({"name": suite_name(path)}, NOTHING_SHARED), problems)


def _find_stray(path: str) -> Iterator[Problem]:
    """Suite fields beside a JSONL file under the name where AgentV has them."""
    stem = os.path.splitext(path)[0]
    for stray in (f"{stem}.yaml", f"{stem}.yml"):
        if not os.path.isfile(stray) or outside_link(stray) is not None:
            continue
        with suppress(UnreadableError):
            value = parse_document(read_source(stray, 100_000), "yaml", stray).value
            names = value.keys() if type(value) is dict else set[str]()
            if names & SUITE.fields - {"input", "cases"} and names.isdisjoint(CASE_CONTAINERS):
                message = f"these suite fields are not read: {os.path.basename(path)} has none"
                name = os.path.basename(stem).removesuffix(".eval")
                hint = f"if they are its own, name the file {name}.suite.yaml"
                yield Problem("stray-suite-fields", message, stray, hint=hint)

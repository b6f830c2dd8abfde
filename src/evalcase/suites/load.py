"""One file in, what came of it out: a suite, or the problems that keep it from being one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from evalcase.model.case import Case
from evalcase.model.json_value import JSON
from evalcase.model.problem import Problem, in_order
from evalcase.model.suite import Suite
from evalcase.plugins.known import Installed
from evalcase.read.discover import discover_files, format_of, is_sidecar, nothing_there, suite_name
from evalcase.read.document import Format, parse_document
from evalcase.read.source import (
    STDIN,
    TEXT,
    UnreadableError,
    encode_text,
    folder_of,
    open_bytes,
    read_source,
    tell_unreadable,
)
from evalcase.resolve.advice import ADVICE
from evalcase.resolve.fields import OLD_NAMES
from evalcase.resolve.findings import Findings
from evalcase.resolve.names import LONE_CASE
from evalcase.resolve.suite import resolve_one, resolve_suite
from evalcase.suites.held_files import HeldFiles
from evalcase.suites.named_files import OnFile, SuiteFiles
from evalcase.suites.placing import place_case, place_varied
from evalcase.suites.stream import open_stream
from evalcase.system.attachments import attachments_in
from evalcase.system.collector import collector_paused

if TYPE_CHECKING:
    from evalcase.model.known import Known


class Loaded(NamedTuple):
    """A file's suite if it is valid, and its problems in any case."""

    path: str
    suite: Suite | None
    problems: list[Problem]
    cases: int
    """How many cases were seen, valid or not."""
    is_read: bool = True
    """Whether there was a file whose content could be looked at."""
    read: Sequence[Case | None] = ()
    """The cases of a document in their order; None for those that are not valid."""
    origins: Sequence[int] | None = None
    """Where a case as it is written makes several: of each case, the number of that."""

    @property
    def numbers(self) -> Sequence[int]:
        """Of each case of the suite, which of the cases that are written it comes from."""
        return range(self.cases) if self.origins is None else self.origins


def load_file(
    path: str, stdin_format: Format = "yaml", keep: bool = True, known: Known | None = None,
    on_file: OnFile = lambda _: None,
) -> Loaded:  # fmt: skip
    """Read one file, or standard input as `-`. Without `keep`, cases of JSONL are let go.

    `known` is asked about what the file mentions: graders, targets and a judge. `on_file` is told
    of files that variables are taken from, before they are read.
    """
    format = nothing_there(path) or (stdin_format if path == STDIN else format_of(path))
    if isinstance(format, Problem):
        return Loaded(path, None, [format], 0, is_read=False)
    try:
        if format == "jsonl":
            return _load_lines(path, open_bytes(path), keep, known or Installed(), on_file)
        return _load_document(path, read_source(path), format, known or Installed(), on_file)
    except UnreadableError as error:
        return Loaded(path, None, [error.problem], 0, is_read=error.problem.span is not None)
    except OSError as error:
        return Loaded(path, None, [tell_unreadable(path, error)], 0, is_read=False)


def load_each(
    paths: Iterable[str], stdin_format: Format = "yaml", keep: bool = True,
    known: Known | None = None, passed_over: list[str] | None = None,
) -> Iterator[Loaded]:  # fmt: skip
    """Read the suites that some paths stand for, one after the other; folders are searched, and
    what is beside them there is noted as passed over."""
    for path in discover_files(paths, passed_over):
        if isinstance(path, Problem):
            yield Loaded(path.path, None, [path], 0, is_read=False)
        else:
            yield load_file(path, stdin_format, keep, known)


def load_text(text: str, format: Format, path: str = TEXT, known: Known | None = None) -> Loaded:
    """Read a suite from text, as if it stood at its path, by default in the current folder."""
    try:
        data = encode_text(text, path)
    except UnreadableError as error:
        return Loaded(path, None, [error.problem], 0)
    if format == "jsonl":
        return _load_lines(path, BytesIO(data), True, known or Installed())
    return _load_document(path, data, format, known or Installed())


def load_case(text: str) -> tuple[Case | None, list[Problem]]:
    """Load one case from YAML text."""
    try:
        document = parse_document(encode_text(text, TEXT), "yaml", TEXT)
    except UnreadableError as error:
        return None, [error.problem]
    if not document.readable:
        return None, document.problems
    files = SuiteFiles(os.curdir)
    findings = Findings(Installed(), files)
    case = resolve_one(document.value, findings, LONE_CASE)
    findings.check_files(attachments_in(os.curdir))
    held = HeldFiles(os.curdir).problems_in(findings) + files.problems
    return case, document.problems + document.place(findings.found) + held


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _load_document(
    path: str, source: bytes, format: Format, known: Known, on_file: OnFile = lambda _: None
) -> Loaded:
    with collector_paused():
        document = parse_document(source, format, path, OLD_NAMES)
        if not document.readable:
            return Loaded(path, None, document.problems, 0)
        files = SuiteFiles(folder_of(path), on_file)
        findings = Findings(known, files, document.doubts)
        resolved = resolve_suite(document.value, suite_name(path), findings, consume=True)
        fields, cases, origins = resolved
        if findings.found:
            _name_foreign(path, findings, document.value, cases)
        held = files.problems
        if findings.files:
            findings.check_files(attachments_in(folder_of(path)))
            held += HeldFiles(folder_of(path)).problems_in(findings)
        if document.faults:
            # What is missing may be missing because of the faults.
            findings.leave_out(ADVICE)
        if is_sidecar(path):
            findings.replace_hint("no-cases", "name the .jsonl file that these fields belong to")
        problems = document.problems + document.lints + document.place(findings.found)
        problems = in_order(problems + held)
        valid = [case for case in cases if case is not None]
        read = cases if origins is None else resolved.by_origin()
        return _make_loaded(path, fields, valid, problems, len(cases), origins)._replace(read=read)


def _name_foreign(path: str, findings: Findings, value: JSON, cases: list[Case | None]) -> None:
    """Where a file is another tool's, that is all there is to say of it."""
    from evalcase.resolve.foreign import name_foreign, name_schema, raw_cases

    raw = raw_cases(value)
    for number, case in enumerate(cases if len(cases) == len(raw) else ()):
        if case is not None:  # what it was made from is used up
            raw[number] = {**case._data, "target": (case.targets or (None,))[0]}
    foreign = name_foreign(value, findings.found)
    finding = name_schema(value, path) if foreign is None else foreign.finding(path)
    if finding is not None:
        findings.replace_all(finding)


def _load_lines(
    path: str, file: IO[bytes], keep: bool, known: Known, on_file: OnFile = lambda _: None
) -> Loaded:
    stream = open_stream(path, file, known, on_file)
    cases: list[Case] = []
    problems: list[Problem] = []
    seen = 0
    with collector_paused():
        for item in stream:
            if isinstance(item, Problem):
                problems.append(item)
                continue
            seen += 1
            if keep and item is not None:
                cases.append(item)
    return _make_loaded(path, stream.fields, cases, in_order(problems), seen, stream.origins)


def _make_loaded(
    path: str, fields: dict[str, Any], cases: list[Case], problems: list[Problem], seen: int,
    origins: Sequence[int] | None = None,
) -> Loaded:  # fmt: skip
    if has_errors(problems):
        return Loaded(path, None, problems, seen)
    warnings = tuple(problem for problem in problems if problem.severity == "warning")
    placer = place_case if origins is None else partial(place_varied, origins)
    suite = Suite(path, fields, tuple(cases), warnings, placer)
    return Loaded(path, suite, problems, seen, origins=origins)

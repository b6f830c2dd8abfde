"""Graders of a workspace that a coding agent has worked in: `run`, `files` and `diff`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, NamedTuple
from xml.etree import ElementTree as ET

from msgspec import UNSET, Struct, UnsetType

from evalcase.errors import GraderError, TargetError
from evalcase.graders.base import Context, Grader
from evalcase.graders.differences import cut_around, first_difference, quote_value, unseen
from evalcase.graders.fields import FieldMatchers, match_field
from evalcase.graders.script import read_script_reply
from evalcase.graders.text import Searcher, settle
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.options import Pattern, Text, Texts, Whole, Words, about
from evalcase.types.problem import Finding
from evalcase.types.target import Surroundings
from evalcase.types.value import replace
from evalcase.types.workspace import Changes, Space
from evalcase.util.files import IrregularError, OutsideError, OversizeError, digest_files, read_file
from evalcase.util.json import BadJsonError, JsonPath, parse_json
from evalcase.util.processes import describe_exit, minimal_variables, process_in
from evalcase.util.snapshots import copy_into, list_all, matches, scan
from evalcase.util.text import list_some, write_count

_MOST_OUTPUT, _MOST_REPORT, _MOST_FILE = 1_000_000, 20_000_000, 10_000_000
_SHOWN = 5


class _LooksAtWorkspace(Grader, kw_only=True):
    surroundings: Surroundings | None = None

    def load(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings

    def missing_in(self, case: Case) -> str | None:
        return None if case.workspace is not None else "a `workspace`"


def _broken(what: str, space: Space | None) -> GraderError:
    why = f": {space.fault}" if space is not None else ""
    return GraderError("workspace", f"{what}{why}")


def _workspace_of(context: Context, *, fresh: bool = False) -> Space:
    space = context.workspace
    if fresh and space is not None and not space.fault:
        space = space.fresh
    if space is None or space.fault:
        raise _broken("there is no workspace to look at", space)
    return space


def _changes_of(context: Context) -> Changes:
    if context.changes is None:
        raise _broken("it is not known what was changed in the workspace", context.workspace)
    return context.changes


# run


class RunGrader(_LooksAtWorkspace):
    name = "run"
    description = "A command succeeds in the workspace, or its tests do."
    argument = "value"
    runs_code = True
    least_limit_s = 600.0
    workspace = "files"
    example = "- run: [pytest, -q]"

    value: Annotated[
        Words,
        about(
            "The program and its arguments; `{report}` is where a report is written.",
            elsewhere=("command", "cmd", "argv"),
        ),
    ]
    expect: Annotated[Whole, about("The exit code it must end with.", elsewhere=("exit_code",))] = 0
    env: Annotated[dict[str, str], about("Further environment variables.")] = {}
    fresh: Annotated[bool, about("Whether it runs in a copy of what is recorded.")] = False
    report: Annotated[
        Literal["json", "junit"] | None,
        about("JSON on stdout, or a file at `{report}`; else the exit code."),
    ] = None
    must_pass: Annotated[Texts | None, about("Tests of the report that must pass.")] = None
    keep_passing: Annotated[
        Texts | None, about("Tests that must not fail, and may be skipped.")
    ] = None

    def conflicts(self) -> Iterator[Finding]:
        if (self.report == "junit") != any("{report}" in each for each in self.value):
            what = "`report: junit` goes with `{report}` in the command, where the file is written"
            yield Finding(("value",), what, "pytest takes --junitxml={report}")
        for name in ("must_pass", "keep_passing") if self.report != "junit" else ():
            if getattr(self, name) is not None:
                yield Finding((name,), f"`{name}` goes with `report: junit` only", at="key")

    async def grade(self, context: Context) -> Score:
        space = _workspace_of(context, fresh=self.fresh)
        assert self.surroundings is not None, "load() comes first"
        with ExitStack() as stack:
            if self.fresh:
                folder = os.path.dirname(space.path)
                copy = stack.enter_context(TemporaryDirectory(prefix="copy-", dir=folder))
                await asyncio.to_thread(copy_into, space.path, copy)
                space = replace(space, path=copy)
            report, writable = "", []
            if self.report == "junit":
                # A random name outside of the workspace: the tests of an agent can't guess it.
                writable = [stack.enter_context(TemporaryDirectory(prefix="evalcase-"))]
                report = os.path.join(writable[0], "report.xml")
            argv = [each.replace("{report}", report) for each in self.value]
            known = minimal_variables(self.surroundings.environment)
            environment = {**known, **space.env, **self.env, "PWD": space.path}
            async with process_in(
                space, argv, environment, _MOST_OUTPUT, network=False, writable=writable
            ) as process:
                try:
                    code, output = await process.run(None)
                except TargetError as error:
                    raise GraderError("workspace", str(error), error.details) from None
                printed = output.data[-4000:].decode(errors="backslashreplace")
                told, place = {"stdout": printed, "stderr": process.stderr}, f"{space.path}/"
            # The workspace is gone when a person reads it.
            texts = {name: text.replace(place, "") for name, text in told.items() if text}
            details: dict[str, Any] = {"exit_code": code, **texts}
            if self.report == "junit":
                return self._grade_tests(_read_report(report, details), code, details)
        if self.report == "json":
            what = describe_exit(code)
            try:
                if code == 0:
                    return read_script_reply(parse_json(output.data))
            except ValueError as error:
                what = f"printed no score: {error}"
            raise GraderError("workspace", f"the command {what}", details)
        ended = f"exit code {code}" if code >= 0 else f"the command {describe_exit(code)}"
        if code == self.expect:
            return Score(1.0, ended, details)
        return Score(0.0, f"{ended}, expected {self.expect}", details)

    def _grade_tests(self, tests: dict[str, _Test], code: int, details: dict[str, Any]) -> Score:
        outcomes = [each.outcome for each in tests.values()]
        if code != self.expect and "failed" not in outcomes:
            what = f"the command {describe_exit(code)}, and no test in its report failed"
            raise GraderError("workspace", what, details)
        named = [(name, True) for name in self.must_pass or ()]
        named += [(name, False) for name in self.keep_passing or ()]
        named = named or [(name, True) for name in tests if tests[name].outcome != "skipped"]
        if not named:
            raise GraderError("workspace", "the report has skipped tests only", details)
        failed = []
        for name, must_run in named:
            test = tests.get(_junit_name(name)) or tests.get(name)
            if test is None:
                failed.append(f"{name}: it is not in the report")
            elif test.outcome == "failed":
                failed.append(f"{name}: {test.message}" if test.message else name)
            elif test.outcome == "skipped" and must_run:
                failed.append(f"{name}: it was skipped")
        passed = len(named) - len(failed)
        reason = f"{passed} of {len(named)} tests pass"
        if failed:
            reason += f": {list_some(failed[:_SHOWN], len(failed))}"
        return Score(passed / len(named), reason, {**details, "failed": failed})


class _Test(NamedTuple):
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""


def _junit_name(id: str) -> str:
    """The name in a JUnit report of a test that pytest calls `tests/t.py::C::f[p]`."""
    base, bracket, parameters = id.partition("[")
    path, *names = base.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return ".".join([module, *names]) + bracket + parameters


_FAILED_COUNTS = ("failures", "errors")


def _read_report(path: str, details: dict[str, Any]) -> dict[str, _Test]:
    """The tests of a JUnit report by their names. Raise GraderError if there is none."""
    try:
        data = read_file(path, _MOST_REPORT, links=False)
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data:
            raise ValueError("declares entities, or is not UTF-8")
        root = ET.fromstring(data)  # noqa: S314 - it declares no entities
        tests: dict[str, _Test] = {}
        for each in root.iter("testcase"):
            name = ".".join(filter(None, (each.get("classname"), each.get("name"))))
            if name in tests:
                raise ValueError(f"has the test {name} twice")
            tests[name] = _read_test(each)
        if any(suite.find("error") is not None for suite in root.iter("testsuite")):
            tests["(the suite)"] = _Test("failed", "it has an error beside its tests")
        if not tests:
            raise ValueError("has no tests")
        claims = [suite.get(name) for suite in root.iter("testsuite") for name in _FAILED_COUNTS]
        is_claimed = any(claim not in (None, "", "0") for claim in claims)
        if is_claimed and all(test.outcome != "failed" for test in tests.values()):
            raise ValueError("counts failed tests, and shows none of them")
        return tests
    except OSError as error:
        what = "is too large" if isinstance(error, OversizeError) else "was not written"
    except (ET.ParseError, ValueError) as error:
        what = f"is not XML: {error}" if isinstance(error, ET.ParseError) else str(error)
    raise GraderError("workspace", f"the JUnit report {what}", details)


def _read_test(element: ET.Element) -> _Test:
    for tag in ("failure", "error"):
        found = element.find(tag)
        if found is not None:
            message = (found.get("message") or found.text or "").strip()
            return _Test("failed", message.partition("\n")[0][:200])
    if "failed" in (element.get("status"), element.get("result")):
        return _Test("failed")
    skipped = element.find("skipped")
    is_run = element.get("status") not in ("notrun", "disabled")
    if is_run and (skipped is None or skipped.get("type") == "pytest.xfail"):
        return _Test("passed")
    return _Test("skipped")


# files


class FileMatcher(Struct, frozen=True, kw_only=True):
    """What a file has to be like; all that is given has to hold."""

    exists: Annotated[bool | None, about("Whether there is such a file.")] = None
    equals: Annotated[str | None, about("Its whole text.")] = None
    contains: Annotated[Text | Texts | None, about("A text in it, or several.")] = None
    regex: Annotated[Pattern | None, about("A pattern to find in it.")] = None
    json: Annotated[FieldMatchers | UnsetType, about("Paths in its JSON, as in `fields`.")] = UNSET
    equals_file: Annotated[Text | None, about("A file of the project that it must equal.")] = None

    def conflicts(self) -> Iterator[Finding]:
        if self == FileMatcher():
            yield Finding((), "it is empty: it checks nothing", code="missing-option")


class FilesGrader(_LooksAtWorkspace):
    name = "files"
    description = "Files of the workspace are as they should be."
    argument = "value"
    workspace = "files"
    example = "- files: {CHANGELOG.md: {contains: Fixed}, old.py: absent}"

    value: Annotated[
        dict[str, Literal["absent", "unchanged"] | FileMatcher],
        about(
            "Paths or patterns, each with `absent`, `unchanged` or a matcher.",
            words="a mapping of paths to matchers",
        ),
    ]

    def conflicts(self) -> Iterator[Finding]:
        if not self.value:
            yield Finding(("value",), "`value` is empty: it names no file")
        for path, each in self.value.items():
            if path.startswith("/") or ".." in path.split("/"):
                hint = "write it from the workspace's folder: a/b.txt"
                yield Finding(("value", path), f"`{path}` leaves the workspace", hint, "key")
            if _is_pattern(path) and isinstance(each, FileMatcher):
                what = f"`{path}` names several files: they can only be `absent` or `unchanged`"
                yield Finding(("value", path), what)

    def sources(self) -> dict[str, str]:
        """The files of the project that it compares with."""
        root = self.surroundings.root if self.surroundings is not None else ""
        named = [each.equals_file for each in self.value.values() if isinstance(each, FileMatcher)]
        return digest_files({name: os.path.join(root, name) for name in named if name is not None})

    def grade(self, context: Context) -> Any:  # noqa: ANN401 - a score, or what is awaited for it
        space, changes = _workspace_of(context), _changes_of(context)

        def judge(searcher: Searcher) -> Score:
            found = {
                path: self._object_to(space.path, path, wanted, changes, searcher)
                for path, wanted in self.value.items()
            }
            wrong = [f"`{path}`: {why}" for path, why in found.items() if why]
            count = len(found)
            right = f"{count - len(wrong)} of {write_count(count, 'file')} as expected"
            told = "; ".join([right, *wrong]) if count > 1 or not wrong else wrong[0]
            score = Score((count - len(wrong)) / count, told)
            return unseen(score) if _MISSING in found.values() else score

        return settle(judge)

    def _object_to(
        self, root: str, path: str, wanted: str | FileMatcher, changes: Changes, searcher: Searcher
    ) -> str | None:
        if wanted == "unchanged":
            found = [each for each in changes.paths if matches(each, [path])]
            if found:
                return f"{_list(found)} changed"
            is_there = any(matches(each, [path]) for each in scan(root))
            return None if is_there else _MISSING
        if isinstance(wanted, FileMatcher) and wanted.exists is not False:
            data = _read_file(root, path)
            if data is None:
                return _MISSING
            file = wanted.equals_file
            if file is not None and self._read_project_file(file) != data:
                return f"it is not equal to {file}"
            return _object_to_text(data, wanted, searcher)
        if not _is_pattern(path):
            return "it is there" if os.path.lexists(os.path.join(root, path)) else None
        found = [each for each in list_all(root) if matches(each, [path])]
        return f"{_list(found)} there" if found else None

    def _read_project_file(self, name: str) -> bytes:
        assert self.surroundings is not None, "load() comes first"
        root = self.surroundings.root
        try:
            return read_file(os.path.join(root, name), _MOST_FILE, root)
        except OSError as error:
            raise GraderError("workspace", f"{name} can't be read: {error}") from None


_MISSING = "there is no such file"


def _is_pattern(path: str) -> bool:
    return "*" in path or "?" in path


def _object_to_text(data: bytes, wanted: FileMatcher, searcher: Searcher) -> str | None:
    text = data.decode(errors="replace")
    if wanted.equals is not None and text != wanted.equals:
        at = first_difference(wanted.equals, text)
        return f"expected {cut_around(wanted.equals, at)}, got {cut_around(text, at)}"
    several = (wanted.contains,) if isinstance(wanted.contains, str) else wanted.contains or ()
    missing = [quote_value(each) for each in several if each not in text]
    if missing:
        return f"{missing[0]} is not in it"
    if wanted.regex is not None and searcher.find(wanted.regex, text) is None:
        return f"`{wanted.regex}` is not found in it"
    if wanted.json is UNSET:
        return None
    try:
        value = parse_json(data)
    except BadJsonError as error:
        return f"it is not JSON: {error}"
    for path, matcher in wanted.json.items():
        outcome = match_field(JsonPath(path), matcher, value, searcher)
        if not outcome.matches:
            return f"at `{path}`: {outcome.tell(matcher)}"
    return None


def _read_file(root: str, path: str) -> bytes | None:
    """The bytes of a file in the workspace; None if there is none. Raise GraderError where a link
    leads out of the workspace, which nothing may read."""
    try:
        return read_file(os.path.join(root, path), _MOST_FILE, os.path.realpath(root))
    except (FileNotFoundError, NotADirectoryError, IrregularError):
        return None
    except OutsideError:
        what = f"`{path}` leads out of the workspace by a link"
    except OversizeError as error:
        what = f"`{path}`: {error.strerror}"
    raise GraderError("workspace", what)


# diff


class DiffGrader(_LooksAtWorkspace):
    name = "diff"
    description = "Limits what the agent changed in the workspace."
    workspace = "changes"
    needs = ("max_lines", "max_files", "only", "never", "empty")
    example = "- diff: {only: ['src/**'], max_lines: 50}"

    max_lines: Annotated[Whole | None, about("The most lines added and removed together.")] = None
    max_files: Annotated[Whole | None, about("The most files changed.")] = None
    only: Annotated[Texts | None, about("Patterns that every changed file must match.")] = None
    never: Annotated[Texts | None, about("Patterns that no changed file may match.")] = None
    empty: Annotated[
        bool | None, about("Whether nothing may be changed, or something must be.")
    ] = None

    def grade(self, context: Context) -> Score:
        changes = _changes_of(context)
        paths, lines, number = changes.paths, changes.lines, len(changes.changed)
        wrong = []
        if self.empty is not None and self.empty is not (not paths):
            wrong.append("nothing was changed" if not paths else f"{_list(paths)} changed")
        if self.max_files is not None and number > self.max_files:
            wrong.append(f"{write_count(number, 'file')} changed, at most {self.max_files} may")
        if self.max_lines is not None:
            if lines > self.max_lines:
                wrong.append(f"{write_count(lines, 'line')} changed, at most {self.max_lines} may")
            if binary := [each.path for each in changes.changed if each.binary]:
                wrong.append(f"{_list(binary)} changed, which is no text and has no lines")
        if self.only and (outside := [path for path in paths if not matches(path, self.only)]):
            wrong.append(f"{_list(outside)} changed, but only {_list(self.only)} may")
        if self.never and (touched := [path for path in paths if matches(path, self.never)]):
            wrong.append(f"{_list(touched)} changed, which `never` forbids")
        told = f"{write_count(number, 'file')} changed, {write_count(lines, 'line')}"
        return Score(0.0, "; ".join(wrong)) if wrong else Score(1.0, told)


def _list(paths: Sequence[str]) -> str:
    return list_some([f"`{each}`" for each in paths[:_SHOWN]], len(paths))

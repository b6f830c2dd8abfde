"""Graders of a coding agent's work: `run`, `files`, `diff` and `skill_used`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, NamedTuple
from weakref import WeakValueDictionary
from xml.etree import ElementTree as ET

from msgspec import UNSET, Struct, UnsetType

from evalcase.errors import GraderError, TargetError
from evalcase.graders.base import Context, Grader
from evalcase.graders.differences import cut_around, first_difference
from evalcase.graders.fields import FieldMatchers, Matcher, describe_matcher, match_field
from evalcase.graders.script import BadScriptReplyError, read_script_reply
from evalcase.graders.text import Searcher, settle
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.message import ToolCall
from evalcase.types.options import Pattern, Place, Text, Texts, Whole, Words, about, of_kind
from evalcase.types.problem import Finding
from evalcase.types.read_options import make, problems_in
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, replace
from evalcase.types.workspace import Changes, Space
from evalcase.util.calls import kind_of_tool, seen_calls
from evalcase.util.files import (
    IrregularError,
    OutsideError,
    OversizeError,
    digest_files,
    read_file,
)
from evalcase.util.isolation import process_in
from evalcase.util.json import BadJsonError, JsonPath, parse_json
from evalcase.util.processes import describe_exit
from evalcase.util.snapshots import copy_into, matches, scan, without_git
from evalcase.util.text import write_count
from evalcase.util.user_calls import waiting_in_queue

_MOST_OUTPUT = 1_000_000
_MOST_REPORT = 20_000_000
_MOST_FILE = 10_000_000
_SHOWN = 5
_one_at_a_time: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
"""Programs that grade one workspace don't run at the same time."""


def _workspace_of(context: Context, *, fresh: bool = False) -> Space:
    space = context.workspace
    if fresh and space is not None and not space.fault:
        space = space.fresh
    if space is None or space.fault:
        why = f": {space.fault}" if space is not None else ""
        raise GraderError("workspace", f"there is no workspace to look at{why}")
    return space


def _changes_of(context: Context) -> Changes:
    if context.changes is None:
        why = f": {context.workspace.fault}" if context.workspace is not None else ""
        raise GraderError("workspace", f"it is not known what was changed in the workspace{why}")
    return context.changes


class _LooksAtWorkspace(Grader):
    def missing_in(self, case: Case) -> str | None:
        return None if case.workspace is not None else "a `workspace`"


# run


class RunGrader(_LooksAtWorkspace):
    name = "run"
    description = "A command succeeds in the workspace, or its tests do."
    argument = "value"
    runs_code = True
    workspace = "files"
    example = "- run: [pytest, -q]"

    value: Annotated[
        Words,
        about(
            "The program and its arguments; `{report}` becomes the path for its report.",
            example=["pytest", "-q"],
            elsewhere=("command", "cmd", "argv"),
        ),
    ]
    expect: Annotated[Whole, about("The exit code it must end with.", elsewhere=("exit_code",))] = 0
    env: Annotated[dict[str, str], about("Further environment variables.")] = {}
    fresh: Annotated[
        bool,
        about(
            "Whether it runs in a copy of its own, which has only what is recorded: no ignored "
            "file, and nothing that another grader left."
        ),
    ] = False
    report: Annotated[
        Literal["json", "junit"] | None,
        about(
            "How its result is read: `json` on stdout, as from a `script`, or the `junit` file at "
            "`{report}`; by default, by its exit code."
        ),
    ] = None
    must_pass: Annotated[
        Texts | None,
        about(
            "Tests of the JUnit report that must pass.", example=["tests/test_cart.py::test_sum"]
        ),
    ] = None
    keep_passing: Annotated[
        Texts | None, about("Tests of the JUnit report that must not break; they may be skipped.")
    ] = None

    surroundings: Surroundings | None = None

    def conflicts(self) -> Iterator[Finding]:
        has_place = any("{report}" in each for each in self.value)
        if self.report == "junit" and not has_place:
            what = "`report: junit` needs `{report}` in the command, where the file is written"
            yield Finding(("value",), what, "pytest takes --junitxml={report}")
        if self.report != "junit" and has_place:
            yield Finding(("value",), "`{report}` goes with `report: junit` only")
        for name in ("must_pass", "keep_passing"):
            if getattr(self, name) is not None and self.report != "junit":
                yield Finding((name,), f"`{name}` goes with `report: junit` only", at="key")

    def load(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings

    async def grade(self, context: Context) -> Score:
        space = _workspace_of(context, fresh=self.fresh)
        lock = _one_at_a_time.setdefault(space.path, asyncio.Lock())
        with waiting_in_queue():
            await lock.acquire()
        try:
            return await self._run(space)
        finally:
            lock.release()

    async def _run(self, space: Space) -> Score:
        assert self.surroundings is not None, "load() comes first"
        with ExitStack() as stack:
            if self.fresh:
                folder = os.path.dirname(space.path)
                copy = stack.enter_context(TemporaryDirectory(prefix="copy-", dir=folder))
                await asyncio.to_thread(copy_into, space.path, copy)
                space = replace(space, path=copy)
            report = ""
            if self.report == "junit":
                # A random name outside of the workspace: the tests of an agent can't guess it.
                folder = stack.enter_context(TemporaryDirectory(prefix="evalcase-"))
                report = os.path.join(folder, "report.xml")
            argv = [each.replace("{report}", report) for each in self.value]
            environment = without_git({
                **self.surroundings.environment, **space.env, **self.env, "PWD": space.path
            })  # fmt: skip
            async with process_in(
                space, argv, environment, _MOST_OUTPUT, network=False,
                writable=[os.path.dirname(report)] if report else [],
            ) as process:  # fmt: skip
                try:
                    code, output = await process.run(None)
                except TargetError as error:
                    raise GraderError("workspace", str(error), error.details) from None
                tail: dict[str, Any] = {"exit_code": code}
                printed = output.data[-4000:].decode(errors="backslashreplace")
                for name, text in (("stdout", printed), ("stderr", process.stderr)):
                    if text:  # the workspace is gone when a person reads it
                        tail[name] = text.replace(f"{space.path}/", "")
            if self.report == "junit":
                return self._grade_tests(_read_report(report, tail), code, tail)
        if self.report == "json":
            return _read_reply(output.data, code, tail)
        told = f"exit code {code}" if code >= 0 else f"the command {describe_exit(code)}"
        if code == self.expect:
            return Score(1.0, told, tail)
        return Score(0.0, f"{told}, expected {self.expect}", tail)

    def _grade_tests(self, tests: dict[str, _Test], code: int, details: dict[str, Any]) -> Score:
        broken = [each for each in tests.values() if each.outcome == "failed"]
        if code != self.expect and not broken:
            what = f"the command {describe_exit(code)}, and no test in its report failed"
            raise GraderError("workspace", what, details)
        named = [(name, True) for name in self.must_pass or ()]
        named += [(name, False) for name in self.keep_passing or ()]
        named = named or [(each.name, True) for each in tests.values() if each.outcome != "skipped"]
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
            more = len(failed) - _SHOWN
            listed = "; ".join(failed[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
            reason = f"{reason}: {listed}"
        return Score(passed / len(named), reason, {**details, "failed": failed})


class _Test(NamedTuple):
    name: str
    outcome: Literal["passed", "failed", "skipped"]
    message: str = ""


def _junit_name(id: str) -> str:
    """The name in a JUnit report of a test that pytest calls `tests/t.py::C::f[p]`."""
    base, bracket, parameters = id.partition("[")
    path, *names = base.split("::")
    module = path.removesuffix(".py").replace("/", ".")
    return ".".join([module, *names]) + bracket + parameters


def _read_report(path: str, details: dict[str, Any]) -> dict[str, _Test]:
    """The tests of a JUnit report by their names. Raise GraderError if there is none."""

    def refuse(what: str) -> GraderError:
        return GraderError("workspace", f"the JUnit report {what}", details)

    try:
        data = read_file(path, _MOST_REPORT, links=False)
    except OversizeError:
        raise refuse("is too large") from None
    except OSError:
        raise refuse("was not written") from None
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data or b"\0" in data:
        raise refuse("declares entities, or is not UTF-8")
    try:
        root = ET.fromstring(data)  # noqa: S314 - it declares no entities
    except ET.ParseError as error:
        raise refuse(f"is not XML: {error}") from None
    tests: dict[str, _Test] = {}
    for each in root.iter("testcase"):
        name = ".".join(filter(None, (each.get("classname"), each.get("name"))))
        if name in tests:
            raise refuse(f"has the test {name} twice")
        tests[name] = _read_test(name, each)
    if any(suite.find("error") is not None for suite in root.iter("testsuite")):
        tests["(the suite)"] = _Test("(the suite)", "failed", "it has an error beside its tests")
    if not tests:
        raise refuse("has no tests")
    return tests


def _read_test(name: str, element: ET.Element) -> _Test:
    for tag in ("failure", "error"):
        found = element.find(tag)
        if found is not None:
            message = (found.get("message") or found.text or "").strip()
            return _Test(name, "failed", message.partition("\n")[0][:200])
    skipped = element.find("skipped")
    is_run = element.get("status") not in ("notrun", "disabled")
    if is_run and (skipped is None or skipped.get("type") == "pytest.xfail"):
        return _Test(name, "passed")
    return _Test(name, "skipped")


def _read_reply(data: bytes, code: int, details: dict[str, Any]) -> Score:
    """The score that a command printed, as a `script` does."""
    try:
        reply = parse_json(data)
        if isinstance(reply, dict) and code == 0:
            return read_script_reply(reply)
        what = describe_exit(code) if code else "printed no object"
    except (BadJsonError, BadScriptReplyError) as error:
        what = f"printed no score: {error}"
    raise GraderError("workspace", f"the command {what}", details)


# files


class FileMatcher(Struct, frozen=True, kw_only=True):
    """What a file has to be like; all that is given has to hold."""

    exists: Annotated[bool | None, about("Whether there is such a file.")] = None
    equals: Annotated[str | None, about("Its whole text.")] = None
    contains: Annotated[
        Text | Texts | None, about("A text in it, or several.", words="text, or a list of texts")
    ] = None
    regex: Annotated[Pattern | None, about("A pattern to find in it.")] = None
    json: Annotated[
        FieldMatchers | UnsetType,
        about("Paths in its JSON, each with a value or a matcher, as in `fields`."),
    ] = UNSET
    equals_file: Annotated[
        Text | None, about("A file of the project that it must equal, byte for byte.")
    ] = None


def _check_files(value: dict[str, JSON], place: Place) -> Iterator[Finding]:
    if not value:
        yield place.fault("is empty: it names no file")
    for path, each in value.items():
        here = Place((*place.path, path), len(place.path))
        if isinstance(each, dict):
            yield from problems_in(FileMatcher, each, f"the matcher of `{path}`", here.path)
            if not each:
                yield here.fault("is empty: it checks nothing")
            if "*" in path:
                yield here.fault("names several files, which can only be `absent` or `unchanged`")
        elif each not in ("absent", "unchanged"):
            yield here.fault(f"is `absent`, `unchanged` or a matcher, not {each!r:.40}")


def _read_files(value: dict[str, Any]) -> dict[str, str | FileMatcher]:
    return {
        path: each if isinstance(each, str) else make(FileMatcher, each)
        for path, each in value.items()
    }


Files = Annotated[
    dict[str, str | FileMatcher],
    of_kind(
        "a mapping of paths to matchers",
        written=dict[str, Any],
        check=_check_files,
        read=_read_files,
        inside=FileMatcher,
    ),
]


class FilesGrader(_LooksAtWorkspace):
    name = "files"
    description = "Files of the workspace are as they should be."
    argument = "value"
    workspace = "files"
    example = "- files: {CHANGELOG.md: {contains: Fixed}, old.py: absent}"

    value: Annotated[
        Files,
        about(
            "Paths, or patterns such as `tests/**`, each with `absent`, `unchanged` or a matcher.",
            example={"CHANGELOG.md": {"contains": "Fixed"}},
        ),
    ]

    surroundings: Surroundings | None = None

    def load(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings

    def sources(self) -> dict[str, str]:
        """The files of the project that it compares with."""
        root = self.surroundings.root if self.surroundings is not None else ""
        named = [each.equals_file for each in self.value.values() if isinstance(each, FileMatcher)]
        return digest_files({name: os.path.join(root, name) for name in named if name is not None})

    def grade(self, context: Context) -> Any:  # noqa: ANN401 - a score, or what is awaited for it
        space, changes = _workspace_of(context), _changes_of(context)
        return settle(lambda searcher: self._judge(space.path, changes, searcher))

    def _judge(self, root: str, changes: Changes, searcher: Searcher) -> Score:
        found = {
            path: self._object_to(root, path, wanted, changes, searcher)
            for path, wanted in self.value.items()
        }
        wrong = [f"`{path}`: {why}" for path, why in found.items() if why is not None]
        right, count = len(found) - len(wrong), write_count(len(found), "file")
        told = "; ".join([f"{right} of {count} as expected", *wrong])
        return Score(right / len(found), told if len(found) > 1 or not wrong else wrong[0])

    def _object_to(
        self, root: str, path: str, wanted: str | FileMatcher, changes: Changes, searcher: Searcher
    ) -> str | None:
        if wanted == "unchanged":
            found = [each for each in changes.paths if matches(each, [path])]
            return f"{_list(found)} changed" if found else None
        if isinstance(wanted, FileMatcher) and wanted.exists is not False:
            data = _read_file(root, path)
            return "there is no such file" if data is None else (
                self._object_to_text(data, wanted, searcher)
            )  # fmt: skip
        if "*" not in path:
            return "it is there" if os.path.lexists(os.path.join(root, path)) else None
        found = [each for each in scan(root) if matches(each, [path])]
        return f"{_list(found)} there" if found else None

    def _object_to_text(self, data: bytes, wanted: FileMatcher, searcher: Searcher) -> str | None:
        text = data.decode(errors="replace")
        if wanted.equals is not None and text != wanted.equals:
            at = first_difference(wanted.equals, text)
            return f"expected {cut_around(wanted.equals, at)}, got {cut_around(text, at)}"
        several = (wanted.contains,) if isinstance(wanted.contains, str) else wanted.contains or ()
        missing = [each for each in several if each not in text]
        if missing:
            return f"{missing[0]!r:.80} is not in it"
        if wanted.regex is not None and searcher.find(wanted.regex, text) is None:
            return f"`{wanted.regex}` is not found in it"
        file = wanted.equals_file
        if file is not None and self._read_project_file(file) != data:
            return f"it is not equal to {file}"
        return None if wanted.json is UNSET else _object_to_json(data, wanted.json, searcher)

    def _read_project_file(self, name: str) -> bytes:
        assert self.surroundings is not None, "load() comes first"
        root = self.surroundings.root
        try:
            return read_file(os.path.join(root, name), _MOST_FILE, root)
        except (OSError, OversizeError) as error:
            raise GraderError("workspace", f"{name} can't be read: {error}") from None


def _object_to_json(data: bytes, wanted: Mapping[str, Matcher], searcher: Searcher) -> str | None:
    try:
        value = parse_json(data)
    except BadJsonError as error:
        return f"it is not JSON: {error}"
    for path, matcher in wanted.items():
        outcome = match_field(JsonPath(path), matcher, value, searcher)
        if not outcome.matches:
            return f"at `{path}` there is {outcome.got}, not {describe_matcher(matcher)}"
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
    except OversizeError:
        what = f"`{path}` is larger than {_MOST_FILE // 1_000_000} MB"
    raise GraderError("workspace", what)


# diff


class DiffGrader(_LooksAtWorkspace):
    name = "diff"
    description = "Limits what the agent changed in the workspace."
    workspace = "changes"
    example = "- diff: {only: ['src/**'], max_lines: 50}"

    max_lines: Annotated[Whole | None, about("The most lines added and removed together.")] = None
    max_files: Annotated[Whole | None, about("The most files changed.")] = None
    only: Annotated[Texts | None, about("Patterns that every changed file must match.")] = None
    never: Annotated[Texts | None, about("Patterns that no changed file may match.")] = None
    empty: Annotated[
        bool | None, about("Whether nothing must be changed (true), or something (false).")
    ] = None

    def conflicts(self) -> Iterator[Finding]:
        options = (self.max_lines, self.max_files, self.only, self.never, self.empty)
        if all(each is None for each in options):
            message = "`diff` needs one of `max_lines`, `max_files`, `only`, `never`, `empty`"
            yield Finding((), message, code="missing-option")

    def grade(self, context: Context) -> Score:
        changes = _changes_of(context)
        paths, wrong = changes.paths, []
        if self.empty is not None and self.empty is not (not paths):
            wrong.append("nothing was changed" if not paths else f"{_list(paths)} changed")
        if self.max_files is not None and len(changes.changed) > self.max_files:
            wrong.append(f"{len(changes.changed)} files changed, at most {self.max_files} may")
        if self.max_lines is not None and changes.lines > self.max_lines:
            wrong.append(f"{changes.lines} lines changed, at most {self.max_lines} may")
        if self.max_lines is not None and (
            binary := [each.path for each in changes.changed if each.binary]
        ):
            wrong.append(f"{_list(binary)} changed, which is no text and has no lines")
        if self.only is not None:
            outside = [path for path in paths if not matches(path, self.only)]
            if outside:
                wrong.append(f"{_list(outside)} changed, but only {_list(self.only)} may")
        if self.never is not None:
            touched = [path for path in paths if matches(path, self.never)]
            if touched:
                wrong.append(f"{_list(touched)} changed, which `never` forbids")
        files, lines = write_count(len(changes.changed), "file"), write_count(changes.lines, "line")
        told = f"{files} changed, {lines}"
        return Score(0.0, "; ".join(wrong)) if wrong else Score(1.0, told)


def _list(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(f"`{each}`" for each in paths[:_SHOWN]) + more


# skill_used


_SKILL_INPUTS = ("skill", "name", "skill_name", "command")


class SkillUsedGrader(Grader):
    name = "skill_used"
    description = "The agent used a skill."
    argument = "value"
    example = "- skill_used: csv"

    value: Annotated[Text, about("The name of the skill.", example="csv", elsewhere=("skill",))]
    evidence: Annotated[
        Literal["tool", "any"],
        about(
            "What counts: a call of the agent's `tool` for skills, or `any` sign, such as a "
            "command that reads its SKILL.md."
        ),
    ] = "tool"

    def grade(self, context: Context) -> Score:
        calls = seen_calls(context.answer)
        worked = [each for each in calls if not each.get("is_error")]
        used = {_skill_of(each) for each in worked}
        if any(each is not None and self._fits(each) for each in used):
            return Score(1.0, f"the agent used the skill `{self.value}`")
        if self.evidence == "any":
            read = f"skills/{self.value}/SKILL.md"
            if any(read in str(each.arguments) for each in worked):
                told = f"the agent read {read}, which is a sign that it used the skill"
                return Score(1.0, told, {"heuristic": True})
        others = sorted(each for each in used if each is not None)
        listed = f", but {_list(others)}" if others else ""
        return Score(0.0, f"the agent did not use the skill `{self.value}`{listed}")

    def _fits(self, used: str) -> bool:
        """A skill of a plug-in may be named with it: `plugin:skill`."""
        return used == self.value or used.endswith(f":{self.value}")


def _skill_of(call: ToolCall) -> str | None:
    """The skill that a call uses; None if it uses none."""
    given = call.arguments
    if kind_of_tool(call.name) != "skill" or not isinstance(given, Mapping):
        return None
    named = (given.get(name) for name in _SKILL_INPUTS)
    return next((each for each in named if isinstance(each, str)), None)

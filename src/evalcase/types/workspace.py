"""The workspace of a coding agent: how a suite declares it, and what an agent changed in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from evalcase.errors import TargetError
from evalcase.types.options import Place, Seconds, Text, Whole, about, of_kind
from evalcase.types.problem import Finding
from evalcase.types.value import Value

COMMAND_LIMIT_S = 300.0


class WorkspaceError(TargetError):
    """A workspace can't be made: its trial is errored, and the agent is not asked."""

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message, kind="workspace", details=details)


def _check_names(value: dict[str, Any], place: Place) -> Iterator[Finding]:
    """Names of files in a workspace are relative, and stay inside."""
    for name in value:
        if "\0" in name or not {"", "..", ".git"}.isdisjoint(name.split("/")):
            message = f"the path `{name}` in {place.label} leaves the workspace, or is in `.git`"
            hint = "write it from the workspace's folder: a/b.txt"
            yield Finding((*place.path, name), message, hint, at="key")


def _check_commands(value: tuple[Any, ...], place: Place) -> Iterator[Finding]:
    for number, command in enumerate(value):
        program = command[0] if isinstance(command, tuple) and command else ""
        if isinstance(command, tuple) and (not program or " " in program):
            hint = "write {sh: …}" if program else "for example [make, db]"
            yield place.below(number).fault("begins with the name of a program", hint)


def _check_commit(value: str, place: Place) -> Iterator[Finding]:
    if "{{" not in value and not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", value):
        hint = "a branch or a short id may be another commit tomorrow; `git rev-parse` prints it"
        yield place.fault(f"is the full id of a commit, not {value!r:.60}", hint)


class Shell(Struct, frozen=True, kw_only=True):
    sh: Annotated[Text, about("A line for `/bin/sh -c`.", example="make db > log.txt")]


class Inline(Struct, frozen=True, kw_only=True):
    """A file with a text that the suite holds."""

    text: Annotated[str, about("The text of the file.")]


Command = Annotated[
    tuple[str, ...] | Shell,
    of_kind("a list of texts, or {sh: a line for the shell}", hint=lambda _: "write {sh: …}"),
]
Overlay = Annotated[
    dict[str, Text], of_kind("a mapping of paths in the workspace to files", check=_check_names)
]


def _check_isolation(value: str, place: Place) -> Iterator[Finding]:
    engine, _, image = value.partition(":")
    if value not in ("none", "bwrap") and (engine not in ("docker", "podman") or not image):
        what = f"is `none`, `bwrap`, `docker:IMAGE` or `podman:IMAGE`, not `{value}`"
        yield place.fault(what, "for example docker:node:22")


Isolation = Annotated[Text, of_kind(check=_check_isolation)]
Commands = Annotated[
    tuple[Command, ...],
    of_kind(
        "a list of commands, such as [[make, db]]",
        check=_check_commands,
        hint=lambda _: "write [{sh: …}]",
    ),
]
Sources = Annotated[
    dict[str, Annotated[Text | Inline, of_kind("the path of a file, or {text: …}", nullable=True)]],
    of_kind(
        "a mapping of paths in the workspace to files, such as {a.txt: path} or {a.txt: {text: …}}",
        check=_check_names,
    ),
]
"""Null takes a file of the suite from a case."""
Patterns = tuple[Text, ...]


class Workspace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The folder that an agent works in. Each attempt gets a fresh copy.

    Each field says what it `decides`: the base, which is kept and decides the question as well; the
    question, which is asked again where it differs; grading; or nothing of these.
    """

    template: Annotated[
        Text | None,
        about(
            "A folder of the project, copied without `.git`.",
            example="fixtures/shop",
            decides="base",
        ),
    ] = None
    repo: Annotated[
        Text | None,
        about(
            "In place of a template, a git repository: a name in `[repos]` of the configuration, "
            "or a folder of the project.",
            example="shop",
            decides="base",
        ),
    ] = None
    commit: Annotated[
        Text | None,
        of_kind(check=_check_commit),
        about("The full id of its commit.", decides="base"),
    ] = None
    history: Annotated[
        Whole,
        about(
            "How many of its commits the agent finds in the copy; by default, none.", decides="base"
        ),
    ] = 0
    files: Annotated[
        Sources,
        about(
            "Further files: paths in the workspace, and files of the project or texts.",
            decides="base",
        ),
    ] = {}
    prepare: Annotated[
        Commands,
        about(
            "Commands to run once for all copies, such as an installation.",
            example=[["npm", "ci"]],
            decides="base",
        ),
    ] = ()
    setup: Annotated[
        Commands,
        about("Commands to run in each copy, before the agent.", decides="question"),
    ] = ()
    teardown: Annotated[Commands, about("Commands to run after grading.", decides="nothing")] = ()
    env: Annotated[
        dict[str, Annotated[str, of_kind(nullable=True)]],
        about("Environment variables for these commands, the agent and `run`.", decides="base"),
    ] = {}
    timeout_s: Annotated[
        Seconds, about("The time limit of each command, in seconds.", decides="nothing")
    ] = COMMAND_LIMIT_S
    ignore: Annotated[
        Patterns,
        about(
            "Files whose changes don't count, as patterns.",
            example=["node_modules/**"],
            decides="question",
        ),
    ] = ()
    restore: Annotated[
        Patterns,
        about(
            "Files to put back before grading, as patterns.",
            example=["tests/**"],
            decides="grading",
        ),
    ] = ()
    hidden: Annotated[
        Sources,
        about(
            "Files that are added before grading, and that the agent never sees.", decides="grading"
        ),
    ] = {}
    solution: Annotated[
        Annotated[Text | Shell | None, of_kind("the path of a patch or a folder, or {sh: a line}")],
        about(
            "What `run --oracle` does in place of an agent: a patch, a folder whose files are "
            "copied, or {sh: a line for the shell}.",
            example="evals/cart.patch",
            decides="nothing",
        ),
    ] = None
    git: Annotated[bool, about("Whether the copy is a git repository.", decides="base")] = True

    def conflicts(self) -> Iterator[Finding]:
        """What no case can mend. The rest is checked once the suite's part is added."""
        if self.template is not None and self.repo is not None:
            message = "`template` and `repo` are both what a workspace begins with"
            yield Finding(("repo",), message, "remove one of the two", "key", "conflicting-fields")
        for name in self.hidden:
            if self.files.get(name) and self.hidden[name]:
                message = f"`{name}` is one of the `files`, so the agent sees it"
                yield Finding(("hidden", name), message, "leave it out of `files`", "key")

    def lacks(self) -> Iterator[Finding]:
        """What is missing in the workspace of a case."""
        if self.template is None and self.repo is None and not self.files:
            hint = "write `template: FOLDER`, with a folder of the project"
            message = "a workspace needs `template`, `repo` or `files`"
            yield Finding((), message, hint, code="missing-option")
        if self.repo is not None and self.commit is None:
            hint = "`git rev-parse HEAD` prints its full id"
            yield Finding((), "`repo` needs `commit`", hint, code="missing-option")
        for name in ("commit", "history"):
            if getattr(self, name) and self.repo is None:
                yield Finding((name,), f"`{name}` is of a `repo`, and this workspace has none")
        if self.history and not self.git:
            yield Finding(("history",), "`history` needs a repository, and `git` is false")


class Space(Value, frozen=True):
    """The workspace of one attempt."""

    path: str
    home: str
    """An empty folder beside it, for an agent that keeps things in its home."""
    env: dict[str, str] = {}
    isolation: str = "none"
    """What programs in it see of the rest of the machine."""
    mounts: tuple[str, ...] = ()
    """Files and folders that they see nevertheless, and can't change."""
    fresh: Space | None = None
    """A second one with nothing but what is recorded, if a grader wants that. It is copied again,
    so that nothing runs in it."""
    fault: str = ""
    """Why there is none, where that of a stored answer could not be made again."""


Status = Literal["added", "modified", "deleted", "renamed"]


class Change(Value, frozen=True):
    path: str
    status: Status
    origin: str | None = None
    """The path before, of a renamed file."""
    mode: str = "100644"
    """As in git: 100755 can be executed, 120000 is a link."""
    size: tuple[int, int] = (0, 0)
    """The bytes before and after."""
    added: Annotated[int, Meta(ge=0)] = 0
    removed: Annotated[int, Meta(ge=0)] = 0
    binary: bool = False


class Ran(Value, frozen=True):
    command: str
    exit_code: int
    duration_s: float


class Changes(Value, frozen=True):
    """What was changed in a workspace between set-up and the end of the agent."""

    base: str
    """A hash of all files before."""
    end: str
    isolation: str
    """What kept the agent from the rest of the machine."""
    changed: tuple[Change, ...] = ()
    diff: str = ""
    """The differences of texts, as `git diff` writes them."""
    diff_cut: bool = False
    setup: tuple[Ran, ...] = ()
    patch: str | None = None
    """The file of the record that holds all differences, from the folder of the run."""
    kept: str | None = None

    @property
    def paths(self) -> list[str]:
        """All paths that were changed, those that renamed files had among them."""
        origins = [each.origin for each in self.changed if each.origin is not None]
        return [*[each.path for each in self.changed], *origins]

    @property
    def lines(self) -> int:
        return sum(each.added + each.removed for each in self.changed)

"""`evalcase.toml`, or `[tool.evalcase]` of `pyproject.toml`, to a configuration.

What a setting may be is declared once, with a sentence; whether the targets it names can be made
is known only above, where kinds of targets are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalcase.errors import ConfigError
from evalcase.model.finding import Finding, Path
from evalcase.model.json_value import JSON, kind
from evalcase.model.option import Record, faults_of, fields_of, option, options_of
from evalcase.model.shape import Choice, Fault, Flag, ListOf, MapOf, Number, Plain, Text
from evalcase.project.root import project_root

if TYPE_CHECKING:
    from evalcase.model.problem import Problem
    from evalcase.read.document import Document

FILE = "evalcase.toml"
PYPROJECT = "pyproject.toml"
_TABLES: dict[str, Path] = {FILE: (), PYPROJECT: ("tool", "evalcase")}


@dataclass(frozen=True, slots=True)
class TargetTables(Plain):
    """Targets by their names. What else than its kind a target has is the kind's business."""

    words: str = "a table of targets"

    def faults(self, value: JSON, path: Path) -> Iterator[Fault]:
        if not isinstance(value, dict):
            yield from MapOf(Text(), self.words).faults(value, path)
            return
        for name, table in value.items():
            if not isinstance(table, dict):
                hint = f'write [targets.{name}] and kind = "…" below it'
                message = f"target `{name}` is a table, not {kind(table)}"
                yield Fault((*path, name), message, hint, code="wrong-type")
            elif "kind" not in table:
                message = f"target `{name}` needs `kind`"
                yield Fault((*path, name), message, 'for example kind = "python"', "key", _MISSING)
            else:
                yield from Text("the name of a kind").faults(table["kind"], (*path, name, "kind"))

    def schema(self) -> dict[str, JSON]:
        return {"type": "object", "additionalProperties": {"type": "object", "required": ["kind"]}}


_MISSING = "missing-option"


@dataclass(frozen=True, slots=True)
class Judge:
    """Who grades `criteria` and `rubrics`, and how."""

    target: str = option(
        Text("the name of a target"), "The target that is asked for verdicts.", example="judge"
    )
    votes: int = option(
        Number(1, whole=True), "How often it is asked; an odd number.", default=1, example=3
    )
    unsure: Literal["error", "fail"] = option(
        Choice(("error", "fail")), "What a verdict that it can't give counts as.", default="error"
    )

    def conflicts(self) -> Iterator[Fault]:
        if self.votes % 2 == 0:
            message = f"`votes` is an odd number, not {self.votes}"
            yield Fault(("votes",), message, "with an odd number there is always a majority")


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about running its suites. Everything has a default."""

    root: str
    """The project's folder, from which Python targets are imported."""
    path: str | None = None
    """The file it was read from."""
    target: str | None = option(
        Text("the name of a target"), "The target of cases that name none.", default=None,
        example="python:my_agent:answer", elsewhere=("default_target", "provider", "model"),
    )  # fmt: skip
    targets: dict[str, dict[str, Any]] = option(
        TargetTables(), "Targets by name; `kind` says what sort of target each is.", default={},
        elsewhere=("providers", "models"),
    )  # fmt: skip
    secrets: tuple[str, ...] = option(
        ListOf(Text("the name of an environment variable"), "a list of names", least=0),
        "Environment variables whose values never reach a record or the terminal.",
        default=(), example=["MY_TOKEN"],
    )  # fmt: skip
    concurrency: int = option(
        Number(1, whole=True), "How many trials are under way at once.", default=10,
        elsewhere=("max_concurrency", "workers", "parallel"),
    )  # fmt: skip
    timeout_s: float = option(
        Number(0, above=True), "The time limit of one attempt, in seconds.", default=120.0,
        elsewhere=("timeout",),
    )  # fmt: skip
    retries: int = option(
        Number(0, whole=True),
        "How often a question is asked again after a failure that may pass.", default=2,
        elsewhere=("max_retries",),
    )  # fmt: skip
    runs_dir: str | None = option(
        Text("a path"), "Where records are kept; without it in `.evalcase/runs`.", default=None
    )
    cache: bool = option(
        Flag(), "Whether answers are taken from the cache, and kept there.", default=False
    )
    grader_timeout_s: float = option(
        Number(0, above=True), "How many seconds a grader may take that says nothing else.",
        default=120.0,
    )  # fmt: skip
    judge: Judge | None = option(
        Record(Judge, "a table"), "Who grades `criteria` and `rubrics`.", default=None
    )


class ConfigFile(NamedTuple):
    """A configuration, the file it was read from, and what is wrong with its settings.

    A setting that is wrong has its default in `config`, so that all the rest can be looked at.
    """

    config: Config
    document: Document | None = None
    table: Path = ()
    """Where in the document the settings are."""
    findings: tuple[Finding, ...] = ()
    unreadable: Problem | None = None

    def problems(self, more: Iterable[Finding] = ()) -> list[Problem]:
        """What is wrong with the file, with places; `more` is found by whoever knows targets."""
        from evalcase.model.problem import in_order

        if self.unreadable is not None:
            return [self.unreadable]
        if self.document is None:
            return []
        found = [each._replace(path=(*self.table, *each.path)) for each in (*self.findings, *more)]
        return in_order(self.document.problems + self.document.place(found))


def load_config(start: str, seen_from: str | None = None) -> Config:
    """The configuration of the project that a folder belongs to.

    Raise ConfigError, with all problems, if a setting is wrong.
    """
    file = read_config(start, seen_from)
    problems = file.problems()
    if problems:
        raise ConfigError.of(problems)
    return file.config


def read_config(start: str, seen_from: str | None = None) -> ConfigFile:
    """The same, and what is wrong with it. From `seen_from` on, its path is shown as relative."""
    root = project_root(os.path.realpath(start))
    for name in _TABLES:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            file = _read_file(root, path, _shown(path, root, seen_from))
            if file is not None:
                return file
    return ConfigFile(Config(root))


def config_of_text(text: bytes, path: str, root: str, shown: str) -> ConfigFile | None:
    """The configuration in a text; None for a `pyproject.toml` that has no part for evalcase."""
    table = _TABLES.get(os.path.basename(path), ())
    if table and b"evalcase" not in text:
        return None
    if not text.strip():
        return ConfigFile(Config(root, path))
    from evalcase.read.toml import parse_toml

    document = parse_toml(text, shown)
    data: Any = document.value if document.readable else {}
    for key in table:
        data = data.get(key) if isinstance(data, dict) else None
    if data is None and document.readable:
        return None
    return _read_settings(Config(root, path), document, table, data or {})


def _read_file(root: str, path: str, shown: str) -> ConfigFile | None:
    from evalcase.read.source import UnreadableError, read_source

    try:
        text = read_source(path)
    except UnreadableError as error:
        from dataclasses import replace

        problem = replace(error.problem, path=shown)
        return ConfigFile(Config(root, path), unreadable=problem)
    return config_of_text(text, path, root, shown)


def _read_settings(nothing: Config, document: Document, table: Path, data: JSON) -> ConfigFile:
    if not isinstance(data, dict):
        wrong = Finding("wrong-type", (), f"`tool.evalcase` is a table, not {kind(data)}")
        return ConfigFile(nothing, document, table, (wrong,))
    faults = list(faults_of(Config, data, "the configuration"))
    findings = [Finding(each.code, each.path, each.message, each.hint, each.at) for each in faults]
    at_fault = {each.path[0] for each in faults}
    sound = {
        name: data[name] for name in options_of(Config) if name in data and name not in at_fault
    }
    config = Config(nothing.root, nothing.path, **fields_of(Config, sound | _names_in(data)))
    return ConfigFile(config, document, table, tuple(findings))


def _names_in(data: dict[str, Any]) -> dict[str, Any]:
    """The names that tables give, whatever else is wrong with them: suites may mention them."""
    targets, judge = data.get("targets"), data.get("judge")
    names: dict[str, Any] = {}
    if isinstance(targets, dict):
        names["targets"] = {name: each for name, each in targets.items() if isinstance(each, dict)}
    if isinstance(judge, dict) and any(Record(Judge, "a table").faults(judge, ("judge",))):
        target = judge.get("target")
        if isinstance(target, str) and target:
            names["judge"] = {"target": target}
    return names


def _shown(path: str, root: str, seen_from: str | None) -> str:
    if seen_from is None:
        return path
    folder = os.path.realpath(seen_from)
    is_inside = folder == root or folder.startswith(os.path.join(root, ""))
    return os.path.relpath(path, folder) if is_inside else path

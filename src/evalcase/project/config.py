"""`evalcase.toml`, or `[tool.evalcase]` of `pyproject.toml`, to a configuration.

What a setting may be is declared once, with a sentence; whether the targets it names can be made
is known only above, where kinds of targets are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.errors import ConfigError
from evalcase.model.defaults import CONCURRENCY, GRADER_TIMEOUT_S, RETRIES, TIMEOUT_S
from evalcase.model.finding import Finding, KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.option import Record, faults_of, fields_of, option, options_of
from evalcase.model.problem import Problem, in_order
from evalcase.model.shape import Flag, ListOf, Number, Text
from evalcase.model.shape_seconds import Seconds
from evalcase.model.shape_variable import VariableName
from evalcase.model.value import replace
from evalcase.project.config_file import MOST_CONFIG_BYTES, TABLES, has_settings
from evalcase.project.engine_settings import EngineSettings
from evalcase.project.settings import HarvestSettings, JudgeSettings, TargetTables
from evalcase.system.files import read_file
from evalcase.system.project_root import is_inside, project_root, take_root

if TYPE_CHECKING:
    from evalcase.read.document import Document


class Source(NamedTuple):
    """The file of a configuration, and what is wrong with the settings in it."""

    document: Document | None
    table: KeyPath = ()
    """Where in the document the settings are."""
    findings: tuple[Finding, ...] = ()
    unreadable: Problem | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says about running its suites. Everything has a default."""

    root: str
    """The project's folder, from which Python targets are imported."""
    path: str | None = None
    """The file it was read from."""
    target: str | None = option(
        Text("the name of a target"), "The default target.", default=None,
        example="python:my_agent:answer", elsewhere=("default_target", "provider", "model"),
    )  # fmt: skip
    targets: dict[str, dict[str, Any]] = option(
        TargetTables(), "Targets by name; `kind` sets the kind of each.", default={},
        elsewhere=("providers", "models"),
    )  # fmt: skip
    secrets: tuple[str, ...] = option(
        ListOf(VariableName(), "a list of names", least=0),
        "Environment variables whose values are kept out of records and output.",
        default=(), example=["MY_TOKEN"],
    )  # fmt: skip
    concurrency: int = option(
        Number(1, whole=True), "How many trials run at once.", default=CONCURRENCY,
        elsewhere=("max_concurrency", "workers", "parallel"),
    )  # fmt: skip
    timeout_s: float = option(
        Seconds(), "Time limit of each attempt, in seconds.", default=TIMEOUT_S,
        elsewhere=("timeout",),
    )  # fmt: skip
    retries: int = option(
        Number(0, whole=True),
        "How often to retry after a temporary error.", default=RETRIES,
        elsewhere=("max_retries",),
    )  # fmt: skip
    runs_dir: str | None = option(
        Text("a path"), "Where runs are stored; by default, `.evalcase/runs`.", default=None
    )
    grader_timeout_s: float = option(
        Seconds(), "Default time limit of graders, in seconds.",
        default=GRADER_TIMEOUT_S,
    )  # fmt: skip
    cache: bool = option(Flag(), "Whether to cache answers, and use cached ones.", default=False)
    compress: bool = option(
        Flag(), "Whether to compress the journal of a large run once it is complete.",
        default=True,
    )  # fmt: skip
    judge: JudgeSettings | None = option(
        Record(JudgeSettings, "a table"),
        "The judge that grades `criteria` and `rubrics`.",
        default=None,
    )
    engine: EngineSettings | None = option(
        Record(EngineSettings, "a table"),
        "Where trials run; by default, in the process of evalcase.", default=None,
    )  # fmt: skip
    harvest: HarvestSettings = option(
        Record(HarvestSettings, "a table"), "What `harvest` removes from the suites it drafts.",
        default=HarvestSettings(),
    )  # fmt: skip
    source: Source | None = None
    second: tuple[Problem, ...] = ()
    """That another file of the project has settings, too, if so."""

    @property
    def has_bad_judge(self) -> bool:
        """Whether there is a table of the judge that can't be used, of which the findings tell."""
        found = () if self.source is None else self.source.findings
        return any(each.path[:1] == ("judge",) for each in found)

    @property
    def is_read(self) -> bool:
        """Whether its file could be read: else nobody knows what it defines."""
        document = self.source.document if self.source is not None else None
        return self.source is None or (document is not None and document.readable)

    def problems(self, more: Iterable[Finding] = ()) -> list[Problem]:
        """What is wrong with its file, with places; `more` is found by whoever knows targets."""
        if self.source is None:
            return [*self.second]
        document, table, findings, unreadable = self.source
        if document is None:
            return [each for each in (unreadable, *self.second) if each is not None]
        found = [each._replace(path=(*table, *each.path)) for each in (*findings, *more)]
        return [*in_order(document.problems + document.place(found)), *self.second]


def load_config(start: str, seen_from: str | None = None) -> Config:
    """The configuration of the project that a folder belongs to.

    Raise ConfigError, with all problems, if a setting is wrong.
    """
    config = read_config(start, seen_from)
    problems = config.problems()
    if problems:
        raise ConfigError.of(problems)
    return config


def read_config(start: str, seen_from: str | None = None) -> Config:
    """The same, whatever is wrong with it: such a setting has its default, and is told by
    `problems`. From `seen_from` on, the path of its file is shown as relative."""
    return _read_config_in(project_root(os.path.realpath(start)), seen_from)


def read_config_of(root: str, seen_from: str | None = None) -> Config:
    """The same for the project of which this is the root, whatever lies above it. Raise ConfigError
    if it is no folder."""
    return _read_config_in(take_root(root), seen_from)


def _read_config_in(root: str, seen_from: str | None) -> Config:
    found: Config | None = None
    for name in TABLES:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            config = _read_file(root, path, _show_path(path, root, seen_from))
            if config is not None and found is not None:
                return replace(found, second=_object_to_second(config, found))
            found = found or config
    return found or Config(root)


def _object_to_second(config: Config, first: Config) -> tuple[Problem, ...]:
    """That settings are not used because another file has some, if this can be read. Else nobody
    knows whether there are any, and what is wrong with it is for others to say."""
    document = config.source.document if config.source is not None else None
    if document is None or not document.readable:
        return ()
    message = f"these settings are not used: {os.path.basename(first.path or '')} is there, too"
    table = TABLES[os.path.basename(config.path or "")]
    found = Finding("conflicting-fields", table, message, "keep one of the two", "key")
    return tuple(document.place([found]))


def config_of_text(text: bytes, path: str, root: str, shown: str) -> Config | None:
    """The configuration in a text; None for a `pyproject.toml` that has no part for evalcase."""
    name = os.path.basename(path)
    if not has_settings(name, text):
        return None
    if not text.strip():
        return Config(root, path)
    from evalcase.read.toml import parse_toml

    document = parse_toml(text, shown)
    if not document.readable:
        from evalcase.project.toml_hints import hint_at_header

        document.faults = [hint_at_header(each, document.lines) for each in document.faults]
        return Config(root, path, source=Source(document))
    data: Any = document.value
    for key in TABLES.get(name, ()):
        data = data.get(key) if isinstance(data, dict) else None
    if data is None:
        return None
    return _read_settings(root, path, document, data)


def _read_file(root: str, path: str, shown: str) -> Config | None:
    from evalcase.read.source import BOM, tell_undecodable, tell_unreadable

    try:
        # A link that leads out of the project could show another file's lines as its faults.
        text = read_file(path, MOST_CONFIG_BYTES, inside=root).removeprefix(BOM)
        text.decode()
    except OSError as error:
        problem = tell_unreadable(shown, error)
    except UnicodeDecodeError:
        problem = tell_undecodable(text, shown)
    else:
        return config_of_text(text, path, root, shown)
    return Config(root, path, source=Source(None, unreadable=problem))


def _read_settings(root: str, path: str, document: Document, data: JSON) -> Config:
    table = TABLES.get(os.path.basename(path), ())
    if not isinstance(data, dict):
        wrong = Finding("wrong-type", (), f"`tool.evalcase` is a table, not {describe_kind(data)}")
        return Config(root, path, source=Source(document, table, (wrong,)))
    faults = list(faults_of(Config, data, "the configuration"))
    if faults:
        from evalcase.project.toml_hints import hint_at_table, in_toml

        faults = [hint_at_table(in_toml(each), data) for each in faults]
    findings = [
        Finding(each.code, each.path, each.message, each.hint, each.at, hides=each.hides)
        for each in faults
    ]
    at_fault = {each.path[0] for each in faults}
    names = [name for name in options_of(Config) if name in data and name not in at_fault]
    sound = {name: data[name] for name in names} | _names_in(data)
    source = Source(document, table, tuple(findings))
    return Config(root, path, **fields_of(Config, sound), source=source)


def _names_in(data: dict[str, Any]) -> dict[str, Any]:
    """The names that tables give, whatever else is wrong with them: suites may mention them."""
    targets, judge = data.get("targets"), data.get("judge")
    names: dict[str, Any] = {}
    if isinstance(targets, dict):
        names["targets"] = {name: each for name, each in targets.items() if isinstance(each, dict)}
    if isinstance(judge, dict) and any(Record(JudgeSettings, "a table").faults(judge, ("judge",))):
        target = judge.get("target")
        if isinstance(target, str) and target:
            names["judge"] = {"target": target}
    return names


def _show_path(path: str, root: str, seen_from: str | None) -> str:
    if seen_from is None:
        return path
    folder = os.path.realpath(seen_from)
    return os.path.relpath(path, folder) if is_inside(folder, root) else path

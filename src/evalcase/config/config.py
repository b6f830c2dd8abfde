"""Reads `evalcase.toml`, or `[tool.evalcase]` of `pyproject.toml`, into a `Config`.

Each setting is declared once, with a sentence. Whether the targets can be made is checked by
`config.targets`, which knows the kinds of targets.
"""

# msgspec compiles annotations that are text: here they are not.

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import field, structs

from evalcase.config.options import (
    CONCURRENCY,
    RETRIES,
    RUNS_DIR,
    TIMEOUT_S,
    AttemptSeconds,
    Cache,
    Concurrency,
    Retries,
    RunsFolder,
)
from evalcase.errors import ConfigError
from evalcase.format.document import Document, parse_document
from evalcase.format.source import UnreadableError, read_source
from evalcase.format.toml import write_setting
from evalcase.types.options import (
    Amount,
    Count,
    EnvironmentName,
    Pattern,
    Place,
    Seconds,
    TargetName,
    Text,
    about,
    of_kind,
)
from evalcase.types.problem import Finding, KeyPath, Problem, did_you_mean, in_order
from evalcase.types.read_options import make, option_of, problems_in, problems_of
from evalcase.types.result import GRADER_TIMEOUT_S
from evalcase.types.value import Value, describe_kind, replace
from evalcase.util.files import is_inside, read_file
from evalcase.util.project import project_root, take_root

_MOST_BYTES = 10 << 20
TABLES: dict[str, KeyPath] = {"evalcase.toml": (), "pyproject.toml": ("tool", "evalcase")}
"""The names of its file, and where in it the settings are."""

KindName = Annotated[Text, of_kind("the name of a kind")]
EnvironmentNames = Annotated[tuple[EnvironmentName, ...], of_kind("a list of names")]


class EngineSettings(Value, frozen=True, kw_only=True):
    kind: Annotated[
        KindName,
        about("Where trials run: `processes`, `ray`, or a plug-in's engine.", example="ray"),
    ]
    workers: Annotated[
        Count | None,
        about("The number of workers; by default, of cores.", elsewhere=("processes",)),
    ] = None
    memory_mb: Annotated[Count | None, about("Memory limit of each worker, in megabytes.")] = None
    max_workers: Annotated[
        Count | None, about("With Ray: the most workers, if the others are busy.")
    ] = None
    address: Annotated[
        Text,
        about(
            "With Ray: the cluster, as `ray://HOST:PORT`, `HOST:PORT` or `auto`; by default, one "
            "is started on this machine for the run.",
            example="ray://head:10001", words="an address",
        ),
    ] = "local"  # fmt: skip
    cpus: Annotated[Amount, about("With Ray: how many cores a worker needs.")] = 1
    gpus: Annotated[Amount, about("With Ray: how many GPUs a worker needs.")] = 0
    resources: Annotated[
        dict[str, Amount],
        of_kind("a table of numbers"),
        about("With Ray: custom resources that a worker needs.", example={"sandbox": 1}),
    ] = field(default_factory=dict)
    env: Annotated[
        EnvironmentNames,
        about("Environment variables passed to workers, in addition to those that targets name."),
    ] = ()


def _check_votes(votes: int, place: Place) -> Iterator[Finding]:
    if votes % 2 == 0:
        yield place.fault(f"is an odd number, not {votes}")


class JudgeSettings(Value, frozen=True):
    target: Annotated[
        TargetName,
        about("The target that acts as judge.", example="judge", elsewhere=("model", "provider")),
    ]
    votes: Annotated[
        Count, of_kind(check=_check_votes), about("How often to ask it; an odd number.", example=3)
    ] = 1
    unsure: Annotated[
        Literal["error", "fail"], about("What it counts as if the judge can't tell.")
    ] = "error"


class RepoSettings(Value, frozen=True):
    path: Annotated[Text | None, about("Its folder, from the project's.", example="../shop")] = None
    url: Annotated[Text | None, about("Its address.", example="https://example.com/shop.git")] = (
        None
    )

    def conflicts(self) -> Iterator[Finding]:
        if (self.path is None) == (self.url is None):
            message = "a repository has either `path` or `url`"
            yield Finding((), message, "write one of the two", code="missing-option")


class HarvestSettings(Value, frozen=True):
    patterns: Annotated[
        dict[str, Pattern],
        of_kind("a table of patterns"),
        about("Patterns by name; each match is replaced by the name and a number.",
              example={"order": "ORD-[0-9]{6}"}),
    ] = field(default_factory=dict)  # fmt: skip
    defaults: Annotated[
        bool, about("Whether to also replace keys, e-mail addresses, phone numbers and the like.")
    ] = True


def _check_targets(targets: dict[str, Any], place: Place) -> Iterator[Finding]:
    """Each target is a table with its kind, or extends another. The kind decides about the rest."""
    for name, table in targets.items():
        path = (*place.path, name)
        if not isinstance(table, dict):
            message = f"target `{name}` is a table, not {describe_kind(table)}"
            hint = 'write [targets.NAME] and kind = "…" below it'
            yield Finding(path, message, hint, code="wrong-type")
        elif "extends" in table:
            yield from _check_base(name, table["extends"], targets, (*path, "extends"))
        elif "kind" not in table:
            hint = f'for example kind = "{table.get("type", "python")}"'
            yield Finding(path, f"target `{name}` needs `kind`", hint, "key", "missing-option")
        else:
            yield from problems_of(option_of(KindName), table["kind"], (*path, "kind"))


def _check_base(
    name: str, base: object, targets: dict[str, Any], path: KeyPath
) -> Iterator[Finding]:
    names = _bases(name, targets)
    last = targets[names[-1]].get("extends")
    if not isinstance(base, str) or base not in targets:
        hint = did_you_mean(str(base), targets.keys() - {name})
        yield Finding(path, f"there is no target `{base}` to extend", hint, code="unknown-target")
    elif last in names:
        yield Finding(path, f"`extends` goes in a circle: {' → '.join((*names, last))}")


def _bases(name: str, targets: Mapping[str, Any]) -> list[str]:
    """A target, the one that it extends, the one that this extends, …"""
    names = [name]
    while isinstance(base := targets[names[-1]].get("extends"), str) and base not in names:
        if not isinstance(targets.get(base), dict):
            break
        names.append(base)
    return names


def _extend(targets: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The tables with the options of those that they extend. Mappings are merged."""
    extended: dict[str, dict[str, Any]] = {}
    for name in targets:
        options = extended[name] = dict[str, Any]()
        for base in reversed(_bases(name, targets)):
            for option, value in targets[base].items():
                old: Any = options.get(option)
                both = isinstance(value, dict) and isinstance(old, dict)
                options[option] = {**old, **value} if both else value
    return extended


class Settings(Value, frozen=True, kw_only=True):
    """What a project can set. Everything has a default."""

    target: Annotated[
        TargetName | None,
        about(
            "The default target.",
            example="python:my_agent:answer", elsewhere=("provider", "model"),
        ),
    ] = None  # fmt: skip
    targets: Annotated[
        dict[str, dict[str, Any]],
        of_kind("a table of targets", written=dict[str, Any], check=_check_targets),
        about("Targets by name; `kind` sets the kind of each.", elsewhere=("providers",)),
    ] = field(default_factory=dict)
    secrets: Annotated[
        EnvironmentNames,
        about(
            "Environment variables whose values are kept out of records and output.",
            example=["MY_TOKEN"],
        ),
    ] = ()
    concurrency: Concurrency = CONCURRENCY
    timeout_s: AttemptSeconds = TIMEOUT_S
    retries: Retries = RETRIES
    runs_dir: RunsFolder | None = None
    grader_timeout_s: Annotated[
        Seconds, about("Default time limit of graders, in seconds.")
    ] = GRADER_TIMEOUT_S  # fmt: skip
    cache: Cache = False
    judge: Annotated[
        JudgeSettings | None,
        about("The judge that grades `criteria` and `rubrics`.", words="a table"),
    ] = None
    engine: Annotated[
        EngineSettings | None,
        about("Where trials run; by default, in the process of evalcase.", words="a table"),
    ] = None
    repos: Annotated[
        dict[str, Annotated[RepoSettings, of_kind("a table with `path` or `url`")]],
        of_kind("a table of repositories"),
        about("Git repositories of workspaces, by the names that suites use.",
              example={"shop": {"path": "../shop"}}),
    ] = field(default_factory=dict)  # fmt: skip
    harvest: Annotated[
        HarvestSettings,
        about("What `harvest` removes from the suites it drafts.", words="a table"),
    ] = HarvestSettings()


class Source(NamedTuple):
    """The file of a configuration, and what is wrong with the settings in it."""

    document: Document | None = None
    table: KeyPath = ()
    findings: tuple[Finding, ...] = ()
    others: tuple[Problem, ...] = ()
    """That the file can't be read, or that another file has settings too."""


class Config(Settings, frozen=True):
    """The settings of a project, with where they come from."""

    root: str
    """The project's folder, from which Python targets are imported."""
    path: str | None = None
    """Its file; None where a project has none."""
    source: Source = Source()

    @property
    def is_read(self) -> bool:
        """Whether its file could be read: else it may define anything."""
        document = self.source.document
        return not self.source.others if document is None else document.readable

    def problems(self, more: Iterable[Finding] = ()) -> list[Problem]:
        """What is wrong with its file, with places; `more` is what other checks found."""
        document, table, findings, others = self.source
        if document is None:
            return [*others]
        found = [each._replace(path=(*table, *each.path)) for each in (*findings, *more)]
        return [*in_order(document.problems + document.place(found)), *others]

    def find_runs(self, runs_dir: str | None = None) -> str:
        """The folder of the records; `runs_dir` is seen from the working folder, and overrides
        the setting, which is seen from the project."""
        if runs_dir is not None:
            return os.path.abspath(runs_dir)  # a target may change the working folder
        return os.path.join(self.root, self.runs_dir or RUNS_DIR)


def load_config(start: str, seen_from: str | None = None) -> Config:
    """The same as `read_config`. Raise ConfigError with all problems if a setting is wrong."""
    config = read_config(start, seen_from)
    if problems := config.problems():
        raise ConfigError.of(problems)
    return config


def read_config(
    start: str, seen_from: str | None = None, root: str | os.PathLike[str] | None = None
) -> Config:
    """The configuration of the project that a folder belongs to, or of the one in `root`. Raise
    ConfigError only if `root` is no folder: a setting that is wrong has its default, and `problems`
    tells of it. The path of the file is shown as relative to `seen_from`."""
    root = project_root(os.path.realpath(start)) if root is None else take_root(os.fspath(root))
    config, other = [_read_file(root, os.path.join(root, name), seen_from) for name in TABLES]
    if config is None or other is None:
        return config or other or Config(root)
    if other.source.document is None or not other.is_read:
        return config
    message = "these settings are not used: evalcase.toml is there, too"
    found = Finding(other.source.table, message, None, "key", code="conflicting-fields")
    others = (*config.source.others, *other.source.document.place([found]))
    return replace(config, source=config.source._replace(others=others))


def _read_file(root: str, path: str, seen_from: str | None) -> Config | None:
    if not os.path.lexists(path):
        return None
    shown = path
    if seen_from is not None and is_inside(folder := os.path.realpath(seen_from), root):
        shown = os.path.relpath(path, folder)
    try:
        # A link that leads out of the project could show another file's lines as its faults.
        text = read_source(path, _MOST_BYTES, root, shown)
    except UnreadableError as error:
        return Config(root, path, Source(others=(error.problem,)))
    return config_of_text(text, path, root, shown)


def has_settings(name: str, text: str) -> bool:
    return not TABLES.get(name) or "evalcase" in text


def config_of_text(text: str, path: str, root: str, shown: str) -> Config | None:
    """The configuration in a text; None for a `pyproject.toml` that has no part for evalcase."""
    name = os.path.basename(path)
    if not has_settings(name, text):
        return None
    document, table = parse_document(text, "toml", shown), TABLES.get(name, ())
    if not document.readable:
        return Config(root, path, Source(document))
    data: Any = document.value
    for key in table:
        data = data.get(key) if isinstance(data, dict) else None
    if data is None:
        return None
    if not isinstance(data, dict):
        message = f"`tool.evalcase` is a table, not {describe_kind(data)}"
        found = Finding((), message, code="wrong-type")
        return Config(root, path, Source(document, table, (found,)))
    faults = problems_in(Settings, data, "the configuration")
    settings = _read_sound(data, {each.path[0] for each in faults})
    source = Source(document, table, tuple(map(in_toml, faults)))
    return Config(root, path, source, **structs.asdict(settings))


def _read_sound(data: dict[str, Any], at_fault: set[str | int]) -> Settings:
    """The settings that are right, and the names in tables that are wrong: suites may use them."""
    settings = make(Settings, {name: data[name] for name in data if name not in at_fault})
    targets, judge = data.get("targets"), settings.judge
    tables = targets.items() if isinstance(targets, dict) else ()
    match data.get("judge"):
        case {"target": str(target)} if judge is None and target:
            judge = JudgeSettings(target)
    sound = _extend({name: each for name, each in tables if isinstance(each, dict)})
    return replace(settings, targets=sound, judge=judge)


def name_table(path: str | None, table: str) -> str:
    """Where a table of settings goes, in words to follow "add". None is a project without any."""
    name = os.path.basename(path or "evalcase.toml")
    return f"[{'.'.join((*map(str, TABLES.get(name, ())), table))}] to {name}"


def name_settings(path: str | None) -> str:
    """Where a single setting goes, in words to follow "in"."""
    table, _, name = name_table(path, "").partition(" to ")
    return name if table == "[]" else f"{table.replace('.]', ']')} of {name}"


def in_toml(fault: Finding) -> Finding:
    """The same with its example as TOML has it, and without an edit, which would be of YAML."""
    hint = f"for example {write_setting(*fault.example)}" if fault.example else fault.hint
    return fault._replace(hint=hint, fix=None)


_ENTRY = re.compile(
    r"""\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*
    (?:'([^']*)' | "((?:[^"\\]|\\.)*)" | ((?!['"]).*?))(?:\s+\#.* | \s*)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "$": "$"}


def read_env_file(path: str) -> dict[str, str]:
    r"""The variables in the file of `--env-file`. Raise ConfigError with the line of a mistake.

        # a comment
        NAME=value                 up to the end of the line or ` #`
        export NAME=value          the same
        NAME='a text'              taken literally
        NAME="a \"quoted\" text"   with \n, \t, \r, \\, \" and \$

    Variables are not substituted: `$HOME` is five characters.
    """
    try:
        text = read_file(path, _MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not UTF-8") from None
    variables: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            entry, where = _ENTRY.fullmatch(line), f"{path}:{number}"
            if entry is None or "\0" in line:
                what = "this is not NAME=value, with a quote closed in its line"
                raise ConfigError(f"{where}: {what}")
            name, literal, quoted, bare = entry.groups("")
            if name in variables:
                raise ConfigError(f"{where}: {name} is given before")
            # Other backslashes stay, as they do in a shell.
            quoted = re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[0]), quoted)
            variables[name] = literal or quoted or bare
    return variables

"""The options of a run, each declared once.

A field with a sentence is a flag of `evalcase run`, a keyword of `evaluate` and, where the plug-in
lists it, an option of pytest. `evalcase.toml` has some of them too: those types have names here.
"""

# msgspec compiles annotations that are text: here they are not.

import os
import re
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, Self, TypedDict

from msgspec import Meta, ValidationError, convert

from evalcase.errors import ConfigError
from evalcase.types.options import Amount, Count, Seconds, Share, Text, Whole, about
from evalcase.types.problem import hint_at, nearest_meaning
from evalcase.types.read_options import Option, fields_of, problems_of
from evalcase.types.result import MOST_REPEATS, Result, StopRule
from evalcase.types.value import Value, decode_object, encode_object, replace

CONCURRENCY, TIMEOUT_S, RETRIES, RUNS_DIR = 10, 120.0, 2, ".evalcase/runs"


_FLAGS = {
    "Which cases": "cases=GLOB tags limit sample seed shard=I/N failed_of=RUN",
    "How": "targets=NAME oracle repeat cache env_file=FILE no_exec",
    "Limits": "concurrency timeout_s=SECONDS retries retry_timeouts max_cost_usd=USD",
    "Gates": "fail_under=RATE max_errors fail_fast stop against=RUN",
    "Where": "processes engine=NAME on=ADDRESS runs_dir=FOLDER keep_workspaces name=TEXT note=TEXT",
}
"""The headings of help pages, the options below them, and words for the values of these."""
_SHORT = {"cases": "k", "targets": "t", "repeat": "n"}


ORACLE, UNTOUCHED = "oracle", "untouched"
"""The targets of `--oracle`: one applies the solution of a case, and one does nothing."""
KeptWorkspaces = Literal["none", "failed", "all"]
Concurrency = Annotated[
    Count,
    about(
        "How many trials run at once.",
        by_default=CONCURRENCY,
        elsewhere=("max_workers", "parallel"),
    ),
]
AttemptSeconds = Annotated[
    Seconds,
    about(
        "Seconds allowed for each attempt.", by_default=f"{TIMEOUT_S:g}", example=5,
        words="a number of seconds over 0",
    ),
]  # fmt: skip
Retries = Annotated[Whole, about("Retries after temporary errors.", by_default=RETRIES)]
Cache = Annotated[
    bool, about("Store answers, and don't ask the same question twice. Errors are not stored.")
]
RunsFolder = Annotated[Text, about("Where runs are stored.", by_default=RUNS_DIR, words="a path")]


class Shard(Value, frozen=True):
    """One of several equal parts of a run, counted from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError("write it as 2/5, the second of five parts")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `2/5`. Raise ValueError if it is something else."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        return cls(int(found[1]), int(found[2])) if found else cls(0, 0)


def shard_number(place: str, id: str) -> int:
    return number_of("shard", place, id)


def number_of(*texts: str) -> int:
    """A 64-bit hash of some texts, by which cases are drawn and dealt."""
    # A file name that isn't UTF-8 has lone surrogates.
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(data).digest()[:8], "big")


class FailedOf(Value, frozen=True):
    """The cases of an earlier run that did not pass there."""

    run: str
    cases: tuple[tuple[str, str], ...]
    """The place of the suite in the project, and the id of the case."""


class Selection(Value, frozen=True, kw_only=True):
    """Which cases to run. Each part narrows what the one before leaves."""

    cases: Annotated[
        tuple[str | Annotated[tuple[str, ...], Meta(min_length=2, max_length=3)], ...],
        about(
            "Only cases whose id matches. Repeatable: cases that match any.",
            elsewhere=("ids", "filter"),
        ),
    ] = ()  # fmt: skip
    """Patterns of ids; or a suite and an id; or a suite, an id and one of the case's targets."""
    tags: Annotated[
        tuple[str, ...], about("Only cases with this tag. Repeatable: cases with any of them.")
    ] = ()
    shard: Annotated[
        Shard | None,
        about("Only part I of N; `auto` takes it from the array task of the scheduler."),
    ] = None
    """It comes last: the shards of a run divide the cases that the rest of a selection leaves."""
    limit: Annotated[Count | None, about("Only the first cases, at most this many.")] = None
    sample: Annotated[Count | None, about("A random sample of this many cases.")] = None
    failed_of: Annotated[
        FailedOf | None, about("Only cases that did not pass in RUN: its id, or `latest`.")
    ] = None
    seed: Annotated[
        int, about("Seed of --sample and --stop.", by_default="a random one; with --shard, 0")
    ] = 0


class RunOptions(Value, frozen=True):
    """The options of a run. None leaves it to the configuration."""

    paths: tuple[str, ...] = (".",)
    targets: Annotated[
        tuple[str, ...], about("A target from evalcase.toml, or kind:value. Repeatable.")
    ] = ()
    selection: Selection = Selection()
    concurrency: Concurrency | None = None
    repeat: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_REPEATS)] | None,
        about(
            "How many times to run each case.", elsewhere=("trials", "epochs", "num_repetitions")
        ),
    ] = None
    timeout_s: AttemptSeconds | None = None
    retries: Retries | None = None
    retry_timeouts: Annotated[bool, about("Retry time-outs too.")] = False
    max_cost_usd: Annotated[
        Amount | None,
        about(
            "Start no new trials once this much is spent.", example=2.5,
            elsewhere=("budget",), words="a number of US dollars",
        ),
    ] = None  # fmt: skip
    max_errors: Annotated[Whole, about("Allow this many errored trials.", by_default=0)] = 0
    fail_under: Annotated[
        Share | None, about("Exit 1 only if the pass rate of cases is below this.", example=0.9)
    ] = None
    stop: Annotated[
        StopRule | None, about("Start no new trials once --fail-under or --against is decided.")
    ] = None
    against: Annotated[
        str | None,
        about("With --stop likely: stop once this run is clearly better or worse than RUN."),
    ] = None
    fail_fast: Annotated[bool, about("Start no new trials after a case did not pass.")] = False
    cache: Cache | None = None
    env_file: Annotated[
        str | None, about("Read environment variables from this file, unless they are already set.")
    ] = None
    no_exec: Annotated[bool, about("Refuse to start processes or import code.")] = False
    keep_workspaces: Annotated[
        KeptWorkspaces, about("Which workspaces to leave behind: none, failed or all.")
    ] = "none"
    name: Annotated[Text | None, about("A name for the run: other commands find it by that.")] = (
        None
    )
    note: Annotated[Text | None, about("A note about the run, for people.")] = None
    oracle: Annotated[
        bool,
        about(
            "Check the cases themselves: the solution of each must pass its workspace graders, and "
            "an untouched workspace must not."
        ),
    ] = False
    # Where it is executed and stored; the record doesn't keep it.
    processes: Annotated[
        Annotated[int, Meta(ge=1, le=1000)] | None,
        about("Run trials in N separate processes: a crash costs only one trial."),
    ] = None
    engine: Annotated[str | None, about("Where trials run: in-process, processes or ray.")] = None
    on: Annotated[str | None, about("A Ray cluster: ray://HOST:PORT, HOST:PORT or auto.")] = None
    runs_dir: RunsFolder | None = None

    def __post_init__(self) -> None:
        if self.oracle and self.targets not in ((), (ORACLE, UNTOUCHED)):
            raise ConfigError("`oracle` asks no target: leave out the targets")
        by_run = self.against is not None
        if by_run and self.stop != "likely":
            raise ConfigError("`against` needs `stop` to be `likely`")
        if self.stop is not None and (self.fail_under is not None) == by_run:
            which = "are both" if by_run else "is neither"
            raise ConfigError(f"`stop` needs `fail_under` or `against`: there {which}")
        if self.stop is not None and self.fail_fast:
            raise ConfigError("`stop` and `fail_fast` end a run for different reasons: use one")

    @property
    def names_engine(self) -> bool:
        return any(each is not None for each in (self.processes, self.engine, self.on))

    def caches(self, is_configured: bool) -> bool:
        return is_configured if self.cache is None else self.cache

    def to_dict(self) -> dict[str, Any]:
        """For the record, from which a run is resumed: without the place where it is executed."""
        return encode_object(replace(self, **_PLACE))

    def override(self, values: Mapping[str, Any]) -> Self:
        """The same with other values; None changes nothing."""
        return replace(self, **_pick(RunOptions, values))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """What `to_dict` gave. Raise ValueError or ConfigError if it did not give that."""
        return replace(decode_object(cls, data, "options"), **_PLACE)


_PLACE: dict[str, Any] = dict.fromkeys(("processes", "engine", "on", "runs_dir"))


def _pick(declared: type[Value], values: Mapping[str, Any]) -> dict[str, Any]:
    names = declared.__struct_fields__
    return {name: values[name] for name in names if values.get(name) is not None}


class Keywords(TypedDict, total=False):
    """The same options for type checkers and editors, with what only a program can give."""

    cases: Iterable[str | tuple[str, str] | tuple[str, str, str]]
    tags: Iterable[str]
    shard: tuple[int, int] | str
    limit: int
    sample: int
    failed_of: str
    seed: int
    oracle: bool
    concurrency: int
    repeat: int
    timeout_s: float
    retries: int
    retry_timeouts: bool
    max_cost_usd: float
    max_errors: int
    fail_under: float
    stop: StopRule
    against: str
    fail_fast: bool
    cache: bool
    env_file: str
    no_exec: bool
    keep_workspaces: KeptWorkspaces
    name: str
    note: str
    processes: int
    engine: str
    on: str
    runs_dir: str
    on_result: Callable[[Result], None]
    on_warning: Callable[[str], None]


class RunFlag(NamedTuple):
    """An option of a run, as a command line has it."""

    option: Option
    flag: str
    """Its name without hyphens in front: `max-cost`."""
    metavar: str | None
    about: str
    group: str
    short: str | None

    @property
    def is_switch(self) -> bool:
        return self.option.json == "boolean"


def list_run_flags() -> dict[str, RunFlag]:
    """The options of a run as flags, by the names of the options, in the order of help pages."""
    known, flags = _known_options(), {}
    for group, names in _FLAGS.items():
        for name, _, metavar in (each.partition("=") for each in names.split()):
            option = known[name]
            flag = name.removesuffix("_usd").removesuffix("_s").replace("_", "-")
            if option.json == "array":
                flag = flag.removesuffix("s")
            shown = "N" if option.json == "integer" else metavar or None
            default = option.extra.get("by_default")
            sentence = option.about if default is None else f"{option.about} [default: {default}]"
            short = _SHORT.get(name)
            flags[name] = RunFlag(option, flag, shown, sentence, group, short)
    return flags


def _known_options() -> dict[str, Option]:
    return {**fields_of(RunOptions), **fields_of(Selection)}


def make_options(values: Mapping[str, Any]) -> RunOptions:
    """Options of values that have been checked; None stands for one that is not given.

    Without a seed, a run that draws cases by chance gets a random one. All shards of a run must
    draw the same cases, so theirs is 0.
    """
    selection = _pick(Selection, values)
    if "shard" not in selection and ("sample" in selection or values.get("stop")):
        selection.setdefault("seed", int.from_bytes(os.urandom(3), "big"))
    return RunOptions(selection=Selection(**selection), **_pick(RunOptions, values))


def read_keywords(keywords: Mapping[str, Any], failed_of: FailedOf | None = None) -> RunOptions:
    """The options that a program asks for; `failed_of` are the cases of the run that it names.

    Raise TypeError for a keyword that does not exist or has a form of its own, and ConfigError for
    other values that are wrong.
    """
    known = _known_options()
    del known["targets"]  # `evaluate` has the argument `target`
    values: dict[str, Any] = {}
    for name, value in keywords.items():
        if name in ("on_result", "on_warning"):
            if not callable(value):
                raise TypeError(f"`{name}` is a function, not {value!r:.80}")
        elif name not in known:
            others = {each: option.elsewhere for each, option in known.items()} | _ARGUMENTS
            meant = {other: each for each in others for other in (*others[each], each)}
            hint = hint_at(nearest_meaning(name, meant))
            raise TypeError(f"evaluate() has no option {name!r}{f': {hint}' if hint else ''}")
        elif name in _FORMS:
            values[name] = _read_several(name, value)
        elif name == "failed_of":
            values[name] = failed_of
        elif name == "shard" and value is not None:
            values[name] = _read_shard(value)
        elif value is not None:
            values[name] = os.fspath(value) if isinstance(value, os.PathLike) else value
            for fault in problems_of(known[name], values[name], (name,)):
                raise ConfigError(fault.message)
    return make_options(values)


_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "target": ("task", "model", "agent", "function", "targets", "provider"),
    "graders": ("evaluators", "scorers", "metrics", "assertions", "checks"),
    "users": (), "root": (), "on_result": (), "on_warning": (),
}  # fmt: skip
"""What else `evaluate` takes, and the names that other tools have for it."""
_FORMS = {
    "cases": 'ids or patterns, `"sum-*"`, or pairs of suite and id, `("a.eval.yaml", "sum")`',
    "tags": 'texts, `"smoke"`',
}


def _read_several(name: str, value: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a program's
    try:
        items = (value,) if isinstance(value, str) else tuple(value)
        plain = [each if isinstance(each, str) else tuple(map(os.fspath, each)) for each in items]
        convert({name: plain}, Selection)
    except (TypeError, ValidationError):
        raise TypeError(f"`{name}` takes {_FORMS[name]}, not {value!r:.80}") from None
    if not plain:
        raise ConfigError(f"`{name}` is empty, and chooses no case: without it, all are chosen")
    return tuple(plain)


def _read_shard(shard: object) -> Shard:
    try:
        if isinstance(shard, str):
            return Shard.parse(shard)
        return Shard(*convert(shard, tuple[int, int]))
    except ValueError:
        raise ConfigError(f"`shard` is {shard!r:.80}: write it as 2/5 or (2, 5)") from None

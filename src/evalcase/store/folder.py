"""The folder of a run: `run.json` says what was run, and `journal.jsonl` has the results.

A seal in `run.json` tells whether this user made the run in this project. It is an HMAC of all
other fields and of the project's folder, with a key that only the user has: a record may come from
anyone, and what it names is used only if its seal is right, or with `--trust`.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import subprocess
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, field

from evalcase.errors import RecordError
from evalcase.types.target import TargetVersion
from evalcase.types.value import Value, decode_object, encode_object
from evalcase.util.environment import make_key, read_key
from evalcase.util.files import Disk, OversizeError, read_file, sync_folder, write_atomically
from evalcase.util.json import DEEPEST_ROW, JOURNAL, MAX_LINE, compact_encoder, parse_object
from evalcase.util.text import make_visible, write_count

PATCHES = "workspaces"
"""The folder of a record with the patches of workspaces."""

VERSION = 6
"""The version of run.json and of the rows of the journal."""
RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")
_LAST_NAME = 10**14 - 1
_GIT_S = 5.0
_OF_BRANCH = "# branch."
_STARTED = ".started"
_to_json = compact_encoder(sort_keys=True)


class GitState(NamedTuple):
    """What is checked out in a project."""

    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None


def read_git_state(root: str) -> GitState:
    """The state of the git repository that a folder is in. Without one, all is None."""
    folder = Path(os.path.abspath(root))
    dot_gits = [each / ".git" for each in (folder, *folder.parents)]
    if not any(each.is_file() or (each / "HEAD").exists() for each in dot_gits):
        return GitState()
    try:
        # `git status` starts the filters that a configuration names: the project may be a
        # stranger's.
        settings = _ask_git(root, "config", "--list", "--show-scope", "--name-only")
        if any(re.match(r"(local|worktree)\tfilter\.", line) for line in settings):
            return GitState()
        lines = _ask_git(
            root, "-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch",
            "--untracked-files=no", "--ignore-submodules=all",
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return GitState()
    of_branch = [line.removeprefix(_OF_BRANCH) for line in lines if line.startswith(_OF_BRANCH)]
    said = dict(line.split(" ", 1) for line in of_branch)
    commit, branch = said.get("oid"), said.get("head")
    return GitState(
        None if commit == "(initial)" else commit,
        None if branch == "(detached)" else branch,
        dirty=any(not line.startswith("#") for line in lines),
    )


def _ask_git(root: str, *arguments: str) -> list[str]:
    done = subprocess.run(  # noqa: S603 - git, and no argument of others
        ["git", *arguments],  # noqa: S607 - as the user's shell finds it
        cwd=root, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=_GIT_S, check=True,
    )  # fmt: skip
    return done.stdout.decode(errors="replace").splitlines()


class SelectedCases(Value, frozen=True):
    """How many cases of the suites were selected for a run."""

    chosen: Annotated[int, Meta(ge=0)]
    total: Annotated[int, Meta(ge=0)]


class RunAbout(Value, frozen=True):
    """What was run: names, paths, numbers and hashes, and no secrets."""

    options: dict[str, Any]
    """The RunOptions, as a mapping."""
    evalcase: str = ""
    python: str = ""
    prices: str | None = None
    """The versions of evalcase, Python and the prices of models."""
    suites: dict[str, str] = field(default_factory=dict)
    """The hash of each suite, by its path."""
    targets: tuple[str, ...] = ()
    target_versions: dict[str, TargetVersion] = field(default_factory=dict)
    """The version of each target when the run began."""
    default_target: str | None = None
    """The target of the configuration."""
    trials: Annotated[int, Meta(ge=0)] | None = None
    """How many trials were planned."""
    cases: Annotated[int, Meta(ge=0)] | None = None
    """How many cases were planned, each once for each of its targets."""
    selected: SelectedCases | None = None
    """None where all cases were selected."""
    failed_of: str | None = None
    """The run whose cases that did not pass were selected."""
    cwd: str = "."
    """Where it began, relative to the project's folder: its suites were named there."""
    dealt: str | None = None
    """A hash of the cases that were split into shards."""
    rests_on: dict[str, str] | None = None
    """The files of graders, and the targets that they ask, with hashes; None where there are
    none."""
    merged: tuple[str, ...] = ()
    """The shards that it was merged from."""
    name: str | None = None
    note: str | None = None
    """What the user calls it, and says about it."""
    commit: str | None = None
    branch: str | None = None
    dirty: bool | None = None
    """The commit and branch of the project in git, and whether tracked files had changed; None
    where git does not say."""


class _RunFile(Value, frozen=True):
    """All of `run.json`."""

    version: Annotated[int, Meta(ge=1)]
    id: str
    created_at: str
    about: RunAbout
    seal: str | None = None


class Run(Value, frozen=True):
    id: str
    path: str
    """The folder."""
    created_at: str
    """UTC, ISO 8601."""
    about: RunAbout
    seal: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """All of run.json but the seal."""

    @property
    def journal(self) -> str:
        return os.path.join(self.path, JOURNAL)


class Sealer(Value, frozen=True):
    """Makes and checks the seals of a user in one project. Only what this user typed may be sealed,
    never what was read from another record."""

    key: bytes
    root: str
    """The real path of the project's folder: relative paths mean other files elsewhere."""

    def seal(self, facts: dict[str, Any]) -> str:
        text = _to_json({"root": self.root, "run": facts})
        return hmac.digest(self.key, text.encode("ascii"), "sha256").hex()

    def knows(self, run: Run) -> bool:
        if run.seal is None:
            return False
        given = run.seal.encode("utf-8", "backslashreplace")  # a stranger's may be any text
        return hmac.compare_digest(given, self.seal(run.facts).encode())


def find_sealer(state: str | None, root: str, *, make: bool = False) -> Sealer | None:
    """The sealer of the user whose state is in a folder; `make` a new key if there is none. None
    where there is no key, or none can be stored: such runs have no seal."""
    if state is None:
        return None
    try:
        return Sealer(make_key(state) if make else read_key(state), root)
    except OSError:
        return None


def is_own(run: Run, state: str | None, root: str) -> bool:
    """Whether the user whose state is in a folder made this run, as it is, in a project."""
    sealer = find_sealer(state, root)
    return sealer is not None and sealer.knows(run)


def why_unsealed(run: Run, state: str | None) -> str:
    """Why a run of one's own may not be known again; nothing if there is no such reason."""
    if run.seal is not None:
        return ""
    if state is None:
        return "evalcase can't recognise your runs: HOME doesn't say where your home is"
    try:
        read_key(state)
    except OSError as error:
        path = make_visible(os.path.join(state, "key"))
        return f"evalcase can't recognise your runs: {path} can't be used: {error.strerror}"
    return ""


def create_run(
    runs_dir: str, about: RunAbout, *, now: float, random: Callable[[int], bytes] = os.urandom,
    sealer: Sealer | None = None, disk: Disk | None = None, after: str | None = None,
) -> Run:  # fmt: skip
    """Make the folder of a new run, with its run.json, under a name that no other run has. `now` is
    in seconds since 1970; `after` is the folder of the runs before it, if that is another one."""
    disk, created_at = disk or Disk(), write_time(now)
    try:
        _make_folders(runs_dir, disk)
        second = created_at[:19].replace("-", "").replace(":", "").replace("T", "-")
        path = _make_unique(runs_dir, _follow_newest(after or runs_dir, second), random)
        sync_folder(disk, runs_dir)
    except OSError as error:
        raise RecordError(f"{runs_dir} can't be written: {error.strerror or error}") from error
    run_id = os.path.basename(path)
    facts = encode_object(_RunFile(VERSION, run_id, created_at, about))
    seal = None if sealer is None else sealer.seal(facts)
    data = facts if seal is None else {**facts, "seal": seal}
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    file = os.path.join(path, "run.json")
    try:
        write_atomically(file, text.encode("utf-8", "backslashreplace"), disk)
    except OSError as error:
        raise RecordError(f"{file} can't be written: {error.strerror or error}") from error
    return Run(run_id, path, created_at, about, seal, facts)


def write_time(seconds: float) -> str:
    """A time in UTC, ISO 8601, to the microsecond."""
    time = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    return time.replace("+00:00", "Z")


def _follow_newest(runs_dir: str, name: str) -> str:
    """The start of the id of a new run. Runs are sorted by id: in the same second as the newest, or
    if the clock was ahead once, it counts on from there."""
    newest = max((each[:15] for each in os.listdir(runs_dir) if RUN_ID.fullmatch(each)), default="")
    if newest < name:
        return name
    following = f"{min(int(newest.replace('-', '')) + 1, _LAST_NAME):014}"
    return f"{following[:8]}-{following[8:]}"


def _make_folders(path: str, disk: Disk) -> None:
    """Make a folder and those above it, so that a power cut does not lose their names."""
    path = os.path.abspath(path)
    if not os.path.isdir(path):
        _make_folders(os.path.dirname(path), disk)
        with suppress(FileExistsError):  # another run may have been faster
            os.mkdir(path)
        sync_folder(disk, os.path.dirname(path))


def _make_unique(runs_dir: str, time: str, random: Callable[[int], bytes]) -> str:
    for _ in range(100):
        path = os.path.join(runs_dir, f"{time}-{random(3).hex()}")
        with suppress(FileExistsError):
            os.mkdir(path)
            return path
    raise RecordError(f"{runs_dir}: no free name for a run; is the random source stuck?")


def is_run(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "run.json"))


def read_run(path: str) -> Run:
    """The run in a folder. RecordError if it is missing, damaged, or of another version."""
    file = os.path.join(path, "run.json")
    try:
        data = parse_object(read_file(file, MAX_LINE, links=False), DEEPEST_ROW)
        version = data.get("version")
        if type(version) is not int or version < 1:
            raise ValueError(f"{version!r:.60} is not a version")
        if version != VERSION:
            age = "an older" if version < VERSION else "a newer"
            raise RecordError(
                f"{path} was written by {age} evalcase: its record has version {version}, and this "
                f"evalcase reads version {VERSION}"
            )
        said = decode_object(_RunFile, data)
    except FileNotFoundError as error:
        raise RecordError(f"{path} is not a run: it has no run.json") from error
    except OversizeError as error:
        raise RecordError(f"{file} is damaged: it is too large") from error
    except OSError as error:
        raise RecordError(f"{file} can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise RecordError(f"{file} is damaged: {error}") from error
    facts = {name: value for name, value in data.items() if name != "seal"}
    return Run(said.id, path, said.created_at, said.about, said.seal, facts)


def folder_of_run(run: Run) -> str:
    """Where a run began, relative to its project's folder: its suites were named there."""
    return run.about.cwd if "\0" not in run.about.cwd else "."


def describe_name(run: Run) -> str:
    """What tells a run apart: its name and note, and the commit that it was made of."""
    about = run.about
    named = ": ".join(filter(None, (about.name, about.note)))
    return ", ".join(filter(None, (named, describe_commit(run))))


def describe_commit(run: Run) -> str:
    """`1a2b3c4 on main, modified`; empty where git did not say."""
    about = run.about
    if about.commit is None:
        return ""
    branch = f" on {about.branch}" if about.branch else ""
    return about.commit[:7] + branch + (", modified" if about.dirty else "")


def describe_part(run: Run) -> str:
    """The cases of a run, in words; empty where it has all cases of its suites."""
    if run.about.failed_of is not None:
        return f"cases that did not pass in {run.about.failed_of}"
    if (selected := run.about.selected) is None:
        return ""
    selection = run.about.options.get("selection")
    by = ""
    if isinstance(selection, dict) and selection.get("sample") is not None:
        by = f", seed {selection.get('seed', 0)}"
    return f"{selected.chosen:,} of {write_count(selected.total, 'case')} selected{by}"


# A note beside the runs.


def note_start(runs_dir: str, now: float) -> None:
    """Note when a run is started, in seconds since 1970: if it is refused or leaves no record,
    `resume` must not take the run before it for the newest."""
    path = os.path.join(runs_dir, _STARTED)
    # A link may lead anywhere: the folder may have come with another user's project.
    if os.path.isdir(runs_dir) and not os.path.islink(path):
        with suppress(OSError):
            write_atomically(path, write_time(now).encode(), Disk(), durable=False)


def left_no_record(runs_dir: str, newest: Run) -> bool:
    """Whether a run was started after the newest one that has a record."""
    try:
        at = read_file(os.path.join(runs_dir, _STARTED), 1000, links=False).decode()
        return datetime.fromisoformat(at) > datetime.fromisoformat(newest.created_at)
    except (OSError, TypeError, ValueError):
        return False

"""A run's folder: `run.json` says what was run, `journal.jsonl` what came of it; packed, that is
`journal.jsonl.gz`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from time import gmtime, strftime
from typing import Any

from msgspec import field

from evalcase.errors import RecordError
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.value import Value
from evalcase.record.about import RunAbout, RunFile
from evalcase.record.seal import Sealer
from evalcase.system.disk import Disk, LocalDisk, sync_folder, write_atomically
from evalcase.system.files import OversizeError, read_file
from evalcase.system.packed import ENDING
from evalcase.text.counted import write_count
from evalcase.text.journal_row import JOURNAL, MAX_LINE
from evalcase.text.strict_json import DEEPEST_ROW, parse_object

VERSION = 2
"""Of run.json and of the rows of the journal. It goes up when an older evalcase would misread."""

RUN_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")

_LAST_NAME = 10**14 - 1
"""An id has no more digits than that."""


class Run(Value, frozen=True):
    id: str
    path: str
    """The folder."""
    created_at: str
    """UTC, ISO 8601."""
    about: RunAbout
    """What was run: suites, targets, options."""
    seal: str | None = None
    """By which the user who made it knows it again."""
    facts: dict[str, Any] = field(default_factory=dict)
    """All that run.json says, word for word, but for the seal, which is of that."""

    @property
    def journal(self) -> str:
        """The path of the journal."""
        return journal_of(self.path)


def journal_of(folder: str) -> str:
    """The path of the journal of a run: of what is being written, or else of the packed one."""
    path = os.path.join(folder, JOURNAL)
    packed = path + ENDING
    return packed if os.path.exists(packed) and not os.path.exists(path) else path


def create_run(
    runs_dir: str,
    about: RunAbout,
    *,
    now: float,
    random: Callable[[int], bytes],
    sealer: Sealer | None = None,
    disk: Disk | None = None,
) -> Run:
    """Make the folder of a new run, with its run.json. No other run has or will get the same.
    `now` is in seconds since 1970.

    With a `sealer`, what it is about counts as what this user asked for.
    """
    disk, created_at = disk or LocalDisk(), write_time(now)
    try:
        _make_folders(runs_dir, disk)
        path = _make_unique(runs_dir, _follow_newest(runs_dir, _as_name(created_at)), random)
        sync_folder(disk, runs_dir)
    except OSError as error:
        raise RecordError(f"{runs_dir} can't be written: {error.strerror or error}") from error
    run_id = os.path.basename(path)
    facts = encode_object(RunFile(VERSION, run_id, created_at, about))
    seal = None if sealer is None else sealer.seal(facts)
    run = Run(run_id, path, created_at, about, seal, facts)
    data = facts if seal is None else {**facts, "seal": seal}
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    try:
        write_atomically(_path_of_about(path), text.encode("utf-8", "backslashreplace"), disk)
    except OSError as error:
        raise RecordError(
            f"{_path_of_about(path)} can't be written: {error.strerror or error}"
        ) from error
    return run


def write_time(seconds: float) -> str:
    """A time as records have it: UTC, ISO 8601, to the microsecond."""
    whole, rest = divmod(round(seconds * 1_000_000), 1_000_000)
    return f"{strftime('%Y-%m-%dT%H:%M:%S', gmtime(whole))}.{rest:06}Z"


def _as_name(time: str) -> str:
    """Its day and its second, as the name of a folder begins."""
    return time[:19].replace("-", "").replace(":", "").replace("T", "-")


def _follow_newest(runs_dir: str, name: str) -> str:
    """How the id of a new run begins. Runs are sorted by it, and the clock may have been ahead
    once: then it counts on from the newest run that is there."""
    newest = max((each[:15] for each in os.listdir(runs_dir) if RUN_ID.fullmatch(each)), default="")
    if newest <= name:
        return name
    following = f"{min(int(newest.replace('-', '')) + 1, _LAST_NAME):014}"
    return f"{following[:8]}-{following[8:]}"


def is_run(path: str) -> bool:
    """Whether a folder has what makes it a run."""
    return os.path.isfile(_path_of_about(path))


def read_run(path: str) -> Run:
    """The run in a folder. RecordError if it is missing, damaged, or of a newer evalcase."""
    file = _path_of_about(path)
    try:
        data = read_file(file, MAX_LINE, links=False)
    except FileNotFoundError as error:
        raise RecordError(f"{path} is not a run: it has no run.json") from error
    except OversizeError as error:
        raise RecordError(f"{file} is damaged: it is too large") from error
    except OSError as error:
        raise RecordError(f"{file} can't be read: {error.strerror or error}") from error
    try:
        return _make_run(path, parse_object(data, DEEPEST_ROW))
    except ValueError as error:
        raise RecordError(f"{file} is damaged: {error}") from error


def _make_run(path: str, data: dict[str, Any]) -> Run:
    version = data.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f"{version!r:.60} is not a version")
    if version < VERSION:
        raise RecordError(
            f"{path} was written before the first release of evalcase: its record has version "
            f"{version}, and versions from {VERSION} on are read; run its suites again"
        )
    if version > VERSION:
        raise RecordError(
            f"{path} was written by a newer evalcase: its record has version {version}, "
            f"this evalcase reads up to {VERSION}"
        )
    said = decode_object(RunFile, data)
    facts = {name: value for name, value in data.items() if name != "seal"}
    return Run(said.id, path, said.created_at, said.about, said.seal, facts)


def folder_of_run(run: Run) -> str:
    """Where a run was begun, as seen from its project's folder: its suites were named there."""
    return run.about.cwd if "\0" not in run.about.cwd else "."


def say_part(run: Run) -> str:
    """Of which cases a run is, where that is not all of those that its suites have."""
    if run.about.failed_of is not None:
        return f"cases that did not pass in {run.about.failed_of}"
    if (selected := run.about.selected) is not None:
        selection = run.about.options.get("selection")
        by = ""
        if isinstance(selection, dict) and selection.get("sample") is not None:
            by = f", seed {selection.get('seed', 0)}"
        return f"{selected.chosen:,} of {write_count(selected.total, 'case')} selected{by}"
    return ""


def _path_of_about(path: str) -> str:
    return os.path.join(path, "run.json")


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
        try:
            os.mkdir(path)
        except FileExistsError:
            continue
        return path
    raise RecordError(f"{runs_dir}: no free name for a run; is the random source stuck?")

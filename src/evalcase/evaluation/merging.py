"""Runs that are shards of one in, that one out: an ordinary run, of which nothing tells that it was
done in parts but where it comes from.

What does not belong together is refused by name. Records may come from anyone: what is merged of
them counts as this user's own only if all of them do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from shutil import rmtree
from typing import Any

from evalcase.errors import ConfigError, RecordError
from evalcase.model.codec import encode_object
from evalcase.model.quick_dataclass import dataclass, replace
from evalcase.model.result import Result
from evalcase.project.options import RunOptions
from evalcase.record.case_lines import merge_case_lines
from evalcase.record.cases import case_row
from evalcase.record.ending import End, end_row
from evalcase.record.folder import Run, create_run
from evalcase.record.kept import KeptRun
from evalcase.record.seal import Sealer
from evalcase.run.selection import Shard, shard_number
from evalcase.suites.places import Places
from evalcase.system.disk import Disk, LocalDisk, sync_folder
from evalcase.system.table import Table, mark_of
from evalcase.system.world import World
from evalcase.text.journal_row import encode_row

_WAITING = ".merging"
"""The folder in which a run is put together: it is listed only when it is whole."""
_BUFFER = 1 << 20
_DIFFER = frozenset({"evalcase", "python", "prices", "options", "targets", "trials", "cases",
                     "target_versions", "dealt", "selected"})  # fmt: skip
"""What may differ between shards, or is looked at by itself."""
_DEALT = "the cases that were dealt, by their rows or other files"
_OWN = ("concurrency", "env_file")
"""Options that a machine may have for itself: they decide no result."""


@dataclass(frozen=True, slots=True)
class ShardRun:
    """A run that is one of several shards."""

    kept: KeptRun
    shard: Shard
    options: RunOptions
    """Without the shard."""

    @property
    def name(self) -> str:
        return f"shard {self.shard.number}/{self.shard.of} ({self.kept.run.id})"

    @property
    def why_incomplete(self) -> str:
        """Why it lacks results; empty where it has all."""
        end = self.kept.end
        return "" if end.status == "completed" else end.notice or end.status


@dataclass(frozen=True, slots=True)
class Parts:
    """Shards of one run, by their numbers, with what is missing."""

    parts: Sequence[ShardRun]
    missing: Sequence[int]

    @property
    def first(self) -> ShardRun:
        return self.parts[0]

    @property
    def of(self) -> int:
        return self.first.shard.of

    def count_trials(self) -> int:
        """How many trials have a result."""
        return sum(part.kept.totals.trials.total for part in self.parts)

    def lacks(self) -> list[str]:
        """What keeps the run from being whole, a sentence each."""
        said = [f"shard {number}/{self.of} is missing" for number in self.missing]
        return said + [
            f"{part.name} is not complete: {why}"
            for part in self.parts
            if (why := part.why_incomplete)
        ]


def read_shards(kept: Sequence[KeptRun]) -> Parts:
    """The shards that some runs are. Raise ConfigError with all that doesn't belong together."""
    parts = sorted((_read_part(each) for each in kept), key=_order)
    faults = list(_find_faults(parts))
    if faults:
        raise ConfigError.several(faults)
    of = parts[0].shard.of
    numbers = {part.shard.number for part in parts}
    return Parts(parts, [number for number in range(1, of + 1) if number not in numbers])


def _read_part(kept: KeptRun) -> ShardRun:
    try:
        options = RunOptions.from_dict(kept.run.about["options"])
    except (ConfigError, KeyError, TypeError, ValueError):
        raise RecordError(f"{kept.run.path}: run.json does not say what was run") from None
    shard = options.selection.shard
    if shard is None:
        raise ConfigError(f"{kept.run.id} is no shard: it was not run with --shard")
    return ShardRun(kept, shard, replace(options, selection=replace(options.selection, shard=None)))


def _order(part: ShardRun) -> tuple[int, str]:
    return part.shard.number, part.kept.run.created_at


def _find_faults(parts: Sequence[ShardRun]) -> Iterator[str]:
    first, seen = parts[0], dict[int, ShardRun]()
    for part in parts:
        number, of = part.shard.number, part.shard.of
        if of != first.shard.of:
            yield f"{part.name} is one of {of}, {first.name} one of {first.shard.of}"
            continue
        if number in seen:
            runs = seen[number].kept.run, part.kept.run
            # A copy has the same id: then only its place tells it apart.
            is_copy = runs[0].id == runs[1].id
            told = [os.path.relpath(run.path) if is_copy else run.id for run in runs]
            yield f"shard {number}/{of} is there twice: {' and '.join(told)}"
        seen.setdefault(number, part)
        for difference in _find_differences(first, part):
            yield f"{first.name} and {part.name} differ in {difference}"
        if part.kept.mixed:
            names = ", ".join(f"`{name}`" for name in part.kept.mixed)
            yield f"{part.name} has answers from before and after a change of {names}"


def _find_differences(first: ShardRun, other: ShardRun) -> Iterator[str]:
    """The fields in which two shards of one run may not differ, and what they say there."""
    ours, theirs = _flat(first.options), _flat(other.options)
    about, their_about = first.kept.run.about, other.kept.run.about
    for name in sorted((about.keys() | their_about.keys()) - _DIFFER):
        ours[name], theirs[name] = about.get(name), their_about.get(name)
    if ours.get("suites") == theirs.get("suites") and "dealt" in about.keys() & their_about.keys():
        ours[_DEALT], theirs[_DEALT] = about.get("dealt"), their_about.get("dealt")
    versions, their_versions = (_mapping(each, "target_versions") for each in (about, their_about))
    for name in sorted(versions.keys() & their_versions.keys()):
        ours[f"the code or options of target `{name}`"] = versions[name]
        theirs[f"the code or options of target `{name}`"] = their_versions[name]
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            yield f"{name}: {_compared(ours.get(name), theirs.get(name))}"


def _flat(options: RunOptions) -> dict[str, object]:
    data = options.to_dict()
    data |= {f"selection.{name}": value for name, value in data.pop("selection", {}).items()}
    return {f"options.{name}": value for name, value in data.items() if name not in _OWN}


def _mapping(about: dict[str, Any], name: str) -> dict[str, Any]:
    value = about.get(name)
    return value if isinstance(value, dict) else {}


def _compared(ours: object, theirs: object) -> str:
    """Both; of mappings to hashes, what they have another hash of."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        return f"{', '.join(map(str, names))} was changed in between"
    return f"{_shown(ours)} and {_shown(theirs)}"


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.60}"


def find_other_versions(parts: Parts) -> list[str]:
    """What may have made a difference and need not: versions that the shards were run with."""
    said = []
    for name in ("evalcase", "python", "prices"):
        values = {str(part.kept.run.about.get(name)) for part in parts.parts}
        if len(values) > 1:
            said.append(f"the shards were run with different versions of {name}: "
                        + ", ".join(sorted(values)))  # fmt: skip
    return said


def merge_parts(
    parts: Parts, runs_dir: str, world: World, sealer: Sealer | None, root: str,
    disk: Disk | None = None,
) -> Run:  # fmt: skip
    """Put the run together, and give it its place among the others when it is whole."""
    disk = disk or LocalDisk()
    waiting = os.path.join(runs_dir, _WAITING)
    run = create_run(
        waiting, _about(parts), now=world.now(), random=world.entropy, sealer=sealer, disk=disk
    )
    try:
        _write_journal(parts, run.journal, root, disk)
        merge_case_lines(run, [part.kept.run for part in parts.parts])
        place = os.path.join(runs_dir, run.id)
        disk.rename(run.path, place)
        sync_folder(disk, runs_dir)
    except BaseException as error:
        rmtree(run.path, ignore_errors=True)
        if isinstance(error, OSError):
            why = error.strerror or error
            raise RecordError(f"{runs_dir} can't be written: {why}") from error
        raise
    finally:
        with suppress(OSError):
            os.rmdir(waiting)
    return replace(run, path=place)


def _about(parts: Parts) -> dict[str, Any]:
    """What `run.json` says of the whole: what all shards say, and what they add up to."""
    abouts = [part.kept.run.about for part in parts.parts]
    about = {**abouts[0], "options": parts.first.options.to_dict()}
    names = dict.fromkeys(str(name) for each in abouts for name in each.get("targets", ()))
    about["targets"] = list(names)
    versions: dict[str, Any] = {}
    for each in abouts:
        versions |= _mapping(each, "target_versions")
    about["target_versions"] = versions
    for name in ("trials", "cases"):
        counts = [each.get(name) for each in abouts]
        known = [count for count in counts if type(count) is int]
        # How much there is in a shard that is missing nobody knows.
        about[name] = sum(known) if len(known) == parts.of else None
    about["selected"] = _selected([each.get("selected") for each in abouts])
    about.pop("dealt", None)
    about["merged"] = [part.kept.run.id for part in parts.parts]
    return about


def _selected(shards: Sequence[object]) -> list[int] | None:
    """How many cases were chosen for all shards, and of how many; None where that is all."""
    known = [each for each in shards if isinstance(each, list) and len(each) == 2]
    chosen, total = sum(each[0] for each in known), max((each[1] for each in known), default=0)
    return [chosen, total] if chosen < total else None


def _write_journal(parts: Parts, path: str, root: str, disk: Disk) -> None:
    with open(path, "xb", buffering=_BUFFER) as file:
        guard = _Guard(parts, root)
        for order, part in enumerate(parts.parts):
            last = None
            for result in part.kept.results():
                guard.admit(part, result)
                suite, id = result.key[:2]
                case = part.kept.find_case(suite, id) if (suite, id) != last else None
                last = suite, id
                if case is not None:
                    file.write(encode_row(case_row(suite, case)))
                number = result.number * len(parts.parts) + order
                row = encode_object(replace(result, number=number, grading=1))
                file.write(encode_row({"type": "result", **row}))
        file.write(encode_row(end_row(_end(parts))))
        file.flush()
        disk.fsync(file.fileno())


def _end(parts: Parts) -> End:
    lacks = parts.lacks()
    errored = sum(part.kept.totals.trials.errored for part in parts.parts)
    if lacks:
        return End("stopped", "; ".join(lacks), errored=errored)
    times = [part.kept.end.duration_s for part in parts.parts]
    known = [time for time in times if time is not None]
    # They ran beside each other.
    return End("completed", duration_s=max(known) if len(known) == len(times) else None,
               errored=errored, trials=parts.count_trials())  # fmt: skip


class _Guard:
    """Sees to it that each result is of the shard that has it, and is there once.

    Shards are dealt by a number of each case: those of a shard are all higher than those before.
    """

    def __init__(self, parts: Parts, root: str) -> None:
        cwd = str(parts.first.kept.run.about.get("cwd", "."))
        self._places = Places(root, os.path.join(root, cwd))
        self._seen = Table("B")
        self._part: ShardRun | None = None
        self._floor = self._highest = -1

    def admit(self, part: ShardRun, result: Result) -> None:
        """Raise ConfigError if a result does not belong there."""
        if part is not self._part:
            self._part, self._floor = part, self._highest
        mark, case = mark_of(result.key), result.key.case
        number = shard_number(self._places.find(result.key.suite), case)
        if self._seen.find(mark) is not None or number <= self._floor:
            raise ConfigError(f"{part.name} has case `{case}`, which was dealt to another shard")
        self._seen.add(mark, 1)
        self._highest = max(self._highest, number)

"""Merges the shards of a run into one run. Shards that don't belong together are refused by name.

Records may come from anyone: the merged run has the seal of this user only if all shards have it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from shutil import copytree, rmtree
from typing import Any

from evalcase.config.options import RunOptions, Shard, shard_number
from evalcase.errors import ConfigError, RecordError
from evalcase.store.folder import PATCHES, Run, RunAbout, Sealer, SelectedCases, create_run
from evalcase.store.rows import CaseRow, End, GradingRow, write_row
from evalcase.store.stored import StoredRun
from evalcase.types.target import TargetVersion
from evalcase.types.value import Value, encode_object, replace
from evalcase.util.files import Disk, sync_folder
from evalcase.util.project import paths_from
from evalcase.util.table import Table

_MERGING = ".merging"
"""The folder in which a run is merged: it is listed only when it is whole."""
_BUFFER = 1 << 20
_MARKS = ("name", "note", "commit", "branch", "dirty")
_MAY_DIFFER = frozenset({
    *_MARKS, "evalcase", "python", "prices", "options", "targets", "trials", "cases",
    "target_versions", "suites", "dealt", "rests_on", "selected",
})  # fmt: skip
"""Fields of RunAbout that may differ between shards, or are compared on their own."""
_OF_MACHINE = ("concurrency", "env_file")
"""Options that decide no result, and may differ between machines."""
_DEALT = "the cases that were dealt, by their rows or other files"
_GRADED = "what they were graded by"
_SAME_GRADERS = "; grade all of them by the same graders, or name earlier gradings, as RUN@1"


class ShardRun(Value, frozen=True):
    """A run that is one of several shards."""

    stored: StoredRun
    shard: Shard
    options: RunOptions
    """Without the shard."""

    @property
    def name(self) -> str:
        return f"shard {self.shard} ({self.stored.run.id})"

    @property
    def source(self) -> str:
        """Its id, with the grading if there are several."""
        id, by = self.stored.run.id, self.stored.graded_by
        return f"{id}@{by.number}" if by is not None and by.of > 1 else id

    @property
    def graders(self) -> tuple[str, ...]:
        """The graders that replaced those of the cases."""
        by = self.stored.graded_by
        return by.graders if by is not None else ()

    @property
    def target_versions(self) -> dict[str, TargetVersion]:
        """The version of each target when it was last asked."""
        return {**self.stored.run.about.target_versions, **self.stored.index.versions}

    @property
    def why_incomplete(self) -> str:
        """Why it lacks results; empty where it has all."""
        end, by = self.stored.end, self.stored.graded_by
        if end.status == "completed":
            return ""
        return "; ".join(filter(None, (end.notice or end.status, by.so_far if by else "")))


class Shards(Value, frozen=True):
    """Shards of one run, in order, and the numbers of those that are missing."""

    parts: tuple[ShardRun, ...]
    missing: tuple[int, ...]

    @property
    def first(self) -> ShardRun:
        return self.parts[0]

    def lacks(self) -> list[str]:
        """Why the merged run is not complete, a sentence each."""
        said = [f"shard {number}/{self.first.shard.of} is missing" for number in self.missing]
        return said + [
            f"{part.name} is not complete: {why}"
            for part in self.parts
            if (why := part.why_incomplete)
        ]

    def other_versions(self) -> list[str]:
        """The versions that differ between shards, and may have made a difference."""
        said = []
        for name in ("evalcase", "python", "prices"):
            values = {str(getattr(part.stored.run.about, name)) for part in self.parts}
            if len(values) > 1:
                listed = ", ".join(sorted(values))
                said.append(f"the shards were run with different versions of {name}: {listed}")
        return said


# Which runs belong together.


def read_shards(runs: Sequence[StoredRun]) -> Shards:
    """Runs as the shards of one. Raise ConfigError with everything that doesn't fit together."""
    parts = sorted(
        map(_read_part, runs), key=lambda part: (part.shard.number, part.stored.run.created_at)
    )
    if faults := list(_find_faults(parts)):
        raise ConfigError("\n".join(faults))
    missing = set(range(1, parts[0].shard.of + 1)) - {part.shard.number for part in parts}
    return Shards(tuple(parts), tuple(sorted(missing)))


def _read_part(stored: StoredRun) -> ShardRun:
    try:
        options = RunOptions.from_dict(stored.run.about.options)
    except (ConfigError, ValueError):
        raise RecordError(f"{stored.run.path}: run.json does not say what was run") from None
    selection = options.selection
    if selection.shard is None:
        raise ConfigError(f"{stored.run.id} is not a shard: it was not run with --shard")
    whole = replace(options, selection=replace(selection, shard=None))
    return ShardRun(stored, selection.shard, whole)


def _find_faults(parts: Sequence[ShardRun]) -> Iterator[str]:
    first, seen = parts[0], dict[int, ShardRun]()
    names = {name for part in parts for name in _find_settings(part)}
    facts: dict[str, tuple[ShardRun, object]] = {}
    for part in parts:
        if part.shard.of != first.shard.of:
            yield f"{part.name} is one of {part.shard.of}, {first.name} one of {first.shard.of}"
            continue
        same = seen.setdefault(part.shard.number, part)
        if same is not part:
            runs = same.stored.run, part.stored.run
            # A copy has the same id.
            is_copy = runs[0].id == runs[1].id
            paths = [os.path.relpath(run.path) if is_copy else run.id for run in runs]
            yield f"shard {part.shard} is there twice: {' and '.join(paths)}"
        settings = dict.fromkeys(sorted(names)) | _find_settings(part)
        for name, fact in (settings | _find_hashes(part)).items():
            other, before = facts.setdefault(name, (part, fact))
            if fact == before:
                continue
            how = "it was changed in between"
            if name.startswith("suite "):
                how += "; `evalcase resume` brings each of them up to date"
            elif name in names:
                values = ["nothing" if each is None else str(each)[:60] for each in (before, fact)]
                how = " and ".join(values) + (_SAME_GRADERS if name == _GRADED else "")
            yield f"{other.name} and {part.name} differ in {name}: {how}"
        if part.stored.mixed:
            targets = [f"`{name}`" for name in part.stored.mixed]
            yield f"{part.name} has answers from before and after {', '.join(targets)} changed"


def _find_settings(part: ShardRun) -> dict[str, object]:
    """What all shards of one run have in common."""
    options, about = part.options.to_dict(), encode_object(part.stored.run.about)
    options |= {f"selection.{name}": each for name, each in options.pop("selection", {}).items()}
    return {
        **{f"options.{name}": options[name] for name in options if name not in _OF_MACHINE},
        **{name: about[name] for name in sorted(about.keys() - _MAY_DIFFER)},
        _GRADED: f"--grader {', '.join(part.graders)}" if part.graders else "the suites",
    }


def _find_hashes(part: ShardRun) -> dict[str, object]:
    """What the shards rest on, with hashes. A shard need not have all of it."""
    basis = part.stored.basis
    return {
        **{f"suite {path}": digest for path, digest in basis.suites.items()},
        **{f"the code or options of target `{name}`": version
           for name, version in sorted(part.target_versions.items())},
        **{f"{name}, which graders rest on": digest
           for name, digest in (basis.rests_on or {}).items()},
        **({_DEALT: basis.dealt} if basis.dealt is not None else {}),
    }  # fmt: skip


# The merged run.


def merge_shards(
    shards: Shards, runs_dir: str, root: str, *, now: float, sealer: Sealer | None
) -> Run:
    """Write the merged run, and move it to the other runs when it is whole."""
    disk, merging = Disk(), os.path.join(runs_dir, _MERGING)
    about = _merge_about(shards)
    run = create_run(merging, about, now=now, sealer=sealer, disk=disk, after=runs_dir)
    try:
        with open(run.journal, "xb", buffering=_BUFFER) as file:
            file.writelines(_merge_lines(shards, root))
            file.flush()
            disk.fsync(file.fileno())
        for part in shards.parts:
            patches = os.path.join(part.stored.run.path, PATCHES)
            if os.path.isdir(patches) and not os.path.islink(patches):
                # Links of a stranger's record stay links: what they lead to is not copied.
                target = os.path.join(run.path, PATCHES)
                copytree(patches, target, symlinks=True, dirs_exist_ok=True)
        path = os.path.join(runs_dir, run.id)
        disk.rename(run.path, path)
        sync_folder(disk, runs_dir)
    except BaseException as error:
        rmtree(run.path, ignore_errors=True)
        if isinstance(error, OSError):
            why = error.strerror or error
            raise RecordError(f"{runs_dir} can't be written: {why}") from error
        raise
    finally:
        with suppress(OSError):
            os.rmdir(merging)
    return replace(run, path=path)


def _merge_about(shards: Shards) -> RunAbout:
    abouts = [part.stored.run.about for part in shards.parts]
    versions: dict[str, TargetVersion] = {}
    rests_on: dict[str, str] = {}
    for part in shards.parts:
        versions |= part.target_versions
        rests_on |= part.stored.basis.rests_on or {}
    marks: dict[str, set[Any]] = {
        name: {getattr(about, name) for about in abouts} for name in _MARKS
    }
    return replace(
        abouts[0], options=shards.first.options.to_dict(), target_versions=versions, dealt=None,
        suites=shards.first.stored.basis.suites, rests_on=rests_on or None,
        targets=tuple(dict.fromkeys(name for each in abouts for name in each.targets)),
        trials=_add_up([each.trials for each in abouts], shards),
        cases=_add_up([each.cases for each in abouts], shards),
        selected=_add_selected([each.selected for each in abouts]),
        merged=tuple(part.source for part in shards.parts),
        # Where all shards have the same.
        **{name: each.pop() if len(each) == 1 else None for name, each in marks.items()},
    )  # fmt: skip


def _add_up(counts: list[int | None], shards: Shards) -> int | None:
    """None where a shard is missing or does not say."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == shards.first.shard.of else None


def _add_selected(shards: Sequence[SelectedCases | None]) -> SelectedCases | None:
    chosen = sum(each.chosen for each in shards if each is not None)
    total = max((each.total for each in shards if each is not None), default=0)
    return SelectedCases(chosen, total) if chosen < total else None


def _merge_lines(shards: Shards, root: str) -> Iterator[bytes]:
    """The lines of the journal. Raise ConfigError for a result that is not of its shard."""
    first, seen, highest = shards.first, Table(1), -1
    path_of = paths_from(root, os.path.join(root, first.stored.run.about.cwd))
    if first.graders:
        # It is the only grading of this run, and no suite has these graders.
        yield write_row(GradingRow(1, "", "grade", first.stored.basis.suites, first.graders))
    for order, part in enumerate(shards.parts):
        # The numbers that cases are dealt by rise from shard to shard.
        last, before = None, highest
        for result in part.stored.results():
            name, mark = result.key[:2], hash(result.key)
            number = shard_number(path_of(name[0]), name[1])
            if mark in seen or number <= before:
                raise ConfigError(
                    f"{part.name} has case `{name[1]}`, which belongs to another shard"
                )
            seen.add(mark, 1)
            highest = max(highest, number)
            if name != last and (case := part.stored.find_case(*name)) is not None:
                yield write_row(CaseRow.of(name[0], case))
            last = name
            number = result.number * len(shards.parts) + order
            yield write_row(replace(result, number=number, grading=1))
    yield write_row(_make_end(shards))


def _make_end(shards: Shards) -> End:
    totals = [part.stored.totals.trials for part in shards.parts]
    errored = sum(each.errored for each in totals)
    if lacks := shards.lacks():
        return End("stopped", "; ".join(lacks), errored=errored)
    times = [part.stored.end.duration_s for part in shards.parts]
    known = [time for time in times if time is not None]
    # They ran beside each other.
    duration_s = max(known) if len(known) == len(times) else None
    trials = sum(each.total for each in totals)
    return End("completed", duration_s=duration_s, errored=errored, trials=trials)

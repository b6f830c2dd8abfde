"""Runs that are shards of one in, that one out: an ordinary run, of which nothing tells that it was
done in parts but where it comes from.

Records may come from anyone: what is merged of them counts as this user's own only if all of them
do.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from shutil import rmtree

from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation.shards import Parts, ShardRun
from evalcase.model.codec import encode_object
from evalcase.model.result import Result
from evalcase.model.target import TargetVersion
from evalcase.model.value import replace
from evalcase.record.about import RunAbout, SelectedCases
from evalcase.record.case_lines import merge_case_lines
from evalcase.record.cases import case_row
from evalcase.record.ending import End, end_row
from evalcase.record.folder import Run, create_run
from evalcase.record.gradings import GradingBegun
from evalcase.record.seal import Sealer
from evalcase.run.selection import shard_number
from evalcase.suites.places import Places
from evalcase.system.disk import Disk, LocalDisk, sync_folder
from evalcase.system.table import Table, mark_of
from evalcase.system.world import World
from evalcase.text.journal_row import encode_row

_WAITING = ".merging"
"""The folder in which a run is put together: it is listed only when it is whole."""
_BUFFER = 1 << 20


def merge_parts(
    parts: Parts, runs_dir: str, world: World, sealer: Sealer | None, root: str,
    disk: Disk | None = None,
) -> Run:  # fmt: skip
    """Put the run together, and give it its place among the others when it is whole."""
    disk = disk or LocalDisk()
    waiting = os.path.join(runs_dir, _WAITING)
    run = create_run(
        waiting,
        _merge_about(parts),
        now=world.now(),
        random=world.entropy,
        sealer=sealer,
        disk=disk,
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


def _merge_about(parts: Parts) -> RunAbout:
    """What `run.json` says of the whole: what all shards say, and what they add up to."""
    abouts = [part.kept.run.about for part in parts.parts]
    versions: dict[str, TargetVersion] = {}
    rests_on: dict[str, str] = {}
    for part in parts.parts:
        versions |= part.target_versions
        rests_on |= part.kept.basis.rests_on or {}
    return replace(
        abouts[0], options=parts.first.options.to_dict(), target_versions=versions, dealt=None,
        suites=parts.first.kept.basis.suites, rests_on=rests_on or None,
        targets=tuple(dict.fromkeys(name for each in abouts for name in each.targets)),
        trials=_add_up([each.trials for each in abouts], parts.of),
        cases=_add_up([each.cases for each in abouts], parts.of),
        selected=_add_selected([each.selected for each in abouts]),
        merged=tuple(part.source for part in parts.parts),
    )  # fmt: skip


def _add_up(counts: list[int | None], of: int) -> int | None:
    """How much there is in a shard that is missing nobody knows."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == of else None


def _add_selected(shards: Sequence[SelectedCases | None]) -> SelectedCases | None:
    """How many cases were chosen for all shards, and of how many; None where that is all."""
    known = [each for each in shards if each is not None]
    chosen = sum(each.chosen for each in known)
    total = max((each.total for each in known), default=0)
    return SelectedCases(chosen, total) if chosen < total else None


def _write_journal(parts: Parts, path: str, root: str, disk: Disk) -> None:
    with open(path, "xb", buffering=_BUFFER) as file:
        guard = _Guard(parts, root)
        if parts.first.graders:
            # It is the only grading of this run, and no suite says what it is by.
            suites, graders = parts.first.kept.basis.suites, parts.first.graders
            file.write(encode_row(GradingBegun(1, "", "grade", suites, graders).row()))
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
        file.write(encode_row(end_row(_make_end(parts))))
        file.flush()
        disk.fsync(file.fileno())


def _make_end(parts: Parts) -> End:
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
        cwd = parts.first.kept.run.about.cwd
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
            raise ConfigError(f"{part.name} has case `{case}`, which belongs to another shard")
        self._seen.add(mark, 1)
        self._highest = max(self._highest, number)

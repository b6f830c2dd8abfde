"""The two sides of a comparison, as a person names them: runs, targets, or files of trials."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.report.compare import pair_targets
from evalcase.report.evaluated import read_evaluated
from evalcase.report.paired_cases import Side
from evalcase.report.source import find_suite_places
from evalcase.report.trials_file import TrialsFile
from evalcase.store.folder import describe_part, folder_of_run
from evalcase.store.runs import FoundRun, choose_base, find_run
from evalcase.store.stored import StoredRun
from evalcase.types.problem import did_you_mean
from evalcase.types.value import replace


class Sides(NamedTuple):
    base: Side
    head: Side
    targets: dict[str, str]
    """For each target of head that is compared, that of base."""
    chosen: bool = False
    """Whether a person has named them, so that others are not missing."""


def open_sides(
    names: Sequence[str], config: Config, stack: ExitStack, *, baseline: str | None = None,
    targets: tuple[str, str] | None = None, runs_dir: str | None = None,
) -> Sides:  # fmt: skip
    """Raise ConfigError if there are no two sides to compare."""
    folder = config.find_runs(runs_dir)

    def open_side(name: str) -> Side:
        if name.endswith(".jsonl") or os.path.isfile(name):
            return _open_file(name, config.root, stack)
        return _open_run(find_run(name, folder), config.root, stack)

    if baseline is not None:
        if len(names) > 1:
            raise ConfigError("--baseline is the base: give at most one run besides it")
        base = _open_file(baseline, config.root, stack)
        return _pair_sides(base, open_side(names[0] if names else "latest"), targets)
    if len(names) == 1 or (not names and targets is not None):
        return _pair_within(open_side(names[0] if names else "latest"), targets)
    if names:
        return _pair_sides(open_side(names[0]), open_side(names[1]), targets)
    head, chosen = open_side("latest"), choose_base(folder)
    base = open_side("previous" if chosen is None else chosen.path)
    if chosen is not None and (count := chosen.passed_over):
        runs = "1 run of other cases is" if count == 1 else f"{count:,} runs of other cases are"
        why = f"the newest run before head of the same cases; {runs} in between"
        base = replace(base, choice=why)
    return _pair_sides(base, head, targets)


def _pair_sides(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    """Raise ConfigError if something would be compared with itself: nothing is ever worse then."""
    if targets is not None:
        paired = {_require_target(targets[1], head): _require_target(targets[0], base)}
    else:
        paired = pair_targets(base.stored.targets, head.stored.targets)
        if not paired and base.stored.targets and head.stored.targets:
            raise ConfigError(
                f"no target has the same name in both: base has {_list_targets(base)}, head has "
                f"{_list_targets(head)}; --targets BASE HEAD names one of each"
            )
    if _is_same(base, head) and any(one == other for one, other in paired.items()):
        raise ConfigError(f"base and head are both {head.label}: there is nothing to compare")
    return Sides(base, head, paired, targets is not None)


def _pair_within(side: Side, targets: tuple[str, str] | None) -> Sides:
    """Targets of one run, side by side: the first is the base of the others."""
    if targets is not None:
        one, other = (_require_target(name, side) for name in targets)
        if one == other:
            raise ConfigError(f"--targets names `{one}` twice")
        return Sides(side, side, {other: one})
    if len(side.stored.targets) < 2:
        raise ConfigError(
            f"{side.label} has results for only one target: give a second run to compare it with"
        )
    # In the order of the run; a file doesn't have that, and is sorted by name.
    known = side.run.about.targets if side.run is not None else ()
    places = {name: at for at, name in enumerate(known)}
    first, *others = sorted(
        side.stored.targets, key=lambda name: (places.get(name, len(places)), name)
    )
    return Sides(side, side, dict.fromkeys(others, first))


def _require_target(name: str, side: Side) -> str:
    """Raise ConfigError if a side has no results of a target."""
    if name not in side.stored.targets:
        hint = did_you_mean(name, side.stored.targets)
        there = f"it has {_list_targets(side) or 'none'}"
        raise ConfigError(
            f"{side.label} has no target `{name}`; {there}{f'; {hint}' if hint else ''}"
        )
    return name


def _list_targets(side: Side) -> str:
    return ", ".join(f"`{name}`" for name in side.stored.targets)


def _is_same(base: Side, head: Side) -> bool:
    one, other = base.stored, head.stored
    if isinstance(one, StoredRun) and isinstance(other, StoredRun):
        is_same = os.path.realpath(one.run.path) == os.path.realpath(other.run.path)
        return is_same and (one.grading or one.gradings) == (other.grading or other.gradings)
    if isinstance(one, TrialsFile) and isinstance(other, TrialsFile):
        return os.path.realpath(one.path) == os.path.realpath(other.path)
    file, stored = (one, other) if isinstance(one, TrialsFile) else (other, one)
    if not isinstance(file, TrialsFile) or not isinstance(stored, StoredRun):
        return False
    # A file doesn't name its grading: a run with several may have changed since.
    return file.runs == (stored.run.id,) and stored.gradings == 1


def _open_run(found: FoundRun, root: str, stack: ExitStack) -> Side:
    stored = stack.enter_context(StoredRun(*found))
    run = stored.run
    # What a record says of itself is no name: it may come from anyone.
    id = os.path.basename(os.path.realpath(run.path))
    return Side(
        stored, id if found.grading is None else f"{id}@{found.grading}",
        find_suite_places(root, folder_of_run(run)), _why_missing(stored), stored.mixed,
        origin=run.about.failed_of or "", part=describe_part(run), run=run,
    )  # fmt: skip


def _why_missing(stored: StoredRun) -> str:
    evaluated = read_evaluated(stored)
    if evaluated.complete:
        return ""
    said = "; ".join(filter(None, (evaluated.notice, evaluated.graded_so_far)))
    why = f"{evaluated.status}: {said}" if said else evaluated.status
    without = evaluated.not_run + evaluated.totals.unfinished
    if not without:
        return why
    return f"{without:,} {'case has' if without == 1 else 'cases have'} no verdict ({why})"


def _open_file(path: str, root: str, stack: ExitStack) -> Side:
    try:
        stored = TrialsFile(path)
        stack.callback(stored.close)
        return Side(
            stored, path, find_suite_places(root, stored.folder), stored.missing, stored.mixed,
            whole_cases=False, origin=stored.origin or "",
            part=f"cases that did not pass in {stored.origin}" if stored.origin else "",
        )  # fmt: skip
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error

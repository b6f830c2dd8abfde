"""The two sides of a comparison, as a person names them: runs, targets, or files of trials."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from evalcase.config.config import Config
from evalcase.errors import ConfigError
from evalcase.report.compare import pair_targets, pair_within, require_target
from evalcase.report.evaluated import read_evaluated
from evalcase.report.paired_cases import Side
from evalcase.report.source import find_suite_places
from evalcase.report.trials_file import TrialsFile
from evalcase.store.folder import describe_part, folder_of_run
from evalcase.store.runs import FoundRun, choose_base, find_run
from evalcase.store.stored import StoredRun
from evalcase.types.value import replace


class Sides(NamedTuple):
    base: Side
    head: Side
    targets: dict[str, str]
    """For each target of head that is compared, that of base."""
    chosen: bool = False
    """Whether a person has named them, so that others are not missing."""


class AskedSides(NamedTuple):
    """What a person named."""

    names: tuple[str, ...]
    baseline: str | None
    targets: tuple[str, str] | None


def open_sides(asked: AskedSides, config: Config, runs_dir: str | None, stack: ExitStack) -> Sides:
    """Raise ConfigError if there are no two sides to compare."""
    folder = config.find_runs(runs_dir)

    def open_side(name: str) -> Side:
        return _open_side(name, folder, config.root, stack)

    if asked.baseline is not None:
        if len(asked.names) > 1:
            raise ConfigError("--baseline is the base: give at most one run besides it")
        base = _open_file(asked.baseline, config.root, stack)
        return _pair_sides(
            base, open_side(asked.names[0] if asked.names else "latest"), asked.targets
        )
    if len(asked.names) == 1 or (not asked.names and asked.targets is not None):
        return _pair_alone(open_side(asked.names[0] if asked.names else "latest"), asked.targets)
    if asked.names:
        return _pair_sides(open_side(asked.names[0]), open_side(asked.names[1]), asked.targets)
    head, base = open_side("latest"), _choose_base(folder, open_side)
    return _pair_sides(base, head, asked.targets)


def _choose_base(folder: str, open_side: Callable[[str], Side]) -> Side:
    """The run that the latest is compared with by default; and why that, if it is not simply
    the one before."""
    chosen = choose_base(folder)
    if chosen is None or not chosen.passed_over:
        return open_side("previous" if chosen is None else chosen.path)
    count = chosen.passed_over
    runs = "1 run of other cases is" if count == 1 else f"{count:,} runs of other cases are"
    why = f"the newest run before head of the same cases; {runs} in between"
    return replace(open_side(chosen.path), choice=why)


def _pair_sides(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    """Raise ConfigError if something would be compared with itself: whatever is asked then, nothing
    would ever be worse."""
    sides = _pair_different(base, head, targets)
    if _is_same(base, head) and any(one == other for one, other in sides.targets.items()):
        raise ConfigError(f"base and head are both {head.label}: there is nothing to compare")
    return sides


def _pair_different(base: Side, head: Side, targets: tuple[str, str] | None) -> Sides:
    if targets is not None:
        return Sides(
            base, head, {require_target(targets[1], head): require_target(targets[0], base)}, True
        )
    paired = pair_targets(base.stored.targets, head.stored.targets)
    if not paired and base.stored.targets and head.stored.targets:
        raise ConfigError(
            f"no target has the same name in both: base has {_list_targets(base)}, head has "
            f"{_list_targets(head)}; --targets BASE HEAD names one of each"
        )
    return Sides(base, head, paired)


def _pair_alone(side: Side, targets: tuple[str, str] | None) -> Sides:
    """Targets of one run, side by side."""
    if targets is not None:
        one, other = (require_target(name, side) for name in targets)
        if one == other:
            raise ConfigError(f"--targets names `{one}` twice")
        return Sides(side, side, {other: one})
    if len(side.stored.targets) < 2:
        raise ConfigError(
            f"{side.label} has results for only one target: give a second run to compare it with"
        )
    return Sides(side, side, pair_within(_in_order(side)))


def _in_order(side: Side) -> list[str]:
    """The targets of a side as its run had them; of a file, which doesn't say, by name."""
    stored = side.stored
    known = stored.run.about.targets if isinstance(stored, StoredRun) else ()
    places = {name: at for at, name in enumerate(known)}
    return sorted(stored.targets, key=lambda name: (places.get(name, len(places)), name))


def _is_same(base: Side, head: Side) -> bool:
    one, other = base.stored, head.stored
    if isinstance(one, TrialsFile) and isinstance(other, TrialsFile):
        return os.path.realpath(one.path) == os.path.realpath(other.path)
    if isinstance(one, TrialsFile) and isinstance(other, StoredRun):
        return _is_file_of(one, other)
    if isinstance(one, StoredRun) and isinstance(other, TrialsFile):
        return _is_file_of(other, one)
    if not isinstance(one, StoredRun) or not isinstance(other, StoredRun):
        return False
    if os.path.realpath(one.run.path) != os.path.realpath(other.run.path):
        return False
    return (one.grading or one.gradings) == (other.grading or other.gradings)


def _is_file_of(file: TrialsFile, stored: StoredRun) -> bool:
    """Whether a file has the trials of a run. It doesn't say of which grading: with several, it may
    be another."""
    return file.runs == (stored.run.id,) and stored.gradings == 1


def _list_targets(side: Side) -> str:
    return ", ".join(f"`{name}`" for name in side.stored.targets)


def _open_side(name: str, folder: str, root: str, stack: ExitStack) -> Side:
    if name.endswith(".jsonl") or os.path.isfile(name):
        return _open_file(name, root, stack)
    return _run_side(find_run(name, folder), root, stack)


def _run_side(found: FoundRun, root: str, stack: ExitStack) -> Side:
    stored = stack.enter_context(StoredRun(*found))
    # What a record says of itself is no name: it may come from anyone.
    id = os.path.basename(os.path.realpath(stored.run.path))
    label = id if found.grading is None else f"{id}@{found.grading}"
    find_place = find_suite_places(root, folder_of_run(stored.run))
    return Side(
        stored, label, find_place, _why_missing(stored), stored.mixed,
        origin=stored.run.about.failed_of or "", part=describe_part(stored.run),
    )  # fmt: skip


def _why_missing(stored: StoredRun) -> str:
    evaluated = read_evaluated(stored)
    if evaluated.complete:
        return ""
    without = evaluated.not_run + evaluated.totals.unfinished
    said = "; ".join(filter(None, (evaluated.notice, evaluated.graded_so_far)))
    why = f"{evaluated.status}: {said}" if said else evaluated.status
    if not without:
        return why
    has = "case has" if without == 1 else "cases have"
    return f"{without:,} {has} no verdict ({why})"


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

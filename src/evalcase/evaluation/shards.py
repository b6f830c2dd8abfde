"""Runs in, the shards of one run out: what does not belong together is refused by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from evalcase.errors import ConfigError, RecordError
from evalcase.evaluation.evaluated import read_evaluated
from evalcase.model.codec import encode_object
from evalcase.model.target import TargetVersion
from evalcase.model.value import Value, replace
from evalcase.project.options import RunOptions
from evalcase.record.kept import KeptRun
from evalcase.run.selection import Shard

_DIFFER = frozenset({"evalcase", "python", "prices", "options", "targets", "trials", "cases",
                     "target_versions", "suites", "dealt", "rests_on", "selected"})  # fmt: skip
"""What may differ between shards, or is looked at by itself."""
_DEALT = "the cases that were dealt, by their rows or other files"
_GRADED = "what they were graded by"
_HINTS = {
    "suites": "; `evalcase resume` brings each of them up to date",
    _GRADED: "; grade all of them by the same graders, or name earlier gradings, as RUN@1",
}
_OWN = ("concurrency", "env_file")
"""Options that a machine may have for itself: they decide no result."""


class ShardRun(Value, frozen=True):
    """A run that is one of several shards."""

    kept: KeptRun
    shard: Shard
    options: RunOptions
    """Without the shard."""

    @property
    def name(self) -> str:
        return f"shard {self.shard.number}/{self.shard.of} ({self.kept.run.id})"

    @property
    def graders(self) -> tuple[str, ...]:
        """Those that it was graded by in place of what cases say."""
        by = self.kept.graded_by
        return by.graders if by is not None else ()

    @property
    def target_versions(self) -> dict[str, TargetVersion]:
        """What its targets were when they were last asked."""
        return {**self.kept.run.about.target_versions, **self.kept.versions}

    def versions(self) -> dict[str, object]:
        """What its answers and verdicts rest on that others need not have, by names for people."""
        targets = self.target_versions
        found: dict[str, object] = {
            f"the code or options of target `{name}`": targets[name] for name in sorted(targets)
        }
        graders = self.kept.basis.rests_on or {}
        return found | {f"{name}, which graders rest on": graders[name] for name in graders}

    @property
    def source(self) -> str:
        """Its id, with which of several gradings is taken."""
        id, by = self.kept.run.id, self.kept.graded_by
        return f"{id}@{by.number}" if by is not None and by.of > 1 else id

    @property
    def why_incomplete(self) -> str:
        """Why it lacks results; empty where it has all."""
        done = read_evaluated(self.kept)
        said = (done.notice or done.status, done.graded_so_far)
        return "" if done.complete else "; ".join(filter(None, said))


class Parts(Value, frozen=True):
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
    parts = sorted((_read_part(each) for each in kept), key=_order_of_shard)
    faults = list(_find_faults(parts))
    if faults:
        raise ConfigError.several(faults)
    of = parts[0].shard.of
    numbers = {part.shard.number for part in parts}
    return Parts(parts, [number for number in range(1, of + 1) if number not in numbers])


def _read_part(kept: KeptRun) -> ShardRun:
    try:
        options = RunOptions.from_dict(kept.run.about.options)
    except (ConfigError, ValueError):
        raise RecordError(f"{kept.run.path}: run.json does not say what was run") from None
    shard = options.selection.shard
    if shard is None:
        raise ConfigError(f"{kept.run.id} is not a shard: it was not run with --shard")
    return ShardRun(kept, shard, replace(options, selection=replace(options.selection, shard=None)))


def _order_of_shard(part: ShardRun) -> tuple[int, str]:
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
            yield f"{part.name} has answers from before and after {names} changed"
    yield from _find_changes(parts)


def _find_changes(parts: Sequence[ShardRun]) -> Iterator[str]:
    """What need not be of all shards, and has to be the same in all that have it."""
    seen: dict[str, tuple[ShardRun, object]] = {}
    for part in parts:
        for name, version in part.versions().items():
            first, before = seen.setdefault(name, (part, version))
            if version != before:
                yield f"{first.name} and {part.name} differ in {name}: it was changed in between"


def _find_differences(first: ShardRun, other: ShardRun) -> Iterator[str]:
    """The fields in which two shards of one run may not differ, and what they say there."""
    ours, theirs = _flatten_options(first.options), _flatten_options(other.options)
    about, their_about = (encode_object(each.kept.run.about) for each in (first, other))
    for name in sorted((about.keys() | their_about.keys()) - _DIFFER):
        ours[name], theirs[name] = about.get(name), their_about.get(name)
    basis, their_basis = first.kept.basis, other.kept.basis
    ours["suites"], theirs["suites"] = basis.suites, their_basis.suites
    if basis.suites == their_basis.suites and basis.dealt and their_basis.dealt:
        ours[_DEALT], theirs[_DEALT] = basis.dealt, their_basis.dealt
    ours[_GRADED], theirs[_GRADED] = first.graders, other.graders
    for name in dict.fromkeys([*ours, *theirs]):
        if ours.get(name) != theirs.get(name):
            said = _compare_values(ours.get(name), theirs.get(name))
            yield f"{name}: {said}{_HINTS.get(name, '')}"


def _flatten_options(options: RunOptions) -> dict[str, object]:
    data = options.to_dict()
    data |= {f"selection.{name}": value for name, value in data.pop("selection", {}).items()}
    return {f"options.{name}": value for name, value in data.items() if name not in _OWN}


def _compare_values(ours: object, theirs: object) -> str:
    """Both; of mappings to hashes, what they have another hash of."""
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        named = [f"--grader {', '.join(each)}" if each else "the suites" for each in (ours, theirs)]
        return " and ".join(named)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        return f"{', '.join(map(str, names))} was changed in between"
    return f"{_show_value(ours)} and {_show_value(theirs)}"


def _show_value(value: object) -> str:
    return "nothing" if value is None else f"{value!r:.60}"


def find_other_versions(parts: Parts) -> list[str]:
    """What may have made a difference and need not: versions that the shards were run with."""
    said = []
    for name in ("evalcase", "python", "prices"):
        values = {str(encode_object(part.kept.run.about).get(name)) for part in parts.parts}
        if len(values) > 1:
            said.append(f"the shards were run with different versions of {name}: "
                        + ", ".join(sorted(values)))  # fmt: skip
    return said

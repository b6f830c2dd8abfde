"""Two sides in, their comparison out: every case of base paired with that of head, in one pass over
each. Cases are paired by suite and id; targets by name, unless each side has only one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct, field

from evalcase.errors import ConfigError
from evalcase.report.aggregate import Clustering
from evalcase.report.paired_cases import (
    MOST_NAMED,
    MOST_TRACKS,
    BaseUnits,
    CaseStanding,
    ChangedPair,
    ChangeKind,
    Held,
    Side,
    Track,
    TrackFigures,
    Unit,
    fold_units,
)
from evalcase.types.case import Case
from evalcase.types.problem import did_you_mean
from evalcase.types.value import Value, are_same
from evalcase.util.text import list_some, write_count

_NAMED = 3
_MOST_LOOKED_AT = 1_000
"""Cases that are searched for what changed in them."""
_PARTS = {
    "expected_output": "what is expected", "criteria": "criteria", "rubrics": "rubrics",
    "graders": "graders", "threshold": "thresholds",
}  # fmt: skip
_CODE = "the code of a grader, or the model or prompt of a judge"
_UNKNOWN = "graders, judges or thresholds"


class _Noted(Struct):
    """How many cases something is true of, and the first of them."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        self.count += 1
        if len(self.names) < _NAMED:
            self.names.append(name)

    def say(self, what: str) -> str:
        return f"{write_count(self.count, 'case')} {what}: {list_some(self.names, self.count)}"


class Conditions:
    """Looks at pairs of cases as they come."""

    def __init__(self) -> None:
        self._asked = _Noted()
        self._graded = _Noted()
        self._kinds: Counter[str] = Counter()
        self._repeats: Counter[tuple[int, int]] = Counter()

    def look(self, base: Held, head: Unit) -> bool:
        """Whether the two were graded otherwise, so that it is worth looking up by what."""
        if base.question != head.question:
            self._asked.add(head.name.case)
        if base.repeats != head.repeats:
            self._repeats[base.repeats, head.repeats] += 1
        if base.grading == head.grading:
            return False
        self._graded.add(head.name.case)
        return self._graded.count <= _MOST_LOOKED_AT

    def look_up(self, base: Case | None, head: Case | None, *, whole: bool) -> None:
        """Note what a case is graded by now, and was not then. Of cases that are not whole only
        what is expected is known."""
        if base is None or head is None:
            return
        parts = _PARTS if whole else {"expected_output": _PARTS["expected_output"]}
        changed = [
            words for name, words in parts.items() if _has_difference(base._data, head._data, name)
        ]
        self._kinds.update(changed or [_CODE if whole else _UNKNOWN])

    def say(self) -> Iterator[str]:
        if self._asked.count:
            yield self._asked.say("asked a different question in head than in base")
        if self._graded.count:
            kinds = ", ".join(kind for kind, _ in self._kinds.most_common())
            differs = f" ({kinds} changed)" if kinds else ""
            yield self._graded.say(f"graded differently in head than in base{differs}")
        for (base, head), count in self._repeats.most_common(_NAMED):
            yield f"{count:,} cases run {base:,} times in base and {head:,} times in head"


def _has_difference(base: Mapping[str, object], head: Mapping[str, object], name: str) -> bool:
    return not are_same(base.get(name), head.get(name))


def say_sides(base: Side, head: Side) -> Iterator[str]:
    """What is to be said of each run by itself."""
    for word, side in (("base", base), ("head", head)):
        if side.choice:
            yield f"{word} is {side.choice}"
        if side.missing:
            yield f"{word} is not complete: {side.missing}"
        if side.part and not side.origin:
            yield f"{word} covers only a part: {side.part}"
        if side.origin:
            yield (
                f"{word} has only the cases that did not pass in {side.origin}: some of them "
                "will pass next time by chance"
            )
        if side.mixed:
            names = ", ".join(f"`{name}`" for name in side.mixed)
            yield f"{word} has answers from before and after {names} changed"


def say_errors(tracks: tuple[TrackFigures, ...], all_base: int, all_head: int) -> Iterator[str]:
    """How much of what is compared is no verdict on an answer; and of all there is beside."""
    base = sum(track.base_errored for track in tracks)
    head = sum(track.head_errored for track in tracks)
    if base or head:
        errored = f"{write_count(base, 'trial')} errored in base and {head:,} in head"
        yield f"{errored}: they count as not passed"
    for word, rest in (("base", all_base - base), ("head", all_head - head)):
        if rest > 0:
            errored = f"{write_count(rest, 'trial')} errored in {word}"
            yield f"{errored} among cases that are not compared"


def say_suites(
    tracks: tuple[TrackFigures, ...], base: tuple[Collection[str], str],
    head: tuple[Collection[str], str],
) -> Iterator[str]:  # fmt: skip
    """How many cases only one of the two has, and which of the suites of each; the names of cases
    follow the numbers. That the other was not to have them is said already by what part it is."""
    (base_suites, base_part), (head_suites, head_part) = base, head
    kinds: tuple[tuple[ChangeKind, str, list[str], str], ...] = (
        ("added", "only in head", [each for each in head_suites if each not in base_suites],
         base_part),
        ("removed", "only in base", [each for each in base_suites if each not in head_suites],
         head_part),
    )  # fmt: skip
    for kind, words, alone, other_part in kinds:
        count = sum(track.counts[kind] for track in tracks)
        if count and not other_part:
            yield f"{write_count(count, 'case')} {words}{_of_suites(alone)}"


def _of_suites(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f", which alone has {list_some(names[:_NAMED], len(names))}"


class Comparison(Value, frozen=True):
    """All that is known of two runs side by side."""

    base: Side
    head: Side
    remarks: tuple[str, ...]
    """What differs beside the answers: to be said before any number."""
    tracks: tuple[TrackFigures, ...]
    """One for each target that is compared."""
    alone: tuple[str, ...] = ()
    """Targets that are not compared: only one side has them, or they were not named."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """Targets that are only in base, though all were to be compared, and their cases."""
    base_errored: int = 0
    """Trials that errored, in whatever was to be compared, paired or not."""
    head_errored: int = 0

    @property
    def is_within(self) -> bool:
        """Whether targets of one run are compared with each other."""
        return self.base is self.head

    @property
    def unselected(self) -> dict[ChangeKind, str]:
        """What cases of a kind are called that only one side has, because the other was told to
        leave them out."""
        sides: tuple[tuple[ChangeKind, str, Side], ...]
        sides = ("added", "base", self.base), ("removed", "head", self.head)
        return {kind: f"not selected in {word}" for kind, word, side in sides if side.part}

    @property
    def pairs(self) -> int:
        return sum(track.pairs for track in self.tracks)


def compare_sides(
    base: Side,
    head: Side,
    targets: Mapping[str, str],
    clustering: Clustering | None = None,
    *,
    chosen: bool = False,
) -> Comparison:
    """Compare the targets of head that are named with those of base that they are paired with.
    Targets without a pair count as missing, unless a person has `chosen` the targets."""
    walk = _Walk(base, head, targets, clustering, chosen=chosen)
    walk.go()
    tracks = tuple(track.figures() for track in walk.tracks.values())
    remarks = chain(
        say_sides(base, head),
        say_errors(tracks, *walk.errored),
        walk.conditions.say(),
        say_suites(tracks, (walk.base_suites, base.part), (walk.head_suites, head.part)),
    )
    alone = sorted(
        {*base.stored.targets, *head.stored.targets} - {*targets, *targets.values()}
    )  # fmt: skip
    return Comparison(
        base, head, tuple(remarks), tracks, tuple(alone), walk.lost, *walk.errored
    )  # fmt: skip


def pair_targets(base: Sequence[str], head: Sequence[str]) -> dict[str, str]:
    """Which target of base each of head is compared with: the one there is, or that of its name."""
    if len(base) == len(head) == 1:
        return {head[0]: base[0]}
    return {name: name for name in head if name in base}


def pair_within(targets: Sequence[str]) -> dict[str, str]:
    """The same for the targets of one run: the first is what the others are compared with."""
    first, *others = targets
    return dict.fromkeys(others, first)


def require_target(name: str, side: Side) -> str:
    """Raise ConfigError if a side has no results of a target."""
    if name not in side.stored.targets:
        there = ", ".join(f"`{each}`" for each in side.stored.targets)
        hint = did_you_mean(name, side.stored.targets) or f"it has {there or 'none'}"
        raise ConfigError(f"{side.label} has no target `{name}`; {hint}")
    return name


class _Walk:
    """One comparison on its way."""

    def __init__(
        self, base: Side, head: Side, targets: Mapping[str, str], clustering: Clustering | None,
        *, chosen: bool,
    ) -> None:  # fmt: skip
        if len(targets) > MOST_TRACKS:
            raise ConfigError(f"at most {MOST_TRACKS} targets are compared at once")
        self._base = base
        self._head = head
        self._targets = targets
        self._clustering = clustering
        self._units = BaseUnits()
        self.conditions = Conditions()
        self.tracks = {
            name: Track(targets[name], name, clustered=clustering is not None) for name in targets
        }
        self._chosen = chosen
        self.lost: Counter[str] = Counter()
        self.errored = [0, 0]
        self.head_suites: dict[str, None] = {}
        """Where the suites of head lie."""
        self._numbers = {name: number for number, name in enumerate(self.tracks)}

    def go(self) -> None:
        compared = frozenset(self._targets.values())
        for unit in fold_units(self._base, self._looked_at(self._base, compared)):
            self.errored[0] += unit.errored
            if unit.name.target in compared:
                self._units.add(unit)
            elif unit.name.target not in self._head.stored.targets:
                self.lost[unit.name.target] += 1
        for unit in fold_units(self._head, self._looked_at(self._head, self._targets)):
            self.errored[1] += unit.errored
            if unit.name.target in self.tracks:
                self.head_suites[unit.name.suite] = None
                self._take(unit)
        self._find_removed()

    @property
    def base_suites(self) -> Collection[str]:
        return self._units.suites

    def _looked_at(self, side: Side, compared: Collection[str]) -> Collection[str]:
        """The targets of a side: with errors of what has no pair a gate is not met, either."""
        is_within = self._base is self._head
        return compared if self._chosen or is_within else side.stored.targets

    def _take(self, unit: Unit) -> None:
        """Find the pair of a case of head."""
        target = unit.name.target
        track = self.tracks[target]
        name = unit.name._replace(target=self._targets[target])
        base = self._units.find(name)
        if base is None:
            track.note("added", ChangedPair(unit.name, None, unit.shown.key, None, unit.verdict))
            return
        self._units.meet(name, self._numbers[target])
        kind = tell_kind(base.standing(), unit.standing())
        key = self._units.key_of(name, base.shown)
        pair = ChangedPair(unit.name, key, unit.shown.key, base.verdict, unit.verdict)
        track.note(kind, pair, named=base.verdict != unit.verdict or kind == "changed")
        if kind in ("skipped", "unfinished"):
            return
        case = self._head.stored.find_case(unit.shown.key.suite, unit.name.case)
        if self.conditions.look(base, unit):
            before = self._base.stored.find_case(key.suite, key.case)
            whole = self._base.whole_cases and self._head.whole_cases
            self.conditions.look_up(before, case, whole=whole)
        track.compare(
            base, unit, lambda grader: self._units.find_grader(name, grader),
            dict.fromkeys(case.tags) if case is not None else (), self._cluster(unit, case),
            self._units.graders,
        )  # fmt: skip

    def _cluster(self, unit: Unit, case: Case | None) -> str:
        return "" if self._clustering is None else self._clustering.find(unit.shown, case)

    def _find_removed(self) -> None:
        """Count the cases of base that head hasn't got, and name the first of them."""
        missing: dict[str, int] = {}
        for track in self.tracks.values():
            met = sum(track.counts.values()) - track.counts["added"]
            missing[track.head_target] = self._units.counts[track.base_target] - met
        if any(missing.values()):
            for pair, head_target in self._removed(missing):
                self.tracks[head_target].note("removed", pair)
            for head_target, count in missing.items():
                self.tracks[head_target].counts["removed"] = count

    def _removed(self, missing: Mapping[str, int]) -> Iterator[tuple[ChangedPair, str]]:
        left = {name: min(count, MOST_NAMED) for name, count in missing.items()}
        for unit in fold_units(self._base, self._targets.values()):
            for head_target, base_target in self._targets.items():
                number = self._numbers[head_target]
                if unit.name.target != base_target or self._units.is_met(unit.name, number):
                    continue
                if left[head_target]:
                    left[head_target] -= 1
                    name = unit.name._replace(target=head_target)
                    yield ChangedPair(name, unit.shown.key, None, unit.verdict, None), head_target
            if not any(left.values()):
                return


def tell_kind(base: CaseStanding, head: CaseStanding) -> ChangeKind:
    """What became of a case, from what it came to in base and in head."""
    if base.verdict is None or head.verdict is None:
        return "unfinished"
    if "skipped" in (base.verdict, head.verdict):
        return "skipped"
    if (base.verdict == "passed") != (head.verdict == "passed"):
        return "fixed" if head.verdict == "passed" else "broken"
    return "same" if base == head else "changed"

"""What differs between two runs beside their answers: it is said before any number, since a number
may be due to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field

from evalcase.report.compare.base_units import Held
from evalcase.report.compare.side import Side
from evalcase.report.compare.track import ChangeKind, TrackFigures
from evalcase.report.compare.unit import Unit
from evalcase.types.case import Case
from evalcase.types.value import are_same
from evalcase.util.text import list_some, write_count

_NAMED = 3
_MOST_LOOKED_AT = 1_000
"""Cases of which it is looked up what was changed in them."""
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

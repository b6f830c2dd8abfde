"""Which stored trace answers a question: by case, suite, repeat and turn."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.errors import TargetError
from evalcase.model.question import Question
from evalcase.traces.labels import LabelledTrace, TraceLabel

_TracePlace = tuple[str, str | None, int]
"""A case, perhaps a suite, and a turn."""


class TraceIndex:
    """Traces by what they are of. Several of one case are its repeats: by `evalcase.repeat`, or
    the newest first, since files of traces are added to."""

    def __init__(self, path: str, traces: Iterable[LabelledTrace]) -> None:
        self._path = path
        self._by_place: dict[_TracePlace, list[LabelledTrace]] = {}
        self._suites: dict[tuple[str, int], list[str | None]] = {}
        self._asked: dict[_TracePlace, int] = {}
        for each in traces:
            case, suite, _, turn = each.label
            several = self._by_place.setdefault((case, suite, turn), [])
            if not several:
                self._suites.setdefault((case, turn), []).append(suite)
            several.append(each)
        for several in self._by_place.values():
            several.sort(key=_order)

    def find(self, question: Question) -> str:
        """The id of the trace. Raise TargetError, which says what there is instead."""
        place = self._place(question)
        found = self._choose(place, question)
        above = *place[:2], question.turn - 1
        if above in self._by_place and self._choose(above, question).start_ns > found.start_ns:
            before = f"that began after its trace of turn {question.turn - 1}"
            raise self._none(question, f"no trace of turn {question.turn} {before}")
        return found.id

    def _choose(self, place: _TracePlace, question: Question) -> LabelledTrace:
        several = self._by_place[place]
        self._asked[place] = max(self._asked.get(place, 0), question.repeat)
        numbered = [each for each in several if each.label.repeat is not None]
        if numbered and len(numbered) < len(several):
            raise self._none(question, "some with `evalcase.repeat`, and some without")
        repeats = [each for each in several if each.label.repeat == question.repeat]
        if len(repeats) > 1:
            raise self._none(question, f"{len(repeats)} traces of repeat {question.repeat}")
        if numbered and not repeats:
            raise self._none(question, f"no trace of repeat {question.repeat}")
        if not numbered and question.repeat > len(several):
            traces = "one trace" if len(several) == 1 else f"{len(several)} traces"
            raise self._none(question, f"{traces}, and this is repeat {question.repeat}")
        return repeats[0] if numbered else several[question.repeat - 1]

    def unasked(self) -> str | None:
        """What a person should know of traces that nobody asked for, of cases that were asked."""
        left = {
            place[0]: len(self._by_place[place])
            for place, repeat in self._asked.items()
            if repeat < len(self._by_place[place])
        }
        if not left:
            return None
        case, number = next(iter(left.items()))
        more = f", and {len(left) - 1} other cases have more, too" if len(left) > 1 else ""
        return (
            f"{self._path} has {number} traces of case `{case}`, of which not all were graded"
            f"{more}: --repeat {max(left.values())} takes all of them"
        )

    def _place(self, question: Question) -> _TracePlace:
        case, turn = question.case, question.turn
        for suite in (question.suite, None):
            if (case, suite, turn) in self._by_place:
                return case, suite, turn
        suites = self._suites.get((case, turn), [])
        if len(suites) == 1:  # no other could be meant
            return case, suites[0], turn
        if suites:
            raise self._none(question, "traces of several suites, and none of this one")
        raise self._none(question, "no trace" if turn == 1 else f"no trace of turn {turn}")

    def _none(self, question: Question, what: str) -> TargetError:
        told = f"{self._path} has {what} for case `{question.case}`"
        hint = "the first span of a trace names its case by `evalcase.case`"
        said = f"{told}: {hint}" if what == "no trace" else told
        return TargetError(said, kind="protocol")


def _order(trace: LabelledTrace) -> tuple[int, int, str]:
    label: TraceLabel = trace.label
    return label.repeat or 0, -trace.start_ns, trace.id

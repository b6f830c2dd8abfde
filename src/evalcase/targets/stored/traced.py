"""Which stored trace answers a question: by case, suite, repeat and turn."""

from __future__ import annotations

from collections.abc import Iterable, Sized

from evalcase.errors import TargetError
from evalcase.targets.stored.traced_talks import OverlapError, TracedTalk, find_talks
from evalcase.tracing.context import LabelledTrace
from evalcase.types.question import Question

_TracePlace = tuple[str, str | None]
"""A case, and perhaps a suite."""
_FIX = "name each by `gen_ai.conversation.id`, or number them by `evalcase.repeat`"


class TraceIndex:
    """Traces by what they are of. Several of one case are its repeats: by `evalcase.repeat`, or
    the newest first, since files of traces are added to. For that, the newest of a repeat counts.
    """

    def __init__(self, path: str, traces: Iterable[LabelledTrace]) -> None:
        self._path = path
        self._by_place: dict[_TracePlace, dict[int | None, list[LabelledTrace]]] = {}
        self._turns: set[tuple[_TracePlace, int]] = set()
        self._suites: dict[str, list[str | None]] = {}
        self._talks: dict[tuple[_TracePlace, int | None], list[TracedTalk]] = {}
        self._asked: dict[_TracePlace, int] = {}
        for each in traces:
            place = each.label.case, each.label.suite
            if place not in self._by_place:
                self._suites.setdefault(each.label.case, []).append(each.label.suite)
            self._turns.add((place, each.label.turn))
            by_repeat = self._by_place.setdefault(place, {})
            by_repeat.setdefault(each.label.repeat, []).append(each)

    def find(self, question: Question) -> str:
        """The id of the trace. Raise TargetError, which says what there is instead."""
        place, turn = self._place(question), question.turn
        self._asked[place] = max(self._asked.get(place, 0), question.repeat)
        if (place, turn) not in self._turns:
            raise self._none(question, f"no trace of turn {turn}")
        talk = self._choose(place, question)
        if turn not in talk.turns:
            before = "" if turn == 1 else f" that began after its trace of turn {turn - 1}"
            raise self._none(question, f"no trace of turn {turn}{before}")
        if talk.doubtful_from is not None and turn >= talk.doubtful_from:
            doubt = f"a trace of turn {turn} that may be of either of two conversations"
            raise self._none(question, doubt, f"if they overlap, {_FIX}")
        return talk.turns[turn].id

    def _choose(self, place: _TracePlace, question: Question) -> TracedTalk:
        by_repeat, repeat = self._by_place[place], question.repeat
        is_numbered = None not in by_repeat
        if not is_numbered and len(by_repeat) > 1:
            raise self._none(question, "some with `evalcase.repeat`, and some without")
        if is_numbered and repeat not in by_repeat:
            raise self._none(question, f"no trace of repeat {repeat}")
        talks = self._talks_of(place, repeat if is_numbered else None, question)
        if is_numbered and len({talk.target for talk in talks}) > 1:
            raise self._none(question, f"traces of repeat {repeat} of several targets")
        if is_numbered:
            return talks[0]
        if repeat > len(talks):
            traces = "one trace" if len(talks) == 1 else f"{len(talks)} traces"
            raise self._none(question, f"{traces}, and this is repeat {repeat}")
        return talks[repeat - 1]

    def _talks_of(
        self, place: _TracePlace, repeat: int | None, question: Question
    ) -> list[TracedTalk]:
        key = place, repeat
        if key not in self._talks:
            try:
                self._talks[key] = find_talks(self._by_place[place][repeat])
            except OverlapError:
                raise self._none(question, "conversations that overlap", _FIX) from None
        return self._talks[key]

    def unasked(self) -> list[str]:
        """What a person should know of traces that nobody asked for, of cases that were asked."""
        left: dict[str, int] = {}
        older: dict[str, tuple[int, int]] = {}
        for (place, repeat), talks in self._talks.items():
            if repeat is None and self._asked[place] < len(talks):
                left[place[0]] = len(talks)
            if repeat is not None and len(talks) > 1:
                older[place[0]] = repeat, len(talks)
        for place, asked in self._asked.items():
            most = max(filter(None, self._by_place[place]), default=0)
            if asked < most:
                left[place[0]] = most
        return [*self._tell_left(left), *self._tell_older(older)]

    def _tell_left(self, left: dict[str, int]) -> Iterable[str]:
        for case, number in [*left.items()][:1]:
            more = f", and so for {_count_others(left)}" if len(left) > 1 else ""
            yield (
                f"{self._path} has {number} traces of case `{case}`, of which not all were graded"
                f"{more}: --repeat {max(left.values())} takes all of them"
            )

    def _tell_older(self, older: dict[str, tuple[int, int]]) -> Iterable[str]:
        for case, (repeat, number) in [*older.items()][:1]:
            more = f", and so for {_count_others(older)}" if len(older) > 1 else ""
            yield (
                f"{self._path} has {number} traces of repeat {repeat} of case `{case}`, of which "
                f"the newest was graded{more}: did several runs write to one file?"
            )

    def _place(self, question: Question) -> _TracePlace:
        case = question.case
        for suite in (question.suite, None):
            if (case, suite) in self._by_place:
                return case, suite
        suites = self._suites.get(case, [])
        if len(suites) == 1:  # no other could be meant
            return case, suites[0]
        if suites:
            raise self._none(question, "traces of several suites, and none of this one")
        hint = "the first span of a trace names its case by `evalcase.case`"
        raise self._none(question, "no trace", hint)

    def _none(self, question: Question, what: str, hint: str = "") -> TargetError:
        told = f"{self._path} has {what} for case `{question.case}`"
        return TargetError(f"{told}: {hint}" if hint else told, kind="protocol")


def _count_others(cases: Sized) -> str:
    left = len(cases) - 1
    return f"{left:,} other cases" if left > 1 else "another case"

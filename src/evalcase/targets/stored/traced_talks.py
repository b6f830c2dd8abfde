"""Which traces of a case are of one conversation: those of one `gen_ai.conversation.id`; where that
isn't said, those that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalcase.tracing.context import LabelledTrace


class TracedTalk(NamedTuple):
    """A conversation: the traces of its turns."""

    turns: dict[int, LabelledTrace]
    doubtful_from: int | None
    """The turn from which on its traces may be of an earlier conversation, which had broken off."""

    @property
    def start(self) -> tuple[int, str]:
        return self._first.start_ns, self._first.id

    @property
    def target(self) -> str | None:
        """Whose it is, where a run was exported as traces."""
        return self._first.target

    @property
    def _first(self) -> LabelledTrace:
        return next(iter(self.turns.values()))

    @property
    def last(self) -> int:
        return max(self.turns)


class OverlapError(ValueError):
    """Turns of several conversations stand between each other."""


def find_talks(traces: Sequence[LabelledTrace]) -> list[TracedTalk]:
    """The conversations, newest first. Raise OverlapError where nobody can tell them apart."""
    by_id: dict[str | None, list[LabelledTrace]] = {}
    are_named = all(each.conversation is not None for each in traces)
    for each in traces:
        by_id.setdefault(each.conversation if are_named else None, []).append(each)
    talks = [talk for several in by_id.values() for talk in _follow_traces(several)]
    return sorted(talks, key=lambda talk: talk.start, reverse=True)


def _follow_traces(traces: Iterable[LabelledTrace]) -> list[TracedTalk]:
    """Those that follow each other: a first turn begins another conversation."""
    talks: list[TracedTalk] = []
    shortest: int | None = None
    for trace in sorted(traces, key=lambda each: (each.start_ns, each.label.turn, each.id)):
        turn = trace.label.turn
        if talks and turn > talks[-1].last:
            talks[-1].turns[turn] = trace
        elif turn == 1 or not talks:
            if talks:
                shortest = min(talks[-1].last, shortest or talks[-1].last)
            talks.append(TracedTalk({turn: trace}, shortest and shortest + 1))
        else:
            raise OverlapError
    return talks

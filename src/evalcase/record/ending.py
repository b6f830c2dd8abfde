"""How a run ended, as the last row of its journal has it; without that row it has not ended."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal

from msgspec import Meta

from evalcase.errors import RecordError
from evalcase.model.codec import decode_object, encode_object
from evalcase.model.decision import Decision
from evalcase.model.value import Value, replace
from evalcase.system.packed import open_stored
from evalcase.text.journal_row import decode_row, fault_in

Status = Literal["completed", "interrupted", "stopped", "failed", "incomplete"]

_TAIL = 64 * 1024
"""Bytes at the end of a journal among which an `end` row is looked for; it has about a hundred."""


class End(Value, frozen=True):
    """Why a run went no further."""

    status: Status
    """`completed` only if every trial that was planned has a result; `incomplete` where nothing
    says how it ended: it goes on, or it was killed."""
    notice: str | None = None
    """Why it ended early, in words."""
    failed_fast: bool = False
    """Whether it ended early because it was told to, at the first case that did not pass."""
    cap_usd: Annotated[float, Meta(ge=0)] | None = None
    """The spending cap, where that is what ended it."""
    duration_s: Annotated[float, Meta(ge=0)] | None = None
    """How long all of it took, pauses left out; None where a part of it was killed."""
    lost: Annotated[int, Meta(ge=0)] = 0
    """How many cases can't be run any more, because the suites no longer have them."""
    decision: Decision | None = None
    """What was decided, where that is what ended it."""
    was_decided: bool = False
    """Whether a decision or a failure on an earlier grading ended it: what was run was not left to
    chance then, and no interval of this grading holds."""
    errored: Annotated[int, Meta(ge=0)] | None = None
    """How many trials had errored by then; None where only the other rows can say."""
    trials: Annotated[int, Meta(ge=0)] | None = None
    """How many trials had a result, where it was completed."""
    finished: Annotated[int, Meta(ge=0)] | None = None
    """Where a run that went on was interrupted: how many of the trials that were planned then had a
    result, and how many those are. Others may be no longer part of the suites."""
    planned: Annotated[int, Meta(ge=0)] | None = None
    rests_on: str | None = None
    """A hash of all that its trials rested on, where it was completed and files say all of that:
    while it is the same, no trial is left."""
    surveyed: dict[str, int] | None = None
    """How many trials each target had, where the suites have nothing else to be known or said of
    before they are run: while the hash is the same, nobody has to go through them for that."""
    graded: Annotated[int, Meta(ge=1)] | None = None
    """The later grading that was brought to its end, where one was: without it, one that was begun
    is broken off."""


HALF_WRITTEN = "the last line of its journal is half written, and is dropped"


def end_row(end: End) -> dict[str, Any]:
    """The row of an end."""
    return {"type": "end", **encode_object(end)}


def check_end(end: End, planned: int | None, trials: int) -> End:
    """The same, unless it says `completed` and there are fewer trials than it says, or else than
    were planned: rows that were lost leave no trace but that."""
    planned = planned if end.trials is None else end.trials
    if end.status != "completed" or planned is None or trials >= planned:
        return end
    lacks = f"the record lacks {planned - trials:,} of {planned:,} results"
    return replace(end, status="incomplete", notice=lacks)


def read_end(journal: str) -> End:
    """How a run ended, if the last row says so. What isn't a row is for others to complain of."""
    incomplete = End("incomplete")
    try:
        with open_stored(journal, links=False) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except (OSError, RecordError):
        return incomplete  # killed before the first row, or damaged: others say how
    line = tail[tail.rfind(b"\n", 0, -1) + 1 :]
    if fault_in(line) is not None:
        return incomplete if line.endswith(b"\n") or not line else End("incomplete", HALF_WRITTEN)
    try:
        row = decode_row(line)
        return decode_end(row) if row.get("type") == "end" else incomplete
    except ValueError:
        return incomplete


def decode_end(row: dict[str, Any]) -> End:
    """What a row says; ValueError if it is none of an end."""
    end = decode_object(End, {name: row[name] for name in row if name != "type"})
    decision = end.decision
    # What nobody could have decided ends nothing: the record may come from anyone.
    is_fit = decision is None or 0 <= decision.low <= decision.high <= 1
    return end if is_fit else End("incomplete")


def read_time_taken(journal: str) -> float | None:
    """How long earlier parts of a run took; None if one was killed and nobody knows."""
    is_new = not os.path.exists(journal) or not os.path.getsize(journal)
    return 0.0 if is_new else read_end(journal).duration_s

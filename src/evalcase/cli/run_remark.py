"""A kept run in, what its numbers would not say out: `list` and `view` remark on it alike."""

from __future__ import annotations

import os
from typing import NamedTuple

from evalcase.cli.conclusion import say_mixed, say_progress, suggest_next
from evalcase.runner.evaluated import read_evaluated
from evalcase.store.folder import describe_part
from evalcase.store.reader import HALF_WRITTEN
from evalcase.store.stored import StoredRun
from evalcase.util.text import write_count


class Remark(NamedTuple):
    """In parts: what holds of a run that goes on, too, and what is only true when nobody does."""

    of_results: str
    progress: str
    """`3 of 5 trials`; empty where all are there."""
    of_end: str
    """That it is not complete, and what to do."""
    is_apart: bool
    """Whether its pass rate is no step in a row of others: it is of other graders or cases, of
    several versions of a target, or of a part."""

    @property
    def text(self) -> str:
        return "; ".join(filter(None, (self.of_results, self.of_end)))

    @property
    def while_running(self) -> str:
        return "; ".join(filter(None, (self.of_results, f"running, {self.progress}")))


def remark_on(kept: StoredRun, *, own: bool) -> Remark:
    """What has to be said of a run. Raise RecordError if it can't be read."""
    said = [] if kept.graded_by is None else [f"grading {kept.graded_by}"]
    if part := describe_part(kept.run):
        said.append(part)
    if kept.mixed:
        said.append(f"mixed: {say_mixed(kept.mixed)}")
    if (errored := kept.totals.trials.errored) > kept.totals.cases.errored:
        said.append(f"{write_count(errored, 'trial')} errored")
    is_apart = bool(part or kept.mixed or (kept.graded_by and kept.graded_by.graders))
    if kept.end.status == "completed":
        return Remark("; ".join(said), "", "", is_apart)
    progress = say_progress(read_evaluated(kept))
    return Remark("; ".join(said), progress, _say_end(kept, progress, own=own), True)


def _say_end(kept: StoredRun, progress: str, *, own: bool) -> str:
    hint = suggest_next(read_evaluated(kept), os.path.basename(kept.run.path), is_own=own)
    where = "" if own else ", not made by you here"
    decision = kept.end.decision
    word = f"incomplete, {progress}" if decision is None else str(decision)
    if kept.end.notice == HALF_WRITTEN:
        word = f"{word}; {HALF_WRITTEN}"
    return f"{word}{where}{': ' if hint else ''}{hint}"

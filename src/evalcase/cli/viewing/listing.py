"""All runs of a project, as the list shows them: what each was of, and its pass rates by suite and
target. A run that has not changed is read once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from time import monotonic
from typing import Any

from evalcase.cli.run_remark import Remark, remark_on
from evalcase.errors import EvalcaseError
from evalcase.model.quick_dataclass import asdict, dataclass, field
from evalcase.model.quick_tuple import NamedTuple
from evalcase.record.find import ListedRun, list_runs
from evalcase.record.folder import Run
from evalcase.record.kept import KeptRun
from evalcase.record.lock import is_written
from evalcase.record.seal import is_own
from evalcase.report.statistics.wilson import estimate_share

_PATIENCE_S = 1.0
"""How long runs are read for one answer; the next one goes on with the rest."""


class _Read(NamedTuple):
    """What a journal says, whoever still writes it."""

    told: dict[str, Any]
    remark: Remark | None
    """None of a run that is damaged."""


@dataclass(slots=True)
class Listing:
    """The runs in a folder."""

    folder: str
    root: str
    state: str | None
    """Of the project and of the user whose runs these are, as far as they are."""
    _known: dict[str, tuple[tuple[int, int], _Read]] = field(default_factory=dict)

    def find(self, id: str) -> Run | None:
        """A run by its id. No path is made of what somebody asked for."""
        return next((each.run for each in list_runs(self.folder) if each.id == id), None)

    def tell(self) -> dict[str, Any]:
        """All runs, newest first; `pending` while some have yet to be read."""
        until, pending, told = monotonic() + _PATIENCE_S, False, []
        for listed in list_runs(self.folder):
            about = _tell_listed(listed)
            if listed.run is not None:
                read = self._read(listed.run, read=monotonic() < until)
                pending = pending or read is None
                about |= _tell_read(read, is_running=about["status"] == "running") if read else {}
            told.append(about)
        return {"runs": told, "pending": pending}

    def _read(self, run: Run, *, read: bool) -> _Read | None:
        mark, known = _mark(run.journal), self._known.get(run.path)
        if known is not None and known[0] == mark:
            return known[1]
        if not read:
            return None
        try:
            found = _read_run(run, own=is_own(run, self.state, self.root))
        except EvalcaseError as error:
            found = _Read({"problem": str(error)}, None)
        self._known[run.path] = (mark, found)
        return found


def _mark(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0
    return about.st_size, about.st_mtime_ns


def _tell_listed(listed: ListedRun) -> dict[str, Any]:
    run = listed.run
    if run is None:
        return {"id": listed.id, "status": listed.status, "problem": listed.problem}
    is_running = listed.status == "incomplete" and is_written(run.journal)
    return {
        "id": listed.id,
        "created_at": run.created_at,
        "status": "running" if is_running else listed.status,
    }


def _tell_read(read: _Read, *, is_running: bool) -> dict[str, Any]:
    if read.remark is None:
        return read.told
    remark = read.remark.while_running if is_running else read.remark.text
    return {**read.told, "remark": remark, "apart": read.remark.is_apart}


def _read_run(run: Run, *, own: bool) -> _Read:
    counts: dict[tuple[str, str], list[int]] = {}
    with KeptRun(run) as kept:
        for case in kept.cases():
            passed, tried = counts.setdefault((case.suite, case.target), [0, 0])
            if case.verdict not in (None, "skipped"):
                counts[case.suite, case.target] = [passed + (case.verdict == "passed"), tried + 1]
        totals, end, remark = kept.totals, kept.end, remark_on(kept, own=own)
    # What was run must not have depended on what came of it.
    is_whole = end.status == "completed" and end.decision is None
    parts = [
        {"suite": suite, "target": target, "passed": passed, "tried": tried,
         "rate": _rate(passed, tried, estimable=is_whole)}
        for (suite, target), (passed, tried) in counts.items()
    ]  # fmt: skip
    tried = totals.cases.total - totals.cases.skipped
    # The same cases at several targets are not as many cases.
    is_plain = is_whole and len({part["target"] for part in parts}) == 1
    # What a last row says is told without this: it is wrong where results are lost.
    lacking = {"status": end.status} if end.status == "incomplete" and end.notice else {}
    told = {
        **lacking, "parts": parts, "cases": totals.cases.total, "cost": totals.spent_usd,
        "rate": _rate(totals.cases.passed, tried, estimable=is_plain),
        "verdicts": {name: count for name, count in asdict(totals.cases).items() if count},
    }  # fmt: skip
    return _Read(told, remark)


def _rate(passed: int, tried: int, *, estimable: bool) -> Sequence[float | None] | None:
    """A share and its interval, where that can be said; None of nothing."""
    found = estimate_share(passed, tried)
    return found if found is None or estimable else (found.value, None, None)

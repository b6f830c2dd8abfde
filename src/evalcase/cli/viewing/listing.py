"""All runs of a project, as the list shows them: what each was of, and its pass rates by suite and
target. A run that has not changed is read once."""

from __future__ import annotations

import os
from time import monotonic
from typing import Any

from evalcase.errors import EvalcaseError
from evalcase.model.quick_dataclass import asdict, dataclass, field
from evalcase.record.find import ListedRun, list_runs
from evalcase.record.folder import Run
from evalcase.record.kept import KeptRun
from evalcase.record.lock import is_written
from evalcase.report.statistics.wilson import estimate_share

_PATIENCE_S = 1.0
"""How long runs are read for one answer; the next one goes on with the rest."""


@dataclass(slots=True)
class Listing:
    """The runs in a folder."""

    folder: str
    _known: dict[str, tuple[tuple[int, int], dict[str, Any]]] = field(default_factory=dict)

    def find(self, id: str) -> Run | None:
        """A run by its id. No path is made of what somebody asked for."""
        return next((each.run for each in list_runs(self.folder) if each.id == id), None)

    def tell(self) -> dict[str, Any]:
        """All runs, newest first; `pending` while some have yet to be read."""
        until, pending, told = monotonic() + _PATIENCE_S, False, []
        for listed in list_runs(self.folder):
            about = _tell_listed(listed)
            if listed.run is not None:
                rates = self._rates(listed.run, read=monotonic() < until)
                pending = pending or rates is None
                about |= rates or {}
            told.append(about)
        return {"runs": told, "pending": pending}

    def _rates(self, run: Run, *, read: bool) -> dict[str, Any] | None:
        mark, known = _mark(run.journal), self._known.get(run.id)
        if known is not None and known[0] == mark:
            return known[1]
        if not read:
            return None
        try:
            rates = _read_rates(run)
        except EvalcaseError as error:
            rates = {"problem": str(error)}
        self._known[run.id] = (mark, rates)
        return rates


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


def _read_rates(run: Run) -> dict[str, Any]:
    counts: dict[tuple[str, str], list[int]] = {}
    with KeptRun(run) as kept:
        for case in kept.cases():
            passed, tried = counts.setdefault((case.suite, case.target), [0, 0])
            if case.verdict not in (None, "skipped"):
                counts[case.suite, case.target] = [passed + (case.verdict == "passed"), tried + 1]
        totals, end = kept.totals, kept.end
    parts = [
        {"suite": suite, "target": target, "passed": passed, "tried": tried,
         "rate": estimate_share(passed, tried)}
        for (suite, target), (passed, tried) in counts.items()
    ]  # fmt: skip
    tried = totals.cases.total - totals.cases.skipped
    # What a last row says is told without this: it is wrong where results are lost.
    lacking = {"status": end.status} if end.status == "incomplete" and end.notice else {}
    return {
        **lacking, "parts": parts, "cases": totals.cases.total, "cost": totals.spent_usd,
        "rate": estimate_share(totals.cases.passed, tried),
        "verdicts": {name: count for name, count in asdict(totals.cases).items() if count},
    }  # fmt: skip

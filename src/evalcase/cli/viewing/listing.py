"""All runs of a project, as the list shows them: what each was of, and its pass rates by suite and
target. A run that has not changed is read once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field
from msgspec.structs import asdict

from evalcase.cli.paths import find_suite_places
from evalcase.cli.run_remark import Remark, remark_on
from evalcase.errors import EvalcaseError
from evalcase.report.aggregate import Ledger, sum_up
from evalcase.report.figures import Estimator, FigureCell, Mean, settle_figures, settle_part
from evalcase.runner.evaluated import Evaluated, read_evaluated
from evalcase.store.folder import Run, folder_of_run, is_own
from evalcase.store.journal import is_written
from evalcase.store.runs import ListedRun, list_runs
from evalcase.store.stored import StoredRun
from evalcase.util.environment import monotonic

_PATIENCE_S = 1.0
"""How long runs are read for one answer; the next one goes on with the rest."""


class _Read(NamedTuple):
    """What a journal says, whoever still writes it."""

    told: dict[str, Any]
    remark: Remark | None
    """None of a run that is damaged."""


class Listing(Struct):
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
        mark, known = _mark_of_file(run.journal), self._known.get(run.path)
        if known is not None and known[0] == mark:
            return known[1]
        if not read:
            return None
        try:
            found = _read_run(run, self.root, own=is_own(run, self.state, self.root))
        except EvalcaseError as error:
            found = _Read({"problem": str(error)}, None)
        self._known[run.path] = (mark, found)
        return found


def _mark_of_file(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0
    return about.st_size, about.st_mtime_ns


def _tell_listed(listed: ListedRun) -> dict[str, Any]:
    run = listed.run
    if run is None:
        return {"id": listed.id, "status": listed.status, "problem": listed.problem}
    status = listed.status
    is_running = status == "incomplete" and is_written(run.journal)
    return {
        "id": listed.id,
        "created_at": run.created_at,
        "status": "running" if is_running else status,
    }


def _tell_read(read: _Read, *, is_running: bool) -> dict[str, Any]:
    if read.remark is None:
        return read.told
    remark = read.remark.while_running if is_running else read.remark.text
    return {**read.told, "remark": remark, "apart": read.remark.is_apart}


def _read_run(run: Run, root: str, *, own: bool) -> _Read:
    ledger, find_place = Ledger(), find_suite_places(root, folder_of_run(run))
    with StoredRun(run) as kept:
        for case in kept.cases():
            place = find_place(case.suite), case.target, None
            cell = ledger.places.setdefault(place, FigureCell())
            if case.verdict is not None:
                cell.add_once(case.verdict, None)
        evaluated, remark = read_evaluated(kept), remark_on(kept, own=own)
    totals = evaluated.totals
    # What a last row says is told without this: it is wrong where results are lost.
    is_lacking = evaluated.status == "incomplete" and evaluated.notice
    told = {
        **({"status": evaluated.status} if is_lacking else {}),
        **_tell_rates(ledger, evaluated), "cases": totals.cases.total, "cost": totals.spent_usd,
        "verdicts": {name: count for name, count in asdict(totals.cases).items() if count},
    }  # fmt: skip
    return _Read(told, remark)


def _tell_rates(ledger: Ledger, evaluated: Evaluated) -> dict[str, Any]:
    """The rate of all, and of each suite at each target, with the intervals that `report` has."""
    decision, is_biased = evaluated.decision, evaluated.is_biased
    parts = {place: Estimator().of_cases([cell]) for place, cell in ledger.places.items()}
    if decision is not None or is_biased:
        parts = {place: settle_part(part) for place, part in parts.items()}
    figures = settle_figures(sum_up(ledger), decision, is_biased=is_biased)
    return {
        "rate": _tell_rate(figures.all.rate),
        "parts": [
            {"suite": suite, "target": target, "rate": _tell_rate(part.rate)}
            for (suite, target, _), part in parts.items()
        ],
    }


def _tell_rate(rate: Mean) -> Sequence[float | None] | None:
    """A share and its interval, null where that can't be estimated; None of nothing."""
    return None if rate.value is None else (rate.value, rate.low, rate.high)

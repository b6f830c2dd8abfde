"""Totals and gates to an exit code."""

from __future__ import annotations

from typing import Any

import pytest

from evalcase.report.evaluated import Evaluated
from evalcase.store.folder import Run, RunAbout
from evalcase.types.result import Counts, Decision, Totals, first_code

RUN = Run("", "", "", RunAbout({}))
MET = Decision("certain", "met", 0, 1, 2, 0.5, 1.0, 0.5)
MISSED = Decision("certain", "missed", 0, 1, 2, 0.0, 0.4, 0.5)


@pytest.mark.parametrize(
    ("verdicts", "gates", "code"),
    [
        ("P", {}, 0),
        ("PS", {}, 0),
        ("PF", {}, 1),
        ("PE", {}, 3),
        ("PE", {"max_errors": 1}, 1),
        ("EE", {"max_errors": 2}, 1),
        ("EE", {"max_errors": 1}, 3),
        ("PE", {"max_errors": 1, "fail_under": 0.5}, 0),
        ("PE", {"max_errors": 1, "fail_under": 0.6}, 1),
        ("PE", {"max_errors": 0, "fail_under": 0.5}, 3),
        ("PF", {"fail_under": 0.5}, 0),
        ("PF", {"fail_under": 0.6}, 1),
        ("S", {}, 0),
        ("S", {"needs_tries": True}, 1),
        ("S", {"needs_tries": True, "fail_under": 0.0}, 0),
        ("P", {"status": "interrupted"}, 130),
        ("P", {"status": "stopped"}, 3),
        ("PF", {"status": "stopped", "failed_fast": True}, 1),
        ("PE", {"status": "stopped", "failed_fast": True}, 3),
        ("PF", {"status": "stopped", "decision": MET}, 0),
        ("PF", {"status": "stopped", "decision": MISSED}, 1),
        ("PE", {"status": "stopped", "decision": MET}, 3),
    ],
)
def test_exit_code_of_totals(verdicts: str, gates: dict[str, Any], code: int) -> None:
    counts = Counts(len(verdicts), *map(verdicts.count, "PFEUS"))
    gates = {"status": "completed", **gates}
    assert Evaluated(RUN, totals=Totals(counts, counts), **gates).exit_code == code


def test_cases_without_all_of_their_trials_are_not_completed() -> None:
    totals = Totals(Counts(1, passed=1), Counts(2, passed=2), unfinished=1)
    assert Evaluated(RUN, "completed", totals).exit_code == 3


def test_the_first_of_several_codes() -> None:
    assert [first_code(0, 1), first_code(1, 3), first_code(3, 2), first_code(2, 130)] == [
        1, 3, 2, 130,
    ]  # fmt: skip

"""What pytest is told of a case: plain values, which can also be sent to another process."""

from __future__ import annotations

from typing import NamedTuple

from evalcase.report.cases import CaseTrials
from evalcase.report.terminal.failures import passed_of, reason_of
from evalcase.report.terminal.said import result_heard
from evalcase.report.terminal.style import PLAIN
from evalcase.report.terminal.trial_details import detail_lines
from evalcase.types.case import Case
from evalcase.util.secrets import Scrubber
from evalcase.util.text import make_visible


class CaseKey(NamedTuple):
    """A case at a target: what pytest has an item for."""

    suite: str
    """The path of the suite file, as the run is given it."""
    case: str
    target: str


class ToldItem(NamedTuple):
    """What came of a case."""

    verdict: str
    reason: str = ""
    """Why it is not passed, on one line."""
    text: str = ""
    """The same with all that helps."""
    duration_s: float = 0.0
    """All of its trials together, as they were measured."""
    properties: tuple[tuple[str, str], ...] = ()


def tell_item(each: CaseTrials, case: Case | None, width: int, scrubber: Scrubber) -> ToldItem:
    """Say what came of a case. Nothing that is secret is in it."""
    if each.verdict == "passed":
        return ToldItem("passed", "", "", each.duration_s, _list_properties(each))
    trial = each.telling
    reason = " ".join(make_visible(reason_of(trial)).split())
    votes = ""
    if each.outcome.repeats > 1:
        votes = f": {passed_of(each.outcome)}"
        reason = f"{passed_of(each.outcome)}; {reason}"
    lines = [f"{each.verdict} at {make_visible(each.target)}{votes}"]
    lines += detail_lines(trial, result_heard(trial), case, PLAIN, width)
    text = scrubber.text("\n".join(lines))
    return ToldItem(
        each.verdict, scrubber.text(reason), text, each.duration_s, _list_properties(each)
    )


def _list_properties(each: CaseTrials) -> tuple[tuple[str, str], ...]:
    values = {"target": each.target, "verdict": each.verdict}
    if each.outcome.repeats > 1:
        values["trials"] = f"{each.outcome.passed} of {each.outcome.repeats} passed"
    if each.score is not None:
        values["score"] = f"{each.score:.6g}"
    if each.cost_usd is not None:
        values["cost_usd"] = f"{each.cost_usd:.6g}"
    return tuple(values.items())

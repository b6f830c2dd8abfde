"""A calibration, and an answer to label, as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp

from evalcase.report.calibrate import Between, Calibration, Matched, Section, Trust, say_verdict
from evalcase.report.case_text import asked_lines, message_lines
from evalcase.report.terminal import Screen, cut
from evalcase.stats.intervals import Estimate
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.util.text import make_visible, write_count

_COLUMN = 10
_FIGURE = 26
_MOST_RATER_PAIRS = 5


def calibration_lines(calibration: Calibration, screen: Screen) -> Iterator[str]:
    for number, section in enumerate(calibration.sections):
        if number:
            yield ""
        yield from _section_lines(calibration, section, screen)


def _section_lines(calibration: Calibration, section: Section, screen: Screen) -> Iterator[str]:
    trust, matched = section.trust, section.matched
    for row in screen.wrap(say_verdict(trust)):
        yield screen.paint(row, "place")
    yield ""
    yield from _write_fact("judge", f"{calibration.grader}, of run {calibration.run}", screen)
    if matched.criterion is not None:
        yield from _write_fact("criterion", matched.criterion, screen)
    yield from _write_fact("labels", _say_labels(matched), screen)
    for old, new in matched.moved.items():
        told = f"{old} is called {new} in this run, which has the same answers: rename it there"
        yield from _write_fact("", told, screen)
    if matched.known is not None:
        has = ", ".join(matched.known) or "none"
        told = f"this judge has no criterion {matched.criterion}: {has}"
        yield from _write_fact("", told, screen)
    if not trust.table.total:
        return
    yield ""
    yield from _table_lines(trust)
    yield ""
    yield from _figure_lines(trust, matched, screen)
    others = list(_other_facts(section))
    if others:
        yield ""
    for label, text in others:
        yield from _write_fact(label, text, screen)


def _write_fact(label: str, text: str, screen: Screen) -> Iterator[str]:
    yield from screen.label(label, make_visible(text), column=_COLUMN)


def _say_labels(matched: Matched) -> str:
    by = f", by {_list_names(matched.raters)}" if matched.raters else ""
    said = [f"{matched.labels:,} used{by}"]
    for count, words in (
        (matched.refused, "refused: their answers are not those that were judged"),
        (matched.elsewhere, "of cases or targets that this run doesn't have"),
        (matched.without_verdict, "of answers on which the judge returned no verdict"),
        (matched.undecided, "answers left out, on which people are divided"),
    ):
        if count:
            said.append(f"{count:,} {words}")
    return "; ".join(said)


def _list_names(names: tuple[str, ...]) -> str:
    shown = [cut(name, 30) for name in names[:3]]
    if more := len(names) - len(shown):
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _table_lines(trust: Trust) -> Iterator[str]:
    yield f"{'':12}{'people pass':>13}{'people fail':>13}"
    for name, row in zip(("judge passes", "judge fails"), trust.table.rows, strict=True):
        yield f"{name:12}{row[0]:13,}{row[1]:13,}"


def _figure_lines(trust: Trust, matched: Matched, screen: Screen) -> Iterator[str]:
    yield screen.paint(f"{'':{_FIGURE}}{'':6}  95 % interval", "dim")
    word = "passes" if trust.people >= 0.5 else "fails"
    constant = f"who always {word} has {trust.constant:.2f}"
    yield _write_figure("agreement", trust.agreement, constant)
    yield _write_figure("passes what people pass", trust.true_passes)
    yield _write_figure("fails what people fail", trust.true_fails)
    if trust.kappa_interval is not None:
        yield _write_figure("kappa", trust.kappa_interval, "0 is chance, 1 is perfect")
    else:
        value = "–" if trust.kappa is None else f"{trust.kappa:.2f}"
        refused = f"no interval: {trust.kappa_refused}"
        yield from _hang_text(f"{'kappa':{_FIGURE}}{value:>6}  ", refused, screen)
    yield _write_figure(
        "pass rate by the judge", trust.judge_share, f"of {write_count(trust.judged, 'answer')}"
    )
    if trust.true_share is not None:
        yield _write_figure("true pass rate", trust.true_share)
    else:
        refused = f"not said: {trust.true_share_refused}"
        yield from _hang_text(f"{'true pass rate':{_FIGURE}}{'–':>6}  ", refused, screen)
    if matched.is_weighed:
        told = "As many fails as passes of the judge were labelled: figures are weighed by"
        yield from screen.wrap(f"({told} their shares in the run.)")


def _write_figure(name: str, estimate: Estimate | None, beside: str = "") -> str:
    if estimate is None:
        return f"{name:{_FIGURE}}{'–':>6}  no label says"
    interval = f"{estimate.low:.2f} to {estimate.high:.2f}"
    return f"{name:{_FIGURE}}{estimate.value:6.2f}  {interval:15} {beside}".rstrip()


def _hang_text(lead: str, text: str, screen: Screen) -> Iterator[str]:
    for row in screen.wrap(text, max(20, screen.width - len(lead))):
        yield lead + row
        lead = " " * len(lead)


def _other_facts(section: Section) -> Iterator[tuple[str, str]]:
    """What else is known of the judge and of the people."""
    itself = section.itself
    if itself.agreement is not None:
        told = f"of {write_count(itself.answers, 'answer')} that it judged again"
        yield "itself", f"agrees with itself in {itself.agreement:.2f} of pairs, {told}"
    if itself.voted:
        kappa = "says nothing" if itself.votes_kappa is None else f"is {itself.votes_kappa:.2f}"
        yield "votes", f"Fleiss' kappa of {itself.voted:,} votes on criteria {kappa}"
    for between in section.people[:_MOST_RATER_PAIRS]:
        yield "people", _say_between(between)
    if len(section.people) > _MOST_RATER_PAIRS:
        yield "", f"and {len(section.people) - _MOST_RATER_PAIRS:,} more pairs of people"
    length = section.trust.length
    if length is not None:
        yield "length", _say_length(length)


def _say_between(between: Between) -> str:
    one, other = (cut(name, 30) for name in between.raters)
    told = (
        f"{one} and {other} agree on {between.agreed:,} of {write_count(between.answers, 'answer')}"
    )
    if between.kappa is None:
        return told
    low, high = between.kappa.interval[1:]
    interval = f" ({low:.2f} to {high:.2f})" if between.answers >= 20 else ""
    return f"{told}: kappa {between.kappa.value:.2f}{interval}"


def _say_length(length: Estimate) -> str:
    times, low, high = (exp(value) for value in length)
    told = f"false passes are {times:.1f} times as long as false fails ({low:.1f} to {high:.1f})"
    if length.low > 0:
        return f"{told}: the judge may favour long answers"
    return f"{told}: the judge may favour short answers" if length.high < 0 else told


def question_lines(
    case: Case | None, result: Result, grader: str, criterion: str | None, screen: Screen
) -> Iterator[str]:
    if case is not None:
        yield from asked_lines(case, "reference", screen)
    if result.answer is not None:
        yield from message_lines("answer", result.answer.messages, screen)
    points = list(_list_points(case, result, grader, criterion))
    if points:
        several = "all of " if len(points) > 1 else ""
        yield screen.paint(f"does the answer meet {several}this?", "place")
    for text in points:
        yield from (f"  {line}" for line in screen.narrower(2).label("-", text))


def _list_points(
    case: Case | None, result: Result, grader: str, criterion: str | None
) -> Iterator[str]:
    """What the judge was asked to look for, as its grade has it; else as the case says."""
    judged = [grade.details.get("criteria") for grade in result.grades if grade.grader == grader]
    found = False
    for each in judged[0] if judged and isinstance(judged[0], list) else ():
        text = each.get("text") if isinstance(each, dict) else None
        if isinstance(text, str) and criterion in (None, each.get("id")):
            found = True
            yield text
    if found or case is None or criterion is not None:
        return
    if case.criteria is not None:
        yield case.criteria
    for rubric in case.rubrics:
        yield str(rubric.get("text", ""))

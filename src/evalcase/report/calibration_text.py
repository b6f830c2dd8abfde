"""A calibration, and an answer to label, as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalcase.report.calibrate import Between, Calibration, Section
from evalcase.report.case_text import asked_lines, message_lines
from evalcase.report.terminal import Screen, cut
from evalcase.stats.intervals import Estimate
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.util.text import list_some, make_visible, write_count

_COLUMN = 10
_FIGURE = 26
_MOST_RATER_PAIRS = 5


def calibration_lines(calibration: Calibration, screen: Screen) -> Iterator[str]:
    for number, section in enumerate(calibration.sections):
        if number:
            yield ""
        yield from (screen.paint(row, "place") for row in screen.wrap(section.verdict))
        yield ""
        judge = f"{calibration.grader}, of run {calibration.run}"
        yield from _fact_lines([("judge", judge), *_label_facts(section)], screen)
        if not section.confusion.total:
            continue
        yield from ("", f"{'':12}{'people pass':>13}{'people fail':>13}")
        for name, row in zip(("judge passes", "judge fails"), section.confusion.rows, strict=True):
            yield f"{name:12}{row[0]:13,}{row[1]:13,}"
        yield ""
        yield from _figure_lines(section, screen)
        if others := list(_other_facts(section)):
            yield ""
        yield from _fact_lines(others, screen)


def _fact_lines(facts: Iterable[tuple[str, str]], screen: Screen) -> Iterator[str]:
    for label, text in facts:
        yield from screen.label(label, make_visible(text), column=_COLUMN)


def _label_facts(section: Section) -> Iterator[tuple[str, str]]:
    """Which labels count, and why others don't."""
    labels = section.labels
    if section.criterion is not None:
        yield "criterion", section.criterion
    names = [cut(name, 30) for name in labels.by]
    by = f", by {list_some(names[:3], len(names))}" if names else ""
    said = [f"{labels.used:,} used{by}"]
    for count, words in (
        (labels.refused, "refused: their answers are not those that were judged"),
        (labels.elsewhere, "of cases or targets that this run doesn't have"),
        (labels.without_verdict, "of answers on which the judge returned no verdict"),
        (labels.undecided, "answers left out, on which people are divided"),
    ):
        if count:
            said.append(f"{count:,} {words}")
    yield "labels", "; ".join(said)
    for old, new in labels.moved_suites.items():
        yield "", f"{old} is called {new} in this run, which has the same answers: rename it there"
    if labels.known_criteria is not None:
        has = ", ".join(labels.known_criteria) or "none"
        yield "", f"this judge has no criterion {section.criterion}: {has}"


def _figure_lines(section: Section, screen: Screen) -> Iterator[str]:
    yield screen.paint(f"{'':{_FIGURE}}{'':6}  95 % interval", "dim")
    word = "passes" if section.pass_rate_by_people >= 0.5 else "fails"
    constant = f"who always {word} has {section.constant_agreement:.2f}"
    yield _write_figure("agreement", section.agreement, constant)
    yield _write_figure("passes what people pass", section.true_pass_rate_of_judge)
    yield _write_figure("fails what people fail", section.true_fail_rate_of_judge)
    if section.kappa_interval is not None:
        yield _write_figure("kappa", section.kappa_interval, "0 is chance, 1 is perfect")
    else:
        value = "–" if section.kappa is None else f"{section.kappa:.2f}"
        figure = f"{'kappa':{_FIGURE}}{value:>6}"
        refused = f"no interval: {section.kappa_refused}"
        yield from screen.label(figure, refused, column=_FIGURE + 8)
    judged = f"of {write_count(section.judged, 'answer')}"
    yield _write_figure("pass rate by the judge", section.pass_rate_by_judge_interval, judged)
    if section.pass_rate is not None:
        yield _write_figure("true pass rate", section.pass_rate)
    else:
        figure = f"{'true pass rate':{_FIGURE}}{'–':>6}"
        refused = f"not said: {section.pass_rate_refused}"
        yield from screen.label(figure, refused, column=_FIGURE + 8)
    if section.labels.weighed:
        told = "As many fails as passes of the judge were labelled: figures are weighed by"
        yield from screen.wrap(f"({told} their shares in the run.)")


def _write_figure(name: str, estimate: Estimate | None, beside: str = "") -> str:
    if estimate is None:
        return f"{name:{_FIGURE}}{'–':>6}  no label says"
    interval = f"{estimate.low:.2f} to {estimate.high:.2f}"
    return f"{name:{_FIGURE}}{estimate.value:6.2f}  {interval:15} {beside}".rstrip()


def _other_facts(section: Section) -> Iterator[tuple[str, str]]:
    """What else is known of the judge and of the people."""
    itself, ratio = section.itself, section.length_ratio
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
    if ratio is not None:
        told = f"false passes are {ratio.value:.1f} times as long as false fails"
        favours = "long" if ratio.low > 1 else "short" if ratio.high < 1 else ""
        doubt = f": the judge may favour {favours} answers" if favours else ""
        yield "length", f"{told} ({ratio.low:.1f} to {ratio.high:.1f}){doubt}"


def _say_between(between: Between) -> str:
    one, other = (cut(name, 30) for name in between.by)
    answers = write_count(between.answers, "answer")
    told = f"{one} and {other} agree on {between.agreed:,} of {answers}"
    if between.kappa is None or between.kappa_interval is None:
        return told
    _, low, high = between.kappa_interval
    interval = f" ({low:.2f} to {high:.2f})" if between.answers >= 20 else ""
    return f"{told}: kappa {between.kappa:.2f}{interval}"


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

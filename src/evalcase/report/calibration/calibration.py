"""All that can be said of a judge from its verdicts and people's labels, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalcase.report.calibration.itself import Itself, compare_with_itself
from evalcase.report.calibration.match import (
    Between,
    Matched,
    compare_raters,
    first_of_each,
    match_labels,
)
from evalcase.report.calibration.trust import Trust, measure_trust
from evalcase.types.grade import AnswerName, Judged, Label
from evalcase.types.value import Value


class Section(Value, frozen=True):
    """What labels on whole answers say, or those on one criterion."""

    matched: Matched
    trust: Trust
    itself: Itself
    people: tuple[Between, ...]

    def reaches(self, kappa: float) -> bool:
        """Whether kappa is surely as much as that."""
        return self.trust.floor is not None and self.trust.floor >= kappa


class Calibration(Value, frozen=True):
    run: str
    grader: str
    sections: tuple[Section, ...]
    """Of whole answers first, if any label is of those; then one for each criterion."""


def calibrate_grader(
    run: str, grader: str, said: Sequence[Judged], labels: Sequence[Label],
    criterion: str | None = None,
) -> Calibration:  # fmt: skip
    """With a criterion, the labels on it alone; else all labels, those on each criterion apart."""
    answers = first_of_each(said)
    named = sorted({label.criterion for label in labels if label.criterion is not None})
    whole = any(label.criterion is None for label in labels) or not named
    wanted = [criterion] if criterion is not None else [*([None] if whole else []), *named]
    sections = tuple(_make_section(said, answers, labels, each) for each in wanted)
    return Calibration(run, grader, sections)


def _make_section(
    said: Iterable[Judged], answers: dict[AnswerName, Judged], labels: Sequence[Label],
    criterion: str | None,
) -> Section:  # fmt: skip
    matched = match_labels(answers, labels, criterion)
    verdicts = [each.verdict_on(criterion) for each in answers.values()]
    run = verdicts.count(True), len(verdicts) - verdicts.count(None)
    return Section(
        matched, measure_trust(matched, run), compare_with_itself(said, criterion),
        tuple(compare_raters(labels, criterion)),
    )  # fmt: skip

"""Answers that a judge gave verdicts on, and labels on them, without a run."""

from collections.abc import Sequence

from evalcase.report.calibrate import Calibration, Section, calibrate_grader
from evalcase.report.labels import AnswerName, Judged, Label


def judged(
    number: int, passed: bool | None, *, repeat: int = 1,
    criteria: dict[str, bool] | None = None, votes: dict[str, dict[str, int]] | None = None,
) -> Judged:  # fmt: skip
    answer = AnswerName("s.eval.yaml", f"c{number}", "agent", f"{number:016x}")
    return Judged(answer, repeat, passed, criteria or {}, votes or {})


def label(
    number: int, passed: bool, *, by: str = "ada", criterion: str | None = None,
    drawn_from: float | None = None, hash: str | None = None, case: str | None = None,
) -> Label:  # fmt: skip
    return Label(
        "s.eval.yaml", case or f"c{number}", "agent", hash or f"{number:016x}", passed, by,
        criterion=criterion, drawn_from=drawn_from,
    )  # fmt: skip


def of_table(
    cells: tuple[int, int, int, int], *, more: tuple[int, int] = (0, 0), by_verdict: bool = False
) -> Section:
    """A table of labelled answers, and so many passes and fails of the judge that nobody saw."""
    said: list[Judged] = []
    labels: list[Label] = []
    rate = (cells[0] + cells[1] + more[0]) / max(1, sum(cells) + sum(more))
    for (passed, people), count in zip(
        ((True, True), (True, False), (False, True), (False, False)), cells, strict=True
    ):
        for _ in range(count):
            share = round(rate if passed else 1 - rate, 4) if by_verdict else None
            labels.append(label(len(said), people, drawn_from=share))
            said.append(judged(len(said), passed))
    for passed, count in zip((True, False), more, strict=True):
        said += [judged(len(said) + each, passed) for each in range(count)]
    return only(said, labels)


def only(said: Sequence[Judged], labels: Sequence[Label]) -> Section:
    (section,) = whole(said, labels).sections
    return section


def whole(said: Sequence[Judged], labels: Sequence[Label]) -> Calibration:
    return calibrate_grader("20260301-090000-a1b2c3", "judge", said, labels)

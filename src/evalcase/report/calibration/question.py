"""An answer as a person sees it who labels it: with its question and the criteria, and nothing of
what any grader said."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.report.terminal.case_report import asked_lines, message_lines
from evalcase.report.terminal.said import label_text
from evalcase.report.terminal.style import Style, paint_text
from evalcase.types.case import Case
from evalcase.types.result import Result


def question_lines(
    case: Case | None, result: Result, grader: str, criterion: str | None, width: int, style: Style
) -> Iterator[str]:
    if case is not None:
        yield from asked_lines(case, "reference", width, style)
    if result.answer is not None:
        yield from message_lines("answer", result.answer.messages, width, style)
    points = list(_list_points(case, result, grader, criterion))
    if points:
        yield paint_text(
            f"does the answer meet {'all of ' if len(points) > 1 else ''}this?", style.place
        )
    for text in points:
        for line in label_text("-", text, width - 2, style):
            yield f"  {line}"


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

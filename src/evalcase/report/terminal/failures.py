"""A trial that did not pass in, its name and the reason out, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.report.terminal.cells import cut_text, measure_text, wrap_text
from evalcase.report.terminal.evidence import evidence_lines
from evalcase.report.terminal.said import LONGEST
from evalcase.report.terminal.style import Style, colour_of, paint_text
from evalcase.types.answer import Failure
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result
from evalcase.util.text import make_visible

INDENT = 2
UNFINISHED = "unfinished"
_REASON_ROWS = 4
_ID_ROWS = 3


def passed_of(outcome: Outcome) -> str:
    """How many of the trials of a repeated case passed, and how many must."""
    needed = "all" if outcome.pass_rate >= 1 else f"{100 * outcome.pass_rate:.4g}%"
    missing = outcome.repeats - outcome.trials
    left = f", {missing:,} without a result" if missing > 0 else ""
    return f"{outcome.passed:,} of {outcome.repeats:,} passed, {needed} needed{left}"


def write_headline(
    result: Result, outcome: Outcome, style: Style, width: int, *, name_target: bool = False
) -> str:
    """One line on a case that is decided: its verdict, its name and the reason of one trial."""
    verdict = outcome.verdict or UNFINISHED
    said = [result.key.target] if name_target else []
    said += [passed_of(outcome)] if outcome.repeats > 1 else []
    name = f"{result.key.case} ({'; '.join(said)})" if said else result.key.case
    rest = cut_text(
        f"{cut_text(name, max(8, width // 2))}: {reason_of(result)}", width - len(verdict) - 1
    )
    return f"{paint_text(verdict, colour_of(outcome.verdict, style))} {rest}"


def reason_of(result: Result) -> str:
    """Why it is not passed; without the name of the grader that needs no name."""
    if result.failure is not None:
        return result.failure.message
    unhappy = result.unhappy_grades
    if not unhappy:
        return "nothing to grade it by" if result.verdict == "ungraded" else ""
    return "; ".join(map(grade_words, unhappy))


def grade_words(grade: Grade, *, name_turn: bool = True) -> str:
    """A grade in a sentence: who, why, and a score of none, which no reason says."""
    if is_plain_comparison(grade):
        named = name_turn and grade.turn is not None
        return f"turn {grade.turn}: {grade.reason}" if named else grade.reason
    scored = " (score 0)" if grade.score == 0 and not grade.passed else ""
    name = grade.grader if name_turn else own_name(grade)
    return f"{make_visible(name)}: {grade.reason}{scored}"


def own_name(grade: Grade) -> str:
    """What a grader is called, whatever turn of a conversation it is of."""
    return grade.grader.removeprefix(f"turn {grade.turn}: ")


def is_plain_comparison(grade: Grade) -> bool:
    """Whether it is of the built-in comparison, which needs no name."""
    return own_name(grade) == "expected"


def broken_turn(result: Result) -> int | None:
    """The turn of a conversation that went wrong, if it was one."""
    if result.failure is not None:
        turn = result.failure.details.get("turn")
        # What a target says of its own failure may have any name.
        return turn if type(turn) is int and turn > 0 else None
    return next((grade.turn for grade in result.grades if not grade.passed), None)


def reason_lines(text: str, width: int, most: int = _REASON_ROWS) -> list[str]:
    """A sentence in a few rows at most."""
    if not text:
        return []
    rows = wrap_text(text[:LONGEST].strip(), width)
    return (
        rows if len(rows) <= most else [*rows[: most - 1], cut_text(f"{rows[most - 1]} …", width)]
    )


def failure_lines(failure: Failure, attempts: int, style: Style, width: int) -> Iterator[str]:
    """Why there is no answer."""
    after = f" (after {attempts} attempts)" if attempts > 1 else ""
    yield from reason_lines(f"{failure.message}{after}", width)
    yield from evidence_lines(failure.details, style, width, failure.message)


def name_lines(
    result: Result, outcome: Outcome, style: Style, width: int, *, name_target: bool = False
) -> Iterator[str]:
    """How a case is named at the end: verdict, file and case, and what else tells it apart."""
    verdict = outcome.verdict or UNFINISHED
    word = paint_text(verdict, colour_of(outcome.verdict, style))
    room = max(10, width - len(verdict) - 1)
    extras = [result.key.target] if name_target else []
    extras += [passed_of(outcome)] if outcome.repeats > 1 else []
    rest = f" ({'; '.join(map(make_visible, extras))})" if extras else ""
    suite, case = make_visible(result.key.suite), make_visible(result.key.case)
    if measure_text(f"{suite}: {case}{rest}") <= room:
        before = paint_text(f"{suite}: ", style.gutter)
        yield f"{word} {before}{paint_text(case, style.place)}{rest}"
        return
    # An id is to be copied: it is cut only where it is longer than anybody wants to see.
    first, *others = wrap_text(cut_text(case, _ID_ROWS * room), room)
    yield f"{word} {paint_text(first, style.place)}"
    for row in others:
        yield f"{'':{len(verdict)}} {paint_text(row, style.place)}"
    below = [cut_text(suite, width - INDENT)]
    for extra in extras:
        below += wrap_text(cut_text(make_visible(extra), 2 * width), width - INDENT)
    yield from (paint_text((" " * INDENT + row).rstrip(), style.gutter) for row in below)

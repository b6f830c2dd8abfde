"""A trial that did not pass in, all that helps to find the cause out: what was asked, expected and
said, and what broke; of a conversation, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalcase.report.terminal.compared import compared_lines, compares_calls, compares_content
from evalcase.report.terminal.evidence import evidence_lines
from evalcase.report.terminal.failures import (
    INDENT,
    broken_turn,
    failure_lines,
    grade_words,
    is_plain_comparison,
    own_name,
    reason_lines,
    reason_of,
)
from evalcase.report.terminal.said import (
    Heard,
    Said,
    asked_in,
    call_rows,
    label_text,
    said_in,
)
from evalcase.report.terminal.style import Style
from evalcase.report.threshold_words import mean_words
from evalcase.types.answer import TALK_ENDINGS
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.result import Result
from evalcase.util.text import make_visible

_INPUT_ROWS = 3
_TEXT_ROWS = 8


def detail_lines(
    result: Result, heard: Heard, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    """What a person needs to find the cause."""
    for line in _write_details(result, heard, case, style, max(20, width - INDENT)):
        yield (" " * INDENT + line).rstrip()


def _write_details(
    result: Result, heard: Heard, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    if result.failure is not None:
        turn = broken_turn(result)
        yield from _asked_lines(case, turn, style, width)
        yield from _expected_lines(case, turn, _INPUT_ROWS, style, width)
        yield from failure_lines(result.failure, result.attempts, style, width)
    else:
        yield from _graded_lines(result, heard, case, style, width)
    if result.ending is not None:
        yield from label_text("ended", TALK_ENDINGS[result.ending], width, style)


def _graded_lines(
    result: Result, heard: Heard, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    """What graders say, those of a turn below what was said in it. Where one broke, there is no
    verdict that others could explain."""
    unhappy = result.unhappy_grades
    turns = list(dict.fromkeys(grade.turn for grade in unhappy))
    if not turns[:1] or turns[0] is None or (case is not None and case.user is not None):
        yield from _asked_lines(case, None, style, width)
    if case is not None and (words := mean_words(result, case)):
        yield from label_text("mean", words, width, style)
    if not unhappy:
        yield from reason_lines(reason_of(result), width)
    for turn in turns or [None]:
        said = heard.get(turn)
        if turn is not None:
            yield from _turn_lines(turn, said, case, style, width)
        grades = [grade for grade in unhappy if grade.turn == turn]
        for grade in grades:
            yield from grade_lines(grade, said, style, width)
        shown = [grade for grade in grades if grade.failure is None]
        yield from _write_unsaid(shown, said, case, turn, style, width)


def _asked_lines(case: Case | None, turn: int | None, style: Style, width: int) -> Iterator[str]:
    if case is not None:
        yield from label_text(*asked_in(case, turn), width, style, _INPUT_ROWS)


def _turn_lines(
    turn: int, said: Said | None, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    """Which turn it is, by what the user said in it."""
    asked = said.asked if said is not None else ""
    if not asked and case is not None and case.user is None:
        asked = asked_in(case, turn).text
    yield from label_text(f"turn {turn}", asked, width, style, _INPUT_ROWS)


def grade_lines(grade: Grade, said: Said | None, style: Style, width: int) -> Iterator[str]:
    """What broke; or both sides where a grader has compared; else its reason."""
    if grade.failure is not None:
        yield from reason_lines(grade_words(grade, name_turn=False), width)
        yield from evidence_lines(grade.failure.details, style, width)
        return
    nothing = said.nothing if said is not None else ""
    compared = list(compared_lines(grade, nothing, style, width))
    words = _beside_both_sides(grade) if compared else grade_words(grade, name_turn=False)
    yield from reason_lines(words, width)
    yield from compared


def _beside_both_sides(grade: Grade) -> str:
    """What the two sides don't show themselves: where they differ, and what can't be seen."""
    told = [grade.details.get(name) for name in ("where", "note")]
    said = ": ".join(text for text in told if isinstance(text, str) and text)
    if is_plain_comparison(grade):
        return said
    named = make_visible(own_name(grade))
    return f"{named}: {said}" if said else grade_words(grade, name_turn=False)


def _write_unsaid(
    grades: Sequence[Grade], said: Said | None, case: Case | None, turn: int | None, style: Style,
    width: int,
) -> Iterator[str]:  # fmt: skip
    """What no grade has shown: what was expected, and the text and the calls of the answer."""
    compared = any(map(compares_content, grades))
    called = any(map(compares_calls, grades))
    if not compared and not called:
        yield from _expected_lines(case, turn, _TEXT_ROWS, style, width)
    if said is None:
        return
    if not compared and said.words:
        yield from label_text("answer", said.words[0], width, style, _TEXT_ROWS)
    if not called:
        yield from call_rows(said.calls, said.more, width, style)
    if said.stderr:
        yield from evidence_lines({"stderr": said.stderr}, style, width)


def _expected_lines(
    case: Case | None, turn: int | None, most: int, style: Style, width: int
) -> Iterator[str]:
    """What a case expects, or one of its turns; nothing where it expects no text."""
    turns = case.turns if case is not None and turn is not None else ()
    asked = turns[turn - 1] if turn is not None and turn <= len(turns) else case
    if asked is not None and asked.expects_output:
        said = said_in(asked.expected_output)
        wanted = "\n".join([*said.words, *said.calls])
        yield from label_text("expected", wanted, width, style, most)

"""A trial that did not pass in, lines for people out: one while it runs, all of it at the end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evalcase.model.case import Case
from evalcase.model.conversation import TALK_ENDINGS
from evalcase.model.failure import Failure
from evalcase.model.grade import Grade
from evalcase.model.json_value import JSON
from evalcase.model.outcome import Outcome
from evalcase.model.result import Result
from evalcase.report.terminal.cells import cut_text, measure_text, wrap_text
from evalcase.report.terminal.evidence import evidence_lines
from evalcase.report.terminal.pairs import LinePair, pair_calls, pair_fields, pair_texts
from evalcase.report.terminal.said import (
    LONGEST,
    Said,
    asked_in,
    asked_label,
    call_rows,
    label_text,
    said_in,
)
from evalcase.report.terminal.side_by_side import MOST_PAIRED_ROWS, compare_lines
from evalcase.report.terminal.style import Style, colour_of, paint_text
from evalcase.text.readable import as_json
from evalcase.text.visible import make_visible

INDENT = 2
UNFINISHED = "unfinished"
_REASON_ROWS = 4
_INPUT_ROWS = 3
_TEXT_ROWS = 8


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
    broken = [grade for grade in result.grades if grade.failure is not None]
    unhappy = broken or [grade for grade in result.grades if not grade.passed]
    if not unhappy:
        return "there was nothing to grade by" if result.verdict == "ungraded" else ""
    return "; ".join(map(grade_words, unhappy))


def grade_words(grade: Grade) -> str:
    """A grade in a sentence: who, why, and a score of none, which no reason says."""
    if is_plain_comparison(grade):
        return grade.reason if grade.turn is None else f"turn {grade.turn}: {grade.reason}"
    scored = " (scored 0)" if grade.score == 0 and not grade.passed else ""
    return f"{make_visible(grade.grader)}: {grade.reason}{scored}"


def is_plain_comparison(grade: Grade) -> bool:
    """Whether it is of the built-in comparison, which needs no name."""
    return grade.grader in ("expected", f"turn {grade.turn}: expected")


def detail_lines(
    result: Result, said: Said | None, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    """What a person needs to find the cause: what was asked, expected and said, and what broke."""
    room = max(20, width - INDENT)
    if case is not None:
        turn = broken_turn(result)
        asked = label_text(asked_label(case), asked_in(case, turn), room, style, _INPUT_ROWS)
        yield from (_indented(line) for line in asked)
    for line in _details(result, said, case, style, room):
        yield _indented(line)
    if result.ending is not None:
        for line in label_text("ended", TALK_ENDINGS[result.ending], room, style):
            yield _indented(line)


def broken_turn(result: Result) -> int | None:
    """The turn of a conversation that went wrong, if it was one."""
    if result.failure is not None:
        turn = result.failure.details.get("turn")
        # What a target says of its own failure may have any name.
        return turn if type(turn) is int and turn > 0 else None
    return next((grade.turn for grade in result.grades if not grade.passed), None)


def _indented(line: str) -> str:
    return (" " * INDENT + line).rstrip()


def _details(
    result: Result, said: Said | None, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    if result.failure is not None:
        yield from _expected_lines(case, broken_turn(result), _INPUT_ROWS, style, width)
        yield from failure_lines(result.failure, result.attempts, style, width)
        return
    broken = [grade for grade in result.grades if grade.failure is not None]
    for grade in broken:
        yield from reason_lines(grade_words(grade), width)
        details = grade.failure.details if grade.failure is not None else {}
        yield from evidence_lines(details, style, width)
    unhappy = [] if broken else [grade for grade in result.grades if not grade.passed]
    for grade in unhappy:
        yield from grade_lines(grade, said, style, width)
    if not broken and not unhappy:
        yield from reason_lines(reason_of(result), width)
    yield from _unsaid(unhappy, said, case, style, width)


def _unsaid(
    grades: Sequence[Grade], said: Said | None, case: Case | None, style: Style, width: int
) -> Iterator[str]:
    """What no grade has shown: what was expected, and the text and the calls of the answer."""
    compared = any(_sides(grade) or _fields(grade) for grade in grades)
    called = any(_calls(grade) for grade in grades)
    if not compared and not called:
        yield from _expected_lines(case, None, _TEXT_ROWS, style, width)
    if said is None:
        return
    if not compared and (said.text is not None or not said.calls):
        yield from label_text("answer", said.text or "(empty)", width, style, _TEXT_ROWS)
    if not called:
        yield from call_rows(said.calls, said.more, width, style)


def _expected_lines(
    case: Case | None, turn: int | None, most: int, style: Style, width: int
) -> Iterator[str]:
    """What a case expects, or one of its turns; nothing where it expects no text."""
    turns = case.turns if case is not None and turn is not None else ()
    asked = turns[turn - 1] if turn is not None and turn <= len(turns) else case
    if asked is not None and asked.expects_output:
        text, calls, _ = said_in(asked.expected_output)
        wanted = "\n".join([*([text] if text else []), *calls])
        nothing = "(nothing of the assistant)" if text is None else "(empty)"
        yield from label_text("expected", wanted or nothing, width, style, most)


def grade_lines(grade: Grade, said: Said | None, style: Style, width: int) -> Iterator[str]:
    """Both sides where a grader has compared; else its reason."""
    nothing = "(no text)" if said is not None and said.calls else "(empty)"
    compared = list(compared_lines(grade, nothing, style, width))
    yield from reason_lines(_beside_both_sides(grade) if compared else grade_words(grade), width)
    yield from compared


def compared_lines(
    grade: Grade, nothing: str, style: Style, width: int, most: int = MOST_PAIRED_ROWS
) -> Iterator[str]:
    """What a grader has compared, side by side; `nothing` stands for an answer without text."""
    sides = _sides(grade)
    pairs: list[LinePair] = [*pair_calls(_calls(grade)), *pair_fields(_fields(grade))]
    if sides is not None:
        pairs += pair_texts(*sides, nothing)
    if pairs:
        yield from compare_lines(pairs, width, style, most)


def _beside_both_sides(grade: Grade) -> str:
    """What the two sides don't show themselves: where they differ, and what can't be seen."""
    told = [grade.details.get(name) for name in ("where", "note")]
    said = ": ".join(text for text in told if isinstance(text, str) and text)
    if is_plain_comparison(grade):
        return said if grade.turn is None else f"turn {grade.turn}{': ' if said else ''}{said}"
    return f"{make_visible(grade.grader)}: {said}" if said else grade_words(grade)


def _sides(grade: Grade) -> tuple[str, str] | None:
    """The two texts that a grader has compared, where it has."""
    expected, got = grade.details.get("expected"), grade.details.get("got")
    return None if expected is None or got is None else (_text(expected), _text(got))


def _calls(grade: Grade) -> list[Mapping[str, JSON]]:
    """The calls that a grader has put side by side, where it has."""
    calls = grade.details.get("calls")
    rows = calls if isinstance(calls, list) else []
    return [row for row in rows if isinstance(row, dict)]


def _fields(grade: Grade) -> list[Mapping[str, JSON]]:
    """The fields that a grader has looked at, where it has; all is well with those of a pass."""
    fields = grade.details.get("fields")
    rows = fields if isinstance(fields, list) and not grade.passed else []
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("field"), str)]


def _text(value: JSON) -> str:
    text = value if isinstance(value, str) else as_json(value, indent=2)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text) - LONGEST:,} more characters)"


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
    yield f"{word} {paint_text(cut_text(case, room), style.place)}"
    below = [cut_text(suite, width - INDENT)]
    for extra in extras:
        below += wrap_text(cut_text(make_visible(extra), 2 * width), width - INDENT)
    yield from (paint_text(_indented(row), style.gutter) for row in below)

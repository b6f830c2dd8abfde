"""One case of a run in full: what was asked and expected, and for every trial what was said, how
it was graded and what it took. Nothing is cut."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from evalcase.report.case_facts import case_facts, user_facts
from evalcase.report.terminal.cells import measure_text, wrap_text
from evalcase.report.terminal.compared import compared_lines
from evalcase.report.terminal.failures import UNFINISHED, own_name, passed_of
from evalcase.report.terminal.hanging import hang_text
from evalcase.report.terminal.judged import DRAWN, is_judged, judged_lines
from evalcase.report.terminal.progress import write_money
from evalcase.report.terminal.said import label_text, result_heard
from evalcase.report.terminal.step_lines import step_lines
from evalcase.report.terminal.style import Style, colour_of, paint_text
from evalcase.report.threshold_words import mean_words
from evalcase.types.answer import (
    TALK_ENDINGS,
    Answer,
    Failure,
    Simulated,
    SimulatedUser,
    Usage,
    split_turns,
)
from evalcase.types.case import Case
from evalcase.types.codec import decode_object
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result, Verdict
from evalcase.types.value import JSON
from evalcase.util.answers import NO_TEXT, read_ending
from evalcase.util.text import (
    as_json,
    call_lines,
    content_text,
    make_visible,
    name_blank,
    write_count,
)

_INDENT = 2
_SIDES = ("expected", "got", "where", "note", "calls")
"""Details that are drawn as two sides."""
_MOST_ROWS = 1000

_OTHERS = ("threshold", "conversation_id", "metadata", "tags")
"""Fields that are shown beside what a case is about and graded by."""


def case_lines(suite: str, id: str, case: Case | None, width: int, style: Style) -> Iterator[str]:
    """The case itself."""
    suite, id = make_visible(suite), make_visible(id)
    named = f"{paint_text(f'{suite}: ', style.gutter)}{paint_text(id, style.place)}"
    yield from _fit_line(named, f"{suite}: {id}", width)
    if case is None:
        yield from _indent_lines(wrap_text("the case itself is not in the record", width - _INDENT))
        return
    for label, value in case_facts(case, _OTHERS):
        yield from _indent_lines(label_text(label, value, width - _INDENT, style))
    remark = " (shown to the judge, not compared)"
    yield from asked_lines(case, "expected output", width, style, remark)


def asked_lines(
    case: Case, reference: str, width: int, style: Style, if_judged: str = ""
) -> Iterator[str]:
    """What a case asks, in turn, and what it expects of each answer under the name of a reference,
    with a remark where a judge has taken the place of comparing it."""
    if case._data.get("input"):
        yield from message_lines("input", case._data["input"], width, style)
    if case.expects_output:
        named = reference + if_judged * _is_only_judged(case)
        yield from message_lines(named, case._data["expected_output"], width, style)
    if case.user is not None:
        yield from _user_lines(case.user, width, style)
    for number, turn in enumerate(case.turns, 1):
        yield from message_lines(f"turn {number}", turn._data["input"], width, style)
        if turn.expects_output:
            expected, named = turn.expected_output, reference + if_judged * _is_only_judged(turn)
            yield from _indent_lines(message_lines(named, expected, width - _INDENT, style))
        for label, value in case_facts(turn, ()):
            yield from _indent_lines(label_text(label, value, width - _INDENT, style))


def _is_only_judged(case: Case) -> bool:
    is_judged = "criteria" in case._data or "rubrics" in case._data
    return is_judged and all(each["type"] == "judge" for each in case._data.get("graders", ()))


def _user_lines(user: SimulatedUser, width: int, style: Style) -> Iterator[str]:
    """Whom a target talks to."""
    yield paint_text("user", style.place)
    for label, text in user_facts(user):
        yield from _indent_lines(label_text(label, text, width - _INDENT, style))
    if user.first:
        yield from message_lines("said first", user.first, width, style)


def trial_lines(
    result: Result, case: Case | None, outcome: Outcome, width: int, style: Style, *,
    is_first: bool,
) -> Iterator[str]:  # fmt: skip
    """One trial of it; the first at a target says what became of the case there."""
    yield ""
    level = 1 if outcome.repeats > 1 else 0
    target = make_visible(result.key.target)
    if is_first and level:
        yield from _write_headed(
            outcome.verdict, f"at {target} ({passed_of(outcome)})", width, style
        )
        yield ""
    told = f"in trial {result.key.repeat}" if level else f"at {target}"
    indent = " " * _INDENT * level
    head = ", ".join([told, *_list_measures(result)])
    for line in _write_headed(result.verdict, head, width - len(indent), style):
        yield indent + line
    indent += " " * _INDENT
    if case is not None and (words := mean_words(result, case)):
        for line in label_text("mean", words, width - len(indent), style):
            yield indent + line
    for line in _trial_lines(result, width - len(indent), style):
        yield (indent + line).rstrip()


def _write_headed(verdict: Verdict | None, text: str, width: int, style: Style) -> Iterator[str]:
    """A verdict in its colour, and what follows it."""
    word = verdict or UNFINISHED
    painted = paint_text(word, colour_of(verdict, style))
    return _fit_line(f"{painted} {text}", f"{word} {text}", width)


def _fit_line(painted: str, plain: str, width: int) -> Iterator[str]:
    """A line in its colours where it fits; else without them, broken between words."""
    yield from [painted] if measure_text(plain) <= width else hang_text(plain, width, indent=0)


def _list_measures(result: Result) -> Iterator[str]:
    """What a trial scored, and what it took."""
    answer = result.answer
    if result.score is not None:
        yield f"score {result.score:.2f}"
    if result.verdict != "skipped":
        yield f"{result.duration_s:.2f} s"
    if result.attempts > 1:
        yield f"{result.attempts} attempts"
    if answer is None:
        return
    if answer.cost_usd is not None:
        yield write_money(answer.cost_usd)
    if answer.cached:
        yield "given earlier"
    yield from _list_tokens(answer.usage)
    if answer.usage is not None and answer.usage.cached_tokens is not None:
        yield f"{answer.usage.cached_tokens:,} of them cached"


def _list_remarks(answer: Answer) -> Iterator[str]:
    end = read_ending(answer)
    if end.kind == "cut off":
        yield f"(cut off: finish reason {end.reason})"
    if answer.truncated:
        yield "(truncated: larger than evalcase stores)"
    if answer.scrubbed:
        yield "(stored without a secret; it was graded with it)"


def _trial_lines(result: Result, width: int, style: Style) -> Iterator[str]:
    for number, failure in enumerate(result.retried, 1):
        yield from _failure_lines(f"attempt {number}", failure, width, style)
    if result.failure is not None:
        label = "skipped" if result.verdict == "skipped" else "failure"
        yield from _failure_lines(label, result.failure, width, style)
    if result.answer is not None:
        if result.turns:
            yield from _turn_lines(result.answer, result, width, style)
        else:
            yield from message_lines("answer", result.answer.messages, width, style)
        for remark in _list_remarks(result.answer):
            yield from label_text("", remark, width, style)
        if result.answer.stderr:
            yield from label_text("stderr", result.answer.stderr.strip("\n"), width, style)
        yield from step_lines(result.answer, width, style)
    for grade in result.grades:
        if grade.turn is None:
            yield from _grade_lines(grade, result, width, style)


def _turn_lines(answer: Answer, result: Result, width: int, style: Style) -> Iterator[str]:
    """A conversation as it went, each turn with its grades below it."""
    for number, (said, answered, took_s) in enumerate(split_turns(answer, result.turns), 1):
        cost = [write_money(answered.cost_usd)] if answered.cost_usd is not None else []
        head = ", ".join([f"turn {number}", f"{took_s:.2f} s", *cost])
        yield from message_lines(head, (*said, *answered.messages), width, style)
        for grade in result.grades:
            if grade.turn == number:
                yield from _indent_lines(_grade_lines(grade, result, width - _INDENT, style))
    if result.ending is not None:
        yield from label_text("ended", TALK_ENDINGS[result.ending], width, style)
    if result.user is not None:
        told = ", ".join(
            [f"played by {make_visible(result.user.target)}", *_list_playing(result.user)]
        )
        yield from label_text("user", told, width, style)


def _list_playing(user: Simulated) -> Iterator[str]:
    """What it took to play a user."""
    yield _count_calls(user.asked, user.cached)
    yield f"{user.asking_s:.2f} s"
    if user.cost_usd is not None:
        yield write_money(user.cost_usd)
    yield from _list_tokens(user.usage)


def _count_calls(asked: int, cached: int) -> str:
    calls = write_count(asked, "call")
    return f"{calls}, {cached:,} cached" if cached else calls


def _list_tokens(usage: Usage | None) -> Iterator[str]:
    usage = usage or Usage()
    for count, words in ((usage.input_tokens, "tokens in"), (usage.output_tokens, "tokens out")):
        if count is not None:
            yield f"{count:,} {words}"


def message_lines(
    label: str, messages: Sequence[Mapping[str, JSON]], width: int, style: Style
) -> Iterator[str]:
    """Every message of a list, below its role; and whatever else it holds."""
    yield paint_text(label, style.place)
    for message in messages:
        said = content_text(message.get("content"))
        calls = list(call_lines(message, outputs=True))
        others = {key: value for key, value in message.items()
                  if key not in ("role", "content", "tool_calls")}  # fmt: skip
        rows = [*calls, *([as_json(others)] if others else [])]
        if said.strip() or not rows:
            rows = [said, *rows]
        elif message.get("content") is not None and not calls:
            rows = [name_blank(said, NO_TEXT), *rows]
        role = make_visible(str(message.get("role")))
        yield from _indent_lines(label_text(role, "\n".join(rows), width - _INDENT, style))


def _grade_lines(grade: Grade, result: Result, width: int, style: Style) -> Iterator[str]:
    verdict: Verdict = "passed" if grade.passed else "failed"
    if grade.failure is not None or grade.score is None:
        verdict = "errored" if grade.failure is not None else "ungraded"
    score = "" if grade.score is None else f"{grade.score:.2f} "
    shown = " (indicator)" if grade.indicator else ""
    head = ", ".join([f"{score}by {make_visible(own_name(grade))}{shown}", *_list_asking(grade)])
    yield from _write_headed(verdict, head, width, style)
    if grade.failure is not None:
        yield from _indent_lines(_failure_lines("failure", grade.failure, width - _INDENT, style))
    elif grade.reason:
        yield from _indent_lines(wrap_text(grade.reason, width - _INDENT))
    heard = result_heard(result).get(grade.turn)
    nothing = heard.nothing if heard is not None else ""
    yield from _indent_lines(compared_lines(grade, nothing, style, width - _INDENT, _MOST_ROWS))
    inner = _inner_grades(grade)
    for each in inner:
        yield from _indent_lines(_grade_lines(each, result, width - _INDENT, style))
    drawn = _SIDES if grade.passed else (*_SIDES, "fields")
    if is_judged(grade.details):
        drawn = (*drawn, *DRAWN)
        yield from _indent_lines(judged_lines(grade.details, width - _INDENT, style))
    drawn = (*drawn, "grades") if inner else drawn
    others = {key: value for key, value in grade.details.items() if key not in drawn}
    if others:
        yield from _indent_lines(
            label_text("details", as_json(others, indent=2), width - _INDENT, style)
        )


def _list_asking(grade: Grade) -> Iterator[str]:
    """What it took to ask others, as a judge does."""
    if not grade.asked:
        return
    yield _count_calls(grade.asked, grade.cached)
    if grade.asking_s is not None:
        yield f"{grade.asking_s:.2f} s"
    if grade.cost_usd is not None:
        yield write_money(grade.cost_usd)
    yield from _list_tokens(grade.usage)


def _inner_grades(grade: Grade) -> list[Grade]:
    """The grades that a grader made of graders was given by those inside of it."""
    details = grade.details if grade.failure is None else grade.failure.details
    listed = details.get("grades")
    try:
        return [decode_object(Grade, each) for each in listed] if isinstance(listed, list) else []
    except ValueError:
        return []  # somebody else's detail of that name


def _failure_lines(label: str, failure: Failure, width: int, style: Style) -> Iterator[str]:
    yield from label_text(label, f"{failure.kind}: {failure.message}", width, style)
    details = failure.details
    if is_judged(details):
        yield from _indent_lines(judged_lines(details, width - _INDENT, style))
        details = {name: value for name, value in details.items() if name not in DRAWN}
    for name, value in details.items():
        if name == "grades":
            continue  # they are drawn as what they are
        text = "\n".join(map(str, value)) if isinstance(value, list) else content_text(value)
        room = sys.maxsize if name == "traceback" else width - _INDENT  # paths stay whole
        yield from _indent_lines(label_text(name, text.rstrip("\n"), room, style))


def _indent_lines(lines: Iterator[str] | list[str]) -> Iterator[str]:
    return ((" " * _INDENT + line).rstrip() for line in lines)

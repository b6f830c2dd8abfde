"""Why a trial has its verdict: what was asked, expected and said, as blocks to be drawn."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from msgspec import Struct
from rich.cells import cell_len

from evalcase.report.diff import LinePair, pair_calls, pair_fields, pair_texts
from evalcase.report.terminal import Screen, cut, seen_from
from evalcase.types.answer import TALK_ENDINGS, Answer, SimulatedUser
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result, outcome_of
from evalcase.types.target import TrialKey
from evalcase.types.value import JSON, decode_object
from evalcase.types.workspace import Changes
from evalcase.util.answers import NO_TEXT, name_missing_text, read_ending, shown_content
from evalcase.util.text import (
    as_json,
    call_lines,
    content_text,
    is_foreign_file,
    make_visible,
    write_count,
)

UNFINISHED = "unfinished"
_LONGEST_NAME = 240
_LONGEST = 4200
"""Characters of a text that are shown: no more than the built-in graders keep."""
_MOST_CALLS = 6
_INPUT_ROWS = 3
_TEXT_ROWS = 8
_REASON_ROWS = 4
_QUOTED_ROWS = 4
_OUTPUT_ROWS = 5
"""Lines that the command of a grader printed last."""
_QUOTED = ("output", "body", "stderr", "stdout", "value", "message")
"""Details of a failure that a program or a server wrote, the most telling first."""
_DIFF_ROWS = 20
_FRAME = re.compile(r'\s*File "(?P<file>.*)", line (?P<line>\d+)(?:, in (?P<name>.*))?')
_OURS = re.compile(r"[/\\](?:src|site-packages|dist-packages)[/\\]evalcase[/\\]")
"""Our own sources in a clone, or installed."""


class Said(NamedTuple):
    """The last text of messages, and their tool calls."""

    text: str | None
    """None if nothing of it can be seen."""
    nothing: str = ""
    """What stands in its place then."""
    calls: tuple[str, ...] = ()
    more: int = 0
    """Calls beside those."""

    @property
    def words(self) -> list[str]:
        """The text, or what stands in its place if the calls don't say enough."""
        if self.text is not None:
            return [self.text]
        return [] if self.calls and self.nothing == NO_TEXT else [self.nothing]

    @property
    def whole(self) -> str:
        more = [f"… {self.more:,} more calls"] if self.more else []
        return "\n".join([*self.words, *self.calls, *more])


def cut_long(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"


def said_in(messages: Sequence[Mapping[str, JSON]], last_at: int = 0) -> Said:
    """The last content of the assistant, and the calls of all messages. The last turn of a
    conversation is answered from `last_at` on."""
    last = messages[last_at:]
    nothing = name_missing_text(last)
    lines = chain.from_iterable(map(call_lines, messages))
    calls = tuple(cut_long(line) for line in islice(lines, _MOST_CALLS))
    text = None if nothing else cut_long(shown_content(last) or "")
    return Said(text, nothing, calls, sum(1 for _ in lines))


class Telling(Struct):
    """A trial that says why its case has its verdict. The rest of it is in the record."""

    key: TrialKey
    outcome: Outcome
    why: str = ""
    number: int = 0
    """Of its case in the run."""
    same: int = 0
    """Other cases that errored in the same way."""


def said_by(result: Result | None) -> str:
    """The text of an answer, its tool calls below; or why there is none."""
    if result is None:
        return "(no answer)"
    if result.answer is None:
        failure = result.failure
        return f"({result.verdict}: {failure.message})" if failure else "(no answer)"
    return said_in(result.answer.messages, result.answer.last_at).whole


def said_at(result: Result, turn: int | None) -> Said | None:
    """What was said in a turn of a conversation, or at the end of a trial; None if nothing was."""
    if result.answer is None:
        return None
    if turn is None:
        return said_in(result.answer.messages, result.answer.last_at)
    exchange = next(islice(result.exchanges, turn - 1, None), None)
    return None if exchange is None else said_in(exchange.answer.messages)


def asked_in(case: Case, turn: int | None = None) -> tuple[str, str]:
    """A label and the user's last words, in a turn or in the last one; of a simulated user, the
    goal; without a user, the last words of anyone."""
    if case.user is not None:
        return "goal", cut_long(case.user.goal)
    asked = turn_of(case, turn)
    messages = case.written_messages if asked is case else asked._data["input"]
    return _last_asked(messages)


def turn_of(case: Case, turn: int | None) -> Case:
    """What a turn of a conversation asks and expects; the case where there is no such turn."""
    return case.turns[turn - 1] if turn is not None and turn <= len(case.turns) else case


def _last_asked(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    users = [each for each in messages if each["role"] == "user"]
    last = (users or messages or [{"role": "user"}])[-1]
    label = "input" if last["role"] == "user" else last["role"]
    return label, cut_long(content_text(last.get("content")))


def passed_of(outcome: Outcome) -> str:
    needed = "all" if outcome.pass_rate >= 1 else f"{100 * outcome.pass_rate:.4g}%"
    missing = outcome.repeats - outcome.trials
    left = f", {missing:,} without a result" if missing > 0 else ""
    return f"{outcome.passed:,} of {outcome.repeats:,} passed, {needed} needed{left}"


def reason_of(result: Result) -> str:
    if result.failure is not None:
        return result.failure.message
    unhappy = result.unhappy_grades
    if not unhappy:
        return "nothing to grade it by" if result.verdict == "ungraded" else ""
    return "; ".join(map(grade_words, unhappy))


def grade_words(grade: Grade, *, name_turn: bool = True) -> str:
    """A grade in a sentence. The built-in comparison needs no name."""
    if own_name(grade) == "expected":
        named = name_turn and grade.turn is not None
        return f"turn {grade.turn}: {grade.reason}" if named else grade.reason
    scored = " (score 0)" if grade.score == 0 and not grade.passed else ""
    name = grade.grader if name_turn else own_name(grade)
    return f"{make_visible(name)}: {grade.reason}{scored}"


def own_name(grade: Grade) -> str:
    """The name of a grader without the turn of a conversation."""
    return grade.grader.removeprefix(f"turn {grade.turn}: ")


def broken_turn(result: Result) -> int | None:
    """The turn of a conversation that did not pass."""
    if result.failure is not None:
        turn = result.failure.details.get("turn")
        # A target may give details of its own failure any name.
        return turn if type(turn) is int and turn > 0 else None
    return next((grade.turn for grade in result.grades if not grade.passed), None)


def mean_words(result: Result, case: Case) -> str:
    """The mean of the grades beside the threshold of the case: no single grader decides then."""
    if case.threshold is None or result.score is None:
        return ""
    mean = f"{result.score:.2f}"
    if result.score < case.threshold <= float(mean):
        mean = f"{result.score:.4g}"
    graded = [grade for grade in result.grades if grade.score is not None]
    failed = [grade.grader for grade in graded if grade.required and not grade.passed]
    missed = f"; `{failed[0]}` is required and failed" if failed else ""
    return f"{mean} of {case.threshold:g} needed{missed}"


def case_facts(
    case: Case, others: Sequence[str], indent: int | None = None
) -> Iterator[tuple[str, str]]:
    """What a case is about and graded by; and the other fields that are named, as text or JSON."""
    from evalcase.format.writer import write_yaml  # with it all that reads suites is imported

    if case.description is not None:
        yield "about", case.description
    if case.criteria is not None:
        yield "criteria", case.criteria
    for name in ("rubrics", "graders"):
        if case._data.get(name):
            yield name, "".join(write_yaml(case._data[name])).strip("\n")
    for name in others:
        value = case._data.get(name)
        if value not in (None, [], {}):
            yield name, value if isinstance(value, str) else as_json(value, indent=indent)


def failure_facts(details: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The details of a failure as texts. Grades inside of it are drawn as grades."""
    for name, value in details.items():
        if name == "traceback" and isinstance(value, list):
            value = _leave_out_ours(list(map(str, value)))  # noqa: PLW2901
        if isinstance(value, list):
            value = "\n".join(map(str, value))  # noqa: PLW2901
        if name != "grades":
            yield name, content_text(value)


def _leave_out_ours(lines: Sequence[str]) -> list[str]:
    """A traceback without frames of evalcase, and without the rest of a frame that was cut."""
    kept, is_ours = [], True
    for line in lines:
        if match := _FRAME.match(line):
            is_ours = _OURS.search(match["file"]) is not None
        elif not line.startswith("    "):
            is_ours = False
        if not is_ours:
            kept.append(line)
    return kept


def inner_grades(grade: Grade) -> list[Grade]:
    details = grade.details if grade.failure is None else grade.failure.details
    listed = details.get("grades")
    try:
        return [decode_object(Grade, each) for each in listed] if isinstance(listed, list) else []
    except ValueError:
        return []  # a detail of another grader with that name


def list_notices(answer: Answer) -> Iterator[str]:
    """What has to be known of an answer before it is trusted."""
    end = read_ending(answer)
    if end.kind == "cut off":
        yield f"The answer was cut off (finish reason {end.reason})."
    if answer.truncated:
        yield "The answer was cut, as it was larger than evalcase keeps."
    if answer.scrubbed:
        yield "A secret was taken out of the answer; it was graded with it."


def user_facts(user: SimulatedUser) -> Iterator[tuple[str, str]]:
    yield "goal", user.goal
    if user.persona is not None:
        yield "persona", user.persona
    facts = user.facts
    if isinstance(facts, dict):
        facts = [f"{name}: {content_text(value)}" for name, value in facts.items()]
    if facts:
        yield "facts", "\n".join(facts)
    yield "played by", f"{user.target}, at most {write_count(user.max_turns, 'turn')}"


def detail_lines(
    result: Result, case: Case | None, screen: Screen, *, has_diff: bool = True
) -> Iterator[str]:
    """All that helps to find the cause of a trial that did not pass, turn by turn; with the diff of
    its workspace, or only how large that is."""
    screen, failure = screen.inset(), result.failure
    if failure is not None:
        turn = broken_turn(result)
        if case is not None:
            yield from screen.label(*asked_in(case, turn), _INPUT_ROWS)
        yield from _expected_lines(case, turn, _INPUT_ROWS, screen)
        after = f" (after {result.attempts} attempts)" if result.attempts > 1 else ""
        yield from _reason(f"{failure.message}{after}", screen)
        yield from evidence_lines(failure.details, screen, failure.message)
    else:
        yield from _graded_lines(result, case, screen, has_diff)
    if result.ending is not None:
        yield from screen.label("ended", TALK_ENDINGS[result.ending])


def _reason(text: str, screen: Screen) -> Iterator[str]:
    if text:
        yield from screen.note(text[:_LONGEST].strip(), _REASON_ROWS)


def _graded_lines(
    result: Result, case: Case | None, screen: Screen, has_diff: bool
) -> Iterator[str]:
    unhappy = result.unhappy_grades
    turns = list(dict.fromkeys(grade.turn for grade in unhappy)) or [None]
    is_simulated = case is not None and case.user is not None
    if case is not None and (turns[0] is None or is_simulated):
        yield from screen.label(*asked_in(case), _INPUT_ROWS)
    if case is not None and (words := mean_words(result, case)):
        yield from screen.label("mean", words)
    if not unhappy:
        yield from _reason(reason_of(result), screen)
    for turn in turns:
        said = said_at(result, turn)
        if turn is not None:
            asked = ""
            if said is not None:
                asked = _last_asked(result.exchanges[turn - 1].said)[1]
            elif case is not None and not is_simulated:
                asked = asked_in(case, turn)[1]
            yield from screen.label(f"turn {turn}", asked, _INPUT_ROWS)
        grades = [grade for grade in unhappy if grade.turn == turn]
        for grade in grades:
            yield from _grade_lines(grade, said, screen)
        shown = [grade for grade in grades if grade.failure is None]
        yield from _unsaid_lines(shown, said, case, turn, screen)
        if turn is None:
            yield from _aftermath_lines(result, screen, has_diff)


def _aftermath_lines(result: Result, screen: Screen, has_diff: bool) -> Iterator[str]:
    """What an agent changed in its workspace, and what it wrote beside its answer: that may say why
    there is no text."""
    if result.answer is None:
        return
    if result.workspace is not None:
        told = describe_changes(result.workspace)
        told = told if has_diff else told.split("\n")[0]
        yield from screen.label("changed", told, _DIFF_ROWS)
    if result.answer.stderr:
        yield from evidence_lines({"stderr": cut_long(result.answer.stderr)}, screen)


def _grade_lines(grade: Grade, said: Said | None, screen: Screen) -> Iterator[str]:
    """What broke; or both sides where a grader compared; else its reason."""
    words = grade_words(grade, name_turn=False)
    if grade.failure is not None:
        yield from _reason(words, screen)
        yield from evidence_lines(grade.failure.details, screen)
        return
    pairs = compared_pairs(grade, said)
    if pairs:
        # The two sides show the rest themselves.
        where, note = (grade.details.get(name) for name in ("where", "note"))
        told = f"differs at {where}" if isinstance(where, str) and where else ""
        beside = ": ".join(text for text in (told, note) if isinstance(text, str) and text)
        if own_name(grade) == "expected":
            words = beside
        elif beside:
            words = f"{make_visible(own_name(grade))}: {beside}"
    yield from _reason(words, screen)
    if pairs:
        yield from screen.sides(pairs)
    if "exit_code" in grade.details:
        texts = [grade.details.get(name) for name in ("stdout", "stderr")]
        printed = "\n".join(text for text in texts if isinstance(text, str))
        yield from _quote_lines("", printed, _OUTPUT_ROWS, screen)


def describe_changes(changes: Changes) -> str:
    files = write_count(len(changes.changed), "file")
    added = sum(each.added for each in changes.changed)
    told = f"{files}, +{added} -{changes.lines - added} lines"
    where = "the patch in the record has all of it"
    if changes.patch is None:
        where = "no patch was stored (too much, or a secret)"
    cut = f"\n… the diff goes on: {where}" if changes.diff_cut else ""
    return f"{told}\n{changes.diff}{cut}".rstrip("\n")


def _unsaid_lines(
    grades: Sequence[Grade], said: Said | None, case: Case | None, turn: int | None, screen: Screen
) -> Iterator[str]:
    """What no grade has shown: what was expected, and the text and the calls of the answer."""
    compared = any(_find_sides(grade) or _find_fields(grade) for grade in grades)
    called = any(rows_in(grade.details, "calls") for grade in grades)
    if not compared and not called:
        yield from _expected_lines(case, turn, _TEXT_ROWS, screen)
    if said is None:
        return
    if not compared and said.words:
        yield from screen.label("answer", said.words[0], _TEXT_ROWS)
    if not called:
        label = "calls"
        for call in said.calls:
            yield from screen.label(label, call, 3)
            label = ""
        if said.more:
            yield from screen.label("", f"… {said.more:,} more calls")


def _expected_lines(
    case: Case | None, turn: int | None, most: int, screen: Screen
) -> Iterator[str]:
    asked = None if case is None else turn_of(case, turn)
    if asked is not None and asked.expects_output:
        said = said_in(asked.expected_output)
        yield from screen.label("expected", "\n".join([*said.words, *said.calls]), most)


def rows_in(details: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """A detail that is a list of objects; of another grader it may be anything."""
    rows = details.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def compared_pairs(grade: Grade, said: Said | None) -> list[LinePair]:
    pairs = [*pair_calls(rows_in(grade.details, "calls")), *pair_fields(_find_fields(grade))]
    sides, nothing = _find_sides(grade), said.nothing if said is not None else ""
    return [*pairs, *pair_texts(*sides, nothing)] if sides is not None else pairs


def _find_sides(grade: Grade) -> tuple[str, str] | None:
    expected, got = grade.details.get("expected"), grade.details.get("got")
    if expected is None or got is None:
        return None
    texts = [each if isinstance(each, str) else as_json(each, indent=2) for each in (expected, got)]
    return cut_long(texts[0]), cut_long(texts[1])


def _find_fields(grade: Grade) -> list[Mapping[str, Any]]:
    rows = [] if grade.passed else rows_in(grade.details, "fields")
    return [row for row in rows if isinstance(row.get("field"), str)]


def evidence_lines(details: Mapping[str, Any], screen: Screen, said: str = "") -> Iterator[str]:
    """The detail of a failure that helps most, unless the message has `said` it: the place in the
    user's code, or what a server or program wrote."""
    trace = details.get("traceback")
    if isinstance(trace, list):
        yield from _find_place([str(line) for line in trace], screen)
        return
    for name in ("status", "request_id"):
        if name in details and str(details[name]) not in said:
            told = f"{name.removesuffix('_id')} {details[name]}"
            yield from screen.note(told, 1, dim=True)
    quoted = [(name, str(details.get(name) or "").strip()) for name in _QUOTED]
    quoted = [(name, text) for name, text in quoted if text and text not in said]
    # An output that could not be read matters as much as what was written beside it.
    for name, text in quoted[: 2 if "output" in details else 1]:
        yield from _quote_lines(name, text, _QUOTED_ROWS, screen)


def _quote_lines(name: str, text: str, most: int, screen: Screen) -> Iterator[str]:
    """The last lines of a program, or the first of what a server wrote."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    rest = max(0, len(lines) - most)
    if rest and name in ("stderr", ""):
        lines = [f"… {write_count(rest, 'line')} before", *lines[rest:]]
    elif rest:
        lines = [*lines[:most], f"… {write_count(rest, 'line')} more"]
    lead = f"{name} " if name else ""
    for line in lines:
        yield from screen.note(f"{lead}│ {line}", 1, dim=True)
        lead = " " * len(lead)


def _find_place(lines: Sequence[str], screen: Screen) -> Iterator[str]:
    """The last line of the user's own code in a traceback, and its source."""
    frames = [(at, match) for at, line in enumerate(lines) if (match := _FRAME.match(line))]
    if not frames:
        return
    own = [
        frame for frame in frames
        if not is_foreign_file(frame[1]["file"]) and not _OURS.search(frame[1]["file"])
    ]  # fmt: skip
    at, match = (own or frames)[-1]
    name = f", in {match['name']}" if match["name"] else ""
    place = f"{seen_from(os.getcwd(), match['file'])}:{match['line']}{name}"
    yield screen.line(make_visible(place), "dim")  # to be copied: never cut
    source = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if source and not _FRAME.match(source) and lines[at + 1].startswith(" "):
        yield from screen.note(f"    {source}", 1, dim=True)


def _list_extras(told: Telling, *, name_target: bool) -> str:
    """In parentheses what tells a case apart beside its id."""
    extras = [told.key.target] if name_target else []
    extras += [passed_of(told.outcome)] if told.outcome.repeats > 1 else []
    return f" ({'; '.join(map(make_visible, extras))})" if extras else ""


def name_lines(
    told: Telling, suite: str, screen: Screen, *, name_target: bool = False
) -> Iterator[str]:
    """A case at the head of its details: verdict, suite, case, and what else tells it apart, where
    there is room. An id is to be copied: only a very long one is cut."""
    verdict = told.outcome.verdict or UNFINISHED
    place, case = f"{cut(suite, _LONGEST_NAME)}: ", cut(told.key.case, _LONGEST_NAME)
    rest = _list_extras(told, name_target=name_target)
    named = f"{screen.paint(place, 'dim')}{screen.paint(case, 'place')}"
    fits = cell_len(f"{verdict} {place}{case}{rest}") <= screen.width
    yield f"{screen.paint(verdict, verdict)} {named}{rest if fits else ''}"
    if rest and not fits:
        yield from screen.inset().wrap(rest.strip(" ()"))


def headline(told: Telling, screen: Screen, *, name_target: bool) -> str:
    """One line on a case that is decided: its verdict, its name and the reason of one trial."""
    verdict = told.outcome.verdict or UNFINISHED
    name = f"{make_visible(told.key.case)}{_list_extras(told, name_target=name_target)}"
    said = f"{cut(name, max(8, screen.width // 2))}: {told.why}"
    words = cut(said, screen.width - len(verdict) - 1)
    return f"{screen.paint(verdict, verdict)} {words}"


def explain(result: Result, case: Case | None = None, width: int = 80) -> str:
    """What was expected of a trial, what was said, and why it did not pass; with its case also what
    was asked."""
    screen, outcome = Screen(width), outcome_of(Counter([result.verdict]), 1, result.pass_rate)
    name = name_lines(Telling(result.key, outcome), result.key.suite, screen, name_target=True)
    return "\n".join([*name, *detail_lines(result, case, screen)])

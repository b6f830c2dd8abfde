"""One case of a run in full: what was asked and expected, and every trial with its answer, grades
and what it took. Nothing is cut."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evalcase.report.details import (
    UNFINISHED,
    case_facts,
    compared_pairs,
    describe_changes,
    failure_facts,
    inner_grades,
    list_notices,
    mean_words,
    own_name,
    passed_of,
    rows_in,
    said_at,
    user_facts,
)
from evalcase.report.diff import diff_style
from evalcase.report.figures import write_money
from evalcase.report.terminal import INDENT, Screen
from evalcase.types.answer import TALK_ENDINGS, Answer, Failure, Simulated, Usage
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result
from evalcase.types.value import JSON
from evalcase.util.answers import NO_TEXT
from evalcase.util.calls import list_steps
from evalcase.util.text import (
    as_json,
    call_lines,
    content_text,
    make_visible,
    name_blank,
    write_count,
)

_SIDES = ("expected", "got", "where", "note", "calls")
"""Details that are drawn as two sides."""
_OF_JUDGE = {"protocol", "votes", "criteria", "claims"}
"""Details of a judge's grade that are drawn on their own."""
_MOST_ROWS = 1000
_OTHERS = ("threshold", "conversation_id", "metadata", "tags")


def case_lines(suite: str, id: str, case: Case | None, screen: Screen) -> Iterator[str]:
    suite, id = make_visible(suite), make_visible(id)
    yield f"{screen.paint(f'{suite}: ', 'dim')}{screen.paint(id, 'place')}"
    if case is None:
        yield from screen.inset().wrap("the case itself is not in the record")
        return
    for label, value in case_facts(case, _OTHERS):
        yield from screen.inset().label(label, value)
    yield from asked_lines(case, "expected output", screen)


def asked_lines(case: Case, reference: str, screen: Screen) -> Iterator[str]:
    """What a case asks, turn by turn, and what it expects, under the name of a reference."""
    inner = screen.inset()
    if case._data.get("input"):
        yield from message_lines("input", case._data["input"], screen)
    if case.expects_output:
        yield from message_lines(reference, case._data["expected_output"], screen)
    if case.user is not None:
        yield screen.line("user", "place")
        for label, text in user_facts(case.user):
            yield from inner.label(label, text)
        if case.user.first:
            yield from message_lines("said first", case.user.first, screen)
    for number, turn in enumerate(case.turns, 1):
        yield from message_lines(f"turn {number}", turn._data["input"], screen)
        if turn.expects_output:
            yield from message_lines(reference, turn.expected_output, inner)
        for label, value in case_facts(turn, ()):
            yield from inner.label(label, value)


def trial_lines(
    result: Result, case: Case | None, outcome: Outcome, screen: Screen, *, is_first: bool
) -> Iterator[str]:
    yield ""
    repeated, target = outcome.repeats > 1, make_visible(result.key.target)
    if is_first and repeated:
        head = f"at {target} ({passed_of(outcome)})"
        verdict = outcome.verdict or UNFINISHED
        yield from (f"{screen.paint(verdict, verdict)} {head}", "")
    told = f"in trial {result.key.repeat}" if repeated else f"at {target}"
    measures, level = ", ".join(_list_measures(result)), screen.inset() if repeated else screen
    fits = cell_len(f"{result.verdict} {told}, {measures}") <= level.width
    head = f"{told}, {measures}" if fits and measures else told
    yield level.line(f"{screen.paint(result.verdict, result.verdict)} {head}")
    yield from () if fits else level.inset().wrap(measures)
    if case is not None and (words := mean_words(result, case)):
        yield from level.inset().label("mean", words)
    yield from _trial_lines(result, level.inset())


def _list_measures(result: Result) -> Iterator[str]:
    answer = result.answer
    if result.score is not None:
        yield f"score {result.score:.2f}"
    if result.verdict != "skipped":
        yield f"{result.duration_s:.2f} s"
    if result.attempts > 1:
        yield f"{result.attempts} attempts"
    if answer is not None:
        if answer.cached:
            yield "given earlier"
        yield from _list_costs(answer.cost_usd, answer.usage)


def _list_costs(cost_usd: float | None, usage: Usage | None) -> Iterator[str]:
    if cost_usd is not None:
        yield write_money(cost_usd)
    usage = usage or Usage()
    for count, words in (
        (usage.input_tokens, "tokens in"), (usage.output_tokens, "tokens out"),
        (usage.cached_tokens, "of them cached"),
    ):  # fmt: skip
        if count is not None:
            yield f"{count:,} {words}"


def _list_calls(asking: Grade | Simulated) -> Iterator[str]:
    """What it took to ask a target, for a judge or a simulated user."""
    calls = write_count(asking.asked, "call")
    yield f"{calls}, {asking.cached:,} cached" if asking.cached else calls
    if asking.asking_s is not None:
        yield f"{asking.asking_s:.2f} s"
    yield from _list_costs(asking.cost_usd, asking.usage)


def _trial_lines(result: Result, screen: Screen) -> Iterator[str]:
    for number, failure in enumerate(result.retried, 1):
        yield from _failure_lines(f"attempt {number}", failure, screen)
    if result.failure is not None:
        label = "skipped" if result.verdict == "skipped" else "failure"
        yield from _failure_lines(label, result.failure, screen)
    if result.answer is not None:
        yield from _answer_lines(result, result.answer, screen)
    if (changes := result.workspace) is not None:
        summary, *lines = describe_changes(changes).split("\n")
        yield from screen.label("changed", summary)
        for line in lines:
            yield screen.inset().line(make_visible(line), diff_style(line))
        if changes.kept is not None:
            yield from screen.label("", f"the workspace is in {changes.kept}")
    for grade in result.grades:
        if grade.turn is None:
            yield from _grade_lines(grade, result, screen)


def _answer_lines(result: Result, answer: Answer, screen: Screen) -> Iterator[str]:
    if result.turns:
        yield from _turn_lines(result, screen)
    else:
        yield from message_lines("answer", answer.messages, screen)
    for notice in list_notices(answer):
        yield from screen.label("", notice)
    if answer.session is not None:
        yield from screen.label("session", answer.session)
    if answer.stderr:
        yield from screen.label("stderr", answer.stderr.strip("\n"))
    if answer.steps:
        yield screen.line("steps", "place")
    for line in list_steps(answer.steps, answer.steps_cut) if answer.steps else ():
        told = line.lstrip()
        inner = screen.inset(INDENT + len(line) - len(told))
        yield from inner.wrap(make_visible(told))


def _turn_lines(result: Result, screen: Screen) -> Iterator[str]:
    for number, (said, answered, took_s) in enumerate(result.exchanges, 1):
        cost = [write_money(answered.cost_usd)] if answered.cost_usd is not None else []
        head = ", ".join([f"turn {number}", f"{took_s:.2f} s", *cost])
        yield from message_lines(head, (*said, *answered.messages), screen)
        for grade in result.grades:
            if grade.turn == number:
                yield from _grade_lines(grade, result, screen.inset())
    if result.ending is not None:
        yield from screen.label("ended", TALK_ENDINGS[result.ending])
    if (user := result.user) is not None:
        told = ", ".join([f"played by {make_visible(user.target)}", *_list_calls(user)])
        yield from screen.label("user", told)


def message_lines(
    label: str, messages: Sequence[Mapping[str, JSON]], screen: Screen
) -> Iterator[str]:
    yield screen.line(label, "place")
    for message in messages:
        said = content_text(message.get("content"))
        calls = list(call_lines(message, outputs=True))
        known = ("role", "content", "tool_calls")
        others = {key: value for key, value in message.items() if key not in known}
        rows = [*calls, *([as_json(others)] if others else [])]
        if said.strip() or not rows:
            rows = [said, *rows]
        elif message.get("content") is not None and not calls:
            rows = [name_blank(said, NO_TEXT), *rows]
        role = make_visible(str(message.get("role")))
        yield from screen.inset().label(role, "\n".join(rows))


def _grade_lines(grade: Grade, result: Result, screen: Screen) -> Iterator[str]:
    score = "" if grade.score is None else f"{grade.score:.2f} "
    shown = " (indicator)" if grade.indicator else ""
    head = [f"{score}by {make_visible(own_name(grade))}{shown}"]
    head += _list_calls(grade) if grade.asked else []
    yield screen.line(f"{screen.paint(grade.verdict, grade.verdict)} {', '.join(head)}")
    yield from _grade_body(grade, result, screen.inset())


def _grade_body(grade: Grade, result: Result, screen: Screen) -> Iterator[str]:
    if grade.failure is not None:
        yield from _failure_lines("failure", grade.failure, screen)
    elif grade.reason:
        yield from screen.wrap(grade.reason)
    if pairs := compared_pairs(grade, said_at(result, grade.turn)):
        yield from screen.sides(pairs, most=_MOST_ROWS)
    inner = inner_grades(grade)
    for each in inner:
        yield from _grade_lines(each, result, screen)
    drawn: set[str] = {
        *_SIDES,
        *(() if grade.passed else ("fields",)),
        *(("grades",) if inner else ()),
    }
    if _is_judged(grade.details):
        drawn |= _OF_JUDGE
        yield from _judged_lines(grade.details, screen)
    for name in ("stdout", "stderr"):
        text = grade.details.get(name)
        if isinstance(text, str):
            drawn.add(name)
            yield from screen.label(name, text.strip("\n"))
    if f"exit code {grade.details.get('exit_code')}" in grade.reason:
        drawn.add("exit_code")
    others = {key: value for key, value in grade.details.items() if key not in drawn}
    if others:
        yield from screen.label("details", as_json(others, indent=2))


def _failure_lines(label: str, failure: Failure, screen: Screen) -> Iterator[str]:
    yield from screen.label(label, f"{failure.kind}: {failure.message}")
    inner, is_judged = screen.inset(), _is_judged(failure.details)
    if is_judged:
        yield from _judged_lines(failure.details, inner)
    for name, text in failure_facts(failure.details):
        if not (is_judged and name in _OF_JUDGE):
            # Paths in a traceback stay whole.
            width = sys.maxsize if name == "traceback" else inner.width
            room = Screen(width, colour=screen.colour, left=inner.left)
            yield from room.label(name, text.rstrip("\n"))


def _is_judged(details: Mapping[str, Any]) -> bool:
    return str(details.get("protocol", "")).startswith("judge/")


def _judged_lines(details: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """Each criterion and claim with its verdict and reason, and who judged."""
    for each in [*rows_in(details, "criteria"), *rows_in(details, "claims")]:
        text = f"{each['id']}: {each.get('text')}" if "id" in each else str(each.get("claim"))
        weight, votes = each.get("weight"), each.get("votes")
        more = [f"weight {weight:g}"] if isinstance(weight, float) and weight != 1 else []
        more += ["required"] if each.get("required") else []
        if isinstance(votes, dict):
            more.append(", ".join(f"{count} × {_word(name)}" for name, count in votes.items()))
        told = f" ({'; '.join(more)})" if more else ""
        yield from screen.label(_word(each.get("verdict")), f"{text}{told}\n{each.get('reason')}")
    votes = rows_in(details, "votes")
    for vote in votes:
        model, mode = vote.get("model"), _word(vote.get("mode", ""))
        judge = f"{vote.get('judge')} ({model})" if model is not None else str(vote.get("judge"))
        cached = "from the cache" if vote.get("cached") else ""
        told = ", ".join(filter(None, [judge, mode, cached, str(vote.get("message", ""))]))
        yield from screen.label("judged by", told)
        several = [*rows_in(vote, "criteria"), *rows_in(vote, "claims")]
        for each in several if len(votes) > 1 else ():
            name = f"{each['id']} " if "id" in each else ""
            said = each.get("reason") if name else each.get("claim")
            yield from screen.label("", f"{name}{_word(each.get('verdict'))}: {said}")


def _word(name: object) -> str:
    return str(name).replace("_", " ")

"""One case of a run in full: what was asked and expected, and every trial with its answer, grades
and what it took. Nothing is cut."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evalcase.report.details import (
    UNFINISHED,
    case_facts,
    compared_pairs,
    mean_words,
    own_name,
    passed_of,
    result_heard,
    user_facts,
)
from evalcase.report.figures import write_money
from evalcase.report.terminal import INDENT, Screen, Sides, hang_text
from evalcase.types.answer import TALK_ENDINGS, Answer, Failure, Usage, split_turns
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result
from evalcase.types.value import JSON, decode_object
from evalcase.util.answers import NO_TEXT, read_ending
from evalcase.util.calls import tell_steps
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
_OF_JUDGE = ("protocol", "votes", "criteria", "claims")
"""Details of a judge's grade that are drawn on their own."""
_MOST_ROWS = 1000
_OTHERS = ("threshold", "conversation_id", "metadata", "tags")


def case_lines(suite: str, id: str, case: Case | None, screen: Screen) -> Iterator[str]:
    """The case itself."""
    suite, id = make_visible(suite), make_visible(id)
    named = f"{screen.paint(f'{suite}: ', 'dim')}{screen.paint(id, 'place')}"
    yield from _fit_line(named, f"{suite}: {id}", screen)
    if case is None:
        yield from _indent(screen.narrower(INDENT).wrap("the case itself is not in the record"))
        return
    for label, value in case_facts(case, _OTHERS):
        yield from _indent(screen.narrower(INDENT).label(label, value))
    yield from asked_lines(case, "expected output", screen, " (shown to the judge, not compared)")


def asked_lines(
    case: Case, reference: str, screen: Screen, if_judged: str = ""
) -> Iterator[str]:  # fmt: skip
    """What a case asks, turn by turn, and what it expects, under the name of a reference, with a
    remark if a judge has taken the place of comparing it."""
    inner = screen.narrower(INDENT)
    if case._data.get("input"):
        yield from message_lines("input", case._data["input"], screen)
    if case.expects_output:
        named = reference + if_judged * _is_only_judged(case)
        yield from message_lines(named, case._data["expected_output"], screen)
    if case.user is not None:
        yield screen.paint("user", "place")
        for label, text in user_facts(case.user):
            yield from _indent(inner.label(label, text))
        if case.user.first:
            yield from message_lines("said first", case.user.first, screen)
    for number, turn in enumerate(case.turns, 1):
        yield from message_lines(f"turn {number}", turn._data["input"], screen)
        if turn.expects_output:
            named = reference + if_judged * _is_only_judged(turn)
            yield from _indent(message_lines(named, turn.expected_output, inner))
        for label, value in case_facts(turn, ()):
            yield from _indent(inner.label(label, value))


def _is_only_judged(case: Case) -> bool:
    is_judged = "criteria" in case._data or "rubrics" in case._data
    return is_judged and all(each["type"] == "judge" for each in case._data.get("graders", ()))


def trial_lines(
    result: Result, case: Case | None, outcome: Outcome, screen: Screen, *, is_first: bool
) -> Iterator[str]:
    """One trial; the first at a target says the verdict of the case there."""
    yield ""
    repeated, target = outcome.repeats > 1, make_visible(result.key.target)
    if is_first and repeated:
        head = f"at {target} ({passed_of(outcome)})"
        yield from _headed_lines(outcome.verdict or UNFINISHED, head, screen)
        yield ""
    told = f"in trial {result.key.repeat}" if repeated else f"at {target}"
    head = ", ".join([told, *_list_measures(result)])
    level = INDENT if repeated else 0
    yield from _indent(_headed_lines(result.verdict, head, screen.narrower(level)), level)
    inner = screen.narrower(level + INDENT)
    if case is not None and (words := mean_words(result, case)):
        yield from _indent(inner.label("mean", words), level + INDENT)
    yield from _indent(_trial_lines(result, inner), level + INDENT)


def _headed_lines(verdict: str, text: str, screen: Screen) -> Iterator[str]:
    return _fit_line(f"{screen.paint(verdict, verdict)} {text}", f"{verdict} {text}", screen)


def _fit_line(painted: str, plain: str, screen: Screen) -> Iterator[str]:
    """A line in its colours if it fits; else without them, broken between words."""
    fits = cell_len(plain) <= screen.width
    yield from [painted] if fits else hang_text(plain, screen.width, indent=0)


def _list_measures(result: Result) -> Iterator[str]:
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


def _list_tokens(usage: Usage | None) -> Iterator[str]:
    usage = usage or Usage()
    for count, words in ((usage.input_tokens, "tokens in"), (usage.output_tokens, "tokens out")):
        if count is not None:
            yield f"{count:,} {words}"


def _list_calls(
    asked: int, cached: int, seconds: float | None, cost_usd: float | None, usage: Usage | None
) -> Iterator[str]:
    """What it took to call a target, for a judge or a simulated user."""
    calls = write_count(asked, "call")
    yield f"{calls}, {cached:,} cached" if cached else calls
    if seconds is not None:
        yield f"{seconds:.2f} s"
    if cost_usd is not None:
        yield write_money(cost_usd)
    yield from _list_tokens(usage)


def _trial_lines(result: Result, screen: Screen) -> Iterator[str]:
    for number, failure in enumerate(result.retried, 1):
        yield from _failure_lines(f"attempt {number}", failure, screen)
    if result.failure is not None:
        label = "skipped" if result.verdict == "skipped" else "failure"
        yield from _failure_lines(label, result.failure, screen)
    answer = result.answer
    if answer is not None:
        if result.turns:
            yield from _turn_lines(answer, result, screen)
        else:
            yield from message_lines("answer", answer.messages, screen)
        for remark in _list_remarks(answer):
            yield from screen.label("", remark)
        if answer.stderr:
            yield from screen.label("stderr", answer.stderr.strip("\n"))
        yield from step_lines(answer, screen)
    for grade in result.grades:
        if grade.turn is None:
            yield from _grade_lines(grade, result, screen)


def _list_remarks(answer: Answer) -> Iterator[str]:
    end = read_ending(answer)
    if end.kind == "cut off":
        yield f"(cut off: finish reason {end.reason})"
    if answer.truncated:
        yield "(truncated: larger than evalcase stores)"
    if answer.scrubbed:
        yield "(stored without a secret; it was graded with it)"


def _turn_lines(answer: Answer, result: Result, screen: Screen) -> Iterator[str]:
    """A conversation, each turn with its grades below it."""
    for number, (said, answered, took_s) in enumerate(split_turns(answer, result.turns), 1):
        cost = [write_money(answered.cost_usd)] if answered.cost_usd is not None else []
        head = ", ".join([f"turn {number}", f"{took_s:.2f} s", *cost])
        yield from message_lines(head, (*said, *answered.messages), screen)
        for grade in result.grades:
            if grade.turn == number:
                yield from _indent(_grade_lines(grade, result, screen.narrower(INDENT)))
    if result.ending is not None:
        yield from screen.label("ended", TALK_ENDINGS[result.ending])
    if (user := result.user) is not None:
        took = _list_calls(user.asked, user.cached, user.asking_s, user.cost_usd, user.usage)
        told = ", ".join([f"played by {make_visible(user.target)}", *took])
        yield from screen.label("user", told)


def step_lines(answer: Answer, screen: Screen) -> Iterator[str]:
    """The steps of an answer as a tree; nothing if it has none."""
    if not answer.steps:
        return
    yield screen.paint("steps", "place")
    for depth, told in tell_steps(answer.steps, answer.steps_cut):
        level = INDENT * (1 + depth)
        yield from _indent(screen.narrower(level).wrap(make_visible(told)), level)


def message_lines(
    label: str, messages: Sequence[Mapping[str, JSON]], screen: Screen
) -> Iterator[str]:
    """Every message below its role, and whatever else it holds."""
    yield screen.paint(label, "place")
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
        yield from _indent(screen.narrower(INDENT).label(role, "\n".join(rows)))


def _grade_lines(grade: Grade, result: Result, screen: Screen) -> Iterator[str]:
    verdict = "passed" if grade.passed else "failed"
    if grade.failure is not None or grade.score is None:
        verdict = "errored" if grade.failure is not None else "ungraded"
    score = "" if grade.score is None else f"{grade.score:.2f} "
    shown = " (indicator)" if grade.indicator else ""
    head = [f"{score}by {make_visible(own_name(grade))}{shown}"]
    if grade.asked:
        head += _list_calls(
            grade.asked, grade.cached, grade.asking_s, grade.cost_usd, grade.usage
        )  # fmt: skip
    yield from _headed_lines(verdict, ", ".join(head), screen)
    yield from _indent(_grade_body(grade, result, screen.narrower(INDENT)))


def _grade_body(grade: Grade, result: Result, screen: Screen) -> Iterator[str]:
    if grade.failure is not None:
        yield from _failure_lines("failure", grade.failure, screen)
    elif grade.reason:
        yield from screen.wrap(grade.reason)
    heard = result_heard(result).get(grade.turn)
    if pairs := compared_pairs(grade, heard.nothing if heard is not None else ""):
        yield from screen.blocks([Sides(pairs, most=_MOST_ROWS)])
    inner = _inner_grades(grade)
    for each in inner:
        yield from _grade_lines(each, result, screen)
    drawn = _SIDES if grade.passed else (*_SIDES, "fields")
    if _is_judged(grade.details):
        drawn = (*drawn, *_OF_JUDGE)
        yield from _judged_lines(grade.details, screen)
    drawn = (*drawn, "grades") if inner else drawn
    others = {key: value for key, value in grade.details.items() if key not in drawn}
    if others:
        yield from screen.label("details", as_json(others, indent=2))


def _inner_grades(grade: Grade) -> list[Grade]:
    """The grades inside of a grader that is made of graders."""
    details = grade.details if grade.failure is None else grade.failure.details
    listed = details.get("grades")
    try:
        return [decode_object(Grade, each) for each in listed] if isinstance(listed, list) else []
    except ValueError:
        return []  # a detail of another grader with that name


def _failure_lines(label: str, failure: Failure, screen: Screen) -> Iterator[str]:
    yield from screen.label(label, f"{failure.kind}: {failure.message}")
    details, inner = failure.details, screen.narrower(INDENT)
    if _is_judged(details):
        yield from _indent(_judged_lines(details, inner))
        details = {name: value for name, value in details.items() if name not in _OF_JUDGE}
    for name, value in details.items():
        if name == "grades":
            continue  # they are drawn as grades
        text = "\n".join(map(str, value)) if isinstance(value, list) else content_text(value)
        # Paths in a traceback stay whole.
        room = Screen(sys.maxsize, colour=screen.colour) if name == "traceback" else inner
        yield from _indent(room.label(name, text.rstrip("\n")))


def _is_judged(details: Mapping[str, Any]) -> bool:
    return str(details.get("protocol", "")).startswith("judge/")


def _judged_lines(details: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    """Each criterion and claim with its verdict and reason, and who judged. The details may come
    from anyone's record: what doesn't look as expected is shown as it is."""
    for each in _judgements(details):
        text = f"{each['id']}: {each.get('text')}" if "id" in each else str(each.get("claim"))
        weight, votes = each.get("weight"), each.get("votes")
        more = [f"weight {weight:g}"] if isinstance(weight, float) and weight != 1 else []
        more += ["required"] if each.get("required") else []
        if isinstance(votes, dict):
            more.append(", ".join(f"{count} × {_word(name)}" for name, count in votes.items()))
        told = f" ({'; '.join(more)})" if more else ""
        yield from screen.label(_word(each.get("verdict")), f"{text}{told}\n{each.get('reason')}")
    votes = _items(details, "votes")
    for vote in votes:
        yield from screen.label("judged by", _describe_vote(vote))
        for each in _judgements(vote) if len(votes) > 1 else ():
            name = f"{each['id']} " if "id" in each else ""
            said = each.get("reason") if name else each.get("claim")
            yield from screen.label("", f"{name}{_word(each.get('verdict'))}: {said}")


def _judgements(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*_items(details, "criteria"), *_items(details, "claims")]


def _items(details: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = details.get(name)
    items = value if isinstance(value, list) else []
    return [each if isinstance(each, dict) else {"reason": as_json(each)} for each in items]


def _describe_vote(vote: Mapping[str, Any]) -> str:
    model, attempts = vote.get("model"), vote.get("attempts", 1)
    told = [
        str(vote.get("judge")) + (f" ({model})" if model is not None else ""),
        f"asked {attempts} times" if attempts != 1 else "",
        _word(vote.get("mode", "")),
        "from the cache" if vote.get("cached") else "",
        str(vote.get("message", "")),
    ]
    return ", ".join(filter(None, told))


def _word(name: object) -> str:
    return str(name).replace("_", " ")


def _indent(lines: Iterable[str], by: int = INDENT) -> Iterator[str]:
    return (f"{'':{by}}{line}".rstrip() for line in lines)

"""What the page shows of a case when it is opened: messages, trials, grades as a tree, failures.

Data becomes text here, where no digit of a number is lost; the browser gets only strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from msgspec import field

from evalcase.report.details import case_facts, user_facts
from evalcase.types.answer import TALK_ENDINGS, Answer, Failure, Usage
from evalcase.types.case import Case
from evalcase.types.grade import Grade
from evalcase.types.message import (
    Step,
    ToolCall,
    find_picture,
    is_part,
    names_tool,
    part_text,
    text_of,
)
from evalcase.types.result import Outcome, Result, Verdict
from evalcase.types.value import JSON, Value
from evalcase.util.answers import name_missing_text, parse_answer, read_ending
from evalcase.util.text import arguments_text, as_json, content_text

PageObject = dict[str, Any]
"""A JSON object for the page."""

_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_LARGEST_PICTURE = 2_000_000
_SHOWN = frozenset({"role", "content", "tool_calls"})


def messages_data(messages: Iterable[Mapping[str, JSON]]) -> list[PageObject]:
    """Each message with its role, its parts, its calls, and whatever else it holds as JSON."""
    return [_message_data(message) for message in messages]


def _message_data(message: Mapping[str, JSON]) -> PageObject:
    told: PageObject = {"role": str(message.get("role"))}
    if message.get("content") is not None:
        told["parts"] = _content_data(message["content"])
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        told["calls"] = [_call_data(call) for call in calls]
    others = {key: value for key, value in message.items() if key not in _SHOWN}
    if others:
        told["more"] = as_json(others, indent=2)
    if (calls or others) and not content_text(message.get("content")).strip():
        # What there is says more than that there is no text.
        told.pop("parts", None)
        told |= {"bare": True} if others else {}
    return told


def _content_data(content: JSON) -> list[PageObject]:
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, list) and content and all(map(is_part, content)):
        return [_part_data(part) for part in content if isinstance(part, dict)]
    return [{"kind": "json", "text": as_json(content, indent=2)}]


def _part_data(part: Mapping[str, JSON]) -> PageObject:
    text = part_text(part)
    if text is not None:
        return {"text": text}
    for name in ("value", "url", "image_url", "data"):
        found = part.get(name)
        if isinstance(found, dict):  # OpenAI's {image_url: {url}}
            found = found.get("url")
        if isinstance(found, str) and len(found) < _LARGEST_PICTURE and _PICTURE.fullmatch(found):
            return {"picture": "".join(found.split())}
    kind, source = str(part.get("type")), find_picture(part)
    if kind == "image" and source is not None and part.keys() == {"type", source.key}:
        return {"kind": kind, "text": source.text}
    return {"kind": kind, "text": as_json(dict(part), indent=2)}


def _call_data(call: JSON) -> PageObject:
    if not isinstance(call, dict) or not names_tool(call):
        return {"name": "?", "input": as_json(call, indent=2)}
    made = ToolCall(call)
    told: PageObject = {"name": made.name}
    if made.arguments is not None:
        told["input"] = content_text(made.arguments)
    if made.output is not None:
        told["output"] = content_text(made.output)
    if isinstance(made.id, str):
        told["id"] = made.id
    return told


class Regrading(NamedTuple):
    """How the answer of a trial was graded, that time."""

    number: int
    """Which of the gradings of the run it is, from 1."""
    result: Result


class CaseRow(Value, frozen=True):
    """A case at a target: a row of the table, and what is shown when it is opened."""

    suite: str
    case: str
    target: str
    known: Case | None
    """None where the record hasn't got it."""
    outcome: Outcome | None
    """None where only the other run has the case."""
    results: tuple[Result, ...] = ()
    """Of every trial that has one, by repeat."""
    regradings: Mapping[int, tuple[Regrading, ...]] = field(default_factory=dict)
    """By repeat, all gradings of the answer, where there are several."""
    base: BaseRow | None = None
    alone: str = "added"
    """What it is called where the other run hasn't got it."""

    @property
    def verdict(self) -> Verdict | None:
        """Of all of its trials together; None while some have no result."""
        return self.outcome.verdict if self.outcome is not None else None


class BaseRow(Value, frozen=True):
    """The same case in the run that is compared with."""

    target: str
    outcome: Outcome
    results: tuple[Result, ...]
    change: str = ""
    """What became of it: `fixed`, `broken`, `changed`, `same`, …"""


_SIDES = ("expected", "got", "where", "note")
_ROWS = ("calls", "fields", "criteria", "claims", "votes")
_DEEPEST = 50
_LONGEST_DATA = 500_000


def trial_data(
    result: Result, regradings: Iterable[Regrading] = (), *, as_data: bool = False
) -> PageObject:
    """The trial. What there is nothing of is left out. With `as_data`, an answer that is the text
    of data can be compared as that, whatever its layout."""
    told: PageObject = {
        "repeat": result.key.repeat, "verdict": result.verdict, "score": result.score,
        "seconds": round(result.duration_s, 6), "at": result.started_at,
        "attempts": result.attempts,
        "grades": [grade_data(grade) for grade in result.grades],
    }  # fmt: skip
    if result.answer is not None:
        told |= _answer_data(result.answer)
        data = _lay_out(result.answer.content) if as_data else None
        told |= {} if data is None else {"data": data}
    if result.turns:
        told |= _talk_data(result)
    if result.failure is not None:
        told["failure"] = failure_data(result.failure)
    if result.retried:
        told["retried"] = [failure_data(each) for each in result.retried]
    earlier = [
        {
            "number": number, "verdict": each.verdict, "score": each.score,
            "grades": [grade_data(grade) for grade in each.grades],
        }
        for number, each in regradings
    ]  # fmt: skip
    return {**told, "gradings": earlier} if earlier else told


def _talk_data(result: Result) -> PageObject:
    """The turns of a conversation, by how many messages of its answer each has; how it ended, and
    what it took to play its user."""
    silences = [name_missing_text(each.answer.messages) for each in result.exchanges]
    told: PageObject = {
        "turns": [
            {
                "said": turn.said, "answered": turn.answered, "seconds": turn.duration_s,
                "cost": turn.cost_usd, "tokens": _list_tokens(turn.usage),
                "nothing": silence,
            }
            for turn, silence in zip_longest(result.turns, silences)
        ]
    }  # fmt: skip
    if result.ending is not None:
        told["ending"] = TALK_ENDINGS[result.ending]
    if result.user is not None:
        user = result.user
        told["user"] = {
            "by": user.target, "count": user.asked, "cached": user.cached,
            "cost": user.cost_usd, "seconds": user.asking_s, "tokens": _list_tokens(user.usage),
        }  # fmt: skip
    return told


def _list_tokens(usage: Usage | None) -> list[int | None] | None:
    return [usage.input_tokens, usage.output_tokens] if usage is not None else None


def _answer_data(answer: Answer) -> PageObject:
    told: PageObject = {
        "answer": messages_data(answer.messages),
        "hash": answer.fingerprint(),
        "cost": answer.cost_usd,
        "model": answer.model,
    }
    content, silence = answer.content, name_missing_text(answer.last)
    if silence:
        told["nothing"] = silence
    if silence or not isinstance(content, str):  # a text stands in its message already
        told["text"] = content_text(content)
    if answer.usage is not None:
        usage = answer.usage
        told["tokens"] = [usage.input_tokens, usage.output_tokens, usage.cached_tokens]
    if answer.cached:
        told["cached"] = True
    if notices := list(_list_notices(answer)):
        told["notices"] = notices
    if answer.earlier is not None:
        told["earlier"] = [answer.earlier.duration_s, answer.earlier.cost_usd]
    if answer.steps:
        told["steps"] = [_step_data(step) for step in answer.steps]
    told |= {"stepsCut": answer.steps_cut} if answer.steps_cut else {}
    told |= {"stderr": answer.stderr} if answer.stderr else {}
    return told


def _list_notices(answer: Answer) -> Iterator[str]:
    end = read_ending(answer)
    if end.kind == "cut off":
        yield f"The answer was cut off (finish reason {end.reason})."
    if answer.truncated:
        yield "The answer was cut, as it was larger than evalcase keeps."
    if answer.scrubbed:
        yield "A secret was taken out of the answer; it was graded with it."


def _step_data(step: Step) -> PageObject:
    told: PageObject = {
        "name": step.name,
        "kind": step.kind,
        "depth": step.depth,
        "at": step.start_s,
    }
    told["seconds"] = step.duration_s
    if step.error is not None:
        told["error"] = step.error
    if isinstance(step.input, dict) and step.input:
        told["given"] = arguments_text(step.input)
    if step.input_tokens is not None or step.output_tokens is not None:
        told["tokens"] = [step.input_tokens, step.output_tokens]
    return told


def _lay_out(content: JSON) -> str | None:
    """The text of data, one field in a line; None where it is something else."""
    if not isinstance(content, str) or len(content) > _LONGEST_DATA:
        return None
    try:
        return as_json(parse_answer(content), indent=2)
    except (ValueError, RecursionError):
        return None


def failure_data(failure: Failure) -> PageObject:
    details = [
        [name, "\n".join(map(str, value)) if isinstance(value, list) else content_text(value)]
        for name, value in failure.details.items()
    ]
    return {"kind": failure.kind, "message": failure.message, "details": details}


def grade_data(grade: Grade) -> PageObject:
    """A grade, with those inside of it."""
    told = _graded_data(
        grade.grader, grade.score, grade.passed, grade.reason, grade.details, broke=grade.failure
    )
    if grade.turn is not None:
        told["turn"] = grade.turn
    if grade.weight != 1:
        told["weight"] = grade.weight
    if grade.required:
        told["required"] = True
    if grade.indicator:
        told["indicator"] = True
    if grade.asked:
        told["asked"] = {
            "count": grade.asked, "cached": grade.cached, "cost": grade.cost_usd,
            "seconds": grade.asking_s, "tokens": _list_tokens(grade.usage),
        }  # fmt: skip
    return told


def _graded_data(
    grader: str, score: float | None, passed: bool, reason: str, details: Mapping[str, Any],
    depth: int = 0, broke: Failure | None = None,
) -> PageObject:  # fmt: skip
    verdict = "passed" if passed else "failed"
    if broke is not None or score is None:
        verdict = "errored" if broke is not None else "ungraded"
    told: PageObject = {"grader": grader, "verdict": verdict, "score": score, "reason": reason}
    if broke is not None:
        told["failure"] = failure_data(broke)
    inside = _inside_data(details, depth)
    if inside:
        told["grades"] = inside
    told |= _details_data(details, {"grades"} if inside else set())
    return told


def _inside_data(details: Mapping[str, Any], depth: int) -> list[PageObject]:
    """The grades inside a grade; another detail of that name is none."""
    listed = details.get("grades")
    if not isinstance(listed, list) or depth > _DEEPEST:
        return []
    told = []
    for each in listed:
        if not isinstance(each, dict) or not isinstance(each.get("grader"), str):
            return []
        score, within = each.get("score"), each.get("details")
        told.append(
            _graded_data(
                each["grader"], score if isinstance(score, int | float) else None,
                each.get("passed") is True, str(each.get("reason", "")),
                within if isinstance(within, dict) else {}, depth + 1,
            )
        )  # fmt: skip
    return told


def _details_data(details: Mapping[str, Any], drawn: set[str]) -> PageObject:
    """What is drawn in a way of its own, and the rest as JSON."""
    told: PageObject = {}
    for name in _SIDES:
        if isinstance(details.get(name), str):
            told[name] = details[name]
    for name in _ROWS:
        rows = details.get(name)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            told[name] = [_row_data(row) for row in rows]
    shown = {*told, *drawn, "protocol"}
    others = {name: value for name, value in details.items() if name not in shown}
    return {**told, "details": as_json(others, indent=2)} if others else told


def _row_data(row: Mapping[str, Any]) -> PageObject:
    """A row of a detail: strings and truth values as they are, rows inside as rows, and numbers
    and other data as text."""
    told: PageObject = {}
    for name, value in row.items():
        if value is None or isinstance(value, str | bool):
            told[name] = value
        elif name in _ROWS and isinstance(value, list) and _are_rows(value):
            told[name] = [_row_data(each) for each in value]
        elif name == "votes" and isinstance(value, dict):
            told[name] = ", ".join(f"{count} × {verdict}" for verdict, count in value.items())
        else:
            told[name] = as_json(value)
    return told


def _are_rows(value: list[Any]) -> bool:
    return all(isinstance(each, dict) and each.keys().isdisjoint(_ROWS) for each in value)


_OTHERS = ("threshold", "repeat", "timeout_s", "conversation_id", "metadata")
"""Fields that are shown beside what a case is about and graded by."""


def case_data(row: CaseRow) -> PageObject:
    """All of it."""
    told: PageObject = {"suite": row.suite, "case": row.case, "target": row.target}
    if row.known is not None:
        told |= _known_data(row.known)
        if not any(result.turns for result in row.results):
            # A conversation that did not happen is shown as it was written.
            told["input"] = messages_data(row.known.written_messages)
    if row.outcome is not None:
        told["repeats"], told["needed"] = row.outcome.repeats, row.outcome.pass_rate
    as_data = row.known is not None and _expects_data(row.known)
    told["trials"] = [
        trial_data(result, row.regradings.get(result.key.repeat, ()), as_data=as_data)
        for result in row.results
    ]
    if row.base is not None and row.base.results:
        told["base"] = [trial_data(result, as_data=as_data) for result in row.base.results]
    return told


def _expects_data(case: Case) -> bool:
    expected = case._data.get("expected_output") or [{}]
    content = expected[-1].get("content")
    return content is not None and text_of(content) is None


def _known_data(case: Case) -> PageObject:
    told: PageObject = {
        "input": messages_data(case._data.get("input", ())),
        "facts": [[label, text] for label, text in case_facts(case, _OTHERS, indent=2)],
    }
    if case.user is not None:
        told["user"] = [[label, text] for label, text in user_facts(case.user)]
    if case.turns:
        told["script"] = [_turn_data(turn) for turn in case.turns]
    expected = case._data.get("expected_output")
    if expected:
        told["expected"] = messages_data(expected)
        reference = _find_reference(expected)
        if reference is not None:
            told["reference"] = reference
    return told


def _turn_data(turn: Case) -> PageObject:
    """What is expected of the answer to a turn."""
    told: PageObject = {"facts": [[label, text] for label, text in case_facts(turn, (), indent=2)]}
    expected = turn._data.get("expected_output")
    return {**told, "expected": messages_data(expected)} if expected else told


def _find_reference(expected: list[PageObject]) -> str | None:
    """The text that an answer is held against: that of the last message which has any."""
    for message in reversed(expected):
        if message["role"] == "assistant" and message.get("content") is not None:
            return content_text(message["content"])
    return None

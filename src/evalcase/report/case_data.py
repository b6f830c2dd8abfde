"""A case as the page shows it when it is opened: messages, trials, grades as a tree, failures.

Data becomes text here, where no digit of a number is lost; the browser gets only strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from msgspec import field

from evalcase.report.details import (
    case_facts,
    describe_changes,
    failure_facts,
    inner_grades,
    list_notices,
    user_facts,
)
from evalcase.report.evaluated import CaseTrials
from evalcase.types.answer import TALK_ENDINGS, Answer, Failure, Simulated, Usage
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
from evalcase.util.answers import name_missing_text, parse_answer
from evalcase.util.text import arguments_text, as_json, content_text

PageObject = dict[str, Any]
"""A JSON object for the page."""

_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]+")
_LARGEST_PICTURE = 2_000_000
_LONGEST_DATA = 500_000
_SIDES = ("expected", "got", "where", "note")
_ROWS = ("calls", "fields", "criteria", "claims", "votes")
_OTHERS = ("threshold", "repeat", "timeout_s", "conversation_id", "metadata")
"""Fields that are shown beside what a case is about and graded by."""


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
    regradings: Mapping[int, tuple[Result, ...]] = field(default_factory=dict)
    """By repeat, all gradings of the answer, where there are several."""
    base: CaseTrials | None = None
    """The same case in the run that is compared with."""
    change: str = ""
    """What became of it there: `fixed`, `broken`, `changed`, `same`, `added`, …"""

    @property
    def verdict(self) -> Verdict | None:
        """Of all of its trials together; None while some have no result."""
        return self.outcome.verdict if self.outcome is not None else None


def _present(told: PageObject) -> PageObject:
    """Without what there is nothing of."""
    return {name: value for name, value in told.items() if value}


def case_data(row: CaseRow) -> PageObject:
    told: PageObject = {"suite": row.suite, "case": row.case, "target": row.target}
    content = None
    if row.known is not None:
        # A conversation that did not happen is shown as it was written.
        is_told = any(result.turns for result in row.results)
        told |= _known_data(row.known, () if is_told else row.known.written_messages)
        content = (row.known._data.get("expected_output") or [{}])[-1].get("content")
    as_data = content is not None and text_of(content) is None
    if row.outcome is not None:
        told["repeats"], told["needed"] = row.outcome.repeats, row.outcome.pass_rate
    told["trials"] = [
        trial_data(result, row.regradings.get(result.key.repeat, ()), as_data=as_data)
        for result in row.results
    ]
    if row.base is not None:
        told["base"] = [trial_data(result, as_data=as_data) for result in row.base.trials]
    return told


def _known_data(case: Case, written: Iterable[Mapping[str, JSON]]) -> PageObject:
    expected = case._data.get("expected_output")
    told = _present({
        "user": None if case.user is None else [list(fact) for fact in user_facts(case.user)],
        "script": [
            _present({
                "facts": [list(fact) for fact in case_facts(turn, (), indent=2)],
                "expected": messages_data(turn._data.get("expected_output") or ()),
            })
            for turn in case.turns
        ],
        "expected": messages_data(expected or ()),
    })  # fmt: skip
    for message in reversed(expected or ()):
        # The text that an answer is held against: that of the last message which has any.
        if message["role"] == "assistant" and message.get("content") is not None:
            told["reference"] = content_text(message["content"])
            break
    return {
        "input": messages_data(written or case._data.get("input", ())),
        "facts": [list(fact) for fact in case_facts(case, _OTHERS, indent=2)],
        **told,
    }


def messages_data(messages: Iterable[Mapping[str, JSON]]) -> list[PageObject]:
    """Each message with its role, its parts, its calls, and whatever else it holds as JSON."""
    return [_message_data(message) for message in messages]


def _message_data(message: Mapping[str, JSON]) -> PageObject:
    content, calls = message.get("content"), message.get("tool_calls")
    known = ("role", "content", "tool_calls")
    others = {key: value for key, value in message.items() if key not in known}
    told: PageObject = {
        "role": str(message.get("role")),
        "parts": [] if content is None else _content_data(content),
        "calls": [_call_data(call) for call in calls] if isinstance(calls, list) else [],
        "more": as_json(others, indent=2) if others else "",
    }
    if (calls or others) and not content_text(content).strip():
        # What there is says more than that there is no text.
        told |= {"parts": [], "bare": bool(others)}
    return _present(told)


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
    for name, value in (("input", made.arguments), ("output", made.output)):
        if value is not None:
            told[name] = content_text(value)
    return told | ({"id": made.id} if isinstance(made.id, str) else {})


def trial_data(
    result: Result, regradings: Iterable[Result] = (), *, as_data: bool = False
) -> PageObject:
    """The trial. What there is nothing of is left out. With `as_data`, an answer that is the text
    of data can be compared as that, whatever its layout."""
    answer, failure = result.answer, result.failure
    told: PageObject = {
        "repeat": result.key.repeat, "verdict": result.verdict, "score": result.score,
        "seconds": round(result.duration_s, 6), "at": result.started_at,
        "attempts": result.attempts,
        "grades": [grade_data(grade) for grade in result.grades],
    }  # fmt: skip
    if answer is not None:
        told |= _answer_data(answer)
        data = _lay_out(answer.content) if as_data else None
        told |= {} if data is None else {"data": data}
    if result.turns:
        told |= _talk_data(result)
    return told | _present({
        "changes": result.workspace and describe_changes(result.workspace),
        "failure": failure and failure_data(failure),
        "retried": [failure_data(each) for each in result.retried],
        "gradings": [
            {
                "number": each.grading, "verdict": each.verdict, "score": each.score,
                "grades": [grade_data(grade) for grade in each.grades],
            }
            for each in regradings
        ],
    })  # fmt: skip


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
        told["user"] = {"by": result.user.target, **_asking_data(result.user)}
    return told


def _asking_data(asking: Grade | Simulated) -> PageObject:
    """What it took to ask a target, for a judge or a simulated user."""
    return {
        "count": asking.asked, "cached": asking.cached, "cost": asking.cost_usd,
        "seconds": asking.asking_s, "tokens": _list_tokens(asking.usage),
    }  # fmt: skip


def _list_tokens(usage: Usage | None) -> list[int | None] | None:
    return [usage.input_tokens, usage.output_tokens] if usage is not None else None


def _answer_data(answer: Answer) -> PageObject:
    told: PageObject = {
        "answer": messages_data(answer.messages),
        "hash": answer.fingerprint(),
        "cost": answer.cost_usd,
        "model": answer.model,
    }
    content, silence, usage = answer.content, name_missing_text(answer.last), answer.usage
    if silence or not isinstance(content, str):  # a text stands in its message already
        told["text"] = content_text(content)
    earlier = answer.earlier
    return told | _present({
        "nothing": silence,
        "tokens": usage and [usage.input_tokens, usage.output_tokens, usage.cached_tokens],
        "cached": answer.cached,
        "notices": list(list_notices(answer)),
        "earlier": earlier and [earlier.duration_s, earlier.cost_usd],
        "steps": [_step_data(step) for step in answer.steps],
        "stepsCut": answer.steps_cut,
        "stderr": answer.stderr,
    })  # fmt: skip


def _step_data(step: Step) -> PageObject:
    told: PageObject = {
        "name": step.name, "kind": step.kind, "depth": step.depth, "at": step.start_s,
        "seconds": step.duration_s,
    }  # fmt: skip
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
    details = [list(fact) for fact in failure_facts(failure.details)]
    return {"kind": failure.kind, "message": failure.message, "details": details}


def grade_data(grade: Grade) -> PageObject:
    """A grade, with those inside of it. Some details are drawn in a way of their own, the rest is
    JSON."""
    inside = [grade_data(each) for each in inner_grades(grade)]
    told = _present({
        "failure": grade.failure and failure_data(grade.failure),
        "grades": inside,
        "turn": grade.turn,
        "weight": grade.weight if grade.weight != 1 else None,
        "required": grade.required,
        "indicator": grade.indicator,
        "asked": _asking_data(grade) if grade.asked else None,
    })  # fmt: skip
    for name in _SIDES:
        if isinstance(grade.details.get(name), str):
            told[name] = grade.details[name]
    for name in _ROWS:
        rows = grade.details.get(name)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            told[name] = [_row_data(row) for row in rows]
    drawn = {*told, "protocol"}
    others = {name: value for name, value in grade.details.items() if name not in drawn}
    told |= {"details": as_json(others, indent=2)} if others else {}
    return {
        "grader": grade.grader, "verdict": grade.verdict, "score": grade.score,
        "reason": grade.reason, **told,
    }  # fmt: skip


def _row_data(row: Mapping[str, Any]) -> PageObject:
    """A row of a detail: strings and truth values as they are, rows inside as rows, and numbers
    and other data as text."""
    told: PageObject = {}
    for name, value in row.items():
        if value is None or isinstance(value, str | bool):
            told[name] = value
        elif (
            name in _ROWS
            and isinstance(value, list)
            and all(isinstance(each, dict) and each.keys().isdisjoint(_ROWS) for each in value)
        ):
            told[name] = [_row_data(each) for each in value]
        elif name == "votes" and isinstance(value, dict):
            told[name] = ", ".join(f"{count} × {verdict}" for verdict, count in value.items())
        else:
            told[name] = as_json(value)
    return told

"""A result in, all that the page shows of the trial out: answer, grades as a tree, failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from evalcase.report.page.messages import Told, tell_messages
from evalcase.report.page.subject import Regrading
from evalcase.types.answer import Answer, Failure, Usage
from evalcase.types.conversation import TALK_ENDINGS
from evalcase.types.grade import Grade
from evalcase.types.message import Step
from evalcase.types.result import Result
from evalcase.types.value import JSON
from evalcase.util.answers import name_silence, parse_answer, read_ending
from evalcase.util.text import arguments_text, as_json, content_text

_SIDES = ("expected", "got", "where", "note")
_ROWS = ("calls", "fields", "criteria", "claims", "votes")
_DEEPEST = 50
_LONGEST_DATA = 500_000


def tell_trial(
    result: Result, regradings: Iterable[Regrading] = (), *, as_data: bool = False
) -> Told:
    """The trial. What there is nothing of is left out. With `as_data`, an answer that is the text
    of data can be compared as that, whatever its layout."""
    told: Told = {
        "repeat": result.key.repeat, "verdict": result.verdict, "score": result.score,
        "seconds": round(result.duration_s, 6), "at": result.started_at,
        "attempts": result.attempts,
        "grades": [tell_grade(grade) for grade in result.grades],
    }  # fmt: skip
    if result.answer is not None:
        told |= _tell_answer(result.answer)
        data = _lay_out(result.answer.content) if as_data else None
        told |= {} if data is None else {"data": data}
    if result.turns:
        told |= _tell_talk(result)
    if result.failure is not None:
        told["failure"] = tell_failure(result.failure)
    if result.retried:
        told["retried"] = [tell_failure(each) for each in result.retried]
    earlier = [
        {
            "number": number, "verdict": each.verdict, "score": each.score,
            "grades": [tell_grade(grade) for grade in each.grades],
        }
        for number, each in regradings
    ]  # fmt: skip
    return {**told, "gradings": earlier} if earlier else told


def _tell_talk(result: Result) -> Told:
    """The turns of a conversation, by how many messages of its answer each has; how it ended, and
    what it took to play its user."""
    silences = [name_silence(each.answer.messages) for each in result.exchanges]
    told: Told = {
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


def _tell_answer(answer: Answer) -> Told:
    told: Told = {
        "answer": tell_messages(answer.messages),
        "hash": answer.fingerprint(),
        "cost": answer.cost_usd,
        "model": answer.model,
    }
    content, silence = answer.content, name_silence(answer.last)
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
        told["steps"] = [_tell_step(step) for step in answer.steps]
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


def _tell_step(step: Step) -> Told:
    told: Told = {"name": step.name, "kind": step.kind, "depth": step.depth, "at": step.start_s}
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


def tell_failure(failure: Failure) -> Told:
    details = [
        [name, "\n".join(map(str, value)) if isinstance(value, list) else content_text(value)]
        for name, value in failure.details.items()
    ]
    return {"kind": failure.kind, "message": failure.message, "details": details}


def tell_grade(grade: Grade) -> Told:
    """A grade, with those inside of it."""
    told = _tell_graded(
        grade.grader, grade.score, grade.passed, grade.reason, grade.details, broke=grade.failure
    )
    if grade.turn is not None:
        told["turn"] = grade.turn
    if grade.weight != 1:
        told["weight"] = grade.weight
    if grade.required:
        told["required"] = True
    if grade.asked:
        told["asked"] = {
            "count": grade.asked, "cached": grade.cached, "cost": grade.cost_usd,
            "seconds": grade.asking_s, "tokens": _list_tokens(grade.usage),
        }  # fmt: skip
    return told


def _tell_graded(
    grader: str, score: float | None, passed: bool, reason: str, details: Mapping[str, Any],
    depth: int = 0, broke: Failure | None = None,
) -> Told:  # fmt: skip
    verdict = "passed" if passed else "failed"
    if broke is not None or score is None:
        verdict = "errored" if broke is not None else "ungraded"
    told: Told = {"grader": grader, "verdict": verdict, "score": score, "reason": reason}
    if broke is not None:
        told["failure"] = tell_failure(broke)
    inside = _tell_inside(details, depth)
    if inside:
        told["grades"] = inside
    told |= _tell_details(details, {"grades"} if inside else set())
    return told


def _tell_inside(details: Mapping[str, Any], depth: int) -> list[Told]:
    """The grades of which a grade is made. A stranger's detail of that name is none."""
    listed = details.get("grades")
    if not isinstance(listed, list) or depth > _DEEPEST:
        return []
    told = []
    for each in listed:
        if not isinstance(each, dict) or not isinstance(each.get("grader"), str):
            return []
        score, within = each.get("score"), each.get("details")
        told.append(
            _tell_graded(
                each["grader"], score if isinstance(score, int | float) else None,
                each.get("passed") is True, str(each.get("reason", "")),
                within if isinstance(within, dict) else {}, depth + 1,
            )
        )  # fmt: skip
    return told


def _tell_details(details: Mapping[str, Any], drawn: set[str]) -> Told:
    """What is drawn in a way of its own, and the rest as JSON."""
    told: Told = {}
    for name in _SIDES:
        if isinstance(details.get(name), str):
            told[name] = details[name]
    for name in _ROWS:
        rows = details.get(name)
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            told[name] = [_tell_row(row) for row in rows]
    shown = {*told, *drawn, "protocol"}
    others = {name: value for name, value in details.items() if name not in shown}
    return {**told, "details": as_json(others, indent=2)} if others else told


def _tell_row(row: Mapping[str, Any]) -> Told:
    """A row of a detail: strings and truth values as they are, rows inside as rows, and numbers
    and other data as text."""
    told: Told = {}
    for name, value in row.items():
        if value is None or isinstance(value, str | bool):
            told[name] = value
        elif name in _ROWS and isinstance(value, list) and _are_rows(value):
            told[name] = [_tell_row(each) for each in value]
        elif name == "votes" and isinstance(value, dict):
            told[name] = ", ".join(f"{count} × {verdict}" for verdict, count in value.items())
        else:
            told[name] = as_json(value)
    return told


def _are_rows(value: list[Any]) -> bool:
    return all(isinstance(each, dict) and each.keys().isdisjoint(_ROWS) for each in value)

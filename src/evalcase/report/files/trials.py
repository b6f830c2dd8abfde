"""A result with its case in, one JSON object out that says all of the trial: a line of JSONL."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.types.answer import Answer
from evalcase.types.case import Case
from evalcase.types.codec import encode_object
from evalcase.types.conversation import split_turns
from evalcase.types.grade import Grade
from evalcase.types.result import Outcome, Result


class Origin(NamedTuple):
    """What is said of the run that a trial is of."""

    run: str
    failed_of: str | None = None
    """The run whose cases that did not pass it is of."""
    mixed: tuple[str, ...] = ()
    """The targets that were changed while it went on."""
    status: str = "completed"
    """How it ended."""
    trials: int | None = None
    """How many of its trials have a result: who reads fewer lines hasn't got all of it."""
    folder: str = "."
    """Where it was begun, as seen from its project's folder: its suites were named there."""


def trial_object(
    origin: Origin, result: Result, case: Case | None, outcome: Outcome
) -> dict[str, Any]:
    """The object. What a record of a stranger's hasn't got is null."""
    data = case._data if case is not None else {}
    answer, failure = result.answer, result.failure
    return {
        "suite": result.key.suite,
        "case": result.key.case,
        "target": result.key.target,
        "repeat": result.key.repeat,
        "verdict": result.verdict,
        "score": result.score,
        "input": _find_asked(case),
        "expected_output": data.get("expected_output"),
        "answer": list(answer.messages) if answer is not None else None,
        "grades": [_object_of_grade(grade) for grade in result.grades],
        "failure": encode_object(failure) if failure is not None else None,
        "usage": encode_object(answer.usage)
        if answer is not None and answer.usage is not None
        else None,
        "cost_usd": answer.cost_usd if answer is not None else None,
        "duration_s": result.duration_s,
        "cached": answer.cached if answer is not None else False,
        "scrubbed": answer.scrubbed if answer is not None else False,
        "truncated": answer.truncated if answer is not None else False,
        "earlier": encode_object(answer.earlier) if answer is not None and answer.earlier else None,
        "steps": [encode_object(step) for step in answer.steps] if answer is not None else [],
        "steps_cut": answer.steps_cut if answer is not None else 0,
        "trace": answer.trace if answer is not None else None,
        "tags": data.get("tags", []),
        "metadata": data.get("metadata", {}),
        "conversation_id": data.get("conversation_id"),
        "vars": data.get("vars", {}),
        "run": origin.run,
        "run_status": origin.status,
        "run_trials": origin.trials,
        "run_folder": origin.folder,
        "failed_of": origin.failed_of,
        "mixed": result.key.target in origin.mixed,
        "repeats": outcome.repeats,
        "case_verdict": outcome.verdict,
        "pass_rate_needed": outcome.pass_rate,
        "question_hash": result.question_hash,
        "answer_hash": answer.fingerprint() if answer is not None else None,
        "grading_hash": result.grading_hash,
        **(
            _object_of_talk(answer, result)
            if result.turns or (case and case.is_conversation)
            else {}
        ),
    }


def _find_asked(case: Case | None) -> list[dict[str, Any]] | None:
    """What is written for a target to be asked: of a conversation, in all of its turns."""
    if case is None:
        return None
    return case.written_messages or None


def _object_of_talk(answer: Answer | None, result: Result) -> dict[str, Any]:
    """What a conversation has beside: its turns, how it ended, and who played its user. One that
    errored has no turns that count."""
    turns = [
        {
            "said": list(each.said),
            "answer": list(each.answer.messages),
            "duration_s": each.duration_s,
            "cost_usd": each.answer.cost_usd,
            "usage": encode_object(each.answer.usage) if each.answer.usage is not None else None,
        }
        for each in (split_turns(answer, result.turns) if answer is not None else ())
    ]
    user = encode_object(result.user) if result.user is not None else None
    return {"turns": turns, "ending": result.ending, "user": user}


def _object_of_grade(grade: Grade) -> dict[str, Any]:
    data: dict[str, Any] = {
        "grader": grade.grader,
        "score": grade.score,
        "passed": grade.passed,
        "reason": grade.reason,
        "details": grade.details,
    }
    if grade.turn is not None:
        data["turn"] = grade.turn
    if grade.weight != 1:
        data["weight"] = grade.weight
    if grade.required:
        data["required"] = True
    if grade.asked:
        data["asked"], data["cached"] = grade.asked, grade.cached
        data["usage"] = encode_object(grade.usage) if grade.usage is not None else None
        data["cost_usd"], data["asking_s"] = grade.cost_usd, grade.asking_s
    if grade.failure is not None:
        data["failure"] = encode_object(grade.failure)
    return data

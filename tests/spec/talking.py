"""Conversations for tests: a case in turns, what a target is asked, and what comes of it."""

import json
from pathlib import Path
from typing import Any

import evalcase
from evalcase import Case, Evaluated, Message, Question, Result, TargetError
from evalcase.testing import ScriptedTarget
from evalcase.types.target import Target

SYSTEM = {"role": "system", "content": "You are a tutor."}
TUTOR: dict[str, Any] = {
    "id": "tutor",
    "input": SYSTEM,
    "turns": [
        {"input": "What is 15% of 200?", "expected_output": "30"},
        {"input": "Double it.", "graders": [{"contains": "60"}]},
    ],
}


def busy() -> TargetError:
    """Something that may succeed later, and at once."""
    return TargetError("busy", kind="http", may_succeed_later=True, retry_after_s=0.0)


def hold(case: dict[str, Any], target: object, **options: Any) -> Result:
    """The result of the only trial of a case."""
    (result,) = run(case, target, **options).results
    return result


def run(case: dict[str, Any], target: object, **options: Any) -> Evaluated:
    return evalcase.evaluate([Case(**case)], target, **options)  # type: ignore[arg-type]


def said(question: Question) -> list[tuple[str, object]]:
    """What a target was shown, as pairs of role and content."""
    return pairs(question.messages)


def pairs(messages: tuple[Message, ...]) -> list[tuple[str, object]]:
    return [(message.role, message.content) for message in messages]


def grades(result: Result) -> dict[str, bool]:
    return {grade.grader: grade.passed for grade in result.grades}


class Stateful(ScriptedTarget):
    """A target that remembers what it was asked in a session."""

    traits = evalcase.Traits(stateless=False)


def write_suite(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "s.eval.yaml"
    path.write_text(json.dumps({"cases": cases}))
    return path


__all__ = [
    "SYSTEM", "TUTOR", "Stateful", "Target", "busy", "grades", "hold", "pairs", "run", "said",
    "write_suite",
]  # fmt: skip

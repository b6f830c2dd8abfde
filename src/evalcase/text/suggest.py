"""`did you mean …?`: the hint that names what a wrong name was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.model.nearest import hint_at, nearest_meaning, plain_name

_FIELDS_ELSEWHERE = {
    "prompt": "input", "question": "input", "query": "input", "messages": "input",
    "expected": "expected_output", "expected_answer": "expected_output", "ideal": "expected_output",
    "answer": "expected_output", "reference": "expected_output", "output": "expected_output",
    "assert": "graders", "asserts": "graders", "assertion": "graders", "assertions": "graders",
    "scorers": "graders", "scorer": "graders", "metrics": "graders", "evaluator": "graders",
    "grader": "graders",
    "provider": "target", "providers": "targets", "model": "target", "name": "id",
    "rubric": "rubrics", "tag": "tags", "timeout": "timeout_s", "repeats": "repeat",
    "epochs": "repeat", "samples": "cases", "data": "cases",
}  # fmt: skip
"""What other tools call the fields of a case or a suite."""

ROLES_ELSEWHERE = {
    "human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant",
    "agent": "assistant", "function": "tool", "instructions": "system",
}  # fmt: skip
"""What other tools call the roles of a message."""

_FIELDS_ALIKE = 0.7


def suggest(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """A hint that names the nearest field; never an alias, but what it stands for.

    What other tools call a field counts only if it is written just so: nobody misspells the name
    of another tool's.
    """
    known = list(known)
    foreign = _FIELDS_ELSEWHERE if elsewhere is None else elsewhere
    meant = {**(aliases or {}), **{each: each for each in known}}
    meant = {written: primary for written, primary in meant.items() if primary in known}
    written = plain_name(name)
    if written not in meant and foreign.get(written) in known:
        close: str | None = foreign[written]
    else:
        close = nearest_meaning(name, meant, _FIELDS_ALIKE)
    return hint_at(close)

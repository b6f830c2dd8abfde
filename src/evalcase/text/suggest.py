"""`did you mean …?`: the known name that a wrong one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

_FIELDS_ELSEWHERE = {
    "prompt": "input", "question": "input", "query": "input", "messages": "input",
    "expected": "expected_output", "expected_answer": "expected_output", "ideal": "expected_output",
    "answer": "expected_output", "reference": "expected_output", "output": "expected_output",
    "assert": "graders", "asserts": "graders", "assertions": "graders", "scorers": "graders",
    "scorer": "graders", "metrics": "graders", "evaluator": "graders", "grader": "graders",
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


def suggest(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """A hint that names the nearest known name; never an alias, but what it stands for."""
    from difflib import get_close_matches

    known = list(known)
    foreign = _FIELDS_ELSEWHERE if elsewhere is None else elsewhere
    meant = {**foreign, **(aliases or {}), **{each: each for each in known}}
    meant = {written: primary for written, primary in meant.items() if primary in known}
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    close = [plain] if plain in meant else get_close_matches(plain, meant, 1, 0.7)
    return f"did you mean `{meant[close[0]]}`?" if close else None

"""`did you mean …?`: the known name that a wrong one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

_ELSEWHERE = {
    "prompt": "input", "question": "input", "query": "input", "messages": "input",
    "expected": "expected_output", "expected_answer": "expected_output", "ideal": "expected_output",
    "answer": "expected_output", "reference": "expected_output", "output": "expected_output",
    "assert": "graders", "asserts": "graders", "assertions": "graders", "scorers": "graders",
    "scorer": "graders", "metrics": "graders", "evaluator": "graders", "grader": "graders",
    "provider": "target", "providers": "targets", "model": "target", "name": "id",
    "rubric": "rubrics", "tag": "tags", "timeout": "timeout_s", "repeats": "repeat",
    "epochs": "repeat", "human": "user", "ai": "assistant", "model_": "assistant",
    "bot": "assistant", "function": "tool", "samples": "cases", "data": "cases",
}  # fmt: skip
"""What other tools call things."""


def suggest(name: str, known: Iterable[str], aliases: dict[str, str] | None = None) -> str | None:
    """A hint that names the nearest known name; an alias is never suggested, its primary is."""
    from difflib import get_close_matches

    aliases = aliases or {}
    known = list(known)
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    close = get_close_matches(plain, [*known, *aliases], 1, 0.7)
    guess = aliases.get(close[0], close[0]) if close else _ELSEWHERE.get(plain)
    return f"did you mean `{guess}`?" if guess in known else None

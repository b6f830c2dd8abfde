"""`did you mean …?`: the hint that names what a wrong name was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from evalcase.model.nearest import find_nearest, hint_at, nearest_meaning, plain_name

_FIELDS_ELSEWHERE = {
    "prompt": "input", "question": "input", "query": "input", "messages": "input",
    "expect": "expected_output", "expects": "expected_output",
    "expected": "expected_output", "expected_answer": "expected_output", "ideal": "expected_output",
    "answer": "expected_output", "reference": "expected_output", "output": "expected_output",
    "assert": "graders", "asserts": "graders", "assertion": "graders", "assertions": "graders",
    "scorers": "graders", "scorer": "graders", "metrics": "graders", "evaluator": "graders",
    "grader": "graders",
    "provider": "target", "providers": "targets", "model": "target", "name": "id",
    "rubric": "rubrics", "tag": "tags", "timeout": "timeout_s", "repeats": "repeat",
    "epochs": "repeat", "samples": "cases", "data": "cases", "meta": "metadata",
    "desc": "description",
    "instructions": "goal", "scenario": "goal", "task": "goal", "max_steps": "max_turns",
    "user_description": "persona", "initial_message": "first", "first_message": "first",
}  # fmt: skip
"""What other tools call the fields of a case or a suite."""

ROLES_ELSEWHERE = {
    "human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant",
    "agent": "assistant", "function": "tool", "instructions": "system",
}  # fmt: skip
"""What other tools call the roles of a message."""

_FIELDS_ALIKE = 0.7
_SHORT = 5
_SHORT_ALIKE = 0.8


def suggest_field(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """A hint that names the nearest field, as `nearest_field` finds it."""
    return hint_at(nearest_field(name, known, aliases, elsewhere))


def nearest_field(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """The field that was probably meant; never an alias, but what it stands for.

    What other tools call a field counts only if it is written just so: nobody misspells the name
    of another tool's.
    """
    known = list(known)
    foreign = _FIELDS_ELSEWHERE if elsewhere is None else elsewhere
    meant = {**(aliases or {}), **{each: each for each in known}}
    meant = {written: primary for written, primary in meant.items() if primary in known}
    written = plain_name(name)
    if written not in meant and foreign.get(written) in known:
        return foreign[written]
    likely = {each: primary for each, primary in meant.items() if _may_be(written, each)}
    return nearest_meaning(name, likely, _FIELDS_ALIKE)


def describe_foreign_letter(name: str) -> str:
    """What a name has that our names never have, and that may look just like it; else nothing."""
    odd = next((char for char in name if not char.isascii()), None)
    if odd is None:
        return ""
    from unicodedata import name as name_of

    return f": it has U+{ord(odd):04X}, {name_of(odd, 'a character without a name').lower()}"


def _may_be(name: str, known: str) -> bool:
    """Whether one name is about as long as another; short ones are alike by chance, so they have
    to begin alike, too, or to be nearly the same."""
    if abs(len(name) - len(known)) > max(2, len(known) // 4):
        return False
    is_short = len(known) <= _SHORT and name[:1] != known[:1]
    return not is_short or find_nearest(name, [known], _SHORT_ALIKE) is not None

"""How alike texts are: the edit distance of two, and the field that a misspelt name stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evalcase.types.problem import find_nearest, hint_at, nearest_meaning, plain_name

_ASK_EVERY = 256
"""How many characters `edit_distance` takes between two looks at whether it may stop."""


def edit_distance(left: str, right: str, is_given_up: Callable[[], bool] | None = None) -> int:
    """How many characters have to be put in, taken out or changed to make one text of another.
    Raise InterruptedError once it is given up.

    A column of the usual table is held as the bits of two numbers (Myers 1999), so one step of
    Python computes as many cells as the shorter text has characters.
    """
    left, right = sorted((left, right), key=len)
    if not left:
        return len(right)
    places: dict[str, int] = {}
    for number, char in enumerate(left):
        places[char] = places.get(char, 0) | (1 << number)
    ones, last = (1 << len(left)) - 1, 1 << (len(left) - 1)
    more, less, distance = ones, 0, len(left)
    for number, char in enumerate(right):
        if is_given_up is not None and number % _ASK_EVERY == 0 and is_given_up():
            raise InterruptedError
        same = places.get(char, 0)
        kept = same | less
        across = ((((same & more) + more) ^ more) | same) & ones
        grown = less | (~(across | more) & ones)
        shrunk = more & across
        distance += bool(grown & last) - bool(shrunk & last)
        grown = ((grown << 1) | 1) & ones
        shrunk = (shrunk << 1) & ones
        more = shrunk | (~(kept | grown) & ones)
        less = grown & kept
    return distance


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


def suggest_field(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """A hint that names the field that `nearest_field` finds."""
    return hint_at(nearest_field(name, known, aliases, elsewhere))


def nearest_field(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """The field that was probably meant: never an alias, but the field it stands for.

    Another tool's name of a field counts only if it is written exactly: people don't misspell it.
    """
    known = list(known)
    foreign = _FIELDS_ELSEWHERE if elsewhere is None else elsewhere
    meant = {old: new for old, new in (aliases or {}).items() if new in known}
    meant |= {each: each for each in known}
    written = plain_name(name)
    if written not in meant and foreign.get(written) in known:
        return foreign[written]
    likely = {each: primary for each, primary in meant.items() if _may_be(written, each)}
    return nearest_meaning(name, likely, alike=0.7)


def _may_be(name: str, known: str) -> bool:
    """Whether one name is about as long as another. Short names are alike by chance: they have to
    begin alike, too, or to be nearly the same."""
    if abs(len(name) - len(known)) > max(2, len(known) // 4):
        return False
    is_chance = len(known) <= 5 and name[:1] != known[:1]
    return not is_chance or find_nearest(name, [known], alike=0.8) is not None

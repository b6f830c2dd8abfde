"""One turn of a conversation that was had before: a row that tells of all of it to its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from evalcase.errors import TargetError
from evalcase.model.answer import Answer
from evalcase.model.json_value import JSON
from evalcase.model.question import Question

ReadRow = Callable[[dict[str, Any]], Answer]


def find_turn(row: dict[str, Any], question: Question, read: ReadRow) -> Answer:
    """The answer to a turn, as `read` reads that of a row of its own. Raise TargetError if there is
    none, or if what was said then is not what is said now."""
    turns, number = row.get("turns"), question.turn
    if turns is None and number == 1:
        return read(row)
    if not isinstance(turns, list) or number > len(turns):
        had = len(turns) if isinstance(turns, list) else 1
        _refuse(question, f"has {had} turn{'' if had == 1 else 's'}, and turn {number} is asked")
    kept = row.get("answer")
    if not isinstance(kept, Mapping):
        return read({**row, "turns": None, "answer": turns[number - 1]})
    messages = kept.get("messages", ())
    at = sum(_count(turn, "said") + _count(turn, "answered") for turn in turns[: number - 1])
    turn = turns[number - 1]
    middle = at + _count(turn, "said")
    said = question.messages[len(question.messages) - (middle - at) :]
    if list(said) != messages[at:middle]:
        _refuse(question, f"went another way: in turn {number} something else was said")
    answered = messages[middle : middle + _count(turn, "answered")]
    return read({**row, **_taken(turn), "answer": {**_of_turn(kept, turn), "messages": answered}})


_WHOLE = ("usage", "cost_usd", "truncated", "model", "earlier", "last_at")
"""What an answer says of all turns together."""


def _of_turn(kept: Mapping[str, JSON], turn: Mapping[str, JSON]) -> dict[str, JSON]:
    own = {name: turn[name] for name in _WHOLE if name in turn}
    return {**{name: value for name, value in kept.items() if name not in _WHOLE}, **own}


def _taken(turn: Mapping[str, JSON]) -> dict[str, JSON]:
    return {"duration_s": turn.get("duration_s")}


def _count(turn: object, name: str) -> int:
    number = turn.get(name) if isinstance(turn, Mapping) else None
    if type(number) is not int or number < 0:
        raise TargetError("the turns of a recorded conversation can't be read", kind="protocol")
    return number


def _refuse(question: Question, why: str) -> NoReturn:
    message = f"the recorded conversation of case `{question.case}` {why}"
    raise TargetError(message, kind="protocol")

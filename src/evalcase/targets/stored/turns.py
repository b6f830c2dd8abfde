"""One turn of a conversation that was had before: a row that tells of all of it to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from evalcase.errors import TargetError
from evalcase.targets.stored.said import list_unread, refuse_misspelt
from evalcase.types.answer import Answer
from evalcase.types.codec import decode_object
from evalcase.types.conversation import Exchange, Turn, split_turns
from evalcase.types.question import Question
from evalcase.util.calls import CALLS
from evalcase.util.text import write_count

_OF_ALL = ("usage", "cost_usd", "duration_s", "earlier", "steps", "steps_cut", "trace")
"""What a row says of all turns together."""


def recorded_turn(row: dict[str, Any], question: Question) -> tuple[Answer, object]:
    """What a row of a journal has answered to a turn, and how long that took. Raise TargetError if
    there is no such turn, or if what was said then is not what is said now."""
    try:
        answer = decode_object(Answer, row["answer"])
        turns = [decode_object(Turn, each) for each in row.get("turns") or ()]
        if not turns and question.turn == 1:
            return answer, row.get("duration_s")
        exchanges = split_turns(answer, turns)
    except (TypeError, ValueError) as error:
        message = f"the recorded answer to case `{question.case}` can't be read: {error}"
        raise TargetError(message, kind="protocol") from None
    turn: Exchange = _choose_turn(exchanges, question)
    _expect_same(turn.said, question)
    return turn.answer, turn.duration_s


def listed_turn(row: dict[str, Any], question: Question) -> dict[str, Any]:
    """The row of a file of answers for one turn: its `turns` are answers, or what a report in JSONL
    tells of each. Raise TargetError as above."""
    turns = row.get("turns")
    if not turns and question.turn == 1:
        return row
    calls = next((name for name in CALLS if row.get(name)), None)
    if calls is not None:
        _refuse_question(question, f"has `{calls}` beside its turns, and belongs to none of them")
    turn = _choose_turn(turns if isinstance(turns, list) else [turns], question)
    told = {name: value for name, value in row.items() if name not in (*_OF_ALL, "turns")}
    if not isinstance(turn, Mapping) or turn.keys().isdisjoint(("said", "answer")):
        return {**told, "answer": turn}
    try:
        for key in list_unread(turn):
            refuse_misspelt(key)
    except ValueError as error:
        _refuse_question(question, f"can't be read: in turn {question.turn} {error}")
    if isinstance(turn.get("said"), list):
        _expect_same(turn["said"], question)
    return {**told, **turn}


def expect_asked(row: Mapping[str, Any], question: Question, path: str) -> None:
    """Raise TargetError where a row is of another question than the case asks by now. A row of
    somebody else need not say what was asked."""
    then = row.get("question_hash")
    if then and question.hash:
        is_same = then == question.hash
    else:
        is_same = bool(row.get("turns")) or _is_asked(row.get("input"), question)
    if not is_same:
        what = "its input, its metadata or a file that it names was changed since"
        message = f"{path} has no answer to what case `{question.case}` asks by now: {what}"
        raise TargetError(message, kind="protocol")


def expect_whole(is_scrubbed: bool, case: object) -> None:
    """Raise TargetError for an answer that is graded as it was given, or not at all."""
    if is_scrubbed:
        what = "was recorded without a secret that was in it, and is not what was answered"
        raise TargetError(f"the answer to case `{case}` {what}", kind="protocol")


def _is_asked(said: object, question: Question) -> bool:
    """Whether a question ends with what was said, in so far as that is told in a form of ours."""
    if isinstance(said, str):
        return said.strip() == question.text.strip()
    if not isinstance(said, list) or not all(isinstance(each, dict) for each in said):
        return True
    return _ends_with(question, said)


def _choose_turn(turns: Sequence[Any], question: Question) -> Any:  # noqa: ANN401 - an item of any sort
    had, number = len(turns), question.turn
    if number > had:
        had = max(had, 1)
        _refuse_question(question, f"has {write_count(had, 'turn')}, and turn {number} is asked")
    return turns[number - 1]


def _expect_same(said: Sequence[Any], question: Question) -> None:
    if not _ends_with(question, said):
        why = f"went another way: in turn {question.turn} something else was said"
        _refuse_question(question, why)


def _ends_with(question: Question, said: Sequence[Any]) -> bool:
    return list(question.messages[max(0, len(question.messages) - len(said)) :]) == list(said)


def _refuse_question(question: Question, why: str) -> NoReturn:
    message = f"the recorded conversation of case `{question.case}` {why}"
    raise TargetError(message, kind="protocol")

"""One vote of a judge: asked, read, and asked again where its reply can't be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from evalcase.errors import GraderError, TargetError
from evalcase.graders.judging.prompt import Prompt, ask_again
from evalcase.graders.judging.reply import BadJudgeReplyError
from evalcase.types.answer import Answer
from evalcase.types.grader import Usable
from evalcase.types.message import Message
from evalcase.types.value import JSON
from evalcase.util.answers import read_ending
from evalcase.util.text import shorten_text

REASKS = 2
_SHOWN_REPLY = 100
_LONGEST_REPLY = 4_000

Ask = Callable[[str, tuple[Message, ...], JSON, Usable], Awaitable[Answer]]
T = TypeVar("T")


class Vote(NamedTuple, Generic[T]):
    """What one judge said, or why it said nothing that counts."""

    said: T | None
    failure: GraderError | None
    about: Mapping[str, Any]
    """For the record: who was asked, how often, and what came."""


async def ask_vote(
    ask: Ask, target: str, prompt: Prompt, schema: JSON, read: Callable[[str], T]
) -> Vote[T]:
    """Ask once, and twice more if a reply can't be read. Nothing is raised."""
    about: dict[str, Any] = {"judge": target, "prompt": prompt.digest, "attempts": 0}
    messages, complaint = prompt.messages, ""
    usable = partial(_is_usable, read)
    for number in range(1, REASKS + 2):
        about["attempts"] = number
        try:
            answer = await ask(target, messages, schema, usable)
        except TargetError as error:
            return _make_broken_vote(
                about, GraderError("grader", f"the judge could not answer: {error}", error.details)
            )
        about |= _describe_answer(answer)
        unusable = _object_to(answer)
        if unusable is not None:
            return _make_broken_vote(about, unusable)
        try:
            return Vote(_read_reply(read, answer), None, about)
        except BadJudgeReplyError as error:
            complaint = str(error)
            messages = ask_again(prompt, complaint)
            about["reply"] = answer.text[:_LONGEST_REPLY]
    message = f"the judge's reply can't be read, after {REASKS + 1} tries: {complaint}"
    if said := " ".join(about["reply"].split()):
        message = f"{message}; it said “{shorten_text(said, _SHOWN_REPLY)}”"
    return _make_broken_vote(
        about, GraderError("judge-unparseable", message, {"reply": about["reply"]})
    )


def _is_usable(read: Callable[[str], T], answer: Answer) -> bool:
    """Whether it is a verdict: what is not must not come back from the cache."""
    if _object_to(answer) is not None:
        return False
    try:
        _read_reply(read, answer)
    except BadJudgeReplyError:
        return False
    return True


def _read_reply(read: Callable[[str], T], answer: Answer) -> T:
    if answer.tool_calls:
        raise BadJudgeReplyError("it called a tool, and there is none to be called")
    return read(answer.text)


def _make_broken_vote(about: dict[str, Any], failure: GraderError) -> Vote[Any]:
    return Vote(None, failure, {**about, "failure": failure.kind, "message": str(failure)})


def _describe_answer(answer: Answer) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    if answer.model is not None:
        seen["model"] = answer.model
    if answer.asked_as is not None:
        seen["mode"] = answer.asked_as
    if answer.cached:
        seen["cached"] = True
    return seen


def _object_to(answer: Answer) -> GraderError | None:
    """Why an answer can't be a verdict, whatever its text says."""
    end, details = read_ending(answer), {"reply": answer.text[:_LONGEST_REPLY]}
    if end.refusal is not None:
        return GraderError("judge-refused", "the judge refused to judge", details)
    if end.kind == "cut off" or answer.truncated:
        return GraderError("judge-truncated", "the judge's reply was cut off", details)
    return None

"""How a function of the user's is called: decided once, by the names of its parameters, and the
annotation `Question`. `case`, or the annotation Case, is refused: what is expected is not for the
eyes of the target."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from evalcase.errors import ConfigError
from evalcase.targets.base import last_user_content
from evalcase.types.message import copy_of, text_of
from evalcase.types.problem import did_you_mean
from evalcase.types.target import Question
from evalcase.types.value import JSON, copy_value


def _copy_content(question: Question) -> JSON:
    """The text, of content parts their joined text; data as it is."""
    content = last_user_content(question)
    text = text_of(content)
    return text if text is not None else copy_value(content)


_BY_NAME: dict[str, Callable[[Question], Any]] = {
    "messages": lambda question: list(copy_of(question.messages)),
    "files": lambda question: list(question.files.values()),
    "metadata": lambda question: copy_value(question.metadata),
    "attempt": lambda question: question.attempt,
    "session": lambda question: question.session,
    "turn": lambda question: question.turn,
    "workspace": lambda question: None if question.workspace is None else question.workspace.path,
}
_NAMES = "`messages`, `files`, `metadata`, `attempt`, `session`, `turn` and `workspace`"
_TEXT_NAMES = frozenset({
    "text", "question", "prompt", "input", "query", "q", "message", "msg", "content", "request",
    "task", "instruction", "utterance",
})  # fmt: skip
"""The last word in the name of a parameter for the user's text: `text`, `user_message`."""


class Slot(NamedTuple):
    """A parameter, with what it is given."""

    name: str
    role: str
    """Its name if it is one of those above, else `question`, `content` or `default`."""
    give: Callable[[Question], Any]
    by_place: bool = False
    """Whether it can't be passed by name."""


class BoundFunction:
    """A function with what each of its parameters is given."""

    def __init__(self, function: Callable[..., Any], slots: Sequence[Slot]) -> None:
        self.function = function
        self.is_async = is_async(function)
        self.slots = slots
        self.roles = {slot.role for slot in slots}
        self.sees_last_only = "content" in self.roles and not self.roles & {"messages", "question"}
        """Whether it sees only the last user message of several messages."""

    def arguments(self, question: Question) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by place and by name. They share nothing that could be changed."""
        by_place, by_name = list[Any](), dict[str, Any]()
        for slot in self.slots:
            if slot.by_place:
                by_place.append(slot.give(question))
            else:
                by_name[slot.name] = slot.give(question)
        return by_place, by_name


def bind_function(function: Callable[..., Any], name: str) -> BoundFunction:
    """Find out how to call a function. Raise ConfigError if it can't be."""
    slots = _make_slots(function, name)
    roles = {slot.role for slot in slots}
    texts = [slot.name for slot in slots if slot.role == "content"]
    if inspect.isfunction(function) and "." in name.partition(":")[2] and "self" in texts[:1]:
        owner, _, method = name.rpartition(".")
        hint = f"name the class, `{owner}`, or an instance of it"
        raise ConfigError(f"python target `{name}`: `{method}` is a method: {hint}")
    if len(texts) > 1 or roles <= {"default"}:
        odd = f": there is nothing to give to `{texts[1]}`" if len(texts) > 1 else ""
        hint = f"it takes one parameter for what the user said last, and {_NAMES} by their names"
        raise ConfigError(f"python target `{name}`: it can't be asked a question{odd}; {hint}")
    if (
        texts
        and texts[0].lower().rpartition("_")[2] not in _TEXT_NAMES
        and (roles & {"messages", "question"})
    ):
        # Another parameter has the user's text, and the name of this one doesn't say it is a text.
        near = did_you_mean(texts[0], _BY_NAME)
        raise ConfigError(
            f"python target `{name}`: there is nothing to give to `{texts[0]}`; "
            f"{f'{near} ' if near else ''}{_NAMES} are given by their names, and the last user "
            "text as `text`; give it a default if it needs none"
        )
    return BoundFunction(function, slots)


def bind_target(answer: Callable[..., Any]) -> BoundFunction:
    """The same for the method of a target, which is always given the question."""
    return BoundFunction(answer, (Slot("question", "question", copy_of, by_place=True),))


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to be awaited, as far as that can be seen."""
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def takes_nothing(function: Callable[..., Any], name: str) -> bool:
    """Whether a callable has no parameter that a question could be given to."""
    return all(slot.role == "default" for slot in _make_slots(function, name))


def _make_slots(function: Callable[..., Any], name: str) -> list[Slot]:
    content = Slot("text", "content", _copy_content, by_place=True)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function written in C that doesn't say
        return [content]
    with suppress(Exception):  # annotations are code of the user's
        parameters = inspect.signature(function, eval_str=True).parameters.values()
    stars = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    slots = [_make_slot(each, name) for each in parameters if each.kind not in stars]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if takes_any and all(slot.role == "default" for slot in slots):
        return [*(slot for slot in slots if slot.by_place), content]
    return slots


def _make_slot(parameter: inspect.Parameter, name: str) -> Slot:
    names, by_place = _names_in(parameter.annotation), parameter.kind is parameter.POSITIONAL_ONLY
    if parameter.name == "case" or "Case" in names:
        raise ConfigError(
            f"python target `{name}`: its parameter `{parameter.name}` asks for the case, and what "
            f"is expected must not be seen by what is tested: the annotation `Question` gives all "
            f"the rest, and so do {_NAMES}, each a part of it"
        )
    if "Question" in names:
        return Slot(parameter.name, "question", copy_of, by_place)
    if parameter.name in _BY_NAME:
        return Slot(parameter.name, parameter.name, _BY_NAME[parameter.name], by_place)
    if parameter.default is not parameter.empty:
        return Slot(parameter.name, "default", lambda _: parameter.default, by_place)
    return Slot(parameter.name, "content", _copy_content, by_place)


def _names_in(annotation: object) -> set[str]:
    """The names in an annotation. Those of evalcase's own classes have no module: a class of the
    user's own may be called the same."""
    words = re.findall(r"[\w.]+", inspect.formatannotation(annotation))
    return {re.sub(r"^evalcase\.(types\.\w+\.)?", "", word) for word in words}

"""How a function wants to be told of a case: decided once by its parameters, not at each call.

A parameter named `case`, or annotated as Case, gets the case. One named `messages`, or annotated
as several Messages, gets the list of messages. One other parameter gets the last user content.
Parameters with a default are left alone, unless they are called `case` or `messages`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

from evalcase.errors import ConfigError
from evalcase.model.case import Case
from evalcase.model.message import Message
from evalcase.model.trial import Trial
from evalcase.targets.shown import last_user

Role = Literal["case", "messages", "content"]


class Slot(NamedTuple):
    role: Role
    keyword: str | None
    """The name it is passed by, if it can't be passed by place."""


class Call(NamedTuple):
    """A function with what each of its parameters is given."""

    function: Callable[..., Any]
    is_async: bool
    slots: tuple[Slot, ...]

    @property
    def sees_all(self) -> bool:
        """Whether it can see every message of a case."""
        return any(slot.role != "content" for slot in self.slots)

    def arguments(self, trial: Trial) -> tuple[list[Any], dict[str, Any], int]:
        """What to call it with, by place and by name; and how many messages there are."""
        case = trial.case
        messages = case.input
        by_place: list[Any] = []
        by_name: dict[str, Any] = {}
        for role, keyword in self.slots:
            if role == "content":
                value: Any = last_user(messages, case).content
            else:
                value = case if role == "case" else list(messages)
            if keyword is None:
                by_place.append(value)
            else:
                by_name[keyword] = value
        return by_place, by_name, len(messages)


def bind(function: Callable[..., Any], name: str) -> Call:
    """Find out how to call a function. Raise ConfigError if it can't be."""
    slots = [slot for slot in map(_slot, _parameters(function)) if slot is not None]
    contents = [slot for slot in slots if slot.role == "content"]
    if len(contents) > 1 or not slots:
        hint = "it takes one parameter for the input, or `messages`, or `case`"
        raise ConfigError(f"python target `{name}`: it can't be called with a case; {hint}")
    return Call(function, is_async(function), tuple(slots))


def is_async(function: Callable[..., Any]) -> bool:
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def takes_nothing(function: Callable[..., Any]) -> bool:
    """Whether a callable has no parameter that a case could be given to."""
    return not any(map(_slot, _parameters(function)))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Written in C, without a signature: it is given the content.
        return [inspect.Parameter("content", inspect.Parameter.POSITIONAL_ONLY)]
    return _without_rest(found)


def _without_rest(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """`*args` is for the content only if nothing else is."""
    named = [each for each in parameters if each.kind is not each.VAR_POSITIONAL]
    return named if any(map(_slot, named)) else parameters


def _slot(parameter: inspect.Parameter) -> Slot | None:
    if parameter.kind is parameter.VAR_KEYWORD:
        return None
    role = _role(parameter)
    if role == "content" and parameter.default is not parameter.empty:
        return None
    by_name = parameter.kind is parameter.KEYWORD_ONLY or parameter.default is not parameter.empty
    return Slot(role, parameter.name if by_name else None)


def _role(parameter: inspect.Parameter) -> Role:
    annotation = parameter.annotation
    if parameter.name == "case" or _names_case(annotation):
        return "case"
    if parameter.name == "messages" or _names_messages(annotation):
        return "messages"
    return "content"


def _names_case(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.strip("\"'").rpartition(".")[2] == "Case"
    return annotation is Case


def _names_messages(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.endswith("]") and "Message" in annotation.replace(".", "[")
    return Message in get_args(annotation)

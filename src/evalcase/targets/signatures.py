"""How a function of the user's is called: decided once, by the names and annotations of its
parameters. `case`, or the annotation Case, is refused: what is expected is not for the eyes of the
target."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from evalcase.errors import ConfigError
from evalcase.targets.base import last_user_content
from evalcase.types.message import copy_of, text_of
from evalcase.types.problem import did_you_mean
from evalcase.types.question import Question
from evalcase.types.value import JSON, copy_value

Role = Literal[
    "content",
    "messages",
    "files",
    "metadata",
    "attempt",
    "session",
    "turn",
    "workspace",
    "question",
    "default",
]

_BY_NAME: tuple[Role, ...] = (
    "messages", "files", "metadata", "attempt", "session", "turn", "workspace"
)  # fmt: skip
_NAMES = "`messages`, `files`, `metadata`, `attempt`, `session`, `turn` and `workspace`"
_TEXT_NAMES = frozenset({
    "text", "question", "prompt", "input", "query", "q", "message", "msg", "content", "request",
    "task", "instruction", "utterance",
})  # fmt: skip
"""The last word in the name of a parameter for the user's text: `text`, `user_message`."""


_SEVERAL = {"list", "tuple", "sequence", "iterable", "collection"}


class Slot(NamedTuple):
    """A parameter, with what it is given."""

    role: Role
    name: str
    give: Callable[[Question], Any]
    by_name: bool = False
    """Whether it can't be passed by place."""


class BoundFunction:
    """A function with what each of its parameters is given."""

    def __init__(self, function: Callable[..., Any], slots: Sequence[Slot]) -> None:
        self.function = function
        self.is_async = is_async(function)
        self.slots = slots
        self.roles = {slot.role for slot in slots}
        self.sees_last_only = "content" in self.roles and self.roles.isdisjoint(
            {"messages", "question"}
        )
        """Whether it sees only the last user message of several messages."""

    def arguments(self, question: Question) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by place and by name. They share nothing that could be changed."""
        by_place = [slot.give(question) for slot in self.slots if not slot.by_name]
        return by_place, {slot.name: slot.give(question) for slot in self.slots if slot.by_name}


def bind_function(function: Callable[..., Any], name: str) -> BoundFunction:
    """Find out how to call a function. Raise ConfigError if it can't be."""
    slots = _make_slots(function, name)
    roles = [slot.role for slot in slots]
    texts = [slot.name for slot in slots if slot.role == "content"]
    if inspect.isfunction(function) and "." in name.partition(":")[2] and "self" in texts[:1]:
        owner, _, method = name.rpartition(".")
        hint = f"name the class, `{owner}`, or an instance of it"
        raise ConfigError(f"python target `{name}`: `{method}` is a method: {hint}")
    if len(texts) > 1 or all(role == "default" for role in roles):
        odd = f": there is nothing to give to `{texts[1]}`" if len(texts) > 1 else ""
        hint = f"it takes one parameter for what the user said last, and {_NAMES} by their names"
        raise ConfigError(f"python target `{name}`: it can't be asked a question{odd}; {hint}")
    if texts and not {"messages", "question"}.isdisjoint(roles):
        _refuse_odd_name(texts[0], name)
    return BoundFunction(function, slots)


def _refuse_odd_name(wanted: str, name: str) -> None:
    """Raise ConfigError where another parameter has the user's text already, and the name of the
    one that is left doesn't say that it is a text."""
    if wanted and wanted.lower().rpartition("_")[2] not in _TEXT_NAMES:
        near = did_you_mean(wanted, _BY_NAME)
        raise ConfigError(
            f"python target `{name}`: there is nothing to give to `{wanted}`; "
            f"{f'{near} ' if near else ''}{_NAMES} are given by their names, and the last user "
            "text as `text`; give it a default if it needs none"
        )


def bind_target(answer: Callable[..., Any]) -> BoundFunction:
    """The same for the method of a target, which is always given the question."""
    return BoundFunction(answer, (Slot("question", "question", copy_of),))


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
    content = Slot("content", "", _copy_content)
    parameters = _list_parameters(function)
    if parameters is None:
        return [content]
    slots = [
        slot
        for each in parameters
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        if (slot := _make_slot(each, name)) is not None
    ]
    takes_any = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if takes_any and all(slot.role == "default" for slot in slots):
        slots.append(content)
    return slots


def _list_parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters; None for a function written in C that doesn't say. Annotations stay texts
    where they name something that only type checkers import."""
    for eval_str in (True, False):
        with suppress(Exception):  # annotations are code of the user's
            return [*inspect.signature(function, eval_str=eval_str).parameters.values()]
    return None


def _make_slot(parameter: inspect.Parameter, name: str) -> Slot | None:
    has_default = parameter.default is not parameter.empty
    is_by_place = parameter.kind is parameter.POSITIONAL_ONLY
    role = _find_role(parameter, name)
    if role == "content" and has_default:
        # Left alone; but what follows by place can't be given without it.
        return Slot("default", "", lambda _: parameter.default) if is_by_place else None
    by_name = parameter.kind is parameter.KEYWORD_ONLY or (has_default and not is_by_place)
    return Slot(role, parameter.name, _GIVES[role], by_name)


def _find_role(parameter: inspect.Parameter, name: str) -> Role:
    names = _names_in(parameter.annotation)
    if parameter.name == "case" or "Case" in names:
        raise ConfigError(
            f"python target `{name}`: its parameter `{parameter.name}` asks for the case, and what "
            f"is expected must not be seen by what is tested: the annotation `Question` gives all "
            f"the rest, and so do {_NAMES}, each a part of it"
        )
    if "Question" in names:
        return "question"
    if parameter.name in _BY_NAME:
        return next(role for role in _BY_NAME if role == parameter.name)
    holders = {each.rpartition(".")[2].lower() for each in names}
    return "messages" if "Message" in names and holders & _SEVERAL else "content"


def _names_in(annotation: object) -> set[str]:
    """The names in an annotation. Those of evalcase's own classes have no module: a class of the
    user's own may be called the same."""
    words = re.findall(r"[\w.]+", inspect.formatannotation(annotation))
    return {re.sub(r"^evalcase\.(types\.\w+\.)?", "", word) for word in words}


def _copy_content(question: Question) -> JSON:
    """The text, of content parts their joined text; data as it is."""
    content = last_user_content(question)
    text = text_of(content)
    return text if text is not None else copy_value(content)


_GIVES: dict[Role, Callable[[Question], Any]] = {
    "content": _copy_content,
    "messages": lambda question: list(copy_of(question.messages)),
    "files": lambda question: list(question.files.values()),
    "workspace": lambda question: None if question.workspace is None else question.workspace.path,
    "metadata": lambda question: copy_value(question.metadata),
    "attempt": lambda question: question.attempt,
    "session": lambda question: question.session,
    "turn": lambda question: question.turn,
    "question": copy_of,
}

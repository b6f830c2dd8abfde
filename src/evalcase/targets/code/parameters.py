"""How a function wants to be asked: decided once by its parameters, not at each question.

| parameter | is given |
|---|---|
| `messages`, or annotated as several of Message | the messages, a list |
| `files` | the absolute paths of the files that messages name, a list |
| `metadata`, `attempt`, `session`, `turn` | as in the question |
| annotated as Question | the whole question |
| one other | the text of the last user message, or its data; beside the messages or the whole
question, only one whose name says that it is a text |

Parameters with a default are left alone, unless they are called or annotated so. `case`, or the
annotation Case, is refused: what is expected is not for the eyes of what is tested.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from evalcase.errors import ConfigError
from evalcase.targets.asking.shown import last_user_content
from evalcase.targets.code.annotations import ClassName, names_class, names_several
from evalcase.types.grade import copy_messages, copy_question
from evalcase.types.message import text_of
from evalcase.types.problem import did_you_mean
from evalcase.types.question import Question
from evalcase.types.value import JSON, copy_value

Role = Literal[
    "content", "messages", "files", "metadata", "attempt", "session", "turn", "question", "default"
]

_CASE = ClassName("evalcase.types.case", "Case")
_QUESTION = ClassName("evalcase.types.question", "Question")
_MESSAGE = ClassName("evalcase.types.message", "Message")
_BY_NAME: dict[str, Role] = {
    "messages": "messages",
    "files": "files",
    "metadata": "metadata",
    "attempt": "attempt",
    "session": "session",
    "turn": "turn",
}
_NAMES = "`messages`, `files`, `metadata`, `attempt`, `session` and `turn`"
_TEXT_NAMES = frozenset({
    "text", "question", "prompt", "input", "query", "q", "message", "msg", "content", "request",
    "task", "instruction", "utterance",
})  # fmt: skip
"""What the name of a parameter for what the user said last ends with: `text`, `user_message`."""


class Slot(NamedTuple):
    """A parameter, with what it is given."""

    role: Role
    give: Callable[[Question], Any]
    keyword: str | None
    """The name it is passed by, if it can't be passed by place."""


class BoundFunction(NamedTuple):
    """A function with what each of its parameters is given."""

    function: Callable[..., Any]
    is_async: bool
    slots: tuple[Slot, ...]

    @property
    def sees_last_only(self) -> bool:
        """Whether all that it sees of several messages is the last of the user."""
        roles = {slot.role for slot in self.slots}
        return "content" in roles and roles.isdisjoint({"messages", "question"})

    @property
    def sees_question(self) -> bool:
        """Whether it is given the whole question."""
        return any(slot.role == "question" for slot in self.slots)

    @property
    def sees_session(self) -> bool:
        """Whether it is told which session it is asked in, so that it may remember others."""
        return any(slot.role == "session" for slot in self.slots)

    @property
    def sees_files(self) -> bool:
        """Whether it is given the files that messages name."""
        return any(slot.role == "files" for slot in self.slots)

    def arguments(self, question: Question) -> tuple[list[Any], dict[str, Any]]:
        """What to call it with, by place and by name. It shares nothing that could be changed."""
        by_place: list[Any] = []
        by_name: dict[str, Any] = {}
        for _, give, keyword in self.slots:
            if keyword is None:
                by_place.append(give(question))
            else:
                by_name[keyword] = give(question)
        return by_place, by_name


def bind_function(function: Callable[..., Any], name: str) -> BoundFunction:
    """Find out how to call a function. Raise ConfigError if it can't be."""
    slots = _make_slots(function, name)
    roles = [slot.role for slot in slots]
    _refuse_method(function, name)
    if roles.count("content") > 1 or not any(role != "default" for role in roles):
        said = f"python target `{name}`: it can't be asked a question{_odd_one(function, name)}"
        hint = f"it takes one parameter for what the user said last, and {_NAMES} by their names"
        raise ConfigError(f"{said}; {hint}")
    if "content" in roles and not {"messages", "question"}.isdisjoint(roles):
        _refuse_odd_name(function, name)
    return BoundFunction(function, is_async(function), tuple(slots))


def _refuse_method(function: Callable[..., Any], name: str) -> None:
    """Raise ConfigError for a method that is named by its class: nobody made an instance."""
    path = name.partition(":")[2].split(".")
    if len(path) < 2 or not inspect.isfunction(function):
        return
    if next(iter(inspect.signature(function).parameters), None) != "self":
        return
    owner, method = name.removesuffix(f".{path[-1]}"), path[-1]
    made = path[-2].lower()
    hint = f"make an instance, {made} = {path[-2]}(…), and name {made}.{method}"
    if method == "answer":
        hint = f"name the class, `{owner}`, which is made once for the run, or an instance of it"
    raise ConfigError(
        f"python target `{name}`: `{method}` is a method of the class `{path[-2]}`: {hint}"
    )


def _refuse_odd_name(function: Callable[..., Any], name: str) -> None:
    """Raise ConfigError where what the user said is given to another parameter already, and the
    name of the one that is left doesn't say that it is a text: it may want something else."""
    for wanted in _content_names(function, name):
        if wanted.lower().rpartition("_")[2] not in _TEXT_NAMES:
            near = did_you_mean(wanted, _BY_NAME)
            hint = f"{near} " if near else ""
            raise ConfigError(
                f"python target `{name}`: there is nothing to give to `{wanted}`; {hint}"
                f"{_NAMES} are given by their names, and the last user text as `text`; give it a "
                "default if it needs none"
            )


def _odd_one(function: Callable[..., Any], name: str) -> str:
    """The parameter for which there is nothing left to give, in words."""
    wanted = _content_names(function, name)
    return f": there is nothing to give to `{wanted[1]}`" if len(wanted) > 1 else ""


def _content_names(function: Callable[..., Any], name: str) -> list[str]:
    """The parameters that are for what the user said last."""
    return [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty
        and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        and _find_role(each, function, name) == "content"
    ]


def bind_target(answer: Callable[..., Any]) -> BoundFunction:
    """The same for the method of a target, which is always given the question."""
    return BoundFunction(answer, is_async(answer), (Slot("question", copy_question, None),))


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to be awaited, as far as that can be seen."""
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def takes_nothing(function: Callable[..., Any], name: str) -> bool:
    """Whether a callable has no parameter that a question could be given to."""
    return not any(slot.role != "default" for slot in _make_slots(function, name))


def _make_slots(function: Callable[..., Any], name: str) -> list[Slot]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Written in C, without a signature: it is given the content.
        return [Slot("content", _copy_content, None)]
    rest = [each for each in parameters if each.kind is each.VAR_POSITIONAL]
    named = [each for each in parameters if each.kind is not each.VAR_POSITIONAL]
    slots = [
        slot for slot in (_make_slot(each, function, name) for each in named) if slot is not None
    ]
    if rest and not any(slot.role != "default" for slot in slots):
        # `*args` is for the content only if nothing else is.
        slots.append(Slot("content", _copy_content, None))
    return slots


def _make_slot(
    parameter: inspect.Parameter, function: Callable[..., Any], name: str
) -> Slot | None:
    if parameter.kind is parameter.VAR_KEYWORD:
        return None
    has_default = parameter.default is not parameter.empty
    is_by_place = parameter.kind is parameter.POSITIONAL_ONLY
    role = _find_role(parameter, function, name)
    if role == "content" and has_default:
        # Left alone; but what follows by place can't be given without it.
        return Slot("default", lambda _: parameter.default, None) if is_by_place else None
    by_name = parameter.kind is parameter.KEYWORD_ONLY or (has_default and not is_by_place)
    return Slot(role, _GIVES[role], parameter.name if by_name else None)


def _find_role(parameter: inspect.Parameter, function: Callable[..., Any], name: str) -> Role:
    annotation = parameter.annotation
    if parameter.name == "case" or names_class(annotation, _CASE, function):
        raise ConfigError(
            f"python target `{name}`: its parameter `{parameter.name}` asks for the case, and what "
            f"is expected must not be seen by what is tested: the annotation `Question` gives all "
            f"the rest, and so do {_NAMES}, each a part of it"
        )
    if names_class(annotation, _QUESTION, function):
        return "question"
    if parameter.name in _BY_NAME:
        return _BY_NAME[parameter.name]
    return "messages" if names_several(annotation, _MESSAGE) else "content"


def _copy_content(question: Question) -> JSON:
    """The text, of content parts their joined text; data as it is."""
    last = question.messages[-1] if question.messages else None
    if last is not None and last["role"] == "user":
        content = last.get("content")  # as it is nearly always
    else:
        content = last_user_content(question)
    if isinstance(content, str):
        return content
    text = text_of(content)
    return text if text is not None else copy_value(content)


_GIVES: dict[Role, Callable[[Question], Any]] = {
    "content": _copy_content,
    "messages": lambda question: list(copy_messages(question.messages)),
    "files": lambda question: list(question.files.values()),
    "metadata": lambda question: copy_value(question.metadata),
    "attempt": lambda question: question.attempt,
    "session": lambda question: question.session,
    "turn": lambda question: question.turn,
    "question": copy_question,
}

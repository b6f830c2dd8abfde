"""Options, declared once: as typed fields of a Struct, each with a sentence.

    class EchoOptions(TargetOptions, frozen=True, kw_only=True):
        delay_s: Annotated[Amount, about("How long to wait before each answer.")] = 0.0

`evalcase.types.read_options` reads a mapping into such a Struct.
"""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any

from msgspec import Meta

from evalcase.types.problem import Finding as Finding  # noqa: PLC0414 - plug-ins yield it
from evalcase.types.problem import KeyPath
from evalcase.types.value import JSON, Value


class Place(Value, frozen=True):
    """Where a value stands, and what messages call it: `items`, item 2 of `items`, …"""

    path: KeyPath
    above: int = 0
    """How many steps of the path its label leaves out."""

    def below(self, key: str | int) -> Place:
        return Place((*self.path, key), self.above)

    @property
    def label(self) -> str:
        label = ""
        for key in self.path[self.above :]:
            if isinstance(key, int):
                label = f"item {key + 1} of {label}"
            elif label.startswith("`"):
                label = f"{label[:-1]}.{key}`"
            else:
                label = f"`{key}` of {label}" if label else f"`{key}`"
        return label

    def fault(
        self, what: str, hint: str | None = None, *, code: str = "bad-value", hides: bool = False
    ) -> Finding:
        """The fault of a value here: `what` follows its label."""
        return Finding(self.path, f"{self.label} {what}", hint, code=code, hides=hides)


Check = Callable[[Any, Place], Iterator[Finding]]
"""Finds what is wrong with a value whose type is right."""


def about(
    sentence: str,
    *,
    example: JSON = None,
    elsewhere: tuple[str, ...] = (),
    **more: Any,  # noqa: ANN401 - the fields of Option, and what only one reader knows
) -> Meta:
    """Declares an option: `name: Annotated[TYPE, about("A sentence.")] = DEFAULT`.

    `elsewhere` are names that other tools give it, for suggestions. `words="…"` say what a value
    is, where its type doesn't. An option of a target that doesn't decide what it answers, such as
    the number of workers, says `decides_answer=False`.
    """
    extra = {"elsewhere": elsewhere, **more}
    return Meta(description=sentence, examples=None if example is None else [example], extra=extra)


def of_kind(words: str = "", **more: Any) -> Meta:  # noqa: ANN401 - the fields of Option
    """Declares a type of options: `Annotated[TYPE, of_kind("a colour", check=check_colour)]`.

    `more` are fields of `evalcase.types.read_options.Option`. `written` is the type of the value in
    a file, where the field holds something else.
    """
    return Meta(extra={"words": words, **more} if words else more)


# The types that recur. A plug-in may declare others, by `Annotated` and `of_kind`.

Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Seconds = Annotated[float, Meta(gt=0)]
Whole = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
TargetName = Annotated[Text, of_kind("the name of a target", names="target")]
TargetNames = Annotated[tuple[TargetName, ...], Meta(min_length=1), of_kind("a list of targets")]
FileName = Annotated[Text, of_kind("the path of a file", names="file")]


_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_LIKE_KEY = (
    r"(?:sk|pk|rk|gsk|hf|r8|gh[oprsu]|github_pat)_\w{16,}|AIza\w{35}|AKIA[0-9A-Z]{16}|xai_\w{16,}"
)
_NAME_IT = "export the value under a name such as MY_KEY, and write that name here"


def _check_environment_name(value: str, place: Place) -> Iterator[Finding]:
    if re.fullmatch(_LIKE_KEY, value) or not re.fullmatch(_NAME, value):
        message = "is the name of an environment variable, and never a key itself"
        yield place.fault(message, _NAME_IT, hides=True)


EnvironmentName = Annotated[
    Text,
    of_kind(
        "the name of an environment variable",
        check=_check_environment_name,
        hint=lambda _: _NAME_IT,
        hides=True,
        schema={"type": "string", "pattern": f"^{_NAME}$"},
    ),
]


def check_path(value: str, place: Place) -> Iterator[Finding]:
    try:
        path_steps(value)
    except ValueError as error:
        yield place.fault(str(error))


JsonPath = Annotated[
    str,
    of_kind(
        "a path such as items.0.name", check=check_path, schema={"type": "string", "minLength": 1}
    ),
]
JsonPaths = Annotated[tuple[JsonPath, ...], Meta(min_length=1), of_kind("a list of paths")]


def _check_pattern(value: str, place: Place) -> Iterator[Finding]:
    why = object_to_pattern(value)
    if why is not None:
        hint = r"write a backslash before a character that stands for itself, as in \[ or \("
        yield place.fault(f"is not a pattern: {why}", hint)


Pattern = Annotated[Text, of_kind("a pattern", check=_check_pattern)]


def _hint_at_argv(value: JSON) -> str | None:
    with suppress(ValueError):  # a quote is open
        return f"write {json.dumps(shlex.split(value))}" if isinstance(value, str) else None
    return None


Words = Annotated[Texts, of_kind("a list of texts", hint=_hint_at_argv)]
"""A program and its arguments, which may be in a workspace only."""

Argv = Annotated[
    tuple[str, ...],
    Meta(min_length=1),
    of_kind("a list of texts", hint=_hint_at_argv, names="program"),
]


_DOTTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_FUNCTION = re.compile(rf"(?:\./(?!.*\.\./)[^:]+\.py|(?![^:]*\.py:){_DOTTED}):{_DOTTED}")
"""A file of the project starts with `./`, which says that no module is meant."""


def _check_function_name(value: str, place: Place) -> Iterator[Finding]:
    if _FUNCTION.fullmatch(value):
        return
    # Other tools write `file://checks.py:polite`.
    module, _, name = value.removeprefix("file:").removeprefix("//").partition(":")
    if module.endswith(".py"):
        module = f"./{module.removeprefix('./')}"
    elif not name and "." in module:
        module, _, name = module.rpartition(".")
    meant = f"{module}:{name or 'FUNCTION'}"
    hint = "write module:function, or ./file.py:function with a file of the project"
    if _FUNCTION.fullmatch(meant):
        hint = f"did you mean `{meant}`?"
    yield Finding(place.path, f"`{value:.80}` does not name a function", hint)


FunctionName = Annotated[
    str,
    of_kind(
        "`module:function`",
        names="function",
        check=_check_function_name,
        # Plain enough to be read in an editor; `check` finds what it lets through.
        schema={"type": "string", "pattern": r"^(?:[^\s:/]+|\./[^:]+\.py):[^\s:/]+$"},
    ),
]


# What checks of options share with other code.

EVERY = "*"
"""The step of a path for every item of a list, or every value of a mapping."""


def is_index(step: str) -> bool:
    """Whether a step of a path is the number of an item: in ASCII, and without leading zeros."""
    return (
        step.isascii() and step.isdecimal() and len(step) <= 9 and (step == "0" or step[0] != "0")
    )  # fmt: skip


def path_steps(text: str) -> list[str]:
    """The steps of a path. Raise ValueError, whose message goes on after the name of the option."""
    if text.startswith("/"):
        return [step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/")]
    steps = text.split(".")
    if not all(steps):
        raise ValueError("has an empty step; it is a path such as choices.0.message")
    return steps


# In a pattern: what is escaped; sets of characters, with POSIX classes in them; braces that `regex`
# reads as "with so many errors".
_READ_DIFFERENTLY = re.compile(
    r"""\\.
    | \[\^?\]? (?: \\. | (?P<posix> \[:\^?\w+:\] ) | [^\]\\] )* \]
    | (?P<fuzzy> \{ (?=[^{}]*[idse]) [idse\d<=+,\s]+ (?: :[^}]* )? \} )
    """,
    re.DOTALL | re.VERBOSE,
)


def object_to_pattern(pattern: str) -> str | None:
    """Why a text is no pattern; None if it is one. It must mean the same to `re`, which people know
    and write for, and to the package `regex`, which searches for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what may mean something else in a later Python
            re.compile(pattern)
    except re.error as error:
        at = "" if error.pos is None else f" at character {error.pos + 1}"
        return f"{error.msg}{at}"
    except (OverflowError, RecursionError):
        return "it repeats too often, or is nested too deep"
    for found in _READ_DIFFERENTLY.finditer(pattern):
        if found["fuzzy"]:
            return f"`{found['fuzzy']}` would allow errors; write \\{{ for a brace"
        if found["posix"]:
            return f"`{found['posix']}` is not a set of Python's; write it out, such as a-zA-Z"
    return None


_SECRET_WORDS = frozenset({
    "key", "apikey", "token", "secret", "password", "passwd", "pwd", "auth", "authorization",
    "credential", "credentials", "cookie", "signature", "sig", "jwt",
})  # fmt: skip


def may_hold_secret(name: str) -> bool:
    """Whether a name says that its value is a secret; `auth_type` does not."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[-.]", "_", name).lower().split("_")
    return words[-1] != "type" and not _SECRET_WORDS.isdisjoint(words)

"""A Python function as a grader: `python:module:function`. It is called with what its parameters
name, and what it returns is read as a score. A value without a clear meaning is an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from inspect import Parameter, isawaitable, iscoroutinefunction, signature, unwrap
from numbers import Real
from typing import Annotated, Any, NamedTuple

from msgspec import Struct, ValidationError, convert

from evalcase.errors import ConfigError, EvalcaseError
from evalcase.graders.base import BOTH, NEITHER, Context, Grader, Half
from evalcase.types.answer import Answer
from evalcase.types.grade import Score
from evalcase.types.message import copy_of
from evalcase.types.options import FunctionName, about
from evalcase.types.problem import Finding, did_you_mean
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, copy_value
from evalcase.util.calls import seen_calls
from evalcase.util.code import import_object
from evalcase.util.user_calls import run_in_thread

GIVEN: dict[str, Callable[[Context], object]] = {
    "answer": lambda context: copy_of(context.answer),
    "text": lambda context: context.answer.text,
    "output": lambda context: copy_value(context.answer.content),
    "messages": lambda context: copy_of(context.answer.messages),
    "tool_calls": lambda context: seen_calls(copy_of(context.answer)),
    "case": lambda context: context.case,
    "input": lambda context: context.case.input,
    "expected": lambda context: Answer(context.case.expected_output).content,
    "metadata": lambda context: context.case.metadata,
    "question": lambda context: copy_of(context.question),
    "grades": lambda context: copy_of(context.grades),
    "workspace": lambda context: context.workspace and context.workspace.path,
    "changes": lambda context: context.changes,
    "context": Context.copy,
}
"""What a function may ask for, by the names of its parameters. `expected` is like `output`, so that
the two can be compared."""


class PythonGrader(Grader):
    """A plain function runs in a thread, so that a slow one blocks no other trial and one that
    hangs can be abandoned. An async one runs in the event loop, which is quicker."""

    name = "python"
    description = "Graded by a Python function."
    argument = "value"
    runs_code = True
    workspace = "files"
    example = "- python: checks:polite"

    value: Annotated[
        FunctionName, about("`module:function`, or `./file.py:function`.", example="checks:polite")
    ]
    arguments: Annotated[
        dict[str, JSON],
        about(
            "Further arguments for the function.",
            elsewhere=("args", "kwargs", "params"),
            words="a mapping of names to values",
        ),
    ] = {}

    call: _Call | None = None
    """How the function is called, once it is loaded."""

    @classmethod
    def of(cls, function: Callable[..., object]) -> PythonGrader:
        return cls(_label_of(function), call=_read_call(function, ()))

    def conflicts(self) -> Iterator[Finding]:
        for name in self.arguments:
            if name in GIVEN or not name.isidentifier():
                what = "is given by evalcase" if name in GIVEN else "is not the name of a parameter"
                yield Finding(("arguments", name), f"`{name}` {what}", at="key")

    def load(self, surroundings: Surroundings) -> None:
        """Import the function now. Raise ConfigError if there is none that can be called."""
        if self.call is None:
            function = import_object(self.value, "grader", surroundings.root)
            if not callable(function):
                raise ConfigError(f"grader `{self.value}`: it is not a function")
            self.call = _read_call(function, tuple(self.arguments))

    def compares(self) -> frozenset[Half]:
        return BOTH if self.call is not None and "expected" in self.call.names else NEITHER

    def reads_grades(self) -> bool:
        return self.call is not None and "grades" in self.call.names

    def sees_workspace(self) -> bool:
        looks_at = {"workspace", "changes", "context"}
        return self.call is None or not looks_at.isdisjoint(self.call.names)

    def __repr__(self) -> str:
        # What is loaded has another address in each process, and hashes of gradings are made of it.
        return f"PythonGrader({self.value!r}, {self.arguments!r})"

    def modules(self) -> tuple[str, ...]:
        found = unwrap(self._loaded().function)
        is_named = isinstance(found.__module__, str)
        own = found.__module__ if is_named else type(found).__module__
        named, colon, _ = self.value.partition(":")
        # A function that is re-exported is in another file than the one that is named.
        return (named, own) if colon else (own,)

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        call = self._loaded()
        given = {name: GIVEN[name](context) for name in call.names}
        given |= {name: copy_value(value) for name, value in self.arguments.items()}
        if iscoroutinefunction(call.function):
            return _read_later(call.function(**given))
        return _call_in_thread(partial(call.function, **given))

    def _loaded(self) -> _Call:
        assert self.call is not None, "load() comes first"
        return self.call


async def _call_in_thread(function: Callable[[], object]) -> Score:
    def call() -> object:
        returned = function()
        return returned if isawaitable(returned) else read_returned(returned)

    read = await run_in_thread(call)
    return read if isinstance(read, Score) else await _read_later(read)


async def _read_later(returned: object) -> Score:
    while isawaitable(returned):
        returned = await returned
    return read_returned(returned)


# How a function is called


class _Call(NamedTuple):
    function: Callable[..., object]
    names: tuple[str, ...]
    """Of what it takes of `GIVEN`."""


def _label_of(function: Callable[..., object]) -> str:
    """An object that can be called has no name but that of its class."""
    return getattr(function, "__name__", type(function).__name__)


def _read_call(function: Callable[..., object], arguments: tuple[str, ...]) -> _Call:
    try:
        parameters = signature(function).parameters
    except ValueError as error:
        raise ConfigError(f"a grader must say what it takes: {error}") from None
    label = _label_of(function)
    names: list[str] = []
    for name, parameter in parameters.items():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        if name in GIVEN and parameter.kind is not Parameter.POSITIONAL_ONLY:
            names.append(name)
        elif parameter.default is Parameter.empty and name not in arguments:
            known = f"{', '.join(GIVEN)}, and what `arguments` names"
            what = f"`{label}` has a parameter `{name}`; a grader can be given {known}, by name"
            raise ConfigError("; ".join(filter(None, [what, did_you_mean(name, GIVEN)])))
    if not any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
        for name in arguments:
            if name not in parameters:
                what = f"`{label}` has no parameter `{name}`, which `arguments` gives it"
                raise ConfigError(what)
    return _Call(function, tuple(names))


# What a function returned


class _Returned(Struct, forbid_unknown_fields=True):
    score: Any = None
    passed: bool | None = None
    reason: str | None = None
    details: dict[Any, Any] | None = None


_MEANINGS = (
    "return True or False, a number from 0 to 1, text that says what is wrong, (score, reason), "
    "{score, passed, reason}, or a Score"
)


def read_returned(value: object) -> Score:
    """A score. Raise EvalcaseError if the value has no meaning."""
    if isinstance(value, Score):
        return value
    if isinstance(value, str) and value.strip():
        return Score(0.0, value, passed=False)
    if isinstance(value, tuple) and len(value) == 2:
        value = {"score": value[0], "reason": value[1]}
    said = _Returned(value)
    if isinstance(value, Mapping):
        try:
            said = convert(dict(value), _Returned)
        except ValidationError as error:
            raise _make_unclear_error(f"returned a mapping that is no score: {error}") from None
        if said.score is None and said.passed is None:
            raise _make_unclear_error("returned neither a score nor whether it passed")
    score = said.passed if said.score is None else said.score
    details = said.details or {}
    if isinstance(score, bool):
        reason = said.reason or f"the function returned {score}"
        return Score(float(score), reason, details, score if said.passed is None else said.passed)
    if isinstance(score, int | float | Real) and 0 <= float(score) <= 1:
        return Score(float(score), said.reason or "", details, said.passed)
    shown = repr(score) if isinstance(score, Real | str) else f"a {type(score).__name__}"
    raise _make_unclear_error("returned nothing" if score is None else f"returned {shown:.60}")


def _make_unclear_error(what: str) -> EvalcaseError:
    return EvalcaseError(f"the function {what}: {_MEANINGS}")

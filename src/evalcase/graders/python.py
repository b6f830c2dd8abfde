"""A Python function as a grader: `python:module:function`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from functools import lru_cache, partial
from inspect import Parameter, isawaitable, iscoroutinefunction, signature, unwrap
from types import MappingProxyType
from typing import Annotated, ClassVar, NamedTuple

from evalcase.errors import ConfigError
from evalcase.graders.returned import read_returned
from evalcase.types.answer import Answer
from evalcase.types.grade import Score, copy_answer, copy_grade, copy_messages, copy_question
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import FunctionName, OptionFault, about
from evalcase.types.problem import hint_at, nearest_meaning
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, copy_value
from evalcase.util.calls import seen_calls
from evalcase.util.imports import import_object
from evalcase.util.user_calls import run_in_thread

GIVEN: dict[str, Callable[[Context], object]] = {
    "answer": lambda context: copy_answer(context.answer),
    "text": lambda context: context.answer.text,
    "output": lambda context: copy_value(context.answer.content),
    "messages": lambda context: copy_messages(context.answer.messages),
    "tool_calls": lambda context: seen_calls(context.answer),
    "case": lambda context: context.case,
    "input": lambda context: context.case.input,
    "expected": lambda context: Answer(context.case.expected_output).content,
    "metadata": lambda context: context.case.metadata,
    "question": lambda context: copy_question(context.question),
    "grades": lambda context: tuple([copy_grade(each) for each in context.grades]),
    "context": Context.copy,
}
"""What a function may ask for, by the names of its parameters. `expected` is what `output` is, so
that the two can be compared."""

_ELSEWHERE = {
    **{name: name for name in GIVEN},
    **dict.fromkeys((
        "outputs", "actual", "actual_output", "response", "prediction", "completion", "result",
        "generated", "output_text", "x", "value", "obj",
    ), "output"),
    **dict.fromkeys((
        "expected_output", "expected_outputs", "reference", "reference_output",
        "reference_outputs", "reference_answer", "target", "gold", "ground_truth", "label",
        "expectation", "ideal",
    ), "expected"),
    **dict.fromkeys(("inputs", "prompt", "query"), "input"),
    **dict.fromkeys(("example", "sample", "row", "item", "test_case"), "case"),
    **dict.fromkeys(("ctx", "eval_context", "state"), "context"),
    "string": "text", "s": "text", "tools": "tool_calls", "meta": "metadata",
}  # fmt: skip
"""What is meant by names that are near to these, or that others have for it."""


_NO_ARGUMENTS: Mapping[str, JSON] = MappingProxyType({})


class FunctionGrader(Grader):
    """Calls a function with what its parameters name, and reads what it returns.

    A plain function runs in a thread, so that a slow one holds up nobody else and one that hangs
    can be given up. An async one runs in the event loop, which is quicker.
    """

    kind: ClassVar[GraderKind] = GraderKind(
        "python", "Graded by a Python function.", runs_code=True, only_reads=True
    )

    function: Callable[..., object]

    @property
    def name(self) -> str:
        return _label_of_function(self.function)

    def load(self, surroundings: Surroundings) -> None:
        """Raise ConfigError if the function asks for what no grader is given."""
        del surroundings
        _manner_of_function(self.function)

    def compares_expected(self) -> bool:
        return _manner_of_function(self.function).takes("expected")

    def reads_grades(self) -> bool:
        return _manner_of_function(self.function).takes("grades")

    def modules(self) -> tuple[str, ...]:
        return (_module_of(self.function),)

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        return _call_function(self.function, context)


class PythonGrader(Grader):
    """The same for a function that is named, and imported before the first answer."""

    kind: ClassVar[GraderKind] = GraderKind(
        "python", "Graded by a Python function.", "value", runs_code=True,
        example="- python: checks:polite",
        only_reads=True,
    )  # fmt: skip

    value: Annotated[
        FunctionName,
        about(
            "The function: `module:function`, or `./file.py:function` relative to the project "
            "folder.",
            example="checks:polite",
        ),
    ]
    arguments: Annotated[
        dict[str, JSON],
        about(
            "Further arguments for the function, by parameter name.",
            example={"least": 3},
            elsewhere=("args", "kwargs", "config", "params"),
            words="a mapping of names to values",
        ),
    ] = {}

    takes_expected: bool = False
    """Whether it compares with what is expected; nobody knows before it is imported."""
    takes_grades: bool = False
    """Whether it is given the grades of those before it."""

    def conflicts(self) -> Iterator[OptionFault]:
        for name in self.arguments:
            if name in GIVEN or not name.isidentifier():
                what = "is given by evalcase" if name in GIVEN else "is not the name of a parameter"
                yield OptionFault(("arguments", name), f"`{name}` {what}", at="key")

    def load(self, surroundings: Surroundings) -> None:
        """Import the function now. Raise ConfigError if there is none that can be called."""
        manner = _manner_of_function(self._find(surroundings.root), tuple(self.arguments))
        self.takes_expected = manner.takes("expected")
        self.takes_grades = manner.takes("grades")

    def compares_expected(self) -> bool:
        return self.takes_expected

    def reads_grades(self) -> bool:
        return self.takes_grades

    def modules(self) -> tuple[str, ...]:
        # Where a function is from is another file than the one that is named, if it is re-exported.
        return (self.value.partition(":")[0], _module_of(self._find()))

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        return _call_function(self._find(), context, self.arguments)

    def _find(self, root: str | None = None) -> Callable[..., object]:
        function = import_object(self.value, "grader", root)
        if not callable(function):
            raise ConfigError(f"grader `{self.value}`: it is not a function")
        return function


def check_call(function: Callable[..., object], arguments: Collection[str]) -> None:
    """Raise ConfigError if a function, or what stands for it, can't be called as a grader."""
    _find_manner(function, tuple(arguments))


def _call_function(
    function: Callable[..., object], context: Context, arguments: Mapping[str, JSON] = _NO_ARGUMENTS
) -> Score | Awaitable[Score]:
    manner = _manner_of_function(function, tuple(arguments))
    by_place = [GIVEN[name](context) for name in manner.by_place]
    by_name = {name: GIVEN[name](context) for name in manner.by_name}
    for name, value in arguments.items():
        by_name[name] = copy_value(value)
    if manner.is_async:
        return _read_later(function(*by_place, **by_name))
    return _call_in_thread(partial(function, *by_place, **by_name))


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


def _module_of(function: Callable[..., object]) -> str:
    """The module that a function, or the class of an object that can be called, is from."""
    found = unwrap(function)
    return found.__module__ if isinstance(found.__module__, str) else type(found).__module__


class _Manner(NamedTuple):
    """How a function is called."""

    by_place: tuple[str, ...]
    by_name: tuple[str, ...]
    is_async: bool

    def takes(self, name: str) -> bool:
        """Whether it is given something. What is given what is expected compares with it."""
        return name in self.by_place or name in self.by_name


def _label_of_function(function: Callable[..., object]) -> str:
    """What people call it. An object that can be called has no name but that of its class."""
    return getattr(function, "__name__", type(function).__name__)


def _manner_of_function(
    function: Callable[..., object], arguments: tuple[str, ...] = ()
) -> _Manner:
    # To look at a signature costs more than all the rest of a call; but not all can be looked up.
    can_be_known = getattr(function, "__hash__", None) is not None
    return (_known_manner if can_be_known else _find_manner)(function, arguments)


def _read_parameters(function: Callable[..., object]) -> Mapping[str, Parameter]:
    try:
        return signature(function).parameters
    except ValueError as error:
        raise ConfigError(f"a grader must say what it takes: {error}") from None


def _find_manner(function: Callable[..., object], arguments: tuple[str, ...]) -> _Manner:
    by_place: list[str] = []
    by_name: list[str] = []
    label = _label_of_function(function)
    parameters = _read_parameters(function)
    for name, parameter in parameters.items():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        if name in GIVEN:
            (by_place if parameter.kind is Parameter.POSITIONAL_ONLY else by_name).append(name)
        elif parameter.default is Parameter.empty and name not in arguments:
            hint = hint_at(nearest_meaning(name, _ELSEWHERE))
            said = "; a grader" if hint is None else f": {hint} A grader"
            names = f"{', '.join(GIVEN)}, and what `arguments` names"
            raise ConfigError(f"`{label}` has a parameter `{name}`{said} can be given {names}")
    _check_arguments(label, parameters, arguments)
    return _Manner(tuple(by_place), tuple(by_name), iscoroutinefunction(function))


def _check_arguments(
    label: str, parameters: Mapping[str, Parameter], arguments: tuple[str, ...]
) -> None:
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values()):
        return
    for name in arguments:
        known = parameters.get(name)
        if known is None or known.kind is Parameter.POSITIONAL_ONLY:
            raise ConfigError(f"`{label}` has no parameter `{name}`, which `arguments` gives it")


_known_manner = lru_cache(maxsize=256)(_find_manner)

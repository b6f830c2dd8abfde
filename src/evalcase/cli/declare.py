"""Commands, declared as data: a function, and what its options and arguments are.

What is plainly right is read from that at once, `quick_arguments`; for help, and for whatever may
be a mistake, click is told the same, `by_click`, which takes longer to import than most commands
take to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias


class WrongValueError(Exception):
    """What a `callback` has against the value of its option."""


class WrongUsageError(Exception):
    """What a command has against its options, taken together."""


class WordChoice(NamedTuple):
    """One of some words."""

    words: Sequence[str]


class IntRange(NamedTuple):
    """A whole number."""

    least: int | None = None
    most: int | None = None


class FloatRange(NamedTuple):
    """A number."""

    least: float
    most: float | None = None
    min_open: bool = False
    """Whether the least is not allowed itself."""
    meant: str = "a number from 0 to 1, for example 0.9"
    """What it is, for who wrote no number."""


class ExistingFile(NamedTuple):
    """The path of a file that can be read."""


Type: TypeAlias = WordChoice | IntRange | FloatRange | ExistingFile


class CommandOption(NamedTuple):
    """An option, by the words that click has for what can be said of one."""

    names: tuple[str, ...]
    type: Type | None
    default: object
    is_flag: bool
    multiple: bool
    nargs: int
    """How many values it takes at once."""
    metavar: str | None
    show_default: bool
    help: str | None
    callback: Callable[[Any], Any] | None
    """Given the value, or None where there is none; gives what the command is told."""

    @property
    def flags(self) -> tuple[str, ...]:
        """What is written on the command line, `--cache/--no-cache` for two in one."""
        return tuple(name for name in self.names if name.startswith("-"))

    @property
    def parameter(self) -> str:
        """The name of the function's parameter."""
        named = [name for name in self.names if not name.startswith("-")]
        longest = next((name for name in self.names if name.startswith("--")), self.names[0])
        return named[0] if named else longest.split("/")[0].lstrip("-").replace("-", "_")


class Argument(NamedTuple):
    """What has no name on the command line, but a place; `several` takes all there is."""

    parameter: str
    several: bool
    required: bool
    default: str | None
    metavar: str | None


Parameter: TypeAlias = CommandOption | Argument


class Command(NamedTuple):
    """A command: its name, what it does, and its parameters in the order of the help."""

    name: str
    function: Callable[..., int]
    parameters: tuple[Parameter, ...]


class _Declaring(NamedTuple):
    """A function whose parameters are being declared, the last one first."""

    function: Callable[..., int]
    parameters: tuple[Parameter, ...]


Declared: TypeAlias = Callable[..., int] | _Declaring
Decorator: TypeAlias = Callable[[Declared], _Declaring]


def command(name: str) -> Callable[[Declared], Command]:
    """Make a command of a function; its docstring is the help."""

    def make(declared: Declared) -> Command:
        declaring = _make_declaring(declared)
        return Command(name, declaring.function, declaring.parameters)

    return make


def option(
    *names: str, type: Type | None = None, default: object = None, is_flag: bool = False,
    multiple: bool = False, nargs: int = 1, metavar: str | None = None, show_default: bool = False,
    help: str | None = None, callback: Callable[[Any], Any] | None = None,
) -> Decorator:  # fmt: skip
    """Declare an option."""
    return _declare_parameter(
        CommandOption(
            names, type, default, is_flag, multiple, nargs, metavar, show_default, help, callback
        )
    )  # fmt: skip


def argument(
    name: str, *, several: bool = False, required: bool = True, default: str | None = None,
    metavar: str | None = None,
) -> Decorator:  # fmt: skip
    """Declare an argument; one that has a default is not required."""
    return _declare_parameter(
        Argument(name, several, required and default is None, default, metavar)
    )


def _declare_parameter(parameter: Parameter) -> Decorator:
    def put_first(declared: Declared) -> _Declaring:
        declaring = _make_declaring(declared)
        return _Declaring(declaring.function, (parameter, *declaring.parameters))

    return put_first


def _make_declaring(declared: Declared) -> _Declaring:
    return declared if isinstance(declared, _Declaring) else _Declaring(declared, ())

"""What options of commands are, on click: numbers whose range is said in words, and checks."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, NoReturn, Protocol, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any] | click.Command)


class Decorator(Protocol):
    """Adds an option to a command."""

    def __call__(self, command: F, /) -> F: ...


class WrongUsageError(click.UsageError):
    """What a command has against its options, taken together."""

    def __init__(self, message: str) -> None:
        super().__init__(message, click.get_current_context(silent=True))


def checked(check: Callable[[Any], Any]) -> Callable[..., Any]:
    """A callback for click: `check` is given the value, or None where there is none, and gives what
    the command is told. It raises click.BadParameter."""
    return lambda _context, _parameter, value: check(value)


class Count(click.IntRange):
    """A whole number."""

    def get_metavar(self, *_: object, **__: object) -> str:
        return "N"

    def _describe_range(self) -> str:
        return _say_range(self.min, self.max, is_open=False)

    def fail(
        self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None
    ) -> NoReturn:
        given, is_text, _ = message.rpartition(" is not a valid integer")
        told = f"{given} is not a whole number." if is_text else _in_words(message)
        super().fail(told, param, ctx)


class Number(click.FloatRange):
    """A number. `meant` says what it is where something else stands in its place."""

    def __init__(
        self, least: float, most: float | None = None, *, min_open: bool = False,
        meant: str = "a number from 0 to 1, for example 0.9",
    ) -> None:  # fmt: skip
        super().__init__(least, most, min_open=min_open)
        self._meant = meant

    def get_metavar(self, *_: object, **__: object) -> str:
        return "NUMBER"

    def _describe_range(self) -> str:
        return _say_range(self.min, self.max, is_open=self.min_open)

    def fail(
        self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None
    ) -> NoReturn:
        super().fail(_in_words(message), param, ctx)

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(str(value))
        except ValueError:
            said = f"{value!r} is not a number: give {self._meant}."
            hint = hint_at_share(str(value).removesuffix("%")) if self.max == 1 else None
            self.fail(f"{said} {hint}" if hint else said, param, ctx)
        if not isfinite(number):
            self.fail("a finite number is needed", param, ctx)
        return float(super().convert(number, param, ctx))


def existing_file() -> click.Path:
    """The path of a file that can be read."""
    return click.Path(exists=True, dir_okay=False)


def hint_at_share(number: str) -> str | None:
    """A number from 1 to 100 is meant as per cent."""
    try:
        share = float(number) / 100
    except ValueError:
        return None
    return f"Did you mean {share:g}?" if 0.01 < share <= 1 else None


def _say_range(least: float | None, most: float | None, *, is_open: bool) -> str:
    """Which numbers are allowed, in words; empty where all are."""
    if least is None and most is None:
        return ""
    if least is None:
        return f"at most {most:g}"
    if most is None:
        return f"more than {least:g}" if is_open else f"at least {least:g}"
    return f"more than {least:g}, at most {most:g}" if is_open else f"{least:g} to {most:.12g}"


def _in_words(message: str) -> str:
    return message.replace(" is not in the range ", " is out of range: ")


stdin_format: Decorator = click.option(
    "--stdin-format",
    type=click.Choice(["yaml", "json", "jsonl"]),
    default="yaml",
    show_default=True,
    help="The format of standard input, when a path is '-'.",
)

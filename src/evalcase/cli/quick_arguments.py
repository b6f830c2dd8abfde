"""Arguments of a command in, the values of its parameters out, if there can't be two opinions.

Whatever is unusual (help, a mistake, a value that starts with a dash, a number in an odd spelling)
is left to click, which reads the same declarations: None then. A test holds both to each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from evalcase.cli.declare import (
    Argument,
    Command,
    CommandOption,
    ExistingFile,
    FloatRange,
    IntRange,
    Type,
    WordChoice,
    WrongValueError,
)

_MOST_DIGITS = 15


def read_quickly(command: Command, words: Sequence[str]) -> dict[str, Any] | None:
    """The values by the names of parameters; None where click has to look."""
    try:
        given, places = _sort_words(_flags_of(command), words)
        values = {**_place_words(command, places), **_read_options(command, given)}
    except (_UnusualError, WrongValueError):
        return None
    return values


class _UnusualError(Exception):
    """Click is to look at it."""


def _flags_of(command: Command) -> dict[str, tuple[CommandOption, bool]]:
    """What may be written, with its option, and whether it stands for true, if for either."""
    flags = {}
    for option in command.parameters:
        if isinstance(option, CommandOption):
            for flag in option.flags:
                on, _, off = flag.partition("/")
                flags[on] = option, True
                if off:
                    flags[off] = option, False
    return flags


def _sort_words(
    flags: dict[str, tuple[CommandOption, bool]], words: Sequence[str]
) -> tuple[dict[str, list[Any]], list[str]]:
    """What is given to each option, and what stands alone."""
    given: dict[str, list[Any]] = {}
    places: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            places.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name not in flags:
            raise _UnusualError
        option, truth = flags[name]
        values = given.setdefault(option.parameter, [])
        if equals and (not _takes_value(option) or option.nargs > 1):
            raise _UnusualError
        if not _takes_value(option):
            values.append(truth)
        else:
            values.append([value] if equals else _next_values(rest, option.nargs))
    return given, places


def _takes_value(option: CommandOption) -> bool:
    return not option.is_flag and not any("/" in flag for flag in option.flags)


def _next_values(words: Iterator[str], count: int) -> list[str]:
    found = list(islice(words, count))
    if len(found) < count or any(word.startswith("-") for word in found):
        raise _UnusualError
    return found


def _place_words(command: Command, words: list[str]) -> dict[str, Any]:
    arguments = [each for each in command.parameters if isinstance(each, Argument)]
    if any(each.several for each in arguments):
        (only,) = arguments
        if only.required and not words:
            raise _UnusualError
        return {only.parameter: tuple(words)}
    if len(words) > len(arguments) or any(each.required for each in arguments[len(words) :]):
        raise _UnusualError
    defaults = {each.parameter: each.default for each in arguments}
    return defaults | dict(zip(defaults, words, strict=False))


def _read_options(command: Command, given: dict[str, list[Any]]) -> dict[str, Any]:
    return {
        option.parameter: _read_option(option, given.get(option.parameter, []))
        for option in command.parameters
        if isinstance(option, CommandOption)
    }


def _read_option(option: CommandOption, given: list[Any]) -> object:
    values = [_read_values(option, each) if _takes_value(option) else each for each in given]
    if values:
        value: object = tuple(values) if option.multiple else values[-1]
    elif option.default is None:
        value = () if option.multiple else False if option.is_flag else None
    else:
        value = option.default
    return value if option.callback is None else option.callback(value)


def _read_values(option: CommandOption, words: list[str]) -> object:
    values = tuple(_read_value(option.type, word) for word in words)
    return values[0] if option.nargs == 1 else values


def _read_value(wanted: Type | None, word: str) -> object:
    """A value in its usual spelling, within its bounds."""
    match wanted:
        case None:
            return word
        case WordChoice(words) if word in words:
            return word
        case IntRange(least, most) if _is_number(word, word):
            return _check_range(int(word), least, most)
        case FloatRange(least, most, min_open) if _is_number(word, word.replace(".", "", 1)):
            return _check_range(float(word), least, most, min_open)
        case ExistingFile() if os.path.isfile(word) and os.access(word, os.R_OK):
            return word
    raise _UnusualError


def _is_number(word: str, digits: str) -> bool:
    return digits.isascii() and digits.isdigit() and word[-1] != "." and len(word) <= _MOST_DIGITS


def _check_range(
    number: float, least: float | None, most: float | None, min_open: bool = False
) -> float:
    if least is not None and (number <= least if min_open else number < least):
        raise _UnusualError
    if most is not None and number > most:
        raise _UnusualError
    return number

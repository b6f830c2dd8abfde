"""What is read quickly is what click reads: of the same declarations, word for word."""

from __future__ import annotations

from typing import Any

import click
from hypothesis import given
from hypothesis import strategies as st

from evalcase.cli.app import COMMANDS, command_of
from evalcase.cli.by_click import click_command
from evalcase.cli.declare import Argument, Command, CommandOption, WordChoice
from evalcase.cli.quick_arguments import read_quickly
from tests.for_each import for_each

ODD = ["", "-", "--", "-x", "--unknown", "--help", "-h", "=", "--json=1", "--quiet="]
VALUES = [
    "a", "é", "latest", "évals/a b.yaml", "0", "1", "7", "007", "1.5", ".5", "2.", "-1", "+1",
    "1e3", "1_0", "nan", "inf", "٣", "9" * 30, "2/5", "5/2", "0.0", "1.0", "100", __file__,
    "/nowhere", "/",
]  # fmt: skip


def by_click(command: Command, words: list[str]) -> dict[str, Any] | None:
    try:
        return click_command(command).make_context(command.name, list(words)).params
    except (click.ClickException, click.exceptions.Exit):
        return None


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[Command, list[str]]:
    command = command_of(draw(st.sampled_from(list(COMMANDS))))
    words: list[str] = []
    for _ in range(draw(st.integers(0, 5))):
        words += draw(st.sampled_from(pieces(command)))
    return command, words


def pieces(command: Command) -> list[list[str]]:
    """Words that may stand on a command line: right, and wrong in every way."""
    found = [[word] for word in [*VALUES, *ODD]]
    for option in options_of(command):
        words = list(option.type.words) if isinstance(option.type, WordChoice) else VALUES
        for flag in spellings(option):
            found += [[flag], *([flag, *[word] * option.nargs] for word in words)]
            found += [[f"{flag}={word}"] for word in words]
    return found


@given(command_lines())
def test_what_is_read_quickly_is_what_click_reads(line: tuple[Command, list[str]]) -> None:
    command, words = line
    quick = read_quickly(command, words)
    if quick is not None:
        read = by_click(command, words)
        assert quick == read
        assert {name: type(value) for name, value in quick.items()} == {
            name: type(value) for name, value in (read or {}).items()
        }


@for_each("name", list(COMMANDS))
def test_every_option_is_read_quickly_alone(name: str) -> None:
    """So that no option makes a command start late, or is never compared with click's reading."""
    command = command_of(name)
    needed = ["x", "y"][: sum(each.required for each in arguments_of(command))]
    for option in options_of(command):
        for flag in spellings(option):
            given = [[], *([value] * option.nargs for value in good_values(option))]
            lines = [[*needed, flag, *values] for values in given]
            read = [read_quickly(command, line) for line in lines]
            assert any(each is not None for each in read) or option.callback, flag
            for line, quick in zip(lines, read, strict=True):
                assert quick is None or quick == by_click(command, line), line


def good_values(option: CommandOption) -> list[str]:
    named = list(option.type.words) if isinstance(option.type, WordChoice) else []
    return named or ["x", "1", __file__]


def options_of(command: Command) -> list[CommandOption]:
    return [each for each in command.parameters if isinstance(each, CommandOption)]


def arguments_of(command: Command) -> list[Argument]:
    return [each for each in command.parameters if isinstance(each, Argument)]


def spellings(option: CommandOption) -> list[str]:
    return [each for flag in option.flags for each in flag.split("/")]


@for_each(
    ("name", "line"),
    [
        ("check", ""),
        ("check", "a.yaml - b.yaml --strict --format=json --stdin-format jsonl"),
        ("run", "evals --target a --target b --fail-under 0.5 --no-cache --seed 4 --shard 1/2"),
        ("list", "--limit 3 --json"),
        ("report", "latest --case a -o out.html --format html"),
        ("show", "a.yaml"),
    ],
)
def test_the_usual_command_line_is_read_quickly(name: str, line: str) -> None:
    command, words = command_of(name), line.split()
    assert read_quickly(command, words) is not None
    assert read_quickly(command, words) == by_click(command, words)


@for_each(
    ("name", "line"),
    [
        ("check", "--help"), ("check", "--format xml"), ("check", "--strict=yes"), ("show", ""),
        ("run", "--concurrency 0"), ("run", "--concurrency"), ("run", "--shard 3/2"),
        ("run", "-- a"), ("run", "--fail-under 1.5"), ("run", "--timeout 0"),
        ("run", "--env-file nowhere"),
        ("report", "a b"), ("init", "a b"), ("run", "--target --json"), ("report", "-oFILE"),
    ],
)  # fmt: skip
def test_the_rest_is_for_click(name: str, line: str) -> None:
    assert read_quickly(command_of(name), line.split()) is None

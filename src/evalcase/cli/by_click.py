"""The command as click has it: help, and every mistake of usage in words.

Made of the declarations of commands, and only where `quick_arguments` did not read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import click

from evalcase import __version__
from evalcase.cli import declare
from evalcase.cli.app import ABOUT, COMMANDS, command_of
from evalcase.cli.usage_hints import hint_at_command, hint_at_option, spelt_alike


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return click_command(command_of(name)) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = hint_at_command(args[0])
            raise click.UsageError(f"there is no command '{args[0]}'. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=ABOUT,
    epilog="Every command explains itself: evalcase check --help",
)
@click.version_option(__version__, message="evalcase %(version)s")
def _app() -> None:
    pass


def carry_out(arguments: list[str], refused: Callable[[], None]) -> object:
    """Do what the arguments say; what the command returned. Wrong usage is told, and is 2."""
    try:
        # Not through click's own `main`, which would make a broken pipe an exit code of 1.
        with _app.make_context("evalcase", arguments) as context:
            return _app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        _with_true_hint(error).show()
        refused()
        return 2


def _with_true_hint(error: click.ClickException) -> click.ClickException:
    """The same, with what is meant by an option that is nowhere in place of what is spelt so, or by
    a share that is written as per cent, and with what names a run where none is named."""
    hint = None
    if isinstance(error, click.NoSuchOption):
        hint = _hint_at_option(error)
        alike = spelt_alike(error.option_name, list(error.possibilities or ()))
        error = click.NoSuchOption(error.option_name, error.message, alike, error.ctx)
    elif isinstance(error, click.MissingParameter) and error.param and error.param.name == "run":
        hint = "'latest' is the newest one."
    elif isinstance(error, click.BadParameter) and " to 1." in error.message:
        hint = _hint_at_share(error.message.partition(" ")[0])
    if hint is None or not isinstance(error, click.UsageError):
        return error
    is_unknown = isinstance(error, click.NoSuchOption)  # with what is spelt alike, in full
    said = error.message if is_unknown else error.format_message()
    return click.UsageError(f"{said} {hint}", error.ctx)


def _hint_at_option(error: click.NoSuchOption) -> str | None:
    command = None if error.ctx is None else error.ctx.command
    known = [] if command is None else [flag for each in command.params for flag in each.opts]
    is_group = isinstance(command, click.Group)
    return hint_at_option(error.option_name, known, of_command=not is_group)


def _hint_at_share(number: str) -> str | None:
    """A number from 1 to 100 is meant as per cent."""
    try:
        share = float(number) / 100
    except ValueError:
        return None
    return f"Did you mean {share:g}?" if 0.01 < share <= 1 else None


def tell_wrong_usage(command: declare.Command, message: str) -> None:
    """Say what a command has against its options, as click says what is wrong with one."""
    whole = click.Context(_app, info_name="evalcase", help_option_names=["-h", "--help"])
    context = click.Context(click_command(command), info_name=command.name, parent=whole)
    click.UsageError(message, context).show()


def click_command(declared: declare.Command) -> click.Command:
    """The command as click knows commands."""
    parameters = [_make_parameter(each) for each in declared.parameters]
    return click.Command(
        declared.name,
        callback=declared.function,
        params=parameters,
        help=declared.function.__doc__,
    )


def _make_parameter(declared: declare.Parameter) -> click.Parameter:
    if isinstance(declared, declare.Argument):
        settings: dict[str, Any] = {"required": declared.required, "metavar": declared.metavar}
        if declared.default is not None:
            settings["default"] = declared.default
        return click.Argument([declared.parameter], nargs=-1 if declared.several else 1, **settings)
    return _make_option(declared)


def _make_option(declared: declare.CommandOption) -> click.Option:
    settings: dict[str, Any] = {}
    if declared.is_flag:
        settings["is_flag"] = True
    elif declared.default is not None or any("/" in flag for flag in declared.flags):
        settings["default"] = declared.default
    return click.Option(
        list(declared.names),
        type=None if declared.type is None else _make_type(declared.type),
        multiple=declared.multiple,
        nargs=declared.nargs,
        metavar=declared.metavar or _metavar(declared.type),
        show_default=declared.show_default,
        help=declared.help,
        callback=None if declared.callback is None else _make_callback(declared.callback),
        **settings,
    )


def _metavar(declared: declare.Type | None) -> str | None:
    """What stands for a number in the help, where the option has no word of its own for it."""
    if isinstance(declared, declare.IntRange):
        return "N"
    return "NUMBER" if isinstance(declared, declare.FloatRange) else None


def _make_type(declared: declare.Type) -> click.ParamType[Any]:
    match declared:
        case declare.WordChoice(words):
            return click.Choice(words)
        case declare.IntRange(least, most):
            return _Count(least, most)
        case declare.FloatRange():
            return _Number(declared)
        case declare.ExistingFile():
            return click.Path(exists=True, dir_okay=False)


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


class _Count(click.IntRange):
    """A whole number, whose range is said in words."""

    def _describe_range(self) -> str:
        return _say_range(self.min, self.max, is_open=False)

    def fail(
        self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None
    ) -> NoReturn:
        given, is_text, _ = message.rpartition(" is not a valid integer")
        told = f"{given} is not a whole number." if is_text else _in_words(message)
        super().fail(told, param, ctx)


class _Number(click.FloatRange):
    """A number, which says what it is where something else stands in its place."""

    def __init__(self, declared: declare.FloatRange) -> None:
        super().__init__(declared.least, declared.most, min_open=declared.min_open)
        self._meant = declared.meant

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
            hint = _hint_at_share(str(value).removesuffix("%")) if self.max == 1 else None
            self.fail(f"{said} {hint}" if hint else said, param, ctx)
        return float(super().convert(number, param, ctx))


def _make_callback(check: Callable[[Any], Any]) -> Callable[..., Any]:
    def tell(context: click.Context, parameter: click.Parameter, value: object) -> object:
        try:
            return check(value)
        except declare.WrongValueError as error:
            raise click.BadParameter(str(error), context, parameter) from None

    return tell

"""The command and its subcommands, each imported only when it is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TextIO

import click

from evalcase import __version__
from evalcase.cli.options import hint_at_share
from evalcase.cli.usage_hints import hint_at_command, hint_at_option, spelt_alike

GROUPS = {
    "Start": {
        "init": "Write a starter project that is ready to run.",
        "check": "Check eval files and point at every mistake.",
        "show": "Print cases in their canonical form.",
        "graders": "List the graders, or explain one of them.",
        "explain": "Explain a diagnostic code.",
    },
    "Run": {
        "run": "Run cases against targets and keep every result.",
        "resume": "Continue a run that is not complete.",
        "grade": "Grade the answers of a run again.",
        "calibrate": "Measure how far a judge can be trusted.",
    },
    "Look": {
        "report": "Show the results of a stored run.",
        "compare": "Compare two runs, or two targets, case by case.",
        "view": "Browse all runs in the browser.",
        "list": "List stored runs.",
    },
    "Convert": {
        "import": "Convert a table or another tool's eval file to a suite.",
        "harvest": "Draft a suite from an agent's traces.",
        "migrate": "Rename deprecated names, and change nothing else.",
        "schema": "Print the JSON Schema of the format, for editors.",
    },
    "Maintain": {
        "merge": "Merge the shards of a run into one.",
        "prune": "Remove old runs (lists them first).",
        "lsp": "Start the language server, for editors.",
    },
}
COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}

_FILES = {"import": "import_"}
"""Files of commands that can't be called as they are."""

ABOUT = """
    Evaluate LLMs and AI agents with eval cases written in YAML or JSONL.

    \b
    A first eval file, math.eval.yaml:
      cases:
        - id: sum
          input: "What is 2+2?"
          expected_output: "4"

    \b
    Typical use:
      evalcase init                  write a starter project
      evalcase check                 check every eval file below this folder
      evalcase run                   run the cases and keep every result
      evalcase report -o run.html    write a page to share
      evalcase compare               see what changed since the previous run

    Only run, resume and grade execute your code. The other commands never import it or open a
    connection, except view, which serves only this machine. Exit codes: 0 success; 1 not all
    passed, or a gate failed; 2 invalid file, configuration or usage; 3 trials errored, or a run is
    not complete; 130 interrupted.
    """


def import_command(arguments: list[str]) -> None:
    """Import the command that the arguments name, if they name one."""
    if arguments and arguments[0] in COMMANDS:
        command_of(arguments[0])


def command_of(name: str) -> click.Command:
    """The command of a name, imported if it isn't yet."""
    command: click.Command = import_module(f"evalcase.cli.{_FILES.get(name, name)}").command
    return command


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return command_of(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(
                f"there is no command '{args[0]}'. {hint_at_command(args[0], COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), about) for name, about in commands.items()])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help=ABOUT,
    epilog="Every command explains itself: evalcase check --help",
)
@click.version_option(__version__, message="evalcase %(version)s")
def _app() -> None:
    pass


def run_command(arguments: list[str]) -> int:
    """Run the command; the exit code is what it returns."""
    out = sys.stdout = _make_writable(sys.stdout)
    sys.stderr = _make_writable(sys.stderr)
    try:
        result = _carry_out(arguments)
        if not out.closed:
            out.flush()
    except KeyboardInterrupt as error:
        if error.args:
            sys.stderr.write(f"evalcase: interrupted {error}\n")
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it. Exit as a program that SIGPIPE ends.
        _discard_output()
        return 141
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"evalcase: can't continue: {error.strerror or error}\n")
        return 3
    except BaseException as error:  # noqa: BLE001 - also SystemExit, which is never evalcase's own
        from evalcase.cli.errors import CRASH_CODE, tell_crash

        tell_crash(error, sys.stderr)
        return CRASH_CODE
    return result if isinstance(result, int) else 0


def _carry_out(arguments: list[str]) -> object:
    """Do what the arguments say; what the command returned. Wrong usage is told, and is 2."""
    try:
        # Not through click's own `main`, which would make a broken pipe an exit code of 1.
        with _app.make_context("evalcase", arguments) as context:
            return _app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        _with_true_hint(error).show()
        _note_refused(arguments)
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
        hint = hint_at_share(error.message.partition(" ")[0])
    if hint is None or not isinstance(error, click.UsageError):
        return error
    is_unknown = isinstance(error, click.NoSuchOption)  # with what is spelt alike, in full
    said = error.message if is_unknown else error.format_message()
    return click.UsageError(f"{said} {hint}", error.ctx)


def _hint_at_option(error: click.NoSuchOption) -> str | None:
    command = None if error.ctx is None else error.ctx.command
    known = [] if command is None else [flag for each in command.params for flag in each.opts]
    if isinstance(command, click.Group):
        options = [flag for each in command_of("run").params for flag in each.opts]
        is_of_run = error.option_name in options
        return (
            f"It goes after the command: evalcase run {error.option_name} …" if is_of_run else None
        )
    return hint_at_option(error.option_name, known)


def _note_refused(arguments: list[str]) -> None:
    if arguments and (arguments[0] == "run" or arguments[0] not in COMMANDS):
        from evalcase.cli.errors import note_refused_run

        note_refused_run(arguments)


def _make_writable(stream: TextIO | None) -> TextIO:
    """A stream for UTF-8, which is what eval files are; the null device for one that is closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[attr-defined]
    return stream


def _discard_output() -> None:
    """Give standard output another end, so that nothing fails when Python flushes it at exit."""
    from evalcase.cli.streams import discard_stream

    discard_stream(sys.stdout)

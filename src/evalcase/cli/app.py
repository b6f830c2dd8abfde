"""The command and its subcommands, each imported only when it is used."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TextIO

import click

from evalcase import __version__
from evalcase.cli.terminal import CRASH_CODE, discard_stream, explain_error, tell_crash
from evalcase.errors import ConfigError, RecordError, SuiteError, TargetError
from evalcase.types.problem import find_nearest

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
        "workspace": "Make the workspace of a stored trial again.",
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

_FILES = {
    "explain": "reference", "graders": "reference", "schema": "reference", "show": "reference",
    "import": "convert", "harvest": "convert", "migrate": "convert",
    "lsp": "serve", "view": "serve",
    "list": "runs", "prune": "runs", "grade": "resume", "merge": "resume",
}  # fmt: skip
"""Modules with several commands; any other command has one of its name."""

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

    Of the commands, only run, resume, grade and workspace execute your code. The others never
    import it or open a connection, except view, which serves only this machine. Exit codes: 0
    success; 1 not all passed, or a gate failed; 2 invalid file, configuration or usage; 3 trials
    errored, or a run is not complete; 130 interrupted.
    """


def command_of(name: str) -> click.Command:
    module = import_module(f"evalcase.cli.{_FILES.get(name, name)}")
    command: click.Command = getattr(module, f"{name}_command")
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
            meant = find_nearest(args[0], COMMANDS)
            if os.path.exists(args[0]) or args[0].endswith((".yaml", ".yml", ".jsonl", ".json")):
                meant = f"evalcase run {args[0]}"
            hint = "See 'evalcase --help'." if meant is None else f"Did you mean '{meant}'?"
            raise click.UsageError(f"there is no command '{args[0]}'. {hint}")
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
        result = _invoke(arguments)
        if not out.closed:
            out.flush()
    except KeyboardInterrupt as error:
        sys.stderr.write(f"{' '.join(['evalcase: interrupted', *map(str, error.args)])}\n")
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it. Exit as a program that SIGPIPE ends.
        discard_stream(sys.stdout)
        return 141
    except OSError as error:
        discard_stream(sys.stdout)
        sys.stderr.write(f"evalcase: can't continue: {error.strerror or error}\n")
        return 3
    except BaseException as error:  # noqa: BLE001 - also SystemExit, which is never evalcase's own
        tell_crash(error, sys.stderr)
        return CRASH_CODE
    return result if isinstance(result, int) else 0


def _invoke(arguments: list[str]) -> object:
    try:
        # Not through click's own `main`, which would make a broken pipe an exit code of 1.
        with _app.make_context("evalcase", arguments) as context:
            return _app.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except (SuiteError, ConfigError, TargetError, RecordError) as error:
        return explain_error(error)
    except click.ClickException as error:
        error.show()
        return 2


def _make_writable(stream: TextIO | None) -> TextIO:
    """A stream for UTF-8, which is what eval files are; the null device for one that is closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[attr-defined]
    return stream

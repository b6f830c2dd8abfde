"""The command and its subcommands, each imported only when it is used."""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from typing import TextIO

from evalcase.cli.declare import Command, WrongUsageError
from evalcase.cli.quick_arguments import read_quickly

COMMANDS = {
    "check": "Check eval files and point at every mistake.",
    "show": "Print cases in their canonical form.",
    "schema": "Print the JSON Schema of the format, for editors.",
    "migrate": "Rename deprecated names, and change nothing else.",
    "import": "Convert a table or another tool's eval file to a suite.",
    "harvest": "Draft a suite from an agent's traces.",
    "run": "Run cases against targets and keep every result.",
    "resume": "Continue a run that is not complete.",
    "grade": "Grade the answers of a run again.",
    "list": "List stored runs.",
    "report": "Show the results of a stored run.",
    "compare": "Compare two runs, or two targets, case by case.",
    "view": "Browse all runs in the browser.",
    "merge": "Merge the shards of a run into one.",
    "prune": "Remove old runs (lists them first).",
    "calibrate": "Measure how far a judge can be trusted.",
    "graders": "List the graders, or explain one of them.",
    "lsp": "Start the language server, for editors.",
    "init": "Write a starter project that is ready to run.",
}

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


def command_of(name: str) -> Command:
    """The command of a name, imported if it isn't yet."""
    command: Command = import_module(f"evalcase.cli.{_FILES.get(name, name)}").command
    return command


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
        # Whoever read our output has seen enough. Leave as a program does that this signal ends.
        _discard_output()
        return 141
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"evalcase: can't continue: {error.strerror or error}\n")
        return 3
    except BaseException as error:  # noqa: BLE001 - also SystemExit, which is never evalcase's own
        from evalcase.cli.crash import CRASH_CODE, tell_crash

        tell_crash(error, sys.stderr)
        return CRASH_CODE
    return result if isinstance(result, int) else 0


def _carry_out(arguments: list[str]) -> object:
    try:
        if arguments and arguments[0] in COMMANDS:
            command = command_of(arguments[0])
            values = read_quickly(command, arguments[1:])
            if values is not None:
                return command.function(**values)
        from evalcase.cli.by_click import carry_out

        return carry_out(arguments, partial(_note_refused, arguments))
    except WrongUsageError as error:
        from evalcase.cli.by_click import tell_wrong_usage

        tell_wrong_usage(command_of(arguments[0]), str(error))
        _note_refused(arguments)
        return 2


def _note_refused(arguments: list[str]) -> None:
    if arguments and (arguments[0] == "run" or arguments[0] not in COMMANDS):
        from evalcase.cli.refused import note_refused_run

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

"""The options of a command, and which of them don't go together.

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{case_id}`, `{conversation_id}` | as in the case; empty where there is none |
| `{repeat}` | which trial of the case this is, from 1 |
| `{attempt}` | which try of the trial this is, from 1 |
| `{session}`, `{turn}` | which conversation this is of, new for every trial; and which turn of it |
| `{input_file}` | a file with the JSON object that else is on stdin |
| `{prompt_file}` | a file with the prompt |
| `{output_file}` | a file that the command writes its answer to, in place of stdout |

Commands of AgentV have `{PROMPT}`, `{EVAL_ID}`, `{ATTEMPT}` (from 0), `{FILES}`, `{GUIDELINES}`
(always empty), `{PROMPT_FILE}` and `{OUTPUT_FILE}`; in `files_format` each of `{FILES}` is `{path}`
and `{basename}`. How they are filled in is said in
`placeholders`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.option import option
from evalcase.model.shape import (
    Choice,
    Flag,
    ListOf,
    MapOf,
    Number,
    OptionFault,
    Text,
    tell_missing,
)
from evalcase.model.shape_one_of import OneOf
from evalcase.model.target import TargetOptions
from evalcase.text.placeholders import Template

NAMES = (
    "prompt", "case_id", "conversation_id", "repeat", "attempt", "session", "turn",
    "input_file", "prompt_file", "output_file",
)  # fmt: skip
AGENTV_NAMES = (
    "PROMPT", "EVAL_ID", "ATTEMPT", "FILES", "GUIDELINES", "PROMPT_FILE", "OUTPUT_FILE"
)  # fmt: skip
FILE_NAMES = ("path", "basename")
"""The placeholders of `files_format`."""
_LINE = "a shell line is one text, with shell = true"


def _if_command_is(type: str, shell: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "if": {"properties": {"command": {"type": type}}, "required": ["command"]},
        "then": shell,
    }


COMMAND_RULES = (
    _if_command_is("string", {"properties": {"shell": {"const": True}}, "required": ["shell"]}),
    _if_command_is("array", {"properties": {"shell": {"const": False}}}),
)
"""That a text is for a shell, and a list is not, for editors."""


class _Variables(MapOf, frozen=True):
    """Variables for a process, by name."""

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        yield from MapOf.faults(self, value, path)
        for name, text in value.items() if isinstance(value, dict) else ():
            if not name or "=" in name or "\0" in f"{name}{text}":
                yield OptionFault(
                    (*path, name), f"`{path[-1]}` can't hold a variable {name!r}", at="key"
                )


_OWN_FORM = "can't be combined with mode = 'worker', which has a form of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOptions(TargetOptions):
    """Which program, what it is given, and how its answer is read."""

    command: tuple[str, ...] | str | None = option(
        OneOf((ListOf(Text(empty=True), "a list of texts", least=0), Text())),
        "The program and its arguments, as a list; with `shell`, one text.",
        default=None,
        elsewhere=("cmd", "argv", "args", "program", "exec"),
    )
    shell: bool = option(Flag(), "Run the text with `/bin/sh -c`.", default=False)
    cwd: str | None = option(
        Text(),
        "The folder to run it in; by default, the project folder.",
        default=None,
        elsewhere=("working_directory", "workdir", "folder"),
    )
    env: dict[str, str] = option(
        _Variables(Text(empty=True)),
        "Environment variables to set, in addition to those of evalcase.",
        default={},
        elsewhere=("environment", "variables"),
    )
    stdin: str | None = option(
        Choice(("auto", "json", "text", "none")),
        "`json` (the case), `text` (the prompt) or `none`; by default `json`, or `none` if the "
        "command has a placeholder for the input.",
        default=None,
        elsewhere=("input",),
    )
    output: str | None = option(
        Choice(("auto", "text", "json")), "How to read its output.", default=None
    )
    max_output_bytes: int = option(
        Number(1, whole=True), "How many bytes of output to keep.", default=10_000_000
    )
    mode: str = option(
        Choice(("once", "worker")),
        "`once` starts it for each trial; a `worker` keeps running.",
        default="once",
    )
    workers: int | None = option(
        Number(1, whole=True),
        "The maximum number of worker processes.",
        default=None,
        decides_answer=False,
    )
    command_template: str | None = option(
        Text(), "A command as in AgentV, instead of `command`.", default=None
    )
    trace: bool = option(
        Flag(), "Set TRACEPARENT, so that its spans join the trace of the trial.",
        default=False, elsewhere=("tracing", "otel"),
    )  # fmt: skip
    files_format: str | None = option(
        Text(), "For `command_template`: how to write each of `{FILES}`.", default=None
    )

    @property
    def is_agentv(self) -> bool:
        return self.command_template is not None

    @property
    def texts(self) -> list[str]:
        """The texts that may have placeholders."""
        if self.command_template is not None:
            return [self.command_template]
        return [self.command] if isinstance(self.command, str) else list(self.command or ())

    @property
    def template(self) -> Template:
        return Template([*self.texts], AGENTV_NAMES if self.is_agentv else NAMES)

    @property
    def files_template(self) -> Template:
        return Template([self.files_format or "{path}"], FILE_NAMES)

    @property
    def _template_name(self) -> str:
        return "command_template" if self.is_agentv else "command"

    @conflict
    def _template_faults(self) -> Iterator[OptionFault]:
        name = self._template_name
        for fault in self.template.faults():
            yield OptionFault((name,), f"`{name}`: {fault.message}")
        if self.is_agentv and "OUTPUT_FILE" not in self.template.used:
            what = "has no {OUTPUT_FILE}, where the answer is read from"
            yield OptionFault((name,), f"`{name}` {what}")

    @conflict
    def _worker_faults(self) -> Iterator[OptionFault]:
        used = self.template.used if self.mode == "worker" else ()
        if used:
            names = ", ".join(f"{{{each}}}" for each in sorted(used))
            what = f"has {names}, but a worker is started once for many cases"
            yield OptionFault((self._template_name,), f"`{self._template_name}` {what}")

    @conflict
    def _command_faults(self) -> Iterator[OptionFault]:
        if self.is_agentv:
            if self.command is not None:
                what = "`command` and `command_template` say the same thing: leave one out"
                yield OptionFault(("command",), what)
        elif self.command is None:
            needs = "a target of kind `command` needs `command`"
            yield tell_missing((), needs, "command", ["./agent", "--fast"])
        elif not self.command:
            yield OptionFault(("command",), "`command` is an empty list")
        elif self.shell and not isinstance(self.command, str):
            yield OptionFault(("command",), "`command` is one text with `shell`, not a list")
        elif not self.shell and isinstance(self.command, str):
            yield OptionFault(("command",), f"`command` is a list of texts, not a string; {_LINE}")

    @conflict
    def _format_faults(self) -> Iterator[OptionFault]:
        if self.files_format is not None and not self.is_agentv:
            yield OptionFault(("files_format",), "`files_format` goes with `command_template` only")

    @conflict
    def _format_has_others(self) -> Iterator[OptionFault]:
        for fault in self.files_template.faults():
            yield OptionFault(("files_format",), f"`files_format`: {fault.message}")

    @conflict
    def _output_faults(self) -> Iterator[OptionFault]:
        if self.output is not None and self.is_agentv:
            what = "can't be combined with `command_template`, which says how it is read"
            yield OptionFault(("output",), f"`output` {what}")

    @conflict
    def _once_has_workers(self) -> Iterator[OptionFault]:
        if self.mode == "once" and self.workers is not None:
            yield OptionFault(("workers",), '`workers` goes with mode = "worker" only')

    @conflict
    def _worker_has_stdin(self) -> Iterator[OptionFault]:
        if self.mode == "worker" and self.stdin is not None:
            yield OptionFault(("stdin",), f"`stdin` {_OWN_FORM}")

    @conflict
    def _worker_has_output(self) -> Iterator[OptionFault]:
        if self.mode == "worker" and self.output is not None:
            yield OptionFault(("output",), f"`output` {_OWN_FORM}")

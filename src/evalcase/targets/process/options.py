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
from typing import Annotated, Literal

from evalcase.types.options import Count, OptionFault, Place, Text, about, of_kind
from evalcase.types.target import TargetOptions
from evalcase.types.value import JSON
from evalcase.util.placeholders import Template

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


def _check_variables(value: dict[str, str], place: Place) -> Iterator[OptionFault]:
    for name, text in value.items():
        if not name or "=" in name or "\0" in f"{name}{text}":
            message = f"{place.label} can't hold a variable {name!r}"
            yield OptionFault((*place.path, name), message, at="key")


Variables = Annotated[dict[str, str], of_kind(check=_check_variables)]
"""Variables for a process, by name."""


_OWN_FORM = "can't be combined with mode = 'worker', which has a form of its own"


class CommandOptions(TargetOptions, frozen=True, kw_only=True):
    """Which program, what it is given, and how its answer is read."""

    command: Annotated[
        tuple[str, ...] | Text | None,
        about(
            "The program and its arguments, as a list; with `shell`, one text.",
            elsewhere=("cmd", "argv", "args", "program", "exec"),
        ),
    ] = None
    shell: Annotated[bool, about("Run the text with `/bin/sh -c`.")] = False
    cwd: Annotated[
        Text | None,
        about(
            "The folder to run it in; by default, the project folder.",
            elsewhere=("working_directory", "workdir", "folder"),
        ),
    ] = None
    env: Annotated[
        Variables,
        about(
            "Environment variables to set, in addition to those of evalcase.",
            elsewhere=("environment", "variables"),
        ),
    ] = {}
    stdin: Annotated[
        Literal["auto", "json", "text", "none"] | None,
        about(
            "`json` (the case), `text` (the prompt) or `none`; by default `json`, or `none` if "
            "the command has a placeholder for the input.",
            elsewhere=("input",),
        ),
    ] = None
    output: Annotated[Literal["auto", "text", "json"] | None, about("How to read its output.")] = (
        None
    )
    max_output_bytes: Annotated[Count, about("How many bytes of output to keep.")] = 10000000
    mode: Annotated[
        Literal["once", "worker"],
        about("`once` starts it for each trial; a `worker` keeps running."),
    ] = "once"
    workers: Annotated[
        Count | None, about("The maximum number of worker processes.", decides_answer=False)
    ] = None
    command_template: Annotated[
        Text | None, about("A command as in AgentV, instead of `command`.")
    ] = None
    trace: Annotated[
        bool,
        about(
            "Set TRACEPARENT, so that its spans join the trace of the trial.",
            elsewhere=("tracing", "otel"),
        ),
    ] = False
    files_format: Annotated[
        Text | None, about("For `command_template`: how to write each of `{FILES}`.")
    ] = None

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

    def conflicts(self) -> Iterator[OptionFault]:
        yield from self._template_faults()
        yield from self._command_faults()
        yield from self._mode_faults()

    def _template_faults(self) -> Iterator[OptionFault]:
        name = self._template_name
        for _, message in self.template.faults():
            yield OptionFault((name,), f"`{name}`: {message}")
        if self.is_agentv and "OUTPUT_FILE" not in self.template.used:
            what = "has no {OUTPUT_FILE}, where the answer is read from"
            yield OptionFault((name,), f"`{name}` {what}")
        used = self.template.used if self.mode == "worker" else ()
        if used:
            names = ", ".join(f"{{{each}}}" for each in sorted(used))
            what = f"has {names}, but a worker is started once for many cases"
            yield OptionFault((self._template_name,), f"`{self._template_name}` {what}")
        if self.files_format is not None and not self.is_agentv:
            yield OptionFault(("files_format",), "`files_format` goes with `command_template` only")
        for _, message in self.files_template.faults():
            yield OptionFault(("files_format",), f"`files_format`: {message}")

    def _command_faults(self) -> Iterator[OptionFault]:
        if self.is_agentv:
            if self.command is not None:
                what = "`command` and `command_template` say the same thing: leave one out"
                yield OptionFault(("command",), what)
        elif self.command is None:
            needs = "a target of kind `command` needs `command`"
            example: list[JSON] = ["./agent", "--fast"]
            hint = f"for example command: {example}"
            yield OptionFault((), needs, hint, code="missing-option", example=("command", example))
        elif not self.command:
            yield OptionFault(("command",), "`command` is an empty list")
        elif self.shell and not isinstance(self.command, str):
            yield OptionFault(("command",), "`command` is one text with `shell`, not a list")
        elif not self.shell and isinstance(self.command, str):
            yield OptionFault(("command",), f"`command` is a list of texts, not a string; {_LINE}")

    def _mode_faults(self) -> Iterator[OptionFault]:
        if self.output is not None and self.is_agentv:
            what = "can't be combined with `command_template`, which says how it is read"
            yield OptionFault(("output",), f"`output` {what}")
        if self.mode == "once" and self.workers is not None:
            yield OptionFault(("workers",), '`workers` goes with mode = "worker" only')
        if self.mode == "worker" and self.stdin is not None:
            yield OptionFault(("stdin",), f"`stdin` {_OWN_FORM}")
        if self.mode == "worker" and self.output is not None:
            yield OptionFault(("output",), f"`output` {_OWN_FORM}")

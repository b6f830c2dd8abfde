"""The options of a command, checked once.

| option | meaning |
|---|---|
| `command` | the program and its arguments, a list; with `shell` one text |
| `shell` | true: run the text by `/bin/sh -c` |
| `cwd` | the folder to run it in; by default the project's |
| `env` | variables for it, beside those that evalcase was started with |
| `stdin` | `json` (the case), `text` (the prompt), `none`; by default `json`, or `none` if a placeholder brings the input |
| `output` | `auto`, `text` or `json`: see `outputs` |
| `max_output_bytes` | how much of the output is kept, by default 10,000,000 |
| `mode` | `once` per trial, or `worker`: see `worker` |
| `workers` | how many processes a worker has at most, by default 1 |
| `command_template` | in place of `command`: a command of AgentV, see below |
| `files_format` | for `command_template`: how each of `{FILES}` is written, by default `{path}` |

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{case_id}`, `{conversation_id}` | as in the case; empty where there is none |
| `{repeat}` | which trial of the case this is, from 1 |
| `{attempt}` | which try of the trial this is, from 1 |
| `{input_file}` | a file with the JSON object that else is on stdin |
| `{prompt_file}` | a file with the prompt |
| `{output_file}` | a file that the command writes its answer to, in place of stdout |

Commands of AgentV have `{PROMPT}`, `{EVAL_ID}`, `{ATTEMPT}` (from 0), `{FILES}`, `{GUIDELINES}`
(always empty), `{PROMPT_FILE}` and `{OUTPUT_FILE}`. How they are filled in is said in
`placeholders`.
"""  # noqa: E501 - rows of a table can't be broken

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal, cast

from evalcase.errors import ConfigError
from evalcase.targets.options import Options
from evalcase.targets.reading.outputs import How
from evalcase.text.placeholders import Template

NAMES = (
    "prompt", "case_id", "conversation_id", "repeat", "attempt",
    "input_file", "prompt_file", "output_file",
)  # fmt: skip
AGENTV_NAMES = (
    "PROMPT", "EVAL_ID", "ATTEMPT", "FILES", "GUIDELINES", "PROMPT_FILE", "OUTPUT_FILE"
)  # fmt: skip

Stdin = Literal["json", "text", "none"]
_INPUTS = frozenset({"prompt", "prompt_file", "input_file"})
_LIST_HINT = "a shell line is one text, with shell = true"


@dataclass(frozen=True, slots=True)
class CommandOptions:
    template: Template
    program: str | None
    """What must be there to be started; None if only the shell knows."""
    shell: bool
    agentv: bool
    cwd: str
    env: dict[str, str]
    stdin: Stdin
    output: How
    max_output_bytes: int
    workers: int | None
    """How many processes answer trials one after the other; None: each trial has its own."""
    files_format: str

    def check_place(self) -> None:
        """Raise ConfigError if the folder or the program is missing."""
        if not os.path.isdir(self.cwd):
            raise ConfigError(f"command target: `cwd` is no folder: {self.cwd}")
        if self.program is None or "{" in self.program:
            return
        from shutil import which

        path = self.program
        if os.path.dirname(path):
            path = os.path.join(self.cwd, path)
        search = self.env.get("PATH", os.environ.get("PATH"))
        if which(path, path=search) is None:
            raise ConfigError(f"command target: there is no program `{self.program}` to run")


def read_command_options(values: dict[str, object], root: str) -> CommandOptions:
    """Checked options. Raise ConfigError for the first that can't be used."""
    read = Options("command", values)
    agentv = read.has("command_template")
    shell = read.flag("shell") or agentv
    texts = _texts(read, agentv, shell)
    template = Template([*texts], AGENTV_NAMES if agentv else NAMES)
    for fault in template.faults():
        raise ConfigError(f"command target: {fault}")
    if agentv and "OUTPUT_FILE" not in template.used:
        read.refuse("command_template", "has no {OUTPUT_FILE}, where the answer is read from")
    options = CommandOptions(
        template,
        None if shell else texts[0],
        shell,
        agentv,
        os.path.join(os.path.abspath(root), read.text("cwd") or ""),
        read.environment("env"),
        _stdin(read, template, agentv),
        _output(read, agentv),
        read.count("max_output_bytes", 10_000_000),
        _workers(read, template),
        read.text("files_format") or "{path}",
    )
    if read.has("files_format") and not agentv:
        read.refuse("files_format", "goes with `command_template` only")
    read.check_unknown()
    return options


def _texts(read: Options, agentv: bool, shell: bool) -> list[str]:
    if agentv and read.has("command"):
        read.refuse("command", "and `command_template` say the same thing: leave one out")
    if agentv:
        return [read.text("command_template") or ""]
    if shell:
        return [read.required_text("command", '"./agent.sh | tail -1"')]
    return read.texts("command", _LIST_HINT)


def _stdin(read: Options, template: Template, agentv: bool) -> Stdin:
    chosen = read.choice("stdin", ("auto", "json", "text", "none"))
    if chosen == "auto":
        chosen = "none" if agentv or template.used & _INPUTS else "json"
    return cast(Stdin, chosen)


def _output(read: Options, agentv: bool) -> How:
    if agentv and read.has("output"):
        read.refuse("output", "does not go with `command_template`, which says how it is read")
    return "agentv" if agentv else cast(How, read.choice("output", ("auto", "text", "json")))


def _workers(read: Options, template: Template) -> int | None:
    count = read.count("workers", 1)
    if read.choice("mode", ("once", "worker")) == "once":
        if read.has("workers"):
            read.refuse("workers", 'goes with mode = "worker" only')
        return None
    for name in ("stdin", "output"):
        if read.has(name):
            read.refuse(name, 'does not go with mode = "worker", which has a form of its own')
    if template.used:
        names = ", ".join(f"{{{name}}}" for name in sorted(template.used))
        read.refuse("command", f"has {names}, but a worker is started once for many cases")
    return count

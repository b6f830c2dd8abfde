"""A program as it is run: what its options come to in a project's folder and environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, cast

from evalcase.errors import ConfigError
from evalcase.targets.process.options import CommandOptions
from evalcase.targets.reading.outputs import How
from evalcase.types.target import Surroundings
from evalcase.types.value import Value
from evalcase.util.placeholders import Template
from evalcase.util.project import find_program

Stdin = Literal["json", "text", "none"]
_INPUTS = frozenset({"prompt", "prompt_file", "input_file"})


class Program(Value, frozen=True):
    """How a program is started, fed and read."""

    template: Template
    name: str | None
    """What must be there to be started; None if only the shell knows."""
    shell: bool
    agentv: bool
    cwd: str
    env: Mapping[str, str]
    """Variables of its own."""
    environment: Mapping[str, str]
    """Those that evalcase has."""
    stdin: Stdin
    output: How
    max_output_bytes: int
    files: Template
    """How each file is written."""

    @property
    def sees_last_only(self) -> bool:
        """Whether all that it sees of several messages is the last of the user."""
        return not self.agentv and not self.sees_object

    @property
    def sees_object(self) -> bool:
        """Whether it is given the question as a JSON object."""
        return self.stdin == "json" or "input_file" in self.template.used

    def variables(self) -> dict[str, str]:
        """All variables that it is started with, as they are now."""
        return {**self.environment, **self.env}

    def check_place(self) -> None:
        """Raise ConfigError if the folder or the program is missing."""
        if not os.path.isdir(self.cwd):
            raise ConfigError(f"command target: `cwd` is not a folder: {self.cwd}")
        if self.name is None or "{" in self.name:
            return
        if find_program(self.name, self.cwd, self.variables()) is None:
            raise ConfigError(f"command target: there is no program `{self.name}` to run")


def resolve_program(options: CommandOptions, surroundings: Surroundings) -> Program:
    """The program of some options."""
    template = options.template
    agentv = options.is_agentv
    shell = options.shell or agentv
    return Program(
        template,
        None if shell else template.texts[0],
        shell,
        agentv,
        os.path.join(os.path.abspath(surroundings.root), options.cwd or ""),
        options.env,
        surroundings.environment,
        _choose_stdin(options, template),
        "agentv" if agentv else cast("How", options.output or "auto"),
        options.max_output_bytes,
        options.files_template,
    )


def _choose_stdin(options: CommandOptions, template: Template) -> Stdin:
    if options.stdin in (None, "auto"):
        return "none" if options.is_agentv or template.used & _INPUTS else "json"
    return cast("Stdin", options.stdin)

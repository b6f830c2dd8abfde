"""`evalcase explain`, `evalcase graders` and `evalcase schema`: what evalcase says of itself."""

from __future__ import annotations

import sys

import click

from evalcase.cli.options import WrongUsageError
from evalcase.cli.terminal import print_lines, screen_for
from evalcase.config.catalogue import (
    config_schema,
    declared_graders,
    sidecar_schema,
    suite_schema,
)
from evalcase.config.registry import find_class
from evalcase.errors import ConfigError
from evalcase.graders.base import declared_grader
from evalcase.graders.rubrics import RUBRIC_NAMES, rubric_text
from evalcase.report.json import json_text
from evalcase.report.lists import explain_grader, grader_lines, page_lines, page_path
from evalcase.types.problem import CODES, did_you_mean
from evalcase.util.files import read_file

_LARGEST = 1_000_000


@click.command("explain")
@click.argument("code", required=False)
def explain_command(code: str | None) -> int:
    """Explain a diagnostic code, or list all of them.

    \b
    evalcase explain                  every code, and what it says
    evalcase explain unknown-field    what it means, and how to fix it
    """
    if code is None:
        width = max(map(len, CODES))
        print_lines(
            f"{name:{width}}  {severity:7}  {title}" for name, (severity, title) in CODES.items()
        )
        return 0
    code = code.strip().strip("[]").rpartition("[")[2]
    if code not in CODES:
        hint = did_you_mean(code, CODES, 0.75) or "`evalcase explain` lists all codes"
        raise ConfigError(f"there is no diagnostic code `{code}`: {hint}")
    print_lines(page_lines(read_page(code), screen_for(sys.stdout)))
    return 0


def read_page(code: str) -> str:
    """The page about a code, as Markdown; its title alone where the page is missing."""
    path = page_path(code)
    if path is not None:
        return read_file(path, _LARGEST).decode()
    severity, title = CODES[code]
    return f"# {code}\n\n*{severity.capitalize()}.* {title}\n"


@click.command("graders")
@click.argument("name", required=False)
def graders_command(name: str | None) -> int:
    """List the installed graders, or explain one of them.

    \b
    evalcase graders             every grader, and when it passes
    evalcase graders fields      its options, and an example
    evalcase graders faithful    a built-in rubric for judges, to read or copy
    """
    screen = screen_for(sys.stdout)
    if name in RUBRIC_NAMES:
        print_lines([rubric_text(name).rstrip("\n")])
    elif name is None:
        print_lines(grader_lines(declared_graders(), screen))
    else:
        print_lines(explain_grader(declared_grader(find_class("graders", name)), screen))
    return 0


@click.command("schema")
@click.option("--config", is_flag=True, help="Print the schema of evalcase.toml.")
@click.option(
    "--sidecar", is_flag=True, help="Print the schema of the .suite.yaml file next to a JSONL file."
)
def schema_command(config: bool, sidecar: bool) -> int:
    """Print the JSON Schema (2020-12) of eval files, for completion and checks in editors.

    It includes all installed graders (with --config, all kinds of targets) with their options.

    \b
    evalcase schema > evalcase.schema.json
    evalcase schema --config > evalcase.config.schema.json
    evalcase schema --sidecar > evalcase.sidecar.schema.json

    \b
    Then add as the first line of an eval file, or of evalcase.toml:
    # yaml-language-server: $schema=evalcase.schema.json
    #:schema ./evalcase.config.schema.json
    """
    if config and sidecar:
        raise WrongUsageError("--config and --sidecar can't be combined")
    schema = config_schema if config else sidecar_schema if sidecar else suite_schema
    print_lines([json_text(schema())])
    return 0

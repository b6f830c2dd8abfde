"""`evalcase graders`: which graders there are, and what each can be told."""

from __future__ import annotations

import sys

import click

from evalcase.cli.terminal import screen_for, write_prose
from evalcase.errors import ConfigError


@click.command("graders")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the installed graders, or explain one of them.

    \b
    evalcase graders             every grader, and when it passes
    evalcase graders fields      its options, and an example
    evalcase graders faithful    a built-in rubric for judges, to read or copy
    """
    from evalcase.config.catalogue import declared_graders
    from evalcase.config.registry import find_class
    from evalcase.graders.base import declared_grader
    from evalcase.graders.rubrics import RUBRIC_NAMES, rubric_text
    from evalcase.report.lists import explain_grader, grader_lines

    screen = screen_for(sys.stdout)
    try:
        if name in RUBRIC_NAMES:
            lines = iter(rubric_text(name).rstrip("\n").split("\n"))
        elif name is None:
            lines = grader_lines(declared_graders(), screen)
        else:
            lines = explain_grader(declared_grader(find_class("graders", name)), screen)
    except ConfigError as error:
        write_prose(f"evalcase: {error}", sys.stderr)
        return 2
    for line in lines:
        sys.stdout.write(line + "\n")
    return 0

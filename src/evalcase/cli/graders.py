"""`evalcase graders`: which graders there are, and what each can be told."""

from __future__ import annotations

import sys

import click

from evalcase.cli.terminal import columns_of, style_for
from evalcase.errors import ConfigError
from evalcase.text.visible import visible


@click.command("graders")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the graders that are installed, or explain one of them.

    \b
    evalcase graders             every grader, and when it passes
    evalcase graders fields      its options, and an example
    evalcase graders faithful    a ready rubric of a judge, as it stands
    """
    from evalcase.graders.judging.ready import NAMES, rubric_text
    from evalcase.model.grader_options import declared_grader
    from evalcase.plugins.registry import find_class
    from evalcase.plugins.schemas import declared_graders
    from evalcase.report.terminal.grader_list import explain_grader, grader_lines

    if name in NAMES:
        sys.stdout.write(rubric_text(name))
        return 0
    width, style = columns_of(sys.stdout), style_for(sys.stdout)
    try:
        if name is None:
            lines = grader_lines(declared_graders(), width, style)
        else:
            lines = explain_grader(declared_grader(find_class("graders", name)), width, style)
    except ConfigError as error:
        sys.stderr.write(f"evalcase: {visible(str(error))}\n")
        return 2
    for line in lines:
        sys.stdout.write(line + "\n")
    return 0

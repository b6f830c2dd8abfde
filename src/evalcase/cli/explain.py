"""`evalcase explain`: the page about a diagnostic code, for a terminal. The pages are those of the
documentation."""

from __future__ import annotations

import sys

import click

from evalcase.cli.terminal import screen_for, write_prose
from evalcase.editor.pages import page_path
from evalcase.types.problem import CODES, did_you_mean
from evalcase.util.files import read_file

_LARGEST = 1_000_000


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Explain a diagnostic code, or list all of them.

    \b
    evalcase explain                  every code, and what it says
    evalcase explain unknown-field    what it means, and how to fix it
    """
    if code is None:
        width = max(map(len, CODES))
        for name, (severity, title) in CODES.items():
            sys.stdout.write(f"{name:{width}}  {severity:7}  {title}\n")
        return 0
    code = code.strip().strip("[]").rpartition("[")[2]
    if code not in CODES:
        hint = did_you_mean(code, CODES) or "`evalcase explain` lists all codes"
        write_prose(f"evalcase: there is no diagnostic code `{code}`: {hint}", sys.stderr)
        return 2
    from evalcase.report.lists import page_lines

    for line in page_lines(read_page(code), screen_for(sys.stdout)):
        sys.stdout.write(line + "\n")
    return 0


def read_page(code: str) -> str:
    """The page about a code, as Markdown; its title alone where the page is missing."""
    path = page_path(code)
    if path is not None:
        return read_file(path, _LARGEST).decode()
    severity, title = CODES[code]
    return f"# {code}\n\n*{severity.capitalize()}.* {title}\n"

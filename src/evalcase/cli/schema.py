"""`evalcase schema`: the JSON Schema of the authoring format."""

from __future__ import annotations

import sys

import click

from evalcase.report.files.problems import json_text
from evalcase.resolve.schema import schema


@click.command("schema")
def command() -> int:
    """Print the JSON Schema (2020-12) of eval files, so that an editor completes and underlines.

    \b
    evalcase schema > evalcase.schema.json

    \b
    Then, as the first line of an eval file:
    # yaml-language-server: $schema=evalcase.schema.json
    """
    sys.stdout.write(json_text(schema()) + "\n")
    return 0

"""`evalcase schema`: the JSON Schema of eval files, of sidecars, or of the configuration."""

from __future__ import annotations

import sys

import click

from evalcase.cli.options import WrongUsageError
from evalcase.report.json import json_text


@click.command("schema")
@click.option("--config", is_flag=True, help="Print the schema of evalcase.toml.")
@click.option(
    "--sidecar", is_flag=True, help="Print the schema of the .suite.yaml file next to a JSONL file."
)
def command(config: bool, sidecar: bool) -> int:
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
    from evalcase.config.catalogue import config_schema, sidecar_schema, suite_schema

    if config and sidecar:
        raise WrongUsageError("--config and --sidecar can't be combined")
    schema = config_schema if config else sidecar_schema if sidecar else suite_schema
    sys.stdout.write(json_text(schema()) + "\n")
    return 0

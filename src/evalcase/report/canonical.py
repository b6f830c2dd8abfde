"""Canonical values in, the text of an eval file out."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.report.machine import escape_steering
from evalcase.report.yaml_text import write_yaml


def json_line(value: object) -> str:
    """JSON on one line, as in a JSONL file."""
    import json

    return escape_steering(json.dumps(value, ensure_ascii=False))


def json_text(value: object) -> Iterator[str]:
    """Indented JSON."""
    from evalcase.report.machine import json_text as indented

    yield indented(value) + "\n"


def yaml_text(value: object) -> Iterator[str]:
    """YAML; several suites are several documents."""
    if isinstance(value, list) and all("cases" in item for item in value):
        for item in value:
            yield "---\n"
            yield from write_yaml(item)
    else:
        yield from write_yaml(value)

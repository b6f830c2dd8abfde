"""Canonical values in, the text of eval files out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalcase.format.writer import write_yaml
from evalcase.report.files.problems import escape_steering


def json_line(value: object) -> str:
    """JSON on one line, as in a JSONL file."""
    import json

    return escape_steering(json.dumps(value, ensure_ascii=False))


def yaml_documents(values: Iterable[object]) -> Iterator[str]:
    """Several values as the documents of one YAML stream."""
    for value in values:
        yield "---\n"
        yield from write_yaml(value)

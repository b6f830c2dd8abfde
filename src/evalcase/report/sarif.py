"""Problems as a SARIF 2.1.0 log, which code hosts and editors read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import quote

from evalcase.report.json import json_text
from evalcase.types.problem import CODES, Problem, Span
from evalcase.util.text import make_visible

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""The name that code hosts give to the folder that relative paths start from."""


def as_sarif(problems: Iterable[Problem], *, version: str) -> str:
    """The log as JSON text. `version` is that of evalcase."""
    return json_text(sarif_log(problems, version=version))


def sarif_log(problems: Iterable[Problem], *, version: str) -> dict[str, object]:
    """The log as plain data: one run, the rules it used, one result per problem."""
    rules: dict[str, int] = {}
    results = [
        _make_result(problem, rules.setdefault(problem.code, len(rules))) for problem in problems
    ]
    driver = {"name": "evalcase", "version": version, "rules": [_make_rule(code) for code in rules]}
    run = {
        "tool": {"driver": driver},
        # Without it a reader would take columns for UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": _make_message("The folder of the check.")}},
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _make_rule(code: str) -> dict[str, object]:
    return {
        "id": code,
        "shortDescription": _make_message(CODES[code].title),
        "defaultConfiguration": {"level": CODES[code].severity},
    }


def _make_result(problem: Problem, rule_index: int) -> dict[str, object]:
    lines = [problem.message, *(problem.hint.split("\n") if problem.hint else ())]
    place: dict[str, object] = {"artifactLocation": _make_artifact(problem.path)}
    if problem.span:
        place["region"] = _make_region(problem.span)
    return {
        "ruleId": problem.code,
        "ruleIndex": rule_index,
        "level": problem.severity,
        "message": _make_message("\n".join(make_visible(line) for line in lines)),
        "locations": [{"physicalLocation": place}],
    }


def _make_message(text: str) -> dict[str, str]:
    # Single braces are placeholders in a SARIF message.
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _make_region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _make_artifact(path: str) -> dict[str, str]:
    pure = PurePath(path)
    if pure.is_absolute():
        return {"uri": pure.as_uri()}
    # Quoting the colon too keeps `a:b.yaml` from being read as a scheme.
    return {"uri": quote(os.fsencode(pure.as_posix())), "uriBaseId": ROOT}

"""Cases made in Python: `Case(input="2+2?", expected_output="4")`, by the rules of files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evalcase.errors import SuiteError
from evalcase.model.problem import Problem
from evalcase.plugins.known import Installed
from evalcase.resolve.findings import Findings
from evalcase.resolve.suite import resolve_one
from evalcase.suites.named_files import SuiteFiles
from evalcase.text.plain_json import NotJsonError, copy_json

if TYPE_CHECKING:
    from evalcase.model.grader import NamedGrader
    from evalcase.project.config import Config


def read_fields(fields: dict[str, Any], place: str = "<case>") -> dict[str, Any]:
    """The canonical form of a case of some fields. Raise SuiteError with all of its problems."""
    try:
        raw = copy_json(fields)
    except NotJsonError as error:
        raise SuiteError([Problem("not-json-value", f"a case is JSON: {error}", place)]) from None
    findings = Findings(Installed(), SuiteFiles(os.curdir))
    case = resolve_one(raw, findings)
    if case is None or findings.errors:
        problems = [
            Problem(each.code, each.message, place, hint=each.hint, case=each.case)
            for each in findings.found
        ]
        raise SuiteError(problems)
    return case._data


def canonical_graders(written: Sequence[object]) -> list[dict[str, Any]]:
    """The canonical form of graders in any of their spellings. Raise SuiteError with all that is
    wrong with them."""
    read = read_fields({"input": "any", "graders": list(written)}, "<graders>")
    graders: list[dict[str, Any]] = read.get("graders", [])
    return graders


def read_grader(written: str | Mapping[str, Any], config: Config, *, no_exec: bool) -> NamedGrader:
    """A grader of what a file would say of it. Raise SuiteError if that is no grader, ConfigError
    if it can't be made."""
    from evalcase.plugins.grader_loading import forbid_code
    from evalcase.plugins.grader_making import defaults_of, make_grader

    (spec,) = canonical_graders([written])
    made = make_grader(spec, defaults_of(config))
    if no_exec:
        forbid_code(made)
    return made

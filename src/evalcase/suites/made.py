"""Cases made in Python: `Case(input="2+2?", expected_output="4")`, by the rules of files.

Importing this file gives `Case` its way to read short forms: the nouns know nothing of resolving.
"""

from __future__ import annotations

import os
from typing import Any

from evalcase.errors import SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.plugins.known import Installed
from evalcase.resolve.findings import Findings
from evalcase.resolve.suite import resolve_one
from evalcase.suites.named_files import SuiteFiles
from evalcase.text.plain_json import NotJsonError, copy_json

__all__ = ["Case"]

_PLACE = "<case>"


def read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The canonical form of a case of some fields. Raise SuiteError with all of its problems."""
    try:
        raw = copy_json(fields)
    except NotJsonError as error:
        raise SuiteError([Problem("not-json-value", f"a case is JSON: {error}", _PLACE)]) from None
    findings = Findings(Installed(), SuiteFiles(os.curdir))
    case = resolve_one(raw, findings)
    if case is None or findings.errors:
        problems = [
            Problem(each.code, each.message, _PLACE, hint=each.hint, case=each.case)
            for each in findings.found
        ]
        raise SuiteError(problems)
    return case.data


Case.read_fields = staticmethod(read_fields)

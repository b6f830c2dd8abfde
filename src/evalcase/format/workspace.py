"""The `workspace` of a suite or a case: its canonical form, the files that it names, and how that
of a case changes that of its suite."""

from __future__ import annotations

from typing import Any

from evalcase.format.document import Findings
from evalcase.format.fields import WrittenCase
from evalcase.types.problem import KeyPath
from evalcase.types.read_options import fields_of

_TAKES = fields_of(WrittenCase)["workspace"].takes
_MERGED = ("files", "hidden", "env")
"""Mappings of which a case adds to those of its suite."""


def read_workspace(value: Any, path: KeyPath, findings: Findings) -> Any:
    """The canonical form: a mapping, or False for a case without a workspace."""
    if not findings.accepts(_TAKES, value, path):
        return None
    if value is False:
        return False
    if value is True:
        hint = "write {template: FOLDER}, or `false` for a case without one"
        findings.add("wrong-type", path, "`workspace` is a mapping or `false`", hint)
        return None
    if value.get("template") is not None:
        findings.add_file(value["template"], (*path, "template"), is_folder=True)
    for name in ("files", "hidden"):
        for file, source in (value.get(name) or {}).items():
            if type(source) is str:
                findings.add_file(source, (*path, name, file))
    return {name: each for name, each in value.items() if each is not None}


def merge_workspaces(of_suite: dict[str, Any], own: Any) -> Any:
    """The workspace of a case in a suite that has one: what the case says comes first."""
    if not isinstance(own, dict):
        return own
    merged = {name: {**of_suite.get(name, {}), **own.get(name, {})} for name in _MERGED}
    return {**of_suite, **own, **{name: each for name, each in merged.items() if each}}

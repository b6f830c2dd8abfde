"""The `workspace` of a suite or a case: its canonical form, the files that it names, and how that
of a case changes that of its suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalcase.format.document import Findings
from evalcase.format.fields import Named, WrittenCase
from evalcase.types.problem import Finding, KeyPath
from evalcase.types.read_options import fields_of
from evalcase.types.value import decode_object
from evalcase.types.workspace import Workspace
from evalcase.util.files import is_inside

_TAKES = fields_of(WrittenCase)["workspace"]
_MERGED = ("files", "hidden", "env")
"""Mappings of which a case adds to those of its suite; null removes."""
_BASES = {"template": ("repo", "commit", "history"), "repo": ("template",)}
"""What a case begins with, and what that displaces of its suite."""


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
    value = drop_nulls(value)
    named: list[tuple[KeyPath, object, bool | None]] = [
        (("template",), value.get("template"), True),
        (("solution",), value.get("solution"), None),
    ]
    repo, known = value.get("repo"), findings.known
    if repo is not None and known is not None and known.object_to("repo", repo) is not None:
        named.append((("repo",), repo, True))  # no repository of the configuration
    for field in ("files", "hidden"):
        named += [((field, name), each, False) for name, each in value.get(field, {}).items()]
    for at, source, is_folder in named:
        if isinstance(source, str):
            findings.add_file(source, (*path, *at), is_folder=is_folder)
    return value


def drop_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in value.items() if each is not None}


def merge_workspaces(of_suite: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The workspace of a case in a suite: what the case says comes first."""
    displaced = {each for base, others in _BASES.items() if base in own for each in others}
    kept = {name: each for name, each in of_suite.items() if name not in displaced}
    merged = {name: drop_nulls({**of_suite.get(name, {}), **own.get(name, {})}) for name in _MERGED}
    rest = {name: each for name, each in {**kept, **own}.items() if name not in _MERGED}
    return {**rest, **{name: each for name, each in merged.items() if each}}


def check_workspace(data: dict[str, Any], written: Named, findings: Findings) -> None:
    """Check the workspace of a case once that of its suite is merged in. What is wrong with the
    suite's is told once."""
    own = written.values.get("workspace")
    place = ("workspace",) if own is None and written.path else written.at("workspace")
    for fault in _find_faults(decode_object(Workspace, data), findings):
        # A part that the case doesn't write is told of at its whole workspace.
        is_there = own is None or (bool(fault.path) and fault.path[0] in own)
        path = (*place, *fault.path) if is_there else place
        findings.add_once(fault.code, path, fault.message, fault.hint, fault.at)


def _find_faults(declared: Workspace, findings: Findings) -> Iterator[Finding]:
    for fault in declared.lacks():
        yield fault if fault.path else fault._replace(code="wrong-type")
    if declared.template is None or findings.files is None:
        return
    template = findings.files.find(declared.template)
    hidden = [(("hidden", name), each) for name, each in declared.hidden.items()]
    for path, source in [*hidden, (("solution",), declared.solution)]:
        real = findings.files.find(source) if isinstance(source, str) else None
        if template is not None and real is not None and is_inside(real, template):
            message = f"`{source}` is in the template, where the agent sees it"
            yield Finding(path, message, f"move it out of `{declared.template}`")

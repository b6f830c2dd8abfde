"""A document as a suite: which of the shapes of a suite file it has, its fields and its cases."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from evalcase.format.case import NOTHING_SHARED, Ids, Shared, read_fields
from evalcase.format.fields import (
    CASE,
    CASE_CONTAINERS,
    CASE_FIELDS,
    LONE_CASE,
    SUITE,
    SUITE_FIELDS,
    Named,
    SuiteFile,
    Vocabulary,
    settle_names,
)
from evalcase.format.findings import Findings
from evalcase.format.templates import warn_of_file
from evalcase.format.variables import (
    read_suite_variables,
    resolve_literally,
    vary_case,
)
from evalcase.types.case import Case
from evalcase.types.problem import KeyPath
from evalcase.types.read_options import fields_of
from evalcase.types.value import JSON, describe_kind

VARIED = frozenset({"vars", "var_files", "matrix", "rows", "rendered"})
"""The fields of cases that are made with variables."""
_ONLY_IN_CASES = {*CASE_FIELDS, "expected_messages"} - {*SUITE_FIELDS}


class SuiteFields(NamedTuple):
    """A suite's own fields in canonical form, and what it adds to its cases."""

    fields: dict[str, Any]
    shared: Shared


class Resolved(NamedTuple):
    """A suite's own fields and its cases; None for a case with errors."""

    fields: dict[str, Any]
    cases: list[Case | None]
    origins: array[int] | None = None
    """The number of the written case that each case comes from, where one may make several."""

    def by_origin(self) -> list[Case | None]:
        """The first case of each that is written; None for one with errors."""
        first: dict[int, Case | None] = {}
        for index, case in zip(self.origins or (), self.cases, strict=True):
            first.setdefault(index, case)
        return list(first.values())


class _Shape(NamedTuple):
    about: SuiteFields
    raw_cases: list[Any]
    path: KeyPath
    is_lone: bool = False


def resolve_suite(value: JSON, name: str, findings: Findings) -> Resolved:
    """The suite that a document stands for. `name` is its name if it doesn't name itself."""
    shape = _find_shape(value, name, findings)
    if shape is None:
        return Resolved({"name": name}, [])
    shared, ids = shape.about.shared, Ids()
    vocabulary = LONE_CASE if shape.is_lone else CASE
    cases: list[Case | None] = []
    origins = array("q")
    may_vary = shared.variables is not None or any(map(_is_varied, shape.raw_cases))
    for index, raw in enumerate(shape.raw_cases):
        path = () if shape.is_lone else (*shape.path, index)
        for case in resolve_line(raw, findings, ids, shared, path, vocabulary):
            cases.append(case)
            origins.append(index)
    if shared.variables is not None:
        shared.variables.finish()
    _name_first_places(shape, cases, origins, findings)
    return Resolved(shape.about.fields, cases, origins if may_vary else None)


def _is_varied(raw: JSON) -> bool:
    return type(raw) is dict and not VARIED.isdisjoint(raw)


def resolve_line(
    value: JSON,
    findings: Findings,
    ids: Ids,
    shared: Shared,
    path: KeyPath = (),
    vocabulary: Vocabulary = CASE,
) -> Iterable[Case | None]:
    """The cases that one written case stands for: one, unless it has variables."""
    if shared.variables is not None or _is_varied(value):
        return vary_case(value, path, findings, ids, shared, vocabulary)
    return (resolve_literally(value, path, findings, ids, shared, vocabulary),)


def resolve_one(value: JSON, findings: Findings, vocabulary: Vocabulary = CASE) -> Case | None:
    """The only case that a value stands for: one that makes several is an error."""
    for name in ("matrix", "rows"):
        if type(value) is dict and value.get(name) is not None:
            message = f"`{name}` makes several cases, but only one is allowed here"
            findings.add("bad-value", (name,), message, "it is allowed in a suite file", "key")
            return None
    (case,) = resolve_line(value, findings, Ids(), NOTHING_SHARED, (), vocabulary)
    return case


def resolve_sidecar(value: JSON, name: str, findings: Findings) -> SuiteFields:
    """The suite fields that stand in a file beside a JSONL file."""
    if value is not None and type(value) is not dict:
        findings.add("wrong-type", (), f"this file holds suite fields, not {describe_kind(value)}")
    fields = value if type(value) is dict else {}
    for container in CASE_CONTAINERS:
        if container in fields:
            message = f"`{container}` is not allowed here: the cases are in the .jsonl file"
            findings.add("conflicting-fields", (container,), message, at="key")
    raw = {key: item for key, item in fields.items() if key not in CASE_CONTAINERS}
    return _read_suite_fields(settle_names(raw, (), SUITE, findings), name, findings)


def _read_suite_fields(named: Named, default_name: str, findings: Findings) -> SuiteFields:
    values, name = named.values, default_name
    takes = fields_of(SuiteFile)["name"].takes
    if "name" in values and findings.accepts(takes, values["name"], named.at("name")):
        name = values["name"]
    variables = read_suite_variables(named, findings)
    # Fields with tags are read once for each case, with its variables.
    rendered = () if variables is None else (*variables.tagged, "vars")
    if findings.doubts.texts and "input" not in rendered:
        warn_of_file(values.get("input"), named.at("input"), findings)
    found = read_fields(named, findings, without=rendered)
    graders = found.pop("graders", [])
    lacks_graders = False
    if "graders" in values and "graders" not in rendered:
        written = values["graders"]
        lacks_graders = type(written) is not list or len(graders) < len(written)
    fields = {"name": name}
    fields |= {each: found.pop(each) for each in ("description", "metadata") if each in found}
    shared = Shared(
        found.pop("input", []), graders, found.pop("tags", []), found, variables, lacks_graders,
    )  # fmt: skip
    return SuiteFields(fields, shared)


def _find_shape(value: JSON, name: str, findings: Findings) -> _Shape | None:
    nothing = SuiteFields({"name": name}, NOTHING_SHARED)
    if type(value) is list:
        if not value:
            findings.add("no-cases", (), "the list of cases is empty")
        return _Shape(nothing, value, ())
    if type(value) is not dict:
        what = "it is empty" if value is None else f"it holds {describe_kind(value)}"
        message = f"a suite is a mapping with `cases`, or a list of cases, but {what}"
        findings.add("no-cases", (), message)
        return None
    if not any(container in value for container in CASE_CONTAINERS) and _is_like_case(value):
        return _Shape(nothing, [value], (), is_lone=True)
    named = settle_names(value, (), SUITE, findings)
    # Where another name was meant to be `cases`, there is a suggestion already.
    is_suggested = findings.suggested("cases", ())
    about = _read_suite_fields(named, name, findings)
    cases, path = named.values.get("cases"), named.at("cases")
    if cases is None:
        at = next((container for container in CASE_CONTAINERS if container in value), None)
        if at is not None:
            hint = "write cases below it, each after `- `"
            findings.add("no-cases", (at,), f"`{at}` is empty", hint)
        elif not is_suggested:
            findings.add("no-cases", (), "the suite has no `cases`", "add `cases:` and a list")
        return None
    if type(cases) is not list:
        message = f"`{path[-1]}` is a list of cases, not {describe_kind(cases)}"
        findings.add("wrong-type", path, message, _hint_at_cases(cases))
        return None
    if not cases:
        findings.add("no-cases", path, f"`{path[-1]}` is an empty list")
        return None
    return _Shape(about, cases, path)


def _is_like_case(value: dict[str, Any]) -> bool:
    return "input" in value or "input_messages" in value or not _ONLY_IN_CASES.isdisjoint(value)


def _hint_at_cases(cases: Any) -> str | None:
    """What to write where the list of cases is a mapping, or the name of a file."""
    if type(cases) is dict:
        if cases and all(type(each) is dict and _is_like_case(each) for each in cases.values()):
            return f"write a list: `- id: {next(iter(cases)):.40}`, and the other fields below it"
        return "put `- ` before each case"
    if type(cases) is not str or not cases.isprintable():
        return None
    name = cases.removeprefix("file://")
    if name.lower().endswith(".csv"):
        return f"write one case, with `rows: {name:.80}` and `{{{{COLUMN}}}}` in its texts"
    if name.lower().endswith((".jsonl", ".json", ".yaml", ".yml")):
        return f"a file of cases is a suite itself: evalcase check {name:.80}"
    return None


def _name_first_places(
    shape: _Shape, cases: list[Case | None], origins: Iterable[int], findings: Findings
) -> None:
    """Add the place of the first case to findings of duplicate ids."""
    if not any(finding.code == "duplicate-id" for finding in findings.found):
        return
    first: dict[str, KeyPath] = {}
    for index, case in zip(origins, cases, strict=True):
        raw = shape.raw_cases[index]
        for id in (case and case.id, raw.get("id") if type(raw) is dict else None):
            if type(id) is str:
                # A path to an id that was made, and is not there, leads to its case.
                first.setdefault(id, (*shape.path, index, "id"))
    for number, finding in enumerate(findings.found):
        if finding.code == "duplicate-id" and finding.case in first:
            findings.found[number] = finding._replace(also=first[finding.case])

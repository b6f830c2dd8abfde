"""A document as a suite: which of the shapes of a suite file it has, and its cases."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from evalcase.model.case import Case
from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON, describe_kind
from evalcase.resolve.case import resolve_case
from evalcase.resolve.fields import CASE_CONTAINERS, CASE_FIELDS, SUITE_FIELDS
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.names import CASE, LONE_CASE, SUITE, Vocabulary, settle_names
from evalcase.resolve.suite_fields import NOTHING_SHARED, Shared, SuiteFields, read_suite_fields

_ONLY_IN_CASES = (frozenset(CASE_FIELDS) | {"expected_messages"}) - frozenset(SUITE_FIELDS)


class Resolved(NamedTuple):
    """A suite's own fields and its cases; None for a case with errors."""

    fields: dict[str, Any]
    cases: list[Case | None]
    origins: array[int] | None = None
    """Which of the cases as they are written each comes from, where one may make several."""

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
    lone: bool = False


def resolve_suite(value: JSON, name: str, findings: Findings, consume: bool = False) -> Resolved:
    """The suite that a document stands for. `name` is used where it doesn't name itself.

    With `consume`, each case takes the memory of what it was made from: `value` is used up.
    """
    shape = _find_shape(value, name, findings)
    if shape is None:
        return Resolved({"name": name}, [])
    ids = Ids()
    shared = shape.about.shared
    cases: list[Case | None] = []
    if shared.variables is not None or _are_varied(shape.raw_cases):
        origins = _vary_all(shape, cases, ids, findings)
        return Resolved(shape.about.fields, cases, origins)
    if shape.lone:
        case = resolve_case(shape.raw_cases[0], (), findings, ids, shared, LONE_CASE)
        return Resolved(shape.about.fields, [case])
    for index, raw in enumerate(shape.raw_cases):
        case = resolve_case(raw, (*shape.path, index), findings, ids, shared)
        cases.append(case)
        if consume and case is not None:
            shape.raw_cases[index] = None
    _name_first_places(shape, cases, range(len(cases)), findings)
    return Resolved(shape.about.fields, cases)


def _are_varied(raw_cases: list[Any]) -> bool:
    """Whether a case as it is written has variables of its own; most suites have no such case."""
    try:
        return not all(map(VARIED.isdisjoint, raw_cases))
    except TypeError:  # something that is no case
        return any(type(raw) is dict and not VARIED.isdisjoint(raw) for raw in raw_cases)


VARIED = frozenset({"vars", "var_files", "matrix", "rows", "rendered"})
"""The fields of cases that are read in another way than most."""


def _vary_all(shape: _Shape, cases: list[Case | None], ids: Ids, findings: Findings) -> array[int]:
    """Add the cases of a suite with variables; return which of those written each comes from."""
    from evalcase.resolve.variables.vary import vary_case

    shared, origins = shape.about.shared, array("q")
    for index, raw in enumerate(shape.raw_cases):
        path = () if shape.lone else (*shape.path, index)
        vocabulary = LONE_CASE if shape.lone else CASE
        for case in vary_case(raw, path, findings, ids, shared, vocabulary):
            cases.append(case)
            origins.append(index)
    if shared.variables is not None:
        shared.variables.finish()
    _name_first_places(shape, cases, origins, findings)
    return origins


def resolve_line(
    value: JSON, findings: Findings, ids: Ids, shared: Shared
) -> Iterable[Case | None]:
    """The cases that one line of a JSONL file stands for: one, unless it has variables."""
    varies = shared.variables is not None or (type(value) is dict and not VARIED.isdisjoint(value))
    if not varies:
        return (resolve_case(value, (), findings, ids, shared),)
    from evalcase.resolve.variables.vary import vary_case

    return vary_case(value, (), findings, ids, shared)


def resolve_one(value: JSON, findings: Findings, vocabulary: Vocabulary = CASE) -> Case | None:
    """The only case that a value stands for: one that makes several is an error."""
    if type(value) is not dict or VARIED.isdisjoint(value):
        return resolve_case(value, (), findings, Ids(), vocabulary=vocabulary)
    from evalcase.resolve.variables.vary import vary_case

    for name in ("matrix", "rows"):
        if value.get(name) is not None:
            message = f"`{name}` makes several cases, but only one is allowed here"
            findings.add("bad-value", (name,), message, "it is allowed in a suite file", "key")
            return None
    (case,) = vary_case(value, (), findings, Ids(), NOTHING_SHARED, vocabulary)
    return case


def resolve_sidecar(value: JSON, name: str, findings: Findings) -> SuiteFields:
    """The suite fields that stand in a file beside a JSONL file."""
    if value is None:
        return SuiteFields({"name": name}, NOTHING_SHARED)
    if type(value) is not dict:
        findings.add("wrong-type", (), f"this file holds suite fields, not {describe_kind(value)}")
        return SuiteFields({"name": name}, NOTHING_SHARED)
    for container in CASE_CONTAINERS:
        if container in value:
            message = f"`{container}` is not allowed here: the cases are in the .jsonl file"
            findings.add("conflicting-fields", (container,), message, at="key")
    raw = {key: item for key, item in value.items() if key not in CASE_CONTAINERS}
    return read_suite_fields(settle_names(raw, (), SUITE, findings), name, (), findings)


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
    if not any(container in value for container in CASE_CONTAINERS) and _looks_like_case(value):
        return _Shape(nothing, [value], (), lone=True)
    return _suite_shape(value, name, findings)


def _looks_like_case(value: dict[str, Any]) -> bool:
    return (
        "input" in value or "input_messages" in value or not value.keys().isdisjoint(_ONLY_IN_CASES)
    )


def _suite_shape(value: dict[str, Any], name: str, findings: Findings) -> _Shape | None:
    named = settle_names(value, (), SUITE, findings)
    about = read_suite_fields(named, name, (), findings)
    cases = named.values.get("cases")
    path = named.path((), "cases")
    if cases is None:
        at = next((container for container in CASE_CONTAINERS if container in value), None)
        message = "the suite has no `cases`" if at is None else f"`{at}` is empty"
        cure = "add `cases:` and a list" if at is None else "write cases below it, each after `- `"
        # Where another name was meant to be `cases`, that has been said.
        if at is not None or not findings.suggested("cases", ()):
            findings.add("no-cases", () if at is None else (at,), message, cure)
    elif type(cases) is not list:
        hint = _hint_for_mapping(cases) if type(cases) is dict else _hint_for_file(cases)
        findings.add(
            "wrong-type", path, f"`{path[-1]}` is a list of cases, not {describe_kind(cases)}", hint
        )
    elif not cases:
        findings.add("no-cases", path, f"`{path[-1]}` is an empty list")
    else:
        return _Shape(about, cases, path)
    return None


def _hint_for_file(cases: Any) -> str | None:
    """What to write for a file of cases: a table makes cases of one that has variables."""
    if type(cases) is not str or not cases.isprintable():
        return None
    name = cases.removeprefix("file://")
    if name.lower().endswith(".csv"):
        return f"write one case, with `rows: {name:.80}` and `{{{{COLUMN}}}}` in its texts"
    if name.lower().endswith((".jsonl", ".json", ".yaml", ".yml")):
        return f"a file of cases is a suite itself: evalcase check {name:.80}"
    return None


def _hint_for_mapping(cases: dict[str, Any]) -> str:
    """What to do with a mapping where a list belongs: it is one case, or has cases by their ids."""
    if not cases or not all(
        type(case) is dict and _looks_like_case(case) for case in cases.values()
    ):
        return "put `- ` before each case"
    return f"write a list: `- id: {next(iter(cases)):.40}`, and the other fields below it"


def _name_first_places(
    shape: _Shape, cases: list[Case | None], origins: Iterable[int], findings: Findings
) -> None:
    """Complete the findings of duplicate ids with the place of the first."""
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

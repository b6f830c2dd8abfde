"""A document as a suite: which of the shapes of a suite file it has, its fields and its cases; and
files of other tools, told by names that evalcase has nowhere, or has for something else."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from shlex import quote
from typing import Any, NamedTuple

from evalcase.format.case import NOTHING_SHARED, Ids, Shared, read_fields
from evalcase.format.document import Findings
from evalcase.format.fields import (
    CASE,
    CASE_CONTAINERS,
    CASE_FIELDS,
    GRADED,
    LONE_CASE,
    SUITE,
    SUITE_FIELDS,
    Named,
    SuiteFile,
    Vocabulary,
    all_names,
    settle_names,
)
from evalcase.format.source import STDIN, TEXT
from evalcase.format.variables import read_suite_variables, resolve_line
from evalcase.types.case import Case
from evalcase.types.problem import Finding, KeyPath
from evalcase.types.read_options import fields_of
from evalcase.types.value import JSON, describe_kind

_ONLY_IN_CASES = {*CASE_FIELDS, "expected_messages"} - {*SUITE_FIELDS} | {*all_names("input")}
"""Names that a suite without cases doesn't have."""


class SuiteFields(NamedTuple):
    """A suite's own fields in canonical form, and what it adds to its cases."""

    fields: dict[str, Any]
    shared: Shared


class Resolved(NamedTuple):
    """A suite's own fields and its cases; None for a case with errors."""

    fields: dict[str, Any]
    cases: list[Case | None]
    origins: array[int]
    """The number of the written case that each case comes from."""


def resolve_suite(value: JSON, name: str, findings: Findings) -> Resolved:
    """The suite that a document stands for. `name` is its name if it doesn't name itself."""
    about, raw_cases, path = _find_cases(value, name, findings)
    shared, ids = about.shared, Ids()
    is_lone = any(raw is value for raw in raw_cases[:1])
    cases: list[Case | None] = []
    origins = array("q")
    first: dict[str | None, int] = {}
    for index, raw in enumerate(raw_cases):
        at, names = ((), LONE_CASE) if is_lone else ((*path, index), CASE)
        for case in resolve_line(raw, findings, ids, shared, at, names):
            cases.append(case)
            origins.append(index)
            first.setdefault(findings.case, index)
    if shared.variables is not None:
        shared.variables.finish()
    for number, finding in enumerate(findings.found):
        if finding.code == "duplicate-id" and finding.case in first:
            # A path to an id that was made, and is not there, leads to its case.
            also = (*path, first[finding.case], "id")
            findings.found[number] = finding._replace(also=also)
    return Resolved(about.fields, cases, origins)


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
    option = fields_of(SuiteFile)["name"]
    if "name" in values and findings.accepts(option, values["name"], named.at("name")):
        name = values["name"]
    variables = read_suite_variables(named, findings)
    # Fields with tags are read once for each case, with its variables.
    rendered = () if variables is None else ("vars", *(each.name for each in variables.tagged))
    before = findings.errors
    fixed = {name: value for name, value in values.items() if name not in rendered}
    found = read_fields(Named(fixed, named.path, named.where), findings)
    graders = found.pop("graders", [])
    lacks_graders = findings.errors > before
    fields = {"name": name}
    fields |= {each: found.pop(each) for each in ("description", "metadata") if each in found}
    shared = Shared(
        found.pop("input", []), graders, found.pop("tags", []), found, variables, lacks_graders,
        named.at("graders")[-1] == "evaluators" and bool(values.get("graders")),
    )  # fmt: skip
    return SuiteFields(fields, NOTHING_SHARED if shared == NOTHING_SHARED else shared)


def _hint_for_cases(cases: JSON) -> str | None:
    """How to write a mapping as a list: one case without its dash, or several by their ids."""
    if type(cases) is not dict:
        return None
    if _ONLY_IN_CASES.isdisjoint(cases) and {type(each) for each in cases.values()} == {dict}:
        return f"write each as `- id: {next(iter(cases))}`, with its fields below"
    return "put `- ` before each case"


def _find_cases(
    value: JSON, name: str, findings: Findings
) -> tuple[SuiteFields, list[Any], KeyPath]:
    """What a document says of its suite, its cases, and their path. A document may be one case."""
    about = SuiteFields({"name": name}, NOTHING_SHARED)
    if type(value) is list:
        if not value:
            findings.add("no-cases", (), "the list of cases is empty")
        return about, value, ()
    if type(value) is not dict:
        what = "it is empty" if value is None else f"it holds {describe_kind(value)}"
        message = f"a suite is a mapping with `cases`, or a list of cases, but {what}"
        findings.add("no-cases", (), message)
        return about, [], ()
    container = next((name for name in CASE_CONTAINERS if name in value), None)
    if container is None and not _ONLY_IN_CASES.isdisjoint(value):
        return about, [value], ()
    named = settle_names(value, (), SUITE, findings)
    # Where another name was meant to be `cases`, there is a suggestion already.
    is_suggested = findings.suggested("cases", ())
    about = _read_suite_fields(named, name, findings)
    cases, path = named.values.get("cases"), named.at("cases")
    if type(cases) is list and cases:
        return about, cases, path
    if cases is not None and type(cases) is not list:
        message = f"`{path[-1]}` is a list of cases, not {describe_kind(cases)}"
        findings.add("wrong-type", path, message, _hint_for_cases(cases))
    elif container is not None:
        at = container if cases is None else path[-1]
        findings.add("no-cases", (at,), f"`{at}` is empty", "write cases below it, each after `- `")
    elif not is_suggested:
        findings.add("no-cases", (), "the suite has no `cases`", "add `cases:` and a list")
    return about, [], path


# Files of other tools

_INPUTS = all_names("input", "turns", "user")
_GRADED = all_names(*GRADED)


class Foreign(NamedTuple):
    """Another tool, and the names that tell its cases."""

    tool: str
    format: str
    """The name that `evalcase import` has for it; empty if it doesn't read such files."""
    marks: tuple[str, ...]
    """Its cases have one of these names."""
    without: tuple[str, ...] = _INPUTS
    """They have none of these."""
    path: KeyPath = ()
    """The key of a document that tells the tool."""

    def mark_in(self, case: Any) -> str | None:
        if type(case) is not dict or any(case.get(name) is not None for name in self.without):
            return None
        return next((name for name in case if name in self.marks), None)

    def at(self, *path: str | int) -> Foreign:
        return self._replace(path=path)

    def finding(self, file: str) -> Finding:
        message = f"this looks like a file for {self.tool}, which has a format of its own"
        stem = os.path.splitext(file)[0].removesuffix(".eval")
        new = "NEW.eval.yaml" if file in (STDIN, TEXT) else quote(f"{stem}.imported.eval.yaml")
        name = "FILE" if file in (STDIN, TEXT) else quote(file)
        hint = f"convert it to a suite: evalcase import {name} --from {self.format} -o {new}"
        if not self.format:
            hint = "write the messages up to the answer as `input`, the answer as `expected_output`"
        return Finding(self.path, message, hint, "key", code="foreign-file")


_AGENTV = Foreign("AgentV", "agentv", ("environment", "governance", "extensions"))
_INSPECT = Foreign("Inspect", "inspect", ("target",), _GRADED)
_OF_CASES = (
    Foreign("promptfoo", "promptfoo", ("vars", "assert")),
    Foreign("tau-bench", "tau-bench", ("user_scenario", "actions")),
    Foreign("LangSmith", "langsmith", ("outputs", "dataset_id")),
    Foreign("pydantic-evals", "pydantic-evals", ("inputs",)),
    Foreign("fine-tuning", "", ("messages",)),
    Foreign("fine-tuning", "rows --map input=prompt --map expected_output=completion",
        ("completion",)),
    Foreign("DeepEval", "deepeval", (
        "actual_output", "retrieval_context", "expected_tools", "tools_called",
        "additional_metadata", "source_file", "custom_column_key_values",
    ), ("criteria", "rubrics", "graders", "tags", "repeat", "skip")),
    Foreign("DeepEval", "deepeval", ("scenario",)),
    Foreign("OpenAI evals", "openai-evals", ("ideal",), _GRADED),
    Foreign("Braintrust", "braintrust", ("_xact_id", "root_span_id", "span_id", "project_id"), ()),
    _INSPECT,
)  # fmt: skip
_OF_FILES = (
    Foreign("promptfoo", "promptfoo", ("prompts",)),
    Foreign("Agent Skills", "skills", ("evals",)),
    Foreign("tau-bench", "tau-bench", ("tasks",)),
)
"""Tools that are told by a name beside their cases."""


def name_foreign(value: Any, found: Sequence[Finding]) -> Foreign | None:
    """The tool that a document with these problems belongs to, if it is not evalcase."""
    if type(value) is list:
        foreign = name_foreign_cases(value, found) if value else None
        return foreign and foreign.at(0, *foreign.path)
    if type(value) is not dict:
        return None
    container = next((name for name in CASE_CONTAINERS if type(value.get(name)) is list), None)
    cases: list[Any] = value[container] if container else [value]
    for kind in _OF_FILES if not container or "prompts" in value else (_AGENTV,):
        if mark := kind.mark_in(value):
            # The tests of AgentV have ids.
            is_agentv = container and type(cases[0]) is dict and "id" in cases[0]
            return (_AGENTV if is_agentv else kind).at(mark)
    foreign = name_foreign_cases(cases, found) if cases else None
    if foreign is None or container is None:
        return foreign
    # A suite with graders grades its cases.
    is_graded = foreign.tool == "Inspect" and any(name in value for name in _GRADED)
    return None if is_graded else foreign.at(container, 0, *foreign.path)


def name_foreign_cases(cases: Sequence[Any], found: Sequence[Finding]) -> Foreign | None:
    """The tool that cases belong to, if all are of one kind."""
    kind = next((kind for kind in _OF_CASES if all(map(kind.mark_in, cases))), None)
    if kind is None or (kind is _INSPECT and not _are_answers(cases, found)):
        return None
    if all(map(_has_variables_of_agentv, cases)):
        kind = _AGENTV
    return kind.at(next(name for name in cases[0] if name in (*kind.marks, "vars")))


def _has_variables_of_agentv(case: dict[str, Any]) -> bool:
    match case:
        case {"vars": {"input": _} as of_case}:
            return "id" in case or "expected_output" in of_case
    return False


def _are_answers(cases: Sequence[Any], found: Sequence[Finding]) -> bool:
    """Whether the targets of cases for Inspect are answers, and not targets that nobody defines."""
    if any(not {"choices", "sandbox", "files", "setup"}.isdisjoint(case) for case in cases):
        return True
    differ = len(cases) > 1 and len({str(case["target"]) for case in cases}) == len(cases)
    return differ and any(each.code in ("unknown-target", "undefined-target") for each in found)

"""Eval files of other tools, told by names that evalcase has nowhere, or has for something else.

The loader asks only about files with problems. `evalcase import` asks about any file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from shlex import quote
from typing import Any, NamedTuple

from evalcase.format.fields import CASE_CONTAINERS
from evalcase.types.message import is_message
from evalcase.types.problem import Finding, KeyPath

_INPUTS = ("input", "input_messages", "turns", "user")
_GRADED = (
    "expected_output", "expected_messages", "criteria", "outcome", "expected_outcome", "rubrics",
    "graders", "evaluators", "assertions", "assert",
)  # fmt: skip
_OF_AGENTV = ("workspace", "environment", "governance", "extensions")
_OF_INSPECT = frozenset({"choices", "sandbox", "files", "setup"})
_OF_DEEPEVAL = (
    "actual_output", "retrieval_context", "expected_tools", "tools_called", "additional_metadata",
    "source_file", "custom_column_key_values",
)  # fmt: skip
_OF_BRAINTRUST = ("_xact_id", "root_span_id", "span_id", "dataset_id", "project_id")
_OF_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties", "items")
_OF_TARGETS = frozenset({"unknown-target", "undefined-target", "bad-target"})
_NOT_FILES = ("-", "<text>")
"""Standard input, and a text without a file."""


class Foreign(NamedTuple):
    """The tool that a file belongs to, the key that tells it, and how to write its names here."""

    tool: str
    path: KeyPath
    hint: str
    format: str | None
    """The name that `evalcase import` has for it, if it reads such files."""

    def finding(self, file: str) -> Finding:
        message = f"this looks like a file for {self.tool}, which has a format of its own"
        hint = self.hint
        if self.format is not None:
            is_named = file not in _NOT_FILES
            stem = os.path.splitext(file)[0].removesuffix(".eval") if is_named else "suite"
            taken = file in (f"{stem}.eval.yaml", f"{stem}.eval.yml")
            new = quote(f"{stem}{'.imported' if taken else ''}.eval.yaml")
            name = quote(file) if is_named else "FILE"
            command = f"evalcase import {name} --from {self.format} -o {new}"
            hint = f"{hint}; this converts it to a suite: {command}"
        return Finding("foreign-file", self.path, message, hint, "key")


class _Kind(NamedTuple):
    """A kind of cases of another tool."""

    tool: str
    format: str | None
    key: str
    """A name that all these cases have."""
    hint: str
    told_by: Collection[str] = ()
    """They have one of these, too."""
    without: Collection[str] = _INPUTS
    """They have none of these."""

    def fits(self, case: Any) -> bool:
        if type(case) is not dict or self.key not in case:
            return False
        value = case[self.key]
        if self.key == "messages" and not (type(value) is list and any(map(is_message, value))):
            return False
        is_told = not self.told_by or any(name in case for name in self.told_by)
        return is_told and all(case.get(name) is None for name in self.without)

    def at(self, path: KeyPath) -> Foreign:
        return Foreign(self.tool, path, self.hint, self.format)


_AGENTV = _Kind("AgentV", "agentv", "vars",
    "`input` and `expected_output` are fields of a case here, not `vars`")  # fmt: skip
_WORKSPACE = (
    "a case has `input`, `expected_output` and `graders` here, too; where an agent works is the "
    "business of its target"
)
_PROMPTFOO = _Kind("promptfoo", "promptfoo", "vars",
    "a case has `input` and `expected_output` here, and `graders` in place of `assert`",
)  # fmt: skip
_SKILLS = _Kind("Agent Skills", "skills", "evals",
    "`evals` are called `cases` here, a `prompt` is the `input`, and statements are `rubrics`",
)  # fmt: skip
_LANGSMITH = _Kind("LangSmith", "langsmith", "outputs",
    "`inputs` is called `input` here, and `outputs` is `expected_output`", ("inputs",),
)  # fmt: skip
_TAU_BENCH = _Kind("tau-bench", "tau-bench", "user_scenario",
    "a simulated user is a `user` here, and calls that are expected are a `trajectory`",
)  # fmt: skip
_INSPECT = _Kind("Inspect", "inspect", "input",
    "its `target` is called `expected_output` here: `target` names what is asked",
    ("target",), _GRADED)  # fmt: skip
_KINDS = (
    _PROMPTFOO,
    _PROMPTFOO._replace(key="assert"),
    _LANGSMITH,
    _LANGSMITH._replace(key="dataset_id"),
    _Kind("pydantic-evals", "pydantic-evals", "inputs",
        "`inputs` is called `input` here, `name` is `id`, and `evaluators` are `graders`"),
    _Kind("fine-tuning", None, "messages",
        "a case has the messages up to the answer as `input`, and the answer as "
        "`expected_output`"),
    _Kind("fine-tuning", "rows --map input=prompt --map expected_output=completion", "completion",
        "`prompt` is called `input` here, and `completion` is `expected_output`"),
    _Kind("DeepEval", "deepeval", "input",
        "other fields of a golden go in `metadata` here, and tools that are expected are "
        "`tool_calls` of its `expected_output`",
        _OF_DEEPEVAL, ("criteria", "rubrics", "graders", "tags", "repeat", "skip")),
    _Kind("DeepEval", "deepeval", "scenario",
        "a `scenario` is the goal of a `user` here, and an `expected_outcome` is `criteria`"),
    _TAU_BENCH,
    _TAU_BENCH._replace(key="actions", told_by=("instruction",)),
    _Kind("OpenAI evals", "openai-evals", "input", "`ideal` is called `expected_output` here",
        ("ideal",), _GRADED),
    _Kind("Braintrust", "braintrust", "expected", "`expected` is called `expected_output` here",
        _OF_BRAINTRUST, ()),
    _INSPECT,
)  # fmt: skip


def name_foreign(value: Any, found: Sequence[Finding]) -> Foreign | None:
    """The tool that a document with these problems belongs to, if it is not evalcase."""
    container = _find_container(value)
    cases = value if container is None else value[container]
    if type(value) is dict and all(value.get(name) is None for name in _INPUTS):
        tasks = value.get("tasks")
        if "prompts" in value:
            first = cases[0] if container and cases else None
            is_agentv = type(first) is dict and "id" in first
            return (_AGENTV if is_agentv else _PROMPTFOO).at(("prompts",))
        if container is None and type(value.get("evals")) is list:
            return _SKILLS.at(("evals",))
        if container is None and type(tasks) is list and any(map(_TAU_BENCH.fits, tasks[:1])):
            return _TAU_BENCH.at(("tasks",))
    if type(value) is dict and container is None:
        return name_foreign_cases([value], found)
    for name in _OF_AGENTV:
        if container is not None and name in value:
            return Foreign("AgentV", (name,), _WORKSPACE, "agentv")
    foreign = name_foreign_cases(cases, found) if type(cases) is list and cases else None
    if foreign is None or (foreign.tool == "Inspect" and any(name in value for name in _GRADED)):
        return None  # a suite with graders grades its cases
    above = (0,) if container is None else (container, 0)
    return foreign._replace(path=(*above, *foreign.path))


def name_foreign_cases(cases: Sequence[Any], found: Sequence[Finding]) -> Foreign | None:
    """The tool that cases belong to, if all are of one kind."""
    if all(map(_has_variables_of_agentv, cases)):
        return _AGENTV.at(("vars",))
    for kind in _KINDS:
        if all(map(kind.fits, cases)):
            if kind is _INSPECT and not _are_answers(cases, found):
                return None
            return kind.at((next((name for name in cases[0] if name in kind.told_by), kind.key),))
    return None


def is_of(foreign: Foreign, case: Any) -> bool:
    """Whether a case belongs to the same tool."""
    if foreign.tool == _AGENTV.tool:
        return _has_variables_of_agentv(case)
    return any(kind.fits(case) for kind in _KINDS if kind.tool == foreign.tool)


def _has_variables_of_agentv(case: Any) -> bool:
    if not _AGENTV.fits(case) or type(case["vars"]) is not dict:
        return False
    return "input" in case["vars"] and ("id" in case or "expected_output" in case["vars"])


def _are_answers(cases: Sequence[Any], found: Sequence[Finding]) -> bool:
    """Whether unknown targets are answers: texts with spaces, or another one in each case."""
    if any(not _OF_INSPECT.isdisjoint(case) for case in cases):
        return True
    targets = [case["target"] for case in cases]
    if not all(type(each) is str for each in targets):
        return False
    differ = len(targets) > 1 and len(set(targets)) == len(targets)
    is_unknown = any(each.code in _OF_TARGETS for each in found)
    return is_unknown and (differ or any(" " in each for each in targets))


def name_schema(value: Any, file: str) -> Finding | None:
    """The finding for a JSON Schema, which is no suite."""
    is_suite = _find_container(value) is not None
    if type(value) is not dict or is_suite or any(value.get(name) is not None for name in _INPUTS):
        return None
    named = value.get("$schema")
    key = next((name for name in _OF_SCHEMAS if type(value.get(name)) is dict), None)
    if type(named) is str and "json-schema.org/" in named:
        key = "$schema"
    if key is None or (key == "items" and value.get("type") != "array"):
        return None
    name = file if file not in _NOT_FILES else "FILE"
    hint = f"a grader names it: {{type: json_schema, file: {name}}}, from the project's folder"
    return Finding("foreign-file", (key,), "this is a JSON Schema, not a suite", hint, "key")


def _find_container(value: Any) -> str | None:
    if type(value) is not dict:
        return None
    return next((name for name in CASE_CONTAINERS if type(value.get(name)) is list), None)

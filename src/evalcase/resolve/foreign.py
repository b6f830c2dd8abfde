"""Eval files of other tools, told by names that evalcase has nowhere, or has for something else.

Of a file that is checked it is asked only if there are problems, and a case that is right is never
taken for another's. `evalcase import` asks, too, whose file it is given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from evalcase.model.finding import Finding, KeyPath
from evalcase.model.message import is_message
from evalcase.resolve.fields import CASE_CONTAINERS

_INPUTS = ("input", "input_messages", "turns", "user")
"""What a case of ours asks by: one that has any of these is none of another tool's."""
_GRADED = frozenset({
    "expected_output", "expected_messages", "criteria", "outcome", "expected_outcome", "rubrics",
    "graders", "evaluators", "assertions", "assert",
})  # fmt: skip
_OF_AGENTV = ("workspace", "environment", "governance", "extensions")
"""What a suite of AgentV says of where agents work; evalcase leaves that to targets."""
_OF_INSPECT = frozenset({"choices", "sandbox", "files", "setup"})
_OF_DEEPEVAL = frozenset({
    "actual_output", "retrieval_context", "expected_tools", "tools_called", "additional_metadata",
    "source_file", "custom_column_key_values",
})  # fmt: skip
_OF_CASES = frozenset({"criteria", "rubrics", "graders", "tags", "repeat", "skip"})
"""What no golden has: a case with one of these has a field of DeepEval's by mistake."""
_OF_BRAINTRUST = frozenset({"_xact_id", "root_span_id", "span_id", "dataset_id", "project_id"})
_OF_SCHEMAS = ("properties", "$defs", "definitions", "patternProperties", "items")
_OF_TARGETS = frozenset({"unknown-target", "undefined-target", "bad-target"})


class Foreign(NamedTuple):
    """Whose file it is, by which key that is told, and what its names are here."""

    tool: str
    path: KeyPath
    hint: str
    format: str | None
    """What `evalcase import` calls it, if it reads such files."""

    def finding(self, file: str) -> Finding:
        """What is said of the file, with the command that makes a suite of it."""
        message = f"this looks like a file for {self.tool}, which has a format of its own"
        return Finding("foreign-file", self.path, message, self._hint_for(file), "key")

    def _hint_for(self, file: str) -> str:
        from shlex import quote

        if self.format is None:
            return self.hint
        is_named = file not in _NOT_FILES
        stem = os.path.splitext(file)[0].removesuffix(".eval") if is_named else "suite"
        taken = file in (f"{stem}.eval.yaml", f"{stem}.eval.yml")
        new = f"{stem}{'.imported' if taken else ''}.eval.yaml"
        name = quote(file) if is_named else "FILE"
        command = f"evalcase import {name} --from {self.format} -o {quote(new)}"
        return f"{self.hint}; this converts it to a suite: {command}"


def name_foreign(value: Any, found: Sequence[Finding]) -> Foreign | None:
    """Whose file a document with these problems is, if it is not one of evalcase's."""
    container = _find_container(value)
    if type(value) is dict and "prompts" in value and _has_no_input(value):
        is_agentv = any(type(case) is dict and "id" in case for case in raw_cases(value)[:1])
        return _make_foreign(_AGENTV if is_agentv else _PROMPTFOO, ("prompts",))
    if type(value) is dict and container is None:
        if type(value.get("evals")) is list and _has_no_input(value):
            return _make_foreign(_SKILLS, ("evals",))
        tasks = value.get("tasks")
        if type(tasks) is list and tasks and type(tasks[0]) is dict and "user_scenario" in tasks[0]:
            return _make_foreign(_TAU_BENCH, ("tasks",))
        return name_foreign_cases([value], found)
    cases = raw_cases(value)
    ours_nowhere = next((name for name in _OF_AGENTV if container and name in value), None)
    if ours_nowhere is not None:
        return Foreign("AgentV", (ours_nowhere,), _WORKSPACE, "agentv")
    foreign = name_foreign_cases(cases, found) if cases else None
    if foreign is None:
        return None
    path = (0, *foreign.path) if container is None else (container, 0, *foreign.path)
    return foreign._replace(path=path)


def name_schema(value: Any, file: str) -> Finding | None:
    """What is said of a file that is no suite, but says what answers look like."""
    if type(value) is not dict or not _has_no_input(value) or _find_container(value) is not None:
        return None
    named = value.get("$schema")
    is_named = type(named) is str and "json-schema.org/" in named
    key = next((name for name in _OF_SCHEMAS if type(value.get(name)) is dict), None)
    if not is_named and (key is None or (key == "items" and value.get("type") != "array")):
        return None
    message = "this is a JSON Schema, not a suite"
    name = file if file not in _NOT_FILES else "FILE"
    hint = f"a grader names it: {{type: json_schema, file: {name}}}, from the project's folder"
    return Finding("foreign-file", ("$schema" if is_named else key or "",), message, hint, "key")


def raw_cases(value: Any) -> list[Any]:
    """The list of cases in a document, as it is written."""
    container = _find_container(value)
    if container is not None:
        value = value[container]
    return value if type(value) is list else []


def _find_container(value: Any) -> str | None:
    if type(value) is not dict:
        return None
    return next((name for name in CASE_CONTAINERS if type(value.get(name)) is list), None)


def name_foreign_cases(cases: Sequence[Any], found: Sequence[Finding]) -> Foreign | None:
    """Whose cases they are, seen from the first of them: all are of one kind."""
    for kind in _KINDS:
        if all(type(case) is dict and kind.key in case and kind.fits(case) for case in cases):
            if kind is _INSPECT and not _are_answers(cases, found):
                return None
            told_by = next((name for name in cases[0] if name in kind.told_by), kind.key)
            return _make_foreign(kind, (told_by,))
    return None


def is_of(foreign: Foreign, case: Any) -> bool:
    """Whether a case is of the same kind."""
    return type(case) is dict and any(
        kind.key in case and kind.fits(case) for kind in _KINDS if kind.tool == foreign.tool
    )


class _ForeignKind(NamedTuple):
    tool: str
    key: str
    fits: Callable[[dict[str, Any]], bool]
    hint: str
    format: str | None = None
    told_by: frozenset[str] = frozenset()
    """Names that no case of ours has, where `key` is one of ours."""


def _make_foreign(kind: _ForeignKind, path: KeyPath) -> Foreign:
    return Foreign(kind.tool, path, kind.hint, kind.format)


def _has_no_input(case: dict[str, Any]) -> bool:
    return all(case.get(name) is None for name in _INPUTS)


def _has_variables_of_agentv(case: dict[str, Any]) -> bool:
    variables = case["vars"]
    if not _has_no_input(case) or type(variables) is not dict or "input" not in variables:
        return False
    return "id" in case or "expected_output" in variables


def _has_chat(case: dict[str, Any]) -> bool:
    messages = case["messages"]
    return _has_no_input(case) and type(messages) is list and any(map(is_message, messages))


def _has_outputs(case: dict[str, Any]) -> bool:
    return _has_no_input(case) and ("outputs" in case or "dataset_id" in case)


def _has_actions(case: dict[str, Any]) -> bool:
    return _has_no_input(case) and type(case.get("actions")) is list


def _is_golden(case: dict[str, Any]) -> bool:
    return not _OF_DEEPEVAL.isdisjoint(case) and _OF_CASES.isdisjoint(case)


def _is_of_dataset(case: dict[str, Any]) -> bool:
    return not _OF_BRAINTRUST.isdisjoint(case)


def _has_ideal(case: dict[str, Any]) -> bool:
    return not _has_no_input(case) and _GRADED.isdisjoint(case)


def _has_target_alone(case: dict[str, Any]) -> bool:
    return not _has_no_input(case) and _GRADED.isdisjoint(case)


def _are_answers(cases: Iterable[dict[str, Any]], found: Sequence[Finding]) -> bool:
    """Whether targets that nobody knows are answers: such as no target is called, or a new one for
    each case."""
    cases = list(cases)
    if any(not _OF_INSPECT.isdisjoint(case) for case in cases):
        return True
    targets = [case["target"] for case in cases]
    unknown = sum(each.code in _OF_TARGETS for each in found)
    if not unknown or not all(type(target) is str for target in targets):
        return False
    return any(" " in target for target in targets) or (
        len(targets) > 1 and len(set(targets)) == len(targets)
    )


_NOT_FILES = ("-", "<text>")
"""What stands for standard input, and for a text that was given as such."""
_WORKSPACE = (
    "a case has `input`, `expected_output` and `graders` here, too; where an agent works is the "
    "business of its target"
)
_PROMPTFOO = _ForeignKind(
    "promptfoo", "assert", _has_no_input,
    "a case has `input` and `expected_output` here, and `graders` in place of `assert`",
    "promptfoo",
)  # fmt: skip
_SKILLS = _ForeignKind(
    "Agent Skills", "evals", _has_no_input,
    "`evals` are called `cases` here, a `prompt` is the `input`, and statements are `rubrics`",
    "skills",
)  # fmt: skip
_INSPECT = _ForeignKind(
    "Inspect", "target", _has_target_alone,
    "its `target` is called `expected_output` here: `target` names what is asked", "inspect",
)  # fmt: skip
_TAU_BENCH = _ForeignKind(
    "tau-bench", "user_scenario", _has_no_input,
    "a simulated user is a `user` here, and calls that are expected are a `trajectory`",
    "tau-bench",
)  # fmt: skip
_AGENTV = _ForeignKind(
    "AgentV", "vars", _has_variables_of_agentv,
    "`input` and `expected_output` are fields of a case here, not `vars`", "agentv",
)  # fmt: skip
_KINDS = (
    _AGENTV,
    _PROMPTFOO._replace(key="vars"),
    _PROMPTFOO,
    _ForeignKind("LangSmith", "inputs", _has_outputs,
          "`inputs` is called `input` here, and `outputs` is `expected_output`", "langsmith"),
    _ForeignKind("pydantic-evals", "inputs", _has_no_input,
          "`inputs` is called `input` here, `name` is `id`, and `evaluators` are `graders`",
          "pydantic-evals"),
    _ForeignKind("fine-tuning", "messages", _has_chat,
          "a case has the messages up to the answer as `input`, and the answer as "
          "`expected_output`"),
    _ForeignKind("fine-tuning", "completion", _has_no_input,
          "`prompt` is called `input` here, and `completion` is `expected_output`",
          "rows --map input=prompt --map expected_output=completion"),
    _ForeignKind("DeepEval", "input", _is_golden,
          "other fields of a golden go in `metadata` here, and tools that are expected are "
          "`tool_calls` of its `expected_output`", "deepeval", _OF_DEEPEVAL),
    _ForeignKind("DeepEval", "scenario", _has_no_input,
          "a `scenario` is the goal of a `user` here, and an `expected_outcome` is `criteria`",
          "deepeval"),
    _TAU_BENCH,
    _TAU_BENCH._replace(key="instruction", fits=_has_actions),
    _ForeignKind("OpenAI evals", "ideal", _has_ideal, "`ideal` is called `expected_output` here",
          "openai-evals"),
    _ForeignKind("Braintrust", "expected", _is_of_dataset,
          "`expected` is called `expected_output` here", "braintrust", _OF_BRAINTRUST),
    _INSPECT,
)  # fmt: skip

"""What suites may mention: installed graders, and the targets, judge, code and programs of a
project. `format` asks a catalogue while it reads, and no code of the project is imported for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from msgspec import Struct

from evalcase.config.config import Config, Settings, config_of_text, name_table
from evalcase.config.registry import find_target_kind, list_names, search_class
from evalcase.config.targets import (
    describe_same_model,
    find_wrong_targets,
    object_to_program,
    object_to_script,
    object_to_target,
)
from evalcase.errors import ConfigError, SuiteError
from evalcase.format import schema
from evalcase.format.document import Findings
from evalcase.format.graders import NEGATED
from evalcase.format.load import Loaded, load_each
from evalcase.format.positions import Format
from evalcase.format.source import UnreadableError, check_text
from evalcase.format.suite import resolve_one
from evalcase.format.tables import SuiteFiles
from evalcase.graders.base import DeclaredGrader, What, declared_grader
from evalcase.types.problem import Finding, Problem, hint_at, nearest_meaning, plain_name
from evalcase.types.read_options import Schema, fields_of, only_these, properties_of, schema_of
from evalcase.types.target import TargetKind
from evalcase.types.value import JSON
from evalcase.util.code import object_to_function
from evalcase.util.json import NotJsonError, copy_json


class Catalogue:
    """Knows the installed graders, and what a project has if its configuration is given.

    Without a configuration it objects to nothing, because a file may be read anywhere; with
    `needs_graders`, to graders that are not installed.
    """

    def __init__(self, config: Config | None = None, *, needs_graders: bool = False) -> None:
        self._config = config
        self._needs_graders = needs_graders or config is not None
        self._broken: dict[str, str] = {}
        # A suite mentions the same names in many cases.
        self._find_grader = cache(self._read_declaration)
        self._find_objection = cache(self._look_for_objection)

    @property
    def config(self) -> Config:
        assert self._config is not None, "this catalogue is not that of a project"
        return self._config

    def grader(self, name: str) -> DeclaredGrader | None:
        """The declaration of a grader; None if there is none, or none that can be used."""
        # With a colon it is a function, and there may be a million of them.
        return None if ":" in name else self._find_grader(name)

    def _read_declaration(self, name: str) -> DeclaredGrader | None:
        try:
            made_by = search_class("graders", name)
            return None if made_by is None else declared_grader(made_by)
        except (ConfigError, AttributeError, TypeError) as error:
            self._broken[name] = str(error)
            return None

    def object_to(self, what: What, name: str) -> Finding | None:
        return self._find_objection(what, name)

    def _look_for_objection(self, what: What, name: str) -> Finding | None:
        if what == "grader" and self._needs_graders:
            if name in self._broken:
                message = f"the grader `{name}` can't be used: {self._broken[name]}"
                return Finding((), message, code="bad-grader")
            return Finding(
                (), f"there is no grader `{name}`", hint_for_grader(name), code="unknown-grader"
            )
        if self._config is None:
            return None
        root = self._config.root
        match what:
            case "judge":
                return _object_to_judge(name, self._config)
            case "code":
                return object_to_function(name, root, "grader")
            case "program":
                return object_to_program(name, root)
            case "script":
                return object_to_script(name, root)
            case "repo":
                return None if name in self._config.repos else Finding((), f"no repo `{name}`")
            case _:
                return object_to_target(name, self._config, of_suite=True)

    def describe_same_model(self, judge: str | None, target: str | None) -> str | None:
        """A sentence where a judge is the model that it judges; None stands for the default."""
        if self._config is None:
            return None
        default = self._config.judge.target if self._config.judge is not None else None
        judge, target = judge or default, target or self._config.target
        if judge is None or target is None:
            return None
        return describe_same_model(judge, target, self._config)


def _object_to_judge(field: str, config: Config) -> Finding | None:
    is_wrong = any(each.path[:1] == ("judge",) for each in config.source.findings)
    if config.judge is not None or not config.is_read or is_wrong:
        return None
    table, _, file = name_table(config.path, "judge").partition(" to ")
    hint = f'add to {file}, with the target that judges:\n{table}\ntarget = "openai:MODEL"'
    return Finding((), f"`{field}` needs a judge, and none is configured", hint, code="no-judge")


def read_fields(fields: dict[str, Any], place: str = "<case>") -> dict[str, Any]:
    """The canonical form of a case of some fields. Raise SuiteError with all of its problems."""
    try:
        raw = copy_json(fields)
    except NotJsonError as error:
        raise SuiteError([Problem("not-json-value", f"a case is JSON: {error}", place)]) from None
    findings = Findings(Catalogue(), SuiteFiles(os.curdir))
    case = resolve_one(raw, findings)
    if case is None or findings.errors:
        raise SuiteError(
            [
                Problem(each.code, each.message, place, hint=each.hint, case=each.case)
                for each in findings.found
            ]
        )
    return case._data


def check_project(
    paths: Iterable[str], catalogue: Catalogue, stdin_format: Format = "yaml"
) -> Iterator[Loaded]:
    """The configuration, if something is wrong with it, then each file that paths stand for."""
    config = catalogue.config
    problems = config.problems(find_wrong_targets(config))
    if problems:
        # It doesn't count as an eval file.
        yield Loaded(problems[0].path, None, problems, 0, is_read=False)
    yield from load_each(paths, catalogue, stdin_format, keep=False)


def check_config_text(text: str, path: str) -> list[Problem]:
    """The problems of a configuration that isn't saved yet."""
    try:
        text = check_text(text, path)
    except UnreadableError as error:
        return [error.problem]
    real = os.path.realpath(path)
    config = config_of_text(text, real, os.path.dirname(real), path)
    return [] if config is None else config.problems(find_wrong_targets(config))


def suite_schema() -> dict[str, object]:
    return schema.describe_suite(declared_graders())


def sidecar_schema() -> dict[str, object]:
    return schema.describe_sidecar(declared_graders())


def declared_graders() -> list[DeclaredGrader]:
    """What is declared of each grader that is installed; one that is broken is left out."""
    found = map(Catalogue().grader, list_names("graders"))
    return [each for each in found if each is not None]


def config_schema() -> Schema:
    options = fields_of(Settings)
    settings = properties_of(options)
    settings["targets"] = {"description": options["targets"].about, **_describe_targets()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:config-schema:1",
        "title": "evalcase configuration",
        "description": "How to run the suites of a project.",
        **only_these(settings),
    }


def _describe_targets() -> Schema:
    kinds: dict[type[Struct], list[TargetKind]] = {}
    for name in list_names("targets"):
        with suppress(ConfigError):
            kind = find_target_kind(name)
            kinds.setdefault(kind.options, []).append(kind)
    needs_kind: Schema = {"required": ["kind"], "additionalProperties": True}
    rules: list[JSON] = [{"if": {"not": {"required": ["extends"]}}, "then": needs_kind}]
    # Editors of TOML don't look for names and sentences behind an `if`: all are offered here, too.
    offered: Schema = {}
    for declared, alike in kinds.items():
        options, names = fields_of(declared), [each.name for each in alike]
        about = {"description": "\n".join(each.about for each in alike)}
        rule: Schema = {
            **only_these({**properties_of(options), "kind": about}),
            "required": [name for name, each in options.items() if each.needed],
        }
        is_kind: Schema = {"required": ["kind"], "properties": {"kind": {"enum": names}}}
        rules.append({"if": is_kind, "then": rule})
        for name, option in options.items():
            known = offered.setdefault(name, {"description": option.about})
            if option.about not in known["description"]:
                known["description"] += f" / {option.about}"
            if schema_of(option).get("type") == "object":
                # A target that extends another has no kind to say what its mappings hold.
                known |= {"type": "object", "additionalProperties": True}
    every = [kind for alike in kinds.values() for kind in alike]
    sentences = "\n".join(f"{each.name}: {each.about}" for each in every)
    offered["kind"] = {"description": sentences, "enum": [each.name for each in every]}
    # The rule of each kind says which options it has.
    target = {"type": "object", "properties": offered, "additionalProperties": True, "allOf": rules}
    return {"type": "object", "additionalProperties": target}


_BY_ADVICE = {
    "{equals: …}": "exact exact_match",
    "{contains: …}": "contains_all includes",
    "{contains: {any: […]}}": "contains_any",
    "{type: contains, value: …, not: true}": "not_contains",
    "{regex: …}": "pattern",
    "{ends_with: …}": "match",
    "{latency: …}": "maxduration",
    "`similarity`": "levenshtein",
    "{similarity: {value: …, embedding: TARGET}}": "semantic_similarity similar",
    "{tool_calls: {needed: {NAME: 1}}}": "hasmatchingspan tool_called tool_used",
    "{trajectory: [NAME, NAME]}": "tool_correctness tool_trajectory trajectory_match",
    "{judge: …}": "g_eval geval llm_as_a_judge model_graded model_graded_closedqa",
    "{judge: {rubric: correct}}": "answer_correctness factuality model_graded_fact model_graded_qa",
    "{judge: {rubric: relevant}}": "answer_relevance answer_relevancy",
    "{judge: {rubric: faithful}}": "context_faithfulness faithfulness hallucination",
    "{judge: {rubric: harmless}}": "bias moderation toxicity",
    "{python: MODULE:FUNCTION}": (
        "bertscore bleu f1 function javascript rouge rouge_l rouge_n webhook"
    ),
}
INSTEAD = {name: advice for advice, names in _BY_ADVICE.items() for name in names.split()}
"""What to write for graders of other tools, by their names with underscores."""


def hint_for_grader(name: str) -> str:
    """What to write for a name that no grader has."""
    plain = plain_name(name.removeprefix(NEGATED)).removesuffix("_metric")
    if plain in INSTEAD:
        return f"write {INSTEAD[plain]}"
    known = list_names("graders")
    near = nearest_meaning(name, {each: each for each in known})
    return hint_at(near) or f"there are {', '.join(known)}"

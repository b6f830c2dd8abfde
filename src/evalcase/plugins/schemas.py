"""The JSON Schemas that editors use, with every grader and every kind of target there is."""

from __future__ import annotations

from evalcase.errors import ConfigError
from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.json_value import JSON
from evalcase.model.option import Option, options_of, properties_of
from evalcase.model.target import TargetKind
from evalcase.plugins.known import Installed
from evalcase.plugins.registry import find_target_kind, names
from evalcase.project.config import Config
from evalcase.resolve.schema import schema

Schema = dict[str, JSON]


def suite_schema() -> dict[str, object]:
    """The schema of eval files."""
    return schema(declared_graders())


def declared_graders() -> list[DeclaredGrader]:
    """What is declared of each grader that is installed; one that is broken is left out."""
    installed = Installed()
    found = [installed.grader(name) for name in names("graders")]
    return [each for each in found if each is not None]


def config_schema() -> Schema:
    """The schema of `evalcase.toml`."""
    settings = properties_of(options_of(Config))
    settings["targets"] = {**_described(options_of(Config)["targets"]), **_targets()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:config-schema:1",
        "title": "evalcase configuration",
        "description": "What a project says about running its suites.",
        **_table(settings),
    }


def _targets() -> Schema:
    kinds = _kinds()
    rules: list[JSON] = [
        {"if": {"properties": {"kind": {"const": each.name}}}, "then": _options(each)}
        for each in kinds
    ]
    about = "\n".join(f"{each.name}: {each.about}" for each in kinds)
    kind: Schema = {"description": about, "enum": [each.name for each in kinds]}
    target: Schema = {"type": "object", "required": ["kind"], "properties": {"kind": kind}}
    return {"type": "object", "additionalProperties": {**target, "allOf": rules}}


def _kinds() -> list[TargetKind]:
    found = []
    for name in names("targets"):
        try:
            found.append(find_target_kind(name))
        except ConfigError:
            continue
    return found


def _options(kind: TargetKind) -> Schema:
    declared: type = kind.options
    options = options_of(declared)
    properties = properties_of(options)
    properties["kind"] = {"description": kind.about}
    needed: list[JSON] = [name for name, each in options.items() if each.needed]
    return {**_table(properties), "required": needed}


def _table(properties: Schema) -> Schema:
    known: list[JSON] = list(properties)
    return {"type": "object", "properties": properties, "propertyNames": {"enum": known}}


def _described(option: Option) -> Schema:
    return {"description": option.about}

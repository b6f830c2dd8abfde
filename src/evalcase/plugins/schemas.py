"""The JSON Schemas that editors use, with every grader and every kind of target there is."""

from __future__ import annotations

from evalcase.errors import ConfigError
from evalcase.model.either import Schema
from evalcase.model.grader_options import DeclaredGrader
from evalcase.model.json_value import JSON
from evalcase.model.option import Option, only_these, options_of, properties_of
from evalcase.model.target import TargetKind
from evalcase.plugins.known import Installed
from evalcase.plugins.registry import find_target_kind, list_names
from evalcase.project.config import Config
from evalcase.resolve.schema import file


def suite_schema() -> dict[str, object]:
    """The schema of eval files."""
    return file.describe_suite(declared_graders())


def sidecar_schema() -> dict[str, object]:
    """The schema of the file beside a JSONL file."""
    return file.describe_sidecar(declared_graders())


def declared_graders() -> list[DeclaredGrader]:
    """What is declared of each grader that is installed; one that is broken is left out."""
    installed = Installed()
    found = [installed.grader(name) for name in list_names("graders")]
    return [each for each in found if each is not None]


def config_schema() -> Schema:
    """The schema of `evalcase.toml`."""
    settings = properties_of(options_of(Config))
    settings["targets"] = {**_describe_option(options_of(Config)["targets"]), **_describe_targets()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:evalcase:config-schema:1",
        "title": "evalcase configuration",
        "description": "How to run the suites of a project.",
        **only_these(settings),
    }


def _describe_targets() -> Schema:
    kinds = _find_kinds()
    rules: list[JSON] = [
        {"if": _is_kind(each.name), "then": _describe_kind_options(each)} for each in kinds
    ]
    about = "\n".join(f"{each.name}: {each.about}" for each in kinds)
    kind: Schema = {"description": about, "enum": [each.name for each in kinds]}
    target: Schema = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": kind, **_offer_options(kinds)},
        # Which options a kind has is for its own rule to say.
        "additionalProperties": True,
        "allOf": rules,
    }
    return {"type": "object", "additionalProperties": target}


def _is_kind(name: str) -> Schema:
    return {"required": ["kind"], "properties": {"kind": {"const": name}}}


def _find_kinds() -> list[TargetKind]:
    found = []
    for name in list_names("targets"):
        try:
            found.append(find_target_kind(name))
        except ConfigError:
            continue
    return found


def _describe_kind_options(kind: TargetKind) -> Schema:
    declared: type = kind.options
    options = options_of(declared)
    properties = properties_of(options)
    properties["kind"] = {"description": kind.about}
    needed: list[JSON] = [name for name, each in options.items() if each.needed]
    rules: Schema = {"allOf": list(kind.rules)} if kind.rules else {}
    return {**only_these(properties), "required": needed, **rules}


def _offer_options(kinds: list[TargetKind]) -> Schema:
    """The options of all kinds with their sentences and nothing else: editors of TOML don't look
    for names and words behind an `if`."""
    sentences: dict[str, dict[str, list[str]]] = {}
    for kind in kinds:
        declared: type = kind.options
        for name, option in options_of(declared).items():
            if name == "kind":
                continue
            sentences.setdefault(name, {}).setdefault(option.about, []).append(kind.name)
    return {name: {"description": _told_apart(each)} for name, each in sentences.items()}


def _told_apart(sentences: dict[str, list[str]]) -> str:
    if len(sentences) == 1:
        return next(iter(sentences))
    return "\n".join(f"{', '.join(kinds)}: {about}" for about, kinds in sentences.items())


def _describe_option(option: Option) -> Schema:
    return {"description": option.about}

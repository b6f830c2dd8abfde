"""The schema of `evalcase.toml` says the same as the checks, as far as a schema can."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from evalcase.config.catalogue import config_schema
from evalcase.config.config import Config
from evalcase.config.registry import find_target_kind, list_names
from evalcase.types.read_options import fields_of
from tests.for_each import for_each

ROOT = Path(__file__).parent.parent.parent
GOOD = [ROOT / "tests/corpus/evalcase.toml", *sorted((ROOT / "examples").rglob("evalcase.toml"))]
WRONG = ["settings", "tables", "judge", "judge-without-a-target", "default"]


def validator() -> Draft202012Validator:
    return Draft202012Validator(config_schema())


def settings(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads(path.read_text())
    return data["tool"]["evalcase"] if path.name == "pyproject.toml" else data


def test_is_valid_and_has_every_setting_and_every_kind_with_its_sentences() -> None:
    schema: Any = config_schema()
    Draft202012Validator.check_schema(schema)
    for name, setting in fields_of(Config).items():
        assert schema["properties"][name]["description"] == setting.about
    _, *rules = schema["properties"]["targets"]["additionalProperties"]["allOf"]
    for kind in map(find_target_kind, list_names("targets")):
        declared: type = kind.options
        named = [rule["if"]["properties"]["kind"] for rule in rules]
        named = [each.get("enum", [each.get("const")]) for each in named]
        (rule,) = (rule for rule, names in zip(rules, named, strict=True) if kind.name in names)
        offered = schema["properties"]["targets"]["additionalProperties"]["properties"]
        for name, option in fields_of(declared).items():
            if name != "kind":
                assert rule["then"]["properties"][name]["description"] == option.about
                assert option.about in offered[name]["description"]


@for_each("path", GOOD, ids=lambda path: path.parent.name)
def test_accepts_what_is_right(path: Path) -> None:
    validator().validate(settings(path))


@for_each("name", WRONG)
def test_refuses_what_is_wrong(name: str) -> None:
    (path,) = (ROOT / "tests/corpus/wrong" / name).glob("*.toml")
    assert not validator().is_valid(settings(path))


def test_a_target_without_a_kind_lacks_nothing_else() -> None:
    (error,) = validator().iter_errors({"targets": {"bot": {"model": "x"}}})
    assert error.message == "'kind' is a required property"

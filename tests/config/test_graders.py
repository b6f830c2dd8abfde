"""Graders are made of what they declare: options of their own, and those that all have."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalcase.config.catalogue import Catalogue, config_schema
from evalcase.config.config import Config
from evalcase.config.graders import make_declared, make_grader
from evalcase.config.registry import find_class, find_target_kind, list_names
from evalcase.errors import ConfigError
from evalcase.format.load import load_case
from evalcase.graders.base import NamedGrader, declared_grader
from evalcase.graders.expected import ExpectedGrader
from evalcase.runner.graders import Graders
from evalcase.types.case import canonical_case
from evalcase.types.read_options import fields_of
from tests.for_each import for_each
from tests.format.declared import AtLeast, Every, Has


def test_every_grader_says_what_it_is() -> None:
    for name in list_names("graders"):
        declared = declared_grader(find_class("graders", name))
        assert declared.kind.name == name
        assert declared.kind.description.endswith(".")
        for option in declared.options.values():
            assert option.about.endswith(".")
        if declared.kind.argument is not None:
            assert declared.kind.argument in declared.options


def test_the_options_of_a_grader_are_its_fields() -> None:
    named = make_declared(declared_grader(Has), {"value": "x", "ignore_case": True})
    assert named == NamedGrader("has", Has("x", ignore_case=True))


def test_options_of_every_grader() -> None:
    spec: dict[str, Any] = {
        "type": "expected", "name": "exact", "weight": 2, "required": True, "threshold": 0.5,
        "timeout_s": 3, "not": True,
    }  # fmt: skip
    assert make_grader(spec) == NamedGrader("exact", ExpectedGrader(), 2.0, True, 0.5, True, 3.0)


@for_each(
    ("spec", "message"),
    [
        ({"type": "expectd"}, "no grader kind `expectd`: did you mean `expected`?"),
        ({"type": "expected", "wieght": 1}, "no option `wieght`: did you mean `weight`?"),
        ({"type": "expected", "value": "4"}, "the grader `expected` has no option `value`"),
        ({"type": "expected", "name": 3}, "`name` is a name, not 3"),
        ({"type": "expected", "weight": "2"}, "`weight` is a number of 0 or more, not '2'"),
        ({"type": "expected", "weight": 10**400}, "`weight` is a number of 0 or more"),
        ({"type": "expected", "threshold": "80%"}, "write 0.8"),
        ({"type": "python"}, "the grader `python` needs `value`"),
        ({"type": "python", "value": "grade"}, "`grade` does not name a function"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_is_right(spec: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_grader(spec)
    assert message in str(caught.value)


def test_graders_inside_of_others_are_made_too() -> None:
    inner: list[Any] = [{"type": "expected", "weight": 2}, {"type": "python", "value": "a:b"}]
    made = make_declared(declared_grader(Every), {"value": inner})
    assert made.grader == Every((make_grader(inner[0]), make_grader(inner[1])))
    made = make_declared(declared_grader(AtLeast), {"count": 1, "of": inner, "weight": 3})
    assert (made.weight, made.grader) == (3.0, AtLeast(1, (*map(make_grader, inner),)))


# The graders of a run


def test_a_judge_beside_another_keeps_its_number_and_is_the_same_judge() -> None:
    graders = Graders()
    brief, kind = ({"type": "judge", "value": said, "target": "t"} for said in ("brief", "kind"))
    both = canonical_case({"id": "a", "input": [], "graders": [brief, kind]})
    alone = canonical_case({"id": "b", "input": [], "graders": [kind]})
    graders.want("a.yaml", both)
    _, second = graders.of(both)
    for number in range(600):
        light = {"type": "contains", "value": str(number)}
        graders.of(canonical_case({"id": "c", "input": [], "graders": [light]}))
    assert second.name == "judge 2"
    assert graders.of(both)[1] == second
    assert graders.of(alone)[0].grader is second.grader


def test_all_graders_that_can_not_be_imported_are_told_at_once() -> None:
    graders = Graders()
    for name in ("nosuch_one:f", "nosuch_two:f"):
        case, _ = load_case(f"id: {name[:-2]}\ninput: hi\ngraders: [python:{name}]\n", Catalogue())
        assert case is not None
        graders.want("a.yaml", case)
    one, two = graders.make_ready()
    assert (one.suite, one.case, one.what, one.name) == (
        "a.yaml", "nosuch_one", "code", "nosuch_one:f",
    )  # fmt: skip
    assert two.message.startswith("grader `nosuch_two:f`: there is no module")


# The schema of `evalcase.toml` says the same as the checks, as far as a schema can


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

"""Graders under the names of AgentV and promptfoo: what they become, and what is said of them."""

import json
from functools import lru_cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalcase.config.catalogue import INSTEAD, Catalogue, suite_schema
from evalcase.config.registry import is_known
from evalcase.format.graders import SPELLINGS
from evalcase.format.load import Loaded, load_text
from tests.for_each import for_each

ARGUMENTS: dict[str, Any] = {
    "contains": ["Lima"], "starts_with": "L", "ends_with": "a", "judge": "Is polite.",
    "script": ["check"], "all": ["json"], "equals": {"a": 1}, "regex": "L", "python": "checks:good",
    "json": None,
}  # fmt: skip
"""An argument that each grader takes that has other names."""


def load(graders: list[Any]) -> Loaded:
    document = {"input": "hi", "graders": graders}
    return load_text(json.dumps(document), "json", known=Catalogue(needs_graders=True))


def canonical(grader: Any) -> dict[str, Any]:
    loaded = load([grader])
    assert [problem.code for problem in loaded.problems] == ["deprecated-name"], loaded.problems
    assert loaded.suite is not None
    return dict(loaded.suite.cases[0].graders[0])


@lru_cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(suite_schema())


def editor_accepts(document: dict[str, Any]) -> bool:
    return validator().is_valid(document)


@for_each("name", SPELLINGS)
def test_every_name_and_spelling_becomes_ours_in_checks_and_in_the_schema(name: str) -> None:
    spelling = SPELLINGS[name]
    argument = ARGUMENTS[spelling.name]
    option = spelling.renames.get("value", "value")
    expected: dict[str, Any] = {"type": spelling.name, **spelling.adds}
    if argument is None:
        spellings: list[Any] = [name, {"type": name}, {name: {}}]
    else:
        inner = [{"type": "json"}] if argument == ["json"] else argument
        expected[option] = inner
        spellings = [{"type": name, "value": argument}, {name: argument}]
        if spelling.name != "equals":
            spellings.append({name: {"value": argument}})
        spellings += [
            {"type": name, old: argument} for old, new in spelling.renames.items() if new == option
        ]
    for grader in spellings:
        assert canonical(grader) == expected, grader
        assert editor_accepts({"input": "hi", "graders": [grader]}), grader


def test_none_of_them_is_a_name_of_ours() -> None:
    assert [name for name in SPELLINGS if is_known("graders", name)] == []
    assert [name for name in INSTEAD if is_known("graders", name) or name in SPELLINGS] == []
    assert all(is_known("graders", spelling.name) for spelling in SPELLINGS.values())


@for_each("name", INSTEAD)
def test_a_name_that_means_something_else_is_told_what_to_write(name: str) -> None:
    (problem,) = load([{"type": name, "value": "x"}]).problems
    assert problem.code == "unknown-grader"
    assert problem.hint == f"write {INSTEAD[name]}"


@for_each(
    ("grader", "hint"),
    [
        ("exact-match", f"write {INSTEAD['exact_match']}"),
        ("not-toxicity", f"write {INSTEAD['toxicity']}"),
        ({"type": "python", "value": "file://checks.py:polite"},
         "did you mean `./checks.py:polite`?"),
        ({"type": "python", "value": "file://evals/checks.py"},
         "did you mean `./evals/checks.py:FUNCTION`?"),
    ],
)  # fmt: skip
def test_hints_for_what_others_write(grader: Any, hint: str) -> None:
    (problem,) = load([grader]).problems
    assert problem.hint == hint


def test_the_warning_says_what_it_is_here() -> None:
    (problem,) = load([{"type": "not-icontains-any", "value": ["x"]}]).problems
    assert problem.message == (
        "`not-icontains-any` is called `contains` here with `ignore_case: true`, `not: true`, "
        "`any` for `value`"
    )
    assert problem.hint == "`evalcase migrate` renames it"


@pytest.mark.parametrize(
    ("grader", "code", "message"),
    [
        ({"type": "is-json", "value": {"type": "object"}}, "unknown-option",
         "the grader `json` has no option `value`"),
        ({"type": "icontains", "value": "x", "ignore_case": False}, "conflicting-fields",
         "`ignore_case` is already set by `icontains`"),
        ({"type": "contains-any", "value": ["x"], "any": ["y"]}, "conflicting-fields",
         "`any` is already set by `value`"),
        ({"type": "code_judge", "script": "check x"}, "wrong-type",
         "`script` is a list of texts, not 'check x'"),
    ],
)  # fmt: skip
def test_options_that_can_not_stand_beside_it(
    grader: dict[str, Any], code: str, message: str
) -> None:
    warning, error = load([grader]).problems
    assert (warning.code, error.code, error.message) == ("deprecated-name", code, message)


def test_who_brings_a_grader_of_such_a_name_goes_before_it() -> None:
    class Plugin(Catalogue):
        def grader(self, name: str) -> Any:
            return super().grader("equals" if name == "llm-rubric" else name)

    text = json.dumps({"input": "hi", "graders": [{"llm-rubric": "x"}]})
    loaded = load_text(text, "json", known=Plugin())
    assert loaded.problems == []
    assert loaded.suite is not None
    assert loaded.suite.cases[0].graders[0]["type"] == "llm-rubric"

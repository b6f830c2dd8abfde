"""The JSON Schema says the same as the checks: on the corpus, and on documents nobody wrote."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from evalcase.config.catalogue import declared_graders as suite_graders
from evalcase.config.catalogue import suite_schema
from evalcase.format import fields
from evalcase.format.load import load_text
from evalcase.format.schema import describe_suite
from evalcase.format.yaml import read_yaml
from tests.for_each import for_each
from tests.format.declared import GRADERS, KNOWN

CORPUS = Path(__file__).parent.parent / "corpus"
SIDECAR = ".suite.yaml"
GOLDEN = ".canonical.json"


def schema() -> dict[str, Any]:
    """The schema with graders of every shape, not only those that there are."""
    return describe_suite(GRADERS)


def read_values(path: Path) -> list[Any]:
    """The values in a file of the corpus: one, or one for each line of JSONL."""
    text = path.read_bytes().decode("utf-8-sig")
    if path.suffix == ".yaml":
        value, faults, _ = read_yaml(text)
        assert {fault.code for fault in faults} <= {"cut-text"}
        return [value]
    if path.suffix == ".json":
        return [json.loads(text)]
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def documents(folder: str) -> list[Any]:
    paths = sorted(
        path
        for path in (CORPUS / folder).iterdir()
        if path.suffix in (".yaml", ".json", ".jsonl") and not path.name.endswith(GOLDEN)
    )
    assert paths
    return [pytest.param(path, id=path.name) for path in paths]


def cannot_tell(path: Path) -> bool:
    expectations = path.with_suffix(".expect")
    source = expectations if expectations.exists() and not is_sidecar(path) else path
    return b"# schema: cannot tell" in source.read_bytes()


def is_sidecar(path: Path) -> bool:
    return path.name.endswith(SIDECAR)


@cache
def validator(definition: str | None = None) -> Draft202012Validator:
    whole = schema()
    if definition is not None:
        whole = {"$ref": f"#/$defs/{definition}", "$defs": whole["$defs"]}
    return Draft202012Validator(whole)


def schema_accepts(path: Path) -> bool:
    definition = "sidecar" if is_sidecar(path) else "case" if path.suffix == ".jsonl" else None
    return all(validator(definition).is_valid(value) for value in read_values(path))


# The schema itself


def test_is_valid_2020_12() -> None:
    Draft202012Validator.check_schema(schema())


def test_references_lead_somewhere() -> None:
    whole = schema()
    for _, part in subschemas(whole, "#"):
        reference = part.get("$ref")
        if reference is None:
            continue
        assert isinstance(reference, str)
        target: Any = whole
        for step in reference.removeprefix("#/").split("/"):
            target = target[step]
        assert isinstance(target, dict)


@pytest.mark.parametrize("name", ["suite", "sidecar", "case", "caseFile"])
def test_every_field_is_described(name: str) -> None:
    for field, part in properties_of(name).items():
        assert described(part), field


@pytest.mark.parametrize(
    ("name", "names", "aliases"),
    [
        ("case", fields.CASE_FIELDS, fields.CASE_ALIASES),
        ("caseFile", ("$schema", *fields.CASE_FIELDS), fields.CASE_ALIASES),
        ("suite", fields.SUITE_FIELDS, fields.SUITE_ALIASES),
    ],
)
def test_has_the_fields_of_the_format(
    name: str, names: tuple[str, ...], aliases: dict[str, str]
) -> None:
    assert properties_of(name).keys() == set(names)
    older = {*aliases, fields.EXECUTION}
    assert set(older_names_of(name)) == older


def test_reads_nothing_but_keywords_of_the_standard() -> None:
    """A keyword that only one editor knows makes strict validators refuse all of it."""
    known = {
        "$schema", "$id", "$ref", "$defs", "title", "description", "examples", "deprecated",
        "type", "enum", "const", "required", "properties", "patternProperties", "propertyNames",
        "minProperties", "maxProperties", "items", "contains", "minItems", "minLength", "pattern",
        "minimum", "maximum", "exclusiveMinimum", "additionalProperties",
        "if", "then", "else", "allOf", "anyOf", "not",
    }  # fmt: skip
    for place, part in subschemas(suite_schema(), "#"):
        assert part.keys() <= known, place


def test_has_every_grader_with_its_options_and_sentences() -> None:
    definitions = suite_schema()["$defs"]
    assert isinstance(definitions, dict)
    for each in suite_graders():
        named = definitions["namedGrader"]["properties"][each.kind.name]
        assert named["description"] == each.kind.description
        options = definitions[f"grader-{each.kind.name}"]["properties"]
        assert {name: described(part) for name, part in options.items()} == {
            name: option.about for name, option in each.options.items()
        }


@pytest.mark.parametrize("name", ["suite", "case", "caseFile", "message", "rubric"])
def test_examples_are_valid(name: str) -> None:
    definitions: Any = schema()["$defs"]
    for each in definitions[name].get("examples", []):
        assert validator(name).is_valid(each)
    for field, part in definitions[name].get("properties", {}).items():
        for each in part.get("examples", []):
            case = {"input": "Hi", "cases": [{"input": "Hi"}], field: each}
            if name == "case":
                del case["cases"]
            if name in ("suite", "case"):
                assert validator(name).is_valid(case), field


def properties_of(name: str) -> dict[str, Any]:
    definitions: Any = schema()["$defs"]
    properties: dict[str, Any] = definitions[name]["properties"]
    return properties


def older_names_of(name: str) -> dict[str, Any]:
    definitions: Any = schema()["$defs"]
    patterns: dict[str, Any] = definitions[name]["patternProperties"]
    return {
        pattern.removeprefix("^(?:").removesuffix(")$"): part
        for pattern, part in patterns.items()
        if pattern != "^x-"
    }


def described(part: dict[str, Any]) -> str:
    while "description" not in part and "$ref" in part:
        target: Any = schema()
        for step in part["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        part = target
    return str(part.get("description", ""))


def subschemas(part: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping in the schema that is a schema, or that holds some by name."""
    if isinstance(part, dict):
        if not place.endswith(("/properties", "/$defs", "/patternProperties")) or (
            place.endswith("/properties/properties")
        ):
            yield place, part
        for key, value in part.items():
            if key not in ("examples", "default", "enum"):
                yield from subschemas(value, f"{place}/{key}")
    elif isinstance(part, list):
        for index, value in enumerate(part):
            yield from subschemas(value, f"{place}/{index}")


# The corpus


@for_each("path", documents("valid"))
def test_accepts_valid_documents(path: Path) -> None:
    assert schema_accepts(path)


@for_each("path", [each for each in documents("invalid") if not cannot_tell(each.values[0])])
def test_refuses_invalid_documents(path: Path) -> None:
    assert not schema_accepts(path)


# Documents nobody wrote

CANNOT_TELL = {"duplicate-id", "missing-file", "file-outside-project", "bad-file"}

texts = st.sampled_from(["", " ", "a", "What is 2+2?", "user", "text"]) | st.text(max_size=5)
# Never 5.0, which a schema takes for an integer.
numbers = st.integers(-2, 3) | st.integers() | st.sampled_from([-0.5, 0.5, 1.5, 1e-9])
scalars = st.none() | st.booleans() | numbers | texts
keys = st.sampled_from(
    ["role", "content", "tool_calls", "tool", "function", "name", "type", "text", "weight",
     "required", "times", "pass_rate", "id", "description", "a", ""]
)  # fmt: skip
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


def mostly(good: st.SearchStrategy[Any], odd: st.SearchStrategy[Any] = junk) -> Any:
    return st.integers(0, 15).flatmap(lambda dice: odd if dice == 0 else good)


def mapping(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


roles = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
odd_roles: st.SearchStrategy[Any] = st.sampled_from(
    ["admin", "usr", "User", "", None, 1, ["user"], {}]
)
names = mostly(st.sampled_from(["Read", "Write"]), scalars)
functions = mapping({"name": names}, {"arguments": junk})
calls = (
    mapping({"tool": names}, {"input": junk, "id": junk})
    | mapping({"function": mostly(functions)}, {"id": junk})
    | mapping({}, {"tool": names, "function": mostly(functions), "name": texts})
)
call_lists: st.SearchStrategy[Any] = (
    st.lists(mostly(calls), min_size=1, max_size=2) | st.just([]) | st.none()
)
parts = mapping({"type": mostly(st.sampled_from(["text", "image", "audio"]))}, {"text": junk})
contents = texts | st.lists(parts, max_size=2) | junk
messages = (
    mapping({"role": roles, "content": contents}, {"name": texts})
    | mapping({"role": mostly(roles, odd_roles)}, {"content": contents, "tool_calls": call_lists})
    | mapping({"role": roles, "tool_calls": call_lists}, {"content": contents})
)
inputs = texts | st.lists(mostly(messages), min_size=1, max_size=3) | messages
options = {"weight": mostly(numbers), "required": mostly(st.booleans())}
shared = {
    **options,
    "name": mostly(texts),
    "threshold": mostly(st.sampled_from([0, 0.5, 1])),
    "timeout_s": mostly(st.sampled_from([0.5, 30])),
    "not": mostly(st.booleans()),
}
own = {
    "value": junk | texts,
    "ignore_case": mostly(st.booleans()),
    "unit": mostly(st.sampled_from(["words", "lines"])),
    "min": mostly(numbers),
    "max": mostly(numbers),
    "count": mostly(st.integers(1, 3)),
}
grader_names = st.sampled_from([each.kind.name for each in GRADERS] * 2 + ["nosuch"])
references = st.sampled_from(["a:b", "a.b:c.d", "a", "a:", "a:b:c", "./a.py:b", ""])


def one_grader(inner: Any) -> Any:
    value = inner | references | own["value"]
    every_option = {**shared, **own, "value": value, "of": inner}
    few = st.lists(st.sampled_from(sorted(every_option)), max_size=3, unique=True)
    some = few.flatmap(
        lambda names: st.fixed_dictionaries({name: every_option[name] for name in names})
    )
    return (
        grader_names
        | references.map(lambda text: f"python:{text}")
        | st.tuples(grader_names | keys, value | some).map(lambda pair: dict([pair]))
        | st.tuples(references, some).map(lambda pair: {f"python:{pair[0]}": pair[1]})
        | st.tuples(mostly(grader_names), some).map(lambda pair: {"type": pair[0], **pair[1]})
    )


graders = one_grader(
    mostly(
        st.lists(one_grader(st.lists(one_grader(st.just(["expected"])), max_size=2)), max_size=2)
    )
)
grader_lists = st.lists(mostly(graders), max_size=2)
rubrics = mostly(st.text(min_size=1, max_size=4)) | mapping(
    {}, {"text": texts, "description": mostly(texts), "id": mostly(texts), **options}
)
times = mostly(st.integers(1, 5))
shares = mostly(st.sampled_from([0, 0.5, 1, 0.25]))
run_fields: dict[str, Any] = {
    "target": mostly(st.just("bot")),
    "targets": mostly(st.lists(st.just("bot"), min_size=1, max_size=2)),
    "threshold": shares,
    "repeat": times | mapping({"times": times}, {"pass_rate": shares}),
    "timeout_s": mostly(st.sampled_from([0.5, 30])),
    "tags": mostly(st.lists(texts, max_size=2)),
    "metadata": mostly(st.dictionaries(keys, junk, max_size=2)),
    "graders": grader_lists,
    "input": inputs,
    "description": mostly(texts),
}
case_fields: dict[str, Any] = {
    **run_fields,
    "id": mostly(texts),
    "expected_output": inputs | junk,
    "skip": mostly(st.booleans() | texts),
    "conversation_id": mostly(texts),
    "criteria": mostly(st.just("Says four.")),
    "rubrics": mostly(st.lists(rubrics, min_size=1, max_size=2)),
    "suite_graders": mostly(st.booleans()),
}
suite_fields: dict[str, Any] = {
    **run_fields,
    "$schema": mostly(texts),
    "name": mostly(texts),
}
strangers = st.sampled_from(
    ["vars", "matrix", "x-", "x-note", "xnote", "note", "expcted_output", "$schema", "name",
     "cases", "tests"]
)  # fmt: skip


@st.composite
def mappings(draw: st.DrawFn, kind: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """A mapping that is nearly right: some fields of its kind, and at times something else."""
    chosen = draw(st.lists(st.sampled_from(sorted(kind)), max_size=4, unique=True))
    value = {**base, **{name: draw(kind[name]) for name in chosen}}
    change = draw(st.integers(0, 9))
    if change == 0:
        value[draw(st.sampled_from(sorted(kind)))] = draw(junk)
    elif change == 1:
        value[draw(strangers)] = draw(junk)
    elif change == 2:
        value.pop(draw(st.sampled_from(sorted(value))), None)
    elif change == 3:
        value[draw(st.sampled_from(sorted(kind)))] = None
    return value


cases = mappings(case_fields, {"input": "What is 2+2?"})
case_lists = st.lists(mostly(cases), min_size=1, max_size=2)


@st.composite
def suites(draw: st.DrawFn) -> dict[str, Any]:
    containers = ["cases", "evalcases", "eval_cases", "tests"]
    suite = {draw(st.sampled_from(containers)): draw(mostly(case_lists))}
    if draw(st.integers(0, 5)) == 0:
        suite[draw(st.sampled_from(containers))] = draw(case_lists | junk)
    return draw(mappings(suite_fields, suite))


def with_unique_ids(document: Any) -> Any:
    numbered: list[dict[str, Any]] = []

    def visit(value: Any) -> None:
        for case in value if isinstance(value, list) else []:
            if isinstance(case, dict) and isinstance(case.get("id"), str) and case["id"]:
                numbered.append(case)

    visit(document)
    if isinstance(document, dict):
        for value in document.values():
            visit(value)
    for number, case in enumerate(numbered):
        case["id"] += f"-{number}"
    return document


alike = settings(max_examples=2 * settings().max_examples, suppress_health_check=list(HealthCheck))


@alike
@given(mostly(suites() | case_lists | cases).map(with_unique_ids))
@example({"input": "Hi", "rubrics": [{"text": None, "description": "Greets back"}]})
@example({"input": "Hi", "$schema": 1})
@example({"cases": [{"input": "Hi"}], "tags": [[]]})
@example({"cases": None, "input": "Hi"})
def test_agrees_with_the_checks(document: Any) -> None:
    errors = errors_of(document)
    note(f"errors: {errors}")
    assert validator().is_valid(document) is not bool(errors)


@alike
@given(inputs | junk, inputs | st.lists(mostly(messages), max_size=3) | junk)
@example({"role": "admin", "tool_calls": None}, None)
@example("Hi", [{"role": "admin"}, {"role": "assistant"}])
def test_agrees_with_the_checks_on_messages(given_input: Any, expected: Any) -> None:
    document = {"input": given_input, "expected_output": expected}
    errors = errors_of(document)
    note(f"errors: {errors}")
    assert validator().is_valid(document) is not bool(errors)


@alike
@given(st.lists(mostly(graders), max_size=3))
@example([{"python:a:b": None}, {"type": "python:a:b", "value": "c:d"}])
@example([{"mean": ["expected"]}, {"mean": {"value": ["expected"], "threshold": 1}}])
@example([{"every": [{"some": {"count": 1, "of": ["nosuch"]}}]}])
def test_agrees_with_the_checks_on_graders(several: Any) -> None:
    document = {"input": "Hi", "expected_output": "Hi", "graders": several}
    errors = errors_of(document)
    note(f"errors: {errors}")
    assert validator().is_valid(document) is not bool(errors)


def errors_of(document: Any) -> list[str]:
    problems = load_text(json.dumps(document), "json", known=KNOWN).problems
    errors = [problem for problem in problems if problem.severity == "error"]
    return [
        each.code
        for each in errors
        if each.code not in CANNOT_TELL and CONFLICT.search(each.message) is None
    ]


CONFLICT = re.compile(r"`of` has only|weights .*are all 0|two rubrics have the id")
"""Options that only don't go with each other: no schema compares two of them."""

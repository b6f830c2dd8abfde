"""What holds for every file: read, written, migrated and pointed into, with data made at random."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evalcase
from evalcase import SuiteError
from evalcase.cli.app import run_command
from evalcase.format.positions import Format
from tests.random_suites import (
    CASE_FIELDS,
    ROLES,
    Draw,
    as_flow,
    as_json,
    as_yaml,
    cases,
    exact,
    inputs,
    loaded,
    names_a_file,
    often,
    scalars,
    suites,
    texts,
    values,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


def as_jsonl(value: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in value)


def shown(path: Path, format: str) -> str:
    """What `evalcase show` prints of a file."""
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as stream:
        assert run_command(["show", "--format", format, str(path)]) == 0
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


@often
@given(suites(old=True))
def test_a_case_is_made_anew_of_its_canonical_form(suite: Any) -> None:
    for case in loaded(as_json(suite), "json")["cases"]:
        assert exact(evalcase.Case(case).to_dict()) == exact(case)


@often
@given(suites(old=True))
def test_canonical_form_is_idempotent(suite: Any) -> None:
    """Loading what was loaded changes nothing, not even the order of a key."""
    once = loaded(as_json(suite), "json")
    assert exact(loaded(as_json(once), "json")) == exact(once)


@often
@given(suite=suites(old=True), format=st.sampled_from(["json", "yaml"]))
def test_what_show_prints_loads_as_the_same_suite(folder: Path, suite: Any, format: Format) -> None:
    """In both formats of a whole suite; and showing that prints the same again."""
    path, again = folder / "suite.json", folder / f"again.{format}"
    path.write_text(as_json(suite), "utf-8")
    text = shown(path, format)
    assert exact(loaded(text, format)) == exact(evalcase.load(path).to_dict())
    again.write_bytes(text.encode())
    assert shown(again, format) == text


@often
@given(suites(old=True))
def test_what_show_prints_as_jsonl_loads_as_the_same_cases(folder: Path, suite: Any) -> None:
    """One line a case, and all that the suite says is in it."""
    path, again = folder / "suite.json", folder / "again.jsonl"
    path.write_text(as_json(suite), "utf-8")
    text = shown(path, "jsonl")
    expected = evalcase.load(path).to_dict()["cases"]
    assert len(text.split("\n")) == len(expected) + 1
    assert exact(loaded(text, "jsonl")["cases"]) == exact(expected)
    again.write_bytes(text.encode())
    assert shown(again, "jsonl") == text


@often
@given(st.lists(cases(old=True), min_size=1, max_size=3))
def test_yaml_json_and_jsonl_of_the_same_data_load_equal(some: list[Any]) -> None:
    """However it is written."""
    expected = exact(loaded(as_json(some), "json")["cases"])
    assert exact(loaded(as_json(some, 2), "json")["cases"]) == expected
    assert exact(loaded(as_jsonl(some), "jsonl")["cases"]) == expected
    assert exact(loaded(as_yaml(some), "yaml")["cases"]) == expected
    assert exact(loaded(as_flow(some), "yaml")["cases"]) == expected
    assert exact(loaded(as_yaml({"cases": some}), "yaml")["cases"]) == expected


FORMATS: list[Format] = ["yaml", "json", "jsonl"]


def text_of_case(case: Any, format: Format) -> str:
    return as_yaml(case) if format == "yaml" else json.dumps(case)


@often
@given(value=values, role=st.sampled_from(ROLES), format=st.sampled_from(FORMATS))
def test_any_value_survives_as_the_content_of_a_message(
    value: Any, role: str, format: Format
) -> None:
    """Byte for byte in meaning, in both fields, alone or in a list."""
    assume(not names_a_file(value))
    message = {"role": role, "content": value, "extra": value}
    for written in (message, [message], [message, message]):
        case = {"input": written, "expected_output": written}
        (found,) = loaded(text_of_case(case, format), format)["cases"]
        whole = written if isinstance(written, list) else [written]
        assert exact(found["input"]) == exact(whole)
        assert exact(found["expected_output"]) == exact(whole)


def is_message(value: Any) -> bool:
    if not isinstance(value, dict) or "role" not in value:
        return False
    # A null list of calls is none, but null content is content.
    return "content" in value or value.get("tool_calls") is not None or value["role"] in ROLES


def is_call(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if "tool" in value:
        name = value["tool"]
    else:
        function = value.get("function")
        name = function.get("name") if isinstance(function, dict) else None
    return isinstance(name, str) and name != ""


def is_valid(message: Any) -> bool:
    if not is_message(message) or message["role"] not in ROLES:
        return False
    calls = message.get("tool_calls")
    if calls is None:
        return "content" in message
    return isinstance(calls, list) and len(calls) > 0 and all(map(is_call, calls))


def list_of_valid(value: list[Any]) -> list[Any] | None:
    return value if value and all(map(is_valid, value)) else None


def input_of(value: Any) -> list[Any] | None:
    """The messages that an `input` stands for; None where it is an error."""
    if isinstance(value, list):
        return list_of_valid(value)
    if is_message(value):
        return list_of_valid([value])
    return [{"role": "user", "content": value}] if isinstance(value, str | dict) else None


def expected_of(value: Any) -> list[Any] | None:
    """The messages that an `expected_output` stands for; None where it is an error."""
    if isinstance(value, list) and (not value or any(map(is_message, value))):
        return list_of_valid(value)
    if is_message(value):
        return list_of_valid([value])
    return [{"role": "assistant", "content": value}]


@st.composite
def nearly_messages(draw: Draw) -> dict[str, Any]:
    """Mappings with the keys of messages, right or wrong."""
    calls = st.one_of(
        values,
        st.lists(
            st.one_of(
                st.dictionaries(st.sampled_from(["tool", "function", "name"]), texts, max_size=2),
                st.just({"function": {"name": "t"}}),
            ),
            max_size=2,
        ),
    )
    return draw(
        st.fixed_dictionaries(
            {},
            optional={
                "role": st.one_of(st.sampled_from([*ROLES, "admin", "User"]), scalars),
                "content": values,
                "tool_calls": calls,
                "name": texts,
            },
        )
    )


short_forms = st.one_of(values, nearly_messages(), st.lists(st.one_of(nearly_messages(), values)))


@often
@given(value=short_forms, format=st.sampled_from(FORMATS), alias=st.booleans())
def test_any_value_as_a_short_form_of_input_survives_or_is_an_error(
    value: Any, format: Format, alias: bool
) -> None:
    """It becomes exactly what the format says, or nothing at all."""
    assume(not names_a_file(value))
    text = text_of_case({"input_messages" if alias else "input": value}, format)
    expected = input_of(value)
    if expected is None:
        with pytest.raises(SuiteError):
            evalcase.loads(text, format)
    else:
        (case,) = loaded(text, format)["cases"]
        assert exact(case["input"]) == exact(expected)


@often
@given(value=short_forms, format=st.sampled_from(FORMATS), alias=st.booleans())
def test_any_value_as_a_short_form_of_expected_output_survives_or_is_an_error(
    value: Any, format: Format, alias: bool
) -> None:
    """It becomes exactly what the format says, or nothing at all; null says nothing."""
    assume(not names_a_file(value))
    name = "expected_messages" if alias else "expected_output"
    text = text_of_case({"input": "hi", name: value}, format)
    expected = None if value is None else expected_of(value)
    if value is None:
        (case,) = loaded(text, format)["cases"]
        assert "expected_output" not in case
    elif expected is None:
        with pytest.raises(SuiteError):
            evalcase.loads(text, format)
    else:
        (case,) = loaded(text, format)["cases"]
        assert exact(case["expected_output"]) == exact(expected)


@often
@given(
    case=cases(),
    rest=st.lists(cases(), max_size=3),
    suite=st.fixed_dictionaries({}, optional={"input": inputs, "tags": CASE_FIELDS["tags"]}),
    at=st.integers(0, 3),
)
def test_made_ids_depend_on_nothing_but_the_input_of_the_case(
    case: Any, rest: list[Any], suite: dict[str, Any], at: int
) -> None:
    """Whatever stands before it, after it or above it."""
    assume(not names_a_file(suite))
    (alone,) = evalcase.loads(as_json({"input": case["input"]}), "json")
    others = [other for other in rest if other["input"] != case["input"]]
    assume(len({exact(input_of(other["input"])) for other in others} | {"x"}) == len(others) + 1)
    assume(exact(input_of(case["input"])) not in {exact(input_of(o["input"])) for o in others})
    position = min(at, len(others))
    some = [*others[:position], case, *others[position:]]
    found = evalcase.loads(as_json({**suite, "cases": some}), "json").cases[position]
    assert found.id == alone.id
    assert re.fullmatch(r".{1,40}-[0-9a-f]{6}", found.id)

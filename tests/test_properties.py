"""What holds for every file: read, written, migrated and pointed into, with data made at random."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import evalcase
from evalcase import SuiteError
from evalcase.cli.app import run
from evalcase.model.finding import At
from evalcase.model.problem import Span
from evalcase.read.document import Document, Format, parse_document
from evalcase.read.places import find_node
from evalcase.resolve.values import NOT_SKIPPED
from evalcase.suites.migrate import migrate_bytes
from evalcase.text.yaml_writer import write_yaml

Draw = st.DrawFn
Path_ = tuple[str | int, ...]

ROLES = ["system", "developer", "user", "assistant", "tool"]
ALIASES = {
    "input": ["input_messages"],
    "expected_output": ["expected_messages"],
    "criteria": ["expected_outcome", "outcome"],
    "graders": ["evaluators"],
    "name": ["dataset"],
    "cases": ["evalcases", "eval_cases", "tests"],
}
OLD_NAMES = [alias for aliases in ALIASES.values() for alias in aliases]

often = settings(suppress_health_check=list(HealthCheck))


# Data.

TRICKY = [
    "", " ", "~", "null", "true", "no", "1", "-1", "0o14", "0x1F", "1e3", ".inf", "1_0", "12:30",
    "2024-01-01", "<<", "- a", "a: b", "a #b", "#", "&a", "*a", "!a", "%", "@", "`", "{}", "[a]",
    "'", '"', "\\", "\\n", "a\nb", "a\n", "\na", "a\n\n", " a\n  b", "\t", "a\r\nb", "\x1b[31m",
    "\x85", "\u2028", "\ufeff", "\x7f", "\N{GRINNING FACE}", "{{x}}", "---", "...", "? a", ": a",
    "role", "content", "type", "input_messages", "tests",
]  # fmt: skip

characters = st.characters(exclude_categories=["Cs"])
texts = st.one_of(st.sampled_from(TRICKY), st.text(characters, max_size=12))
numbers = st.one_of(
    st.integers(), st.integers(-(10**40), 10**40), st.floats(allow_nan=False, allow_infinity=False)
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def exact(value: Any) -> str:
    """Equal only for values of the same types, with keys in the same order."""
    return json.dumps(value)


def names_a_file(value: Any) -> bool:
    """Whether there is what may be taken for a file part: that is looked for on the disk."""
    if isinstance(value, dict):
        return value.get("type") == "file" or any(map(names_a_file, value.values()))
    return isinstance(value, list) and any(map(names_a_file, value))


@st.composite
def messages(draw: Draw) -> dict[str, Any]:
    message: dict[str, Any] = {"role": draw(st.sampled_from(ROLES))}
    kind = draw(st.sampled_from(["content", "calls", "both"]))
    if kind != "calls":
        message["content"] = draw(values)
    if kind != "content":
        call = st.fixed_dictionaries({"tool": texts.filter(bool)}, optional={"input": values})
        function = st.fixed_dictionaries({"name": texts.filter(bool), "arguments": texts})
        calls = st.one_of(call, st.fixed_dictionaries({"function": function}))
        message["tool_calls"] = draw(st.lists(calls, min_size=1, max_size=2))
    for key in draw(st.lists(st.sampled_from(["name", "x", "tests", "0"]), max_size=2)):
        message[key] = draw(scalars)
    return message


message_lists = st.lists(messages(), min_size=1, max_size=3)
data = st.dictionaries(texts.filter(lambda key: key != "role"), values, max_size=3)
inputs = st.one_of(texts, messages(), message_lists, data)
names = st.text("abc/", min_size=1, max_size=5)
grader = st.one_of(
    names,
    st.dictionaries(names, st.one_of(texts, st.integers()), min_size=1, max_size=1),
    st.fixed_dictionaries({"type": names}, optional={"value": values, "weight": st.integers(1, 9)}),
)
CASE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "expected_output": st.one_of(texts, numbers, st.booleans(), messages(), message_lists, data),
    "description": texts,
    "tags": st.lists(texts, max_size=3),
    "metadata": st.dictionaries(texts, values, max_size=3),
    "skip": st.one_of(st.booleans(), texts.filter(lambda text: text and text not in NOT_SKIPPED)),
    "conversation_id": texts,
    "criteria": texts.filter(str.strip),
    "rubrics": st.lists(
        st.one_of(
            texts.filter(str.strip), st.fixed_dictionaries({"text": texts.filter(str.strip)})
        ),
        min_size=1,
        max_size=2,
    ),
    "graders": st.lists(grader, max_size=3),
    "suite_graders": st.booleans(),
    "targets": st.lists(names, min_size=1, max_size=2),
    "repeat": st.one_of(st.integers(1, 9), st.just({"times": 3, "pass_rate": 0.5})),
    "threshold": st.floats(0, 1),
    "timeout_s": st.integers(1, 100),
    "x-note": values,
}
SUITE_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "name": texts.filter(bool),
    "description": texts,
    "metadata": st.dictionaries(texts, values, max_size=3),
    "input": inputs,
    "graders": CASE_FIELDS["graders"],
    "tags": CASE_FIELDS["tags"],
    "target": names,
    "repeat": CASE_FIELDS["repeat"],
    "threshold": CASE_FIELDS["threshold"],
    "x-note": values,
}


@st.composite
def fields(
    draw: Draw, strategies: dict[str, st.SearchStrategy[Any]], *, old: bool
) -> dict[str, Any]:
    """Some of the fields, in some order; with `old`, under older names here and there."""
    chosen = draw(st.lists(st.sampled_from(sorted(strategies)), unique=True, max_size=5))
    result = {}
    for name in chosen:
        aliases = ALIASES.get(name, []) if old else []
        result[draw(st.sampled_from([name, *aliases]))] = draw(strategies[name])
    return result


@st.composite
def cases(draw: Draw, *, old: bool = False) -> dict[str, Any]:
    case = draw(fields(CASE_FIELDS, old=old))
    name = draw(st.sampled_from(["input", "input_messages"])) if old else "input"
    case = {**case, name: draw(inputs)} if draw(st.booleans()) else {name: draw(inputs), **case}
    assume(not names_a_file(case))
    return case


@st.composite
def suites(draw: Draw, *, old: bool = False) -> Any:
    """A valid suite as it may be written, in any of its shapes."""
    some = draw(st.lists(cases(old=old), min_size=1, max_size=3))
    shape = draw(st.sampled_from(["suite", "suite", "list", "case"]))
    if shape == "case":
        return some[0]
    if shape == "list":
        return some
    suite = draw(fields(SUITE_FIELDS, old=old))
    assume(not names_a_file(suite))
    container = draw(st.sampled_from(["cases", *ALIASES["cases"]])) if old else "cases"
    return {**suite, container: some}


# Texts.


def as_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def as_jsonl(value: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in value)


def as_yaml(value: Any) -> str:
    return "".join(write_yaml(value))


def as_flow(value: Any) -> str:
    """JSON that is YAML: what YAML has no raw form of is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(
        "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda m: f"\\u{ord(m[0]):04x}", text
    )


@st.composite
def layouts(draw: Draw, value: Any) -> str:
    """The value as YAML in one of many layouts. It need not mean the same in YAML 1.2."""
    kind = draw(st.sampled_from(["own", "flow", "dump", "dump", "dump"]))
    if kind == "own":
        return as_yaml(value)
    if kind == "flow":
        return as_flow(value)
    text: str = yaml.dump(
        value,
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        allow_unicode=draw(st.booleans()),
        default_flow_style=draw(st.sampled_from([True, False, None])),
        default_style=draw(st.sampled_from([None, None, '"', "'"])),
        indent=draw(st.integers(2, 6)),
        width=draw(st.sampled_from([20, 80, 1000])),
        explicit_start=draw(st.booleans()),
        line_break=draw(st.sampled_from(["\n", "\r\n", "\r"])),
    )
    return text


def loaded(text: str, format: Format) -> Any:
    return evalcase.loads(text, format).to_dict()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("properties")


def shown(path: Path, format: str) -> str:
    """What `evalcase show` prints of a file."""
    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) as stream:
        assert run(["show", "--format", format, str(path)]) == 0
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


# Reading and writing.


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


# Short forms. What they become is written down here once more, as the format says it.


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


# Migration.


def meaning(data: bytes, format: Format) -> Any:
    """What a file says: its suite, or the codes of its errors."""
    try:
        return loaded(data.decode("utf-8-sig"), format)
    except SuiteError as error:
        return [problem.code for problem in error.problems if problem.severity == "error"]


def offsets(text: str, span: Span) -> tuple[int, int]:
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\r|\n", text))]
    return starts[span.line - 1] + span.column - 1, starts[span.end_line - 1] + span.end_column - 1


def check_migration(data: bytes, format: Format) -> None:
    result = migrate_bytes(data, format, f"file.{format}")
    assert result.before == data
    assert result.errors == []
    assert exact(meaning(result.after, format)) == exact(meaning(data, format))
    # Undo what is said to be done, and the rest has to be what it was, to the byte.
    text = data.decode().removeprefix("\ufeff")
    pieces, done = [], 0
    for span, old, new, (edit,) in result.renames:
        start, end = offsets(text, span)
        key = text[start:end]
        assert old in OLD_NAMES
        assert key.strip("\"'") == old
        assert edit == (span, key.replace(old, new))
        pieces += [text[done:start], edit.text]
        done = end
    assert result.after.decode().removeprefix("\ufeff") == "".join([*pieces, text[done:]])
    assert result.after.startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    again = migrate_bytes(result.after, format, f"file.{format}")
    assert (again.after, again.renames) == (result.after, [])
    if isinstance(meaning(data, format), dict):
        check_what_is_left(result.after, format, {problem.code for problem in result.left})


def check_what_is_left(after: bytes, format: Format, left: set[str]) -> None:
    warnings = evalcase.loads(after.decode("utf-8-sig"), format).warnings
    names = {warning.code for warning in warnings} & {"deprecated-name", "ignored-alias"}
    # An old name that is null may be deprecated before, and ignored once another was renamed.
    assert left or not names


marks = st.sampled_from([b"", b"\xef\xbb\xbf"])


@st.composite
def damaged(draw: Draw, value: Any) -> Any:
    """The same, or with old names beside new ones, nulls and unknown fields in it."""
    if not draw(st.booleans()):
        return value
    mappings = [value] if isinstance(value, dict) else []
    for each in value if isinstance(value, list) else []:
        mappings.append(each)
    for name in ("cases", *ALIASES["cases"]):
        mappings += value.get(name, []) if isinstance(value, dict) else []
    target = draw(st.sampled_from(mappings))
    key = draw(st.sampled_from([*ALIASES, *OLD_NAMES, "oops", "execution"]))
    target.setdefault(key, draw(st.one_of(st.none(), inputs, st.just({"target": "t"}))))
    assume(not names_a_file(value))
    return value


@often
@given(data=st.data(), suite=suites(old=True).flatmap(damaged), mark=marks)
def test_migrate_of_yaml_changes_names_and_nothing_else(
    data: st.DataObject, suite: Any, mark: bytes
) -> None:
    """Not what the file means, not a byte of the rest; and a second time nothing at all."""
    text = data.draw(layouts(suite))
    assume(not parse_document(text, "yaml", "").faults)
    check_migration(mark + text.encode(), "yaml")


@often
@given(
    suite=suites(old=True).flatmap(damaged),
    indent=st.sampled_from([None, 0, 2]),
    mark=marks,
    ascii=st.booleans(),
)
def test_migrate_of_json_changes_names_and_nothing_else(
    suite: Any, indent: int | None, mark: bytes, ascii: bool
) -> None:
    """The same for JSON."""
    text = json.dumps(suite, indent=indent, ensure_ascii=ascii)
    check_migration(mark + text.encode(), "json")


@often
@given(
    some=st.lists(cases(old=True).flatmap(damaged), min_size=1, max_size=3),
    end=st.sampled_from(["\n", "\r\n", "\n\n", "\n  \n"]),
    mark=marks,
)
def test_migrate_of_jsonl_changes_names_and_nothing_else(
    some: list[Any], end: str, mark: bytes
) -> None:
    """The same for JSONL."""
    check_migration(mark + end.join(map(as_json, some)).encode(), "jsonl")


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", r'{"input\u005fmessages": "x"}'),
        ("jsonl", r'{"input\u005fmessages": "x"}'),
        ("yaml", r'"input\x5fmessages": x'),
    ],
)
def test_old_name_that_is_written_with_an_escape_is_left_and_reported(
    format: Format, text: str
) -> None:
    """There is no plain name to rename, but the old one is still there."""
    result = migrate_bytes(text.encode(), format, f"file.{format}")
    assert (result.after, result.renames) == (text.encode(), [])
    assert [(problem.code, problem.line) for problem in result.left] == [("deprecated-name", 1)]


# Places.


def paths_in(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield from paths_in(item, (*path, key))


def at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def source(text: str, span: Span) -> str:
    start, end = offsets(text, span)
    return text[start:end]


def trimmed(value: Any) -> Any:
    """Without the white space at the end of texts, which the span of a block doesn't reach."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [trimmed(item) for item in value]
    return value.rstrip() if isinstance(value, str) else value


def check_pruned_places(document: Document, paths: list[Path_]) -> None:
    """Reading for some paths only finds what reading for all of them finds."""
    whole = document.places(None)
    wheres: tuple[At, ...] = ("key", "value")
    wanted = [(path, where) for path in paths for where in wheres]
    together = document.places(wanted)
    for path, where in wanted:
        expected = find_node(whole, path, where)
        assert find_node(document.places([(path, where)]), path, where) == expected
        assert find_node(together, path, where) == expected


def read_alone(text: str, column: int) -> Any:
    """The value of a piece of YAML that stood at a column."""
    document = parse_document(" " * (column - 1) + text + "\n", "yaml", "")
    assert document.readable, document.problems
    assert document.faults == []
    return document.value


def key_alone(text: str) -> Any:
    document = parse_document(f"? {text}\n: 0\n", "yaml", "")
    assert document.readable, document.problems
    assert isinstance(document.value, dict)
    return next(iter(document.value))


@often
@given(data=st.data(), value=values, indent=st.sampled_from([None, 0, 3]))
def test_every_path_of_json_has_a_place_whose_text_is_its_value(
    data: st.DataObject, value: Any, indent: int | None
) -> None:
    """And every key one whose text is the key."""
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    document = parse_document(text, "json", "")
    whole = document.places(None)
    paths = list(paths_in(value))
    for path in paths:
        found = source(text, find_node(whole, path, "value").span)
        assert exact(json.loads(found)) == exact(at(value, path))
        if path and isinstance(path[-1], str):
            assert json.loads(source(text, find_node(whole, path, "key").span)) == path[-1]
    check_pruned_places(document, list(islice(paths, 10)))


@often
@given(data=st.data(), value=values)
def test_every_path_of_yaml_has_a_place_whose_text_is_its_value(
    data: st.DataObject, value: Any
) -> None:
    """In every layout; a block scalar alone is looked at apart, for its text needs its context."""
    text = data.draw(layouts(value))
    document = parse_document(text, "yaml", "")
    assume(not document.faults)
    whole = document.places(None)
    paths = list(paths_in(document.value))
    for path in paths:
        span = find_node(whole, path, "value").span
        found, expected = source(text, span), at(document.value, path)
        if found[:1] in ("|", ">") and isinstance(expected, str):
            lines = [line.strip() for line in found.splitlines()[1:] if line.strip()]
            assert lines == [line.strip() for line in expected.splitlines() if line.strip()]
        else:
            assert exact(trimmed(read_alone(found, span.column))) == exact(trimmed(expected))
            assert found == found.strip(" \r\n")
        if path and isinstance(path[-1], str):
            assert key_alone(source(text, find_node(whole, path, "key").span)) == path[-1]
    check_pruned_places(document, list(islice(paths, 10)))


@often
@given(data=st.data(), shared=values, value=values)
def test_pruned_and_whole_readings_agree_on_aliases(
    data: st.DataObject, shared: Any, value: Any
) -> None:
    """Where a value is written once and used several times."""
    assume(isinstance(shared, dict | list))
    tree = {"a": shared, "b": [shared, value, {"c": shared}], "d": {"e": shared, "f": value}}
    document = parse_document(data.draw(layouts(tree)), "yaml", "")
    assume(document.readable and not document.faults)
    every = list(paths_in(document.value))
    check_pruned_places(document, every[:6] + every[-6:])
    some = data.draw(st.lists(st.sampled_from(every), max_size=5))
    check_pruned_places(document, some)


MERGES = [
    "a: &a {x: 1, y: [1, 2]}\nb: {<<: *a, y: 3}\nc:\n  z: 4\n  <<: [*a, {x: 5, w: {v: 6}}]\n",
    "a: &a\n  b: &b {x: &x [1, {y: 2}]}\nc: {<<: *a, d: *x}\ne: {<<: [*b, *a]}\n",
    "- &a {k: v}\n- &b {<<: *a, l: *a}\n- {<<: *b, m: {<<: *b}}\n- [*a, *b, *a]\n",
    "&k a: &v {n: 1}\nb: {*k : 5, c: *v}\n",
    "a: &a {<<: {x: 1, y: {z: 2}}, w: 3}\nb: {<<: *a}\n? &q c\n: *a\nd: *q\n",
    "a: &a {'<<': 1, x: 2}\nb: {<<: *a, \"<<\": 3}\n",
]


@pytest.mark.parametrize("text", MERGES)
def test_pruned_and_whole_readings_agree_on_merges(text: str) -> None:
    """Every path, by itself and with each other one."""
    document = parse_document(text, "yaml", "")
    paths = list(paths_in(document.value))
    check_pruned_places(document, paths)
    for first in paths:
        for second in paths:
            check_pruned_places(document, [first, second])


@pytest.mark.parametrize("text", MERGES)
def test_place_of_what_is_merged_is_where_it_is_written(text: str) -> None:
    """Through aliases and merges, the text at the place is still the value."""
    document = parse_document(text, "yaml", "")
    whole = document.places(None)
    for path in paths_in(document.value):
        span = find_node(whole, path, "value").span
        found = source(text, span)
        if "*" not in found:
            assert exact(read_alone(found, span.column)) == exact(at(document.value, path))


@often
@given(data=st.data(), suite=suites(old=True).flatmap(damaged))
def test_places_of_problems_lie_in_the_text(data: st.DataObject, suite: Any) -> None:
    """Every problem points at something, and the excerpt is the line it points at."""
    text = data.draw(layouts(suite))
    try:
        problems = evalcase.loads(text).warnings
    except SuiteError as error:
        problems = error.problems
    lines = re.split(r"\r\n|\r|\n", text)
    for problem in problems:
        assert problem.span is not None
        line, column, end_line, end_column = problem.span
        assert (line, column) <= (end_line, end_column)
        assert end_line <= len(lines)
        assert column <= len(lines[line - 1]) + 1
        assert end_column <= len(lines[end_line - 1]) + 1
        assert problem.excerpt is not None
        assert problem.excerpt.text in lines[line - 1]
        if problem.code in ("deprecated-name", "ignored-alias"):
            old = [*OLD_NAMES, "execution", "target"]  # the last within `execution`
            assert source(text, problem.span).strip("\"'") in old


def test_recursion_limit_is_not_touched() -> None:
    """Reading, writing and placing need no more stack than Python gives."""
    limit = sys.getrecursionlimit()
    text = "input: {v: " + "[" * 97 + "]" * 97 + "}\noops: 1\n"
    with pytest.raises(SuiteError, match="unknown-field"):
        evalcase.loads(text)
    assert sys.getrecursionlimit() == limit


@often
@given(suite=suites(old=True))
def test_what_write_suite_writes_loads_as_the_same_suite(folder: Path, suite: Any) -> None:
    """Exactly: its name, the order of keys and the types of numbers, too."""
    path = folder / "written.eval.yaml"
    given_suite = evalcase.loads(as_json(suite), "json")
    evalcase.write_suite(given_suite, path, overwrite=True)
    assert exact(evalcase.load(path).to_dict()) == exact(given_suite.to_dict())

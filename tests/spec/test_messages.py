"""The format, part 1.1: messages. One test for each thing it says of them."""

import json
import operator
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import Message, ToolCall
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of
from tests.spec.reading import case_of

ROLES = ["system", "developer", "user", "assistant", "tool"]


@for_each("role", ROLES)
@for_each("rest", ["content: x", "tool_calls: [{tool: t}]", "content: null"])
def test_mapping_with_a_role_and_content_or_tool_calls_is_a_message(role: str, rest: str) -> None:
    """Each known role makes a message, in `input` and in `expected_output`."""
    text = f"input: {{role: {role}, {rest}}}\nexpected_output: {{role: {role}, {rest}}}\n"
    case = evalcase.parse_case(text)
    assert (case.input[0].role, case.expected_output[0].role) == (role, role)
    assert len(case.input) == len(case.expected_output) == 1
    assert case.input == case.expected_output


@for_each("role", ROLES)
@for_each("field", ["input", "expected_output"])
def test_mapping_with_a_known_role_is_a_message_even_without_content(field: str, role: str) -> None:
    """A known role is enough to be meant as a message, so what lacks is an error, not data."""
    other = "expected_output: x" if field == "input" else "input: x"
    text = f"{field}: {{role: {role}, name: Bob}}\n{other}\n"
    assert [place[0] for place in places(text)] == ["empty-message"]


@for_each(
    "data",
    [
        {"role": "admin", "name": "Bob"},
        {"role": "Assistant"},
        {"role": 5, "level": 1},
        {"role": None},
        {"role": ["user"]},
        {"Role": "user", "content": "x"},
        {"content": "x"},
        {"role": "admin", "tool_calls": None},
        {"tool_calls": []},
        {},
    ],
)
def test_mapping_that_is_no_message_is_data(data: dict[str, Any]) -> None:
    """`{role: admin, name: Bob}` describes Bob; so does whatever else is not a message."""
    case = evalcase.parse_case(json.dumps({"input": data, "expected_output": data}))
    assert case.input == ({"role": "user", "content": data},)
    assert case.expected_output == ({"role": "assistant", "content": data},)


@for_each("item", ["1", "hi", "[]", "{a: 1}", "{role: admin, name: Bob}", "null"])
def test_list_in_input_is_always_a_message_list(item: str) -> None:
    """A list in `input` is never data, so what isn't a message in it is an error."""
    (problem,) = problems_of(f"input: [{item}]")
    assert problem.severity == "error"
    assert (problem.span or (0,) * 4)[::2] == (1, 1)
    if "role" not in item:
        assert problem.span == (1, 9, 1, 9 + len(item))
        assert problem.code == "wrong-type"


def test_list_in_expected_output_is_a_message_list_as_soon_as_any_item_is_one() -> None:
    """One message makes the whole list one of messages, and the rest of it must follow."""
    text = "- input: hi\n  expected_output: [{a: 1}, {role: assistant, content: x}]\n"
    assert places(text) == [("wrong-type", 2, 21, 2, 27)]


def test_every_item_of_a_message_list_must_be_valid_and_odd_ones_are_never_filtered() -> None:
    """Each odd item is an error of its own at its own place."""
    text = dedent("""\
        - input: hi
          expected_output:
            - role: assistant
              content: x
            - stray
            - 5
            - {a: 1}
            - [1]
            - null
            - role: asistant
              content: y
        """)
    assert places(text) == [
        ("wrong-type", 5, 7, 5, 12),
        ("wrong-type", 6, 7, 6, 8),
        ("wrong-type", 7, 7, 7, 13),
        ("wrong-type", 8, 7, 8, 10),
        ("wrong-type", 9, 7, 9, 11),
        ("unknown-role", 10, 13, 10, 21),
    ]


@for_each(
    ("role", "meant"),
    [("asistant", "assistant"), ("Assistant", "assistant"), ("users", "user"),
     ("sytem", "system"), ("develoepr", "developer"), ("tools", "tool")],
)  # fmt: skip
def test_unknown_role_is_an_error_with_a_suggestion(role: str, meant: str) -> None:
    """A misspelt role is an error that names the one it was probably meant to be."""
    problem = only_problem(f"input: [{{role: {role}, content: hi}}]")
    assert (problem.code, problem.severity) == ("unknown-role", "error")
    assert problem.hint == f"did you mean `{meant}`?"


@for_each("role", ["5", "null", "true", "[user]", "{a: b}"])
def test_role_that_is_no_text_is_an_error(role: str) -> None:
    """A role of any other type is unknown as well, not coerced to text."""
    problem = only_problem(f"input: [{{role: {role}, content: hi}}]")
    assert problem.code == "unknown-role"
    assert problem.span == (1, 16, 1, 16 + len(role))


@pytest.mark.parametrize(("field", "role"), [("input", "user"), ("expected_output", "assistant")])
def test_message_without_content_and_tool_calls_has_a_hint_that_shows_it_as_data(
    field: str, role: str
) -> None:
    """The hint shows how a mapping with a `role` is written when it is data."""
    other = "expected_output" if field == "input" else "input"
    problem = only_problem(f"{field}: {{role: user, name: Bob}}\n{other}: x\n")
    assert problem.code == "empty-message"
    assert f"{{role: {role}, content: {{role: …}}}}" in (problem.hint or "")


@for_each(
    "content",
    ["text", "", 5, 1.5, True, False, None, [], {}, [1, "a", None], {"a": {"b": [{}]}},
     {"role": "user", "content": "x"}, [{"role": "user", "content": "x"}]],
)  # fmt: skip
def test_content_is_any_json_value(content: Any) -> None:
    """What stands in `content` is never looked through for short forms."""
    message = {"role": "assistant", "content": content}
    found = evalcase.parse_case(json.dumps({"input": [message], "expected_output": [message]}))
    assert json.dumps(found.to_dict()["input"]) == json.dumps([message])
    assert json.dumps(found.to_dict()["expected_output"]) == json.dumps([message])


def test_content_parts_of_every_kind_are_kept_as_they_are(tmp_path: Path) -> None:
    """Text and files by either key, images, and whatever else has a `type`."""
    (tmp_path / "notes.md").write_text("notes")
    parts = [
        {"type": "text", "text": "a"},
        {"type": "text", "value": "b", "lang": "en"},
        {"type": "file", "path": "notes.md"},
        {"type": "file", "value": "notes.md"},
        {"type": "image", "url": "https://example.org/a.png", "detail": "low"},
        {"type": "audio_of_a_later_day", "seconds": 3},
    ]
    path = tmp_path / "a.eval.json"
    case = {"input": [{"role": "user", "content": parts}], "expected_output": "x"}
    path.write_text(json.dumps(case))
    assert evalcase.check([path]) == []
    (found,) = evalcase.load(path)
    assert json.dumps(found.to_dict()["input"][0]["content"]) == json.dumps(parts)
    assert found.input[0].text == "ab"


def test_tool_calls_is_a_list() -> None:
    """One call is written as a list of one."""
    text = "input: {role: assistant, tool_calls: {tool: t}}"
    assert places(text) == [("wrong-type", 1, 38, 1, 47)]


@for_each(
    "call",
    [
        {"tool": "Read"},
        {"tool": "Read", "input": {"file_path": "a"}, "output": [1], "id": "7", "extra": None},
        {"output": None, "input": "plain", "tool": "Read"},
        {"id": "7", "type": "function", "function": {"name": "Read", "arguments": '{"a": 1}'}},
        {"function": {"name": "Read", "arguments": {"a": 1}, "strict": True}, "index": 0},
    ],
)
def test_tool_call_in_either_shape_is_accepted_and_preserved(call: dict[str, Any]) -> None:
    """The short shape and OpenAI's are both kept to the letter, extra keys included."""
    message = {"role": "assistant", "tool_calls": [call], "seen": True}
    case = evalcase.parse_case(json.dumps({"input": [message], "expected_output": [message]}))
    assert json.dumps(case.to_dict()["input"]) == json.dumps([message])
    assert json.dumps(case.to_dict()["expected_output"]) == json.dumps([message])
    assert case.input[0].tool_calls[0].name == "Read"


@for_each(
    ("call", "arguments"),
    [
        ({"tool": "t"}, None),
        ({"tool": "t", "input": {"a": [1]}}, {"a": [1]}),
        ({"tool": "t", "input": '{"a": 1}'}, '{"a": 1}'),
        ({"function": {"name": "t"}}, None),
        ({"function": {"name": "t", "arguments": '{"a": [1]}'}}, {"a": [1]}),
        ({"function": {"name": "t", "arguments": {"a": [1]}}}, {"a": [1]}),
        ({"function": {"name": "t", "arguments": ""}}, ""),
        ({"function": {"name": "t", "arguments": "{oops"}}, "{oops"),
        ({"function": {"name": "t", "arguments": "NaN"}}, "NaN"),
        ({"function": {"name": "t", "arguments": '{"a": Infinity}'}}, '{"a": Infinity}'),
        ({"function": {"name": "t", "arguments": '{"a": 1e999}'}}, '{"a": 1e999}'),
        ({"function": {"name": "t", "arguments": "9" * 4301}}, "9" * 4301),
    ],
)  # fmt: skip
def test_one_accessor_reads_name_and_arguments_from_either_shape(
    call: dict[str, Any], arguments: Any
) -> None:
    """`name` and `arguments` don't care how a call was written; text that isn't JSON stays."""
    assert ToolCall(call).name == "t"
    assert ToolCall(call).arguments == arguments


@for_each(
    "call",
    ["{}", "t", "{name: t}", "{tool: ''}", "{tool: 5}", "{tool: null}", "{function: t}",
     "{function: {arguments: x}}", "{function: {name: ''}}", "null"],
)  # fmt: skip
def test_tool_call_that_names_no_tool_is_an_error(call: str) -> None:
    """Without a name there is nothing to call."""
    text = f"input: {{role: assistant, tool_calls: [{{tool: ok}}, {call}]}}"
    assert places(text) == [("bad-tool-call", 1, 51, 1, 51 + len(call))]


CASE = evalcase.parse_case(
    "id: a\ninput: [{role: user, content: {list: [1, {deep: true}]}, extra: [1]}]\n"
    "expected_output: [{role: assistant, tool_calls: [{tool: t, input: {a: [1]}}]}]\n"
)


CHANGES: list[Callable[[Any], object]] = [
    lambda m: m.__setitem__("role", "tool"),
    lambda m: m.__delitem__("role"),
    lambda m: m.update(role="tool"),
    lambda m: m.update({}),
    lambda m: m.setdefault("new", 1),
    lambda m: m.pop("role"),
    lambda m: m.popitem(),
    lambda m: m.clear(),
    lambda m: m.__ior__({"role": "tool"}),
]


@for_each("change", CHANGES)
@for_each("kind", [Message, ToolCall])
def test_message_and_tool_call_are_read_only(
    change: Callable[[Any], object], kind: type[Message] | type[ToolCall]
) -> None:
    """None of the ways to change a dict changes them; the error says what to do instead."""
    value = kind({"role": "user", "content": "x"})
    with pytest.raises(TypeError, match="to_dict"):
        change(value)
    assert dict(value) == {"role": "user", "content": "x"}


def test_message_is_a_mapping() -> None:
    """Everything that reads a mapping reads a message."""
    message = CASE.input[0]
    assert isinstance(message, Mapping)
    assert message["role"] == "user"
    assert list(message) == ["role", "content", "extra"]
    assert {**message} == message.to_dict()
    with pytest.raises(KeyError):
        message["nothing"]


def test_message_equals_the_same_dict_from_both_sides() -> None:
    """A message is compared with dicts as if it were one."""
    message, same = Message({"role": "user", "content": [1]}), {"content": [1], "role": "user"}
    assert message == same
    assert same == message
    assert not operator.ne(message, same)
    assert message == Message(same)
    others: list[Any] = [{"role": "user"}, {**same, "x": 1}, {**same, "content": [2]}, [], None]
    for other in others:
        assert message != other
        assert other != message
        assert not operator.eq(message, other)


@for_each(("left", "right"), [(True, 1), (False, 0), (True, 1.0), (None, 0)])
def test_message_equality_is_that_of_json(left: Any, right: Any) -> None:
    """In JSON `true` is not `1`, however deep it stands, though Python thinks so."""
    for wrap in (lambda x: x, lambda x: [x], lambda x: {"a": {"b": [x]}}):
        message = Message({"role": "user", "content": wrap(left)})
        assert message != {"role": "user", "content": wrap(right)}
        assert {"role": "user", "content": wrap(right)} != message
        assert message == {"role": "user", "content": wrap(left)}


def test_case_equality_is_that_of_json() -> None:
    """Two cases are equal if their canonical forms are."""
    one = evalcase.parse_case("id: a\ninput: hi\nexpected_output: 1\n")
    assert one == evalcase.parse_case('{"id": "a", "input": "hi", "expected_output": 1.0}')
    assert one != evalcase.parse_case("id: a\ninput: hi\nexpected_output: true\n")
    assert one != one.to_dict()


def test_message_has_role_content_and_tool_calls() -> None:
    """The three things that every message is about have names."""
    asked, answered = CASE.input[0], CASE.expected_output[0]
    assert asked.role == "user"
    assert asked.content == {"list": [1, {"deep": True}]}
    assert asked.tool_calls == []
    assert answered.role == "assistant"
    assert answered.content is None
    assert answered.tool_calls == [{"tool": "t", "input": {"a": [1]}}]
    assert isinstance(answered.tool_calls[0], ToolCall)


def plain_types(value: object) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(map(plain_types, value.values()))
    if isinstance(value, list | tuple):
        return type(value) is list and all(map(plain_types, value))
    return value is None or type(value) in (str, int, float, bool)


def test_messages_can_be_dumped_as_json() -> None:
    """`json.dumps` takes messages, calls and all of `case.input` as they are."""
    assert json.loads(json.dumps(CASE.input)) == CASE.to_dict()["input"]
    assert json.loads(json.dumps(CASE.input[0], indent=1)) == CASE.input[0]
    assert json.dumps(CASE.expected_output[0].tool_calls) == '[{"tool": "t", "input": {"a": [1]}}]'


def test_case_input_and_expected_output_are_tuples_of_messages() -> None:
    """Neither can be added to; where nothing is expected, the tuple is empty."""
    assert type(CASE.input) is tuple
    assert type(CASE.expected_output) is tuple
    assert all(type(message) is Message for message in (*CASE.input, *CASE.expected_output))
    assert evalcase.parse_case("input: hi").expected_output == ()


def test_to_dict_returns_fresh_objects() -> None:
    """Whatever is done to what `to_dict` returned leaves case, message and call as they were."""
    before = json.dumps(CASE.to_dict())
    message, call = CASE.input[0], CASE.expected_output[0].tool_calls[0]
    for value in (CASE.to_dict(), message.to_dict(), call.to_dict()):
        assert plain_types(value)
    CASE.to_dict()["input"][0]["content"]["list"].append(1)
    message.to_dict()["content"]["list"][1].clear()
    call.to_dict()["input"]["a"].append(1)
    assert message == {"role": "user", "content": {"list": [1, {"deep": True}]}, "extra": [1]}
    assert call == {"tool": "t", "input": {"a": [1]}}
    assert json.dumps(CASE.to_dict()) == before


@for_each("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_messages_calls_and_cases_can_be_pickled(protocol: int) -> None:
    """They go to other processes and come back as what they were."""
    for value in (CASE.input[0], CASE.expected_output[0].tool_calls[0], CASE):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert type(back) is type(value)
        assert back == value


# The format, part 1.2: fields that it does not know, and the canonical form as a whole


@for_each("value", ["1", "null", "[{role: nobody}]", "{input: 5, a: {}}", "&a text"])
def test_x_fields_are_ignored_whatever_they_hold(value: str) -> None:
    """A place for anchors and for notes: it is nowhere in the canonical form."""
    text = f"- input: hi\n  x-: {value}\n  x-any.thing: {value}\n"
    assert problems_of(text.replace("&a", "&b", 1)) == []
    assert case_of(text) == case_of("- input: hi\n")


def test_x_fields_are_a_place_for_anchors() -> None:
    """What is anchored there can be used elsewhere."""
    text = "x-system: &system {role: system, content: Be brief}\ncases:\n  - input: [*system]\n"
    assert case_of(text)["input"] == [{"role": "system", "content": "Be brief"}]
    assert problems_of(text) == []


@for_each(
    ("name", "meant"),
    [
        ("expcted_output", "expected_output"),
        ("expected-output", "expected_output"),
        ("expectedOutput", "expected_output"),
        ("Input", "input"),
        ("inputs", "input"),
        ("input_mesages", "input"),
        ("critera", "criteria"),
        ("grader", "graders"),
        ("evaluator", "graders"),
        ("metdata", "metadata"),
        ("tag", "tags"),
        ("timeout", "timeout_s"),
        ("treshold", "threshold"),
    ],
)
def test_any_other_field_is_an_error_with_a_suggestion(name: str, meant: str) -> None:
    """A typing mistake never becomes a case that checks nothing; old names aren't suggested."""
    problem = only_problem(f"- {name}: x\n  input: hi\n")
    assert (problem.code, problem.severity) == ("unknown-field", "error")
    assert problem.span == (1, 3, 1, 3 + len(name))
    assert problem.hint == f"did you mean `{meant}`?"


def test_null_on_an_optional_field_counts_as_absent() -> None:
    """No field but `input` needs a value."""
    names = ["id", "expected_output", "description", "tags", "metadata", "skip", "conversation_id",
             "criteria", "rubrics", "graders", "suite_graders", "target", "targets", "repeat",
             "threshold", "timeout_s"]  # fmt: skip
    assert case_of(json.dumps({"input": "hi", **dict.fromkeys(names)})) == case_of("input: hi")


def test_canonical_form_of_a_case_has_all_fields_in_one_order() -> None:
    """Whatever the order they were written in."""
    written = {
        "timeout_s": 5, "threshold": 0.5, "repeat": 2, "target": "t", "graders": ["g"],
        "rubrics": ["r"], "criteria": "c", "conversation_id": "v", "skip": True,
        "metadata": {}, "tags": ["a"], "description": "d", "expected_output": 4, "input": "hi",
        "id": "i",
    }  # fmt: skip
    assert json.dumps(case_of(json.dumps(written))) == json.dumps({
        "id": "i",
        "input": [{"role": "user", "content": "hi"}],
        "expected_output": [{"role": "assistant", "content": 4}],
        "description": "d",
        "tags": ["a"],
        "metadata": {},
        "skip": True,
        "conversation_id": "v",
        "criteria": "c",
        "rubrics": [{"text": "r"}],
        "graders": [{"type": "g"}],
        "targets": ["t"],
        "repeat": {"times": 2},
        "threshold": 0.5,
        "timeout_s": 5,
    })  # fmt: skip

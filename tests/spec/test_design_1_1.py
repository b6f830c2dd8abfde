"""The format, part 1.1: `input` and `expected_output`. One test for each thing it says."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable, Mapping
from itertools import permutations
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import evalcase
from evalcase import Case, Message, SuiteError, ToolCall
from evalcase.read.document import Format
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of

ROLES = ["system", "developer", "user", "assistant", "tool"]


def input_of(text: str) -> Any:
    return evalcase.parse_case(text).to_dict()["input"]


def expected_of(value: str) -> Any:
    """The canonical form of an `expected_output` that is written as `value` in flow style."""
    text = f"input: hi\nexpected_output: {value}\n"
    return evalcase.parse_case(text).to_dict()["expected_output"]


# What `input` may be.


def test_input_text_becomes_one_user_message() -> None:
    """Text is what the user says."""
    assert input_of('input: "What is 2+2?"') == [{"role": "user", "content": "What is 2+2?"}]


def test_input_list_of_messages_is_preserved_whole() -> None:
    """A list of messages stays as it is: order, and keys that evalcase doesn't know."""
    messages = [
        {"role": "system", "content": "Be brief", "cache": {"ttl": 5}},
        {"name": "Ann", "role": "user", "content": ["a", {"b": None}]},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "What is 2+2?"},
    ]
    found = input_of(json.dumps({"input": messages}))
    assert json.dumps(found) == json.dumps(messages)


def test_input_one_message_becomes_a_list_of_it() -> None:
    """A message that stands alone is a list of one."""
    assert input_of("input: {role: system, content: Be brief, x: 1}") == [
        {"role": "system", "content": "Be brief", "x": 1}
    ]


def test_input_mapping_that_is_no_message_becomes_user_content() -> None:
    """Any other mapping is data that the user gives; its keys stay as they are, in order."""
    found = input_of("input: {question: Why?, topK: 3, 'a b': {}}")
    assert found == [{"role": "user", "content": {"question": "Why?", "topK": 3, "a b": {}}}]
    assert list(found[0]["content"]) == ["question", "topK", "a b"]


SHORT_FORMS = [
    "What is 2+2?",
    "{question: Why?, k: 3}",
    "{role: system, content: Be brief}",
    "[{role: system, content: Be brief}, {role: user, content: Hello}]",
]


@pytest.mark.parametrize("value", SHORT_FORMS)
def test_input_messages_alias_has_the_same_short_forms(value: str) -> None:
    """The older name takes whatever `input` takes, and means the same."""
    assert input_of(f"input_messages: {value}") == input_of(f"input: {value}")


def test_input_messages_alias_warns_with_its_position() -> None:
    """The older name is reported where it stands."""
    text = "cases:\n  - id: a\n    input_messages: hi\n"
    assert places(text) == [("deprecated-name", 3, 5, 3, 19)]
    assert only_problem(text).severity == "warning"
    assert "`input`" in only_problem(text).message


# What `expected_output` may be.


def test_expected_output_text_becomes_one_assistant_message() -> None:
    """Text is what the assistant says."""
    assert expected_of("The answer is 4") == [{"role": "assistant", "content": "The answer is 4"}]


def test_expected_output_mapping_that_is_no_message_becomes_assistant_content() -> None:
    """Any other mapping is the answer itself; keys are neither renamed nor sorted."""
    found = expected_of("{riskLevel: High, reasoning: why, Alpha: 1, snake_case: 2}")
    content = {"riskLevel": "High", "reasoning": "why", "Alpha": 1, "snake_case": 2}
    assert found == [{"role": "assistant", "content": content}]
    assert list(found[0]["content"]) == ["riskLevel", "reasoning", "Alpha", "snake_case"]


def test_expected_output_list_of_messages_is_preserved_whole() -> None:
    """Messages stay as they are: calls, tools, inputs, extra keys, and the order of all of it."""
    messages = [
        {
            "note": "first",
            "role": "assistant",
            "tool_calls": [
                {"input": {"b": 1, "a": [None]}, "tool": "Read", "retries": 2},
                {"tool": "Write"},
            ],
        },
        {"role": "tool", "content": "done", "tool_call_id": "7"},
        {"role": "assistant", "content": {"status": "done"}},
    ]
    assert json.dumps(expected_of(json.dumps(messages))) == json.dumps(messages)


def test_expected_output_list_of_messages_without_tool_calls_is_preserved_whole() -> None:
    """Calls are not what makes a list one of messages."""
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "n": 1}]
    assert json.dumps(expected_of(json.dumps(messages))) == json.dumps(messages)


def test_expected_output_one_message_becomes_a_list_of_it() -> None:
    """A message that stands alone is a list of one."""
    assert expected_of("{role: tool, content: done, id: '7'}") == [
        {"role": "tool", "content": "done", "id": "7"}
    ]


@pytest.mark.parametrize(
    "value",
    ["4", "0", "-1.5", "1e3", "true", "false", "[1, 2]", '[{"a": 1}]', '["a", null]', "[[]]",
     '[{"role": "admin", "name": "Bob"}]'],
)  # fmt: skip
def test_expected_output_other_values_become_assistant_content(value: str) -> None:
    """Numbers, booleans and lists without messages are answers, exactly as they are."""
    found = expected_of(value)
    assert json.dumps(found) == json.dumps([{"role": "assistant", "content": json.loads(value)}])


@pytest.mark.parametrize("value", [*SHORT_FORMS, "5", "false", "[1, 2]", "[{a: 1}]"])
def test_expected_messages_alias_has_the_same_short_forms(value: str) -> None:
    """The older name takes whatever `expected_output` takes, and means the same."""
    case = evalcase.parse_case(f"input: hi\nexpected_messages: {value}")
    assert case.to_dict()["expected_output"] == expected_of(value)


def test_expected_messages_alias_warns_with_its_position() -> None:
    """The older name is reported where it stands."""
    text = "- input: hi\n  expected_messages: [1]\n"
    assert places(text) == [("deprecated-name", 2, 3, 2, 20)]
    assert "`expected_output`" in only_problem(text).message


# Precedence.

WHATEVER = [
    "old",
    "42",
    "[]",
    "[1, {}]",
    "[{role: nobody, content: x}, 7]",
    "{role: user}",
    "[{role: assistant, tool_calls: []}]",
    "[{role: user, content: [{type: file, path: missing.txt}]}]",
]
PAIRS = [("input", "input_messages"), ("expected_output", "expected_messages")]


@for_each("value", WHATEVER)
@for_each(("primary", "alias"), PAIRS)
@for_each("first", ["primary", "alias"])
def test_primary_wins_and_the_alias_is_not_even_validated(
    primary: str, alias: str, value: str, first: str
) -> None:
    """Beside its primary an alias is ignored whatever it holds and wherever it stands."""
    lines = [f"  {primary}: new\n", f"  {alias}: {value}\n"]
    at = 3
    if first == "alias":
        lines.reverse()
        at = 2
    other = "expected_output" if primary == "input" else "input"
    text = f"- id: a\n{''.join(lines)}  {other}: other\n"
    (case,) = evalcase.loads(text)
    assert [message["content"] for message in case.to_dict()[primary]] == ["new"]
    assert places(text) == [("ignored-alias", at, 3, at, 3 + len(alias))]


def test_ignored_alias_is_a_warning_that_names_the_primary() -> None:
    """The warning says which name won."""
    problem = only_problem("input: new\ninput_messages: old\n")
    assert (problem.code, problem.severity) == ("ignored-alias", "warning")
    assert "`input_messages`" in problem.message
    assert "`input`" in problem.message


@pytest.mark.parametrize(
    ("primary", "alias", "value"),
    [("criteria", "expected_outcome", "x"), ("criteria", "outcome", "x"),
     ("graders", "evaluators", "[x]")],
)  # fmt: skip
def test_primary_wins_over_every_alias_of_a_case(primary: str, alias: str, value: str) -> None:
    """The rule is the same for every field that has an older name."""
    text = f"- input: hi\n  {alias}: 5\n  {primary}: {value}\n"
    assert places(text) == [("ignored-alias", 2, 3, 2, 3 + len(alias))]


@pytest.mark.parametrize(
    ("primary", "alias", "value"),
    [("name", "dataset", "x"), ("input", "input_messages", "x"), ("graders", "evaluators", "[x]")],
)
def test_primary_wins_over_every_alias_of_a_suite(primary: str, alias: str, value: str) -> None:
    """The rule is the same for suites; only two containers of cases are another matter."""
    text = f"{alias}: [[5]]\n{primary}: {value}\ncases: [{{input: hi}}]\n"
    assert places(text) == [("ignored-alias", 1, 1, 1, 1 + len(alias))]


def test_two_aliases_beside_their_primary_are_both_ignored() -> None:
    """Where the primary is there, any number of aliases is merely ignored."""
    text = "input: hi\noutcome: a\ncriteria: b\nexpected_outcome: c\n"
    assert places(text) == [("ignored-alias", 2, 1, 2, 8), ("ignored-alias", 4, 1, 4, 17)]
    assert evalcase.parse_case(text).criteria == "b"


@pytest.mark.parametrize("null", ["null", "~", ""])
def test_primary_that_is_null_counts_as_absent_so_the_alias_is_used(null: str) -> None:
    """A null says nothing, so what the alias says holds, with the usual warning."""
    text = f"input: {null}\ninput_messages: old\nexpected_output: {null}\nexpected_messages: 5\n"
    case = evalcase.parse_case(text)
    assert case.input == ({"role": "user", "content": "old"},)
    assert case.expected_output == ({"role": "assistant", "content": 5},)
    assert places(text) == [("deprecated-name", 2, 1, 2, 15), ("deprecated-name", 4, 1, 4, 18)]


def test_alias_used_in_place_of_a_null_primary_is_validated() -> None:
    """An alias that is used must be right; it is pointed at where it stands."""
    text = "input: null\ninput_messages: 42\n"
    assert places(text) == [("deprecated-name", 2, 1, 2, 15), ("wrong-type", 2, 17, 2, 19)]


# What is a message?


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("rest", ["content: x", "tool_calls: [{tool: t}]", "content: null"])
def test_mapping_with_a_role_and_content_or_tool_calls_is_a_message(role: str, rest: str) -> None:
    """Each known role makes a message, in `input` and in `expected_output`."""
    text = f"input: {{role: {role}, {rest}}}\nexpected_output: {{role: {role}, {rest}}}\n"
    case = evalcase.parse_case(text)
    assert (case.input[0].role, case.expected_output[0].role) == (role, role)
    assert len(case.input) == len(case.expected_output) == 1
    assert case.input == case.expected_output


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("field", ["input", "expected_output"])
def test_mapping_with_a_known_role_is_a_message_even_without_content(field: str, role: str) -> None:
    """A known role is enough to be meant as a message, so what lacks is an error, not data."""
    other = "expected_output: x" if field == "input" else "input: x"
    text = f"{field}: {{role: {role}, name: Bob}}\n{other}\n"
    assert [place[0] for place in places(text)] == ["empty-message"]


@pytest.mark.parametrize(
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
    """`{role: admin, name: Bob}` describes Bob; so does whatever else is no message."""
    case = evalcase.parse_case(json.dumps({"input": data, "expected_output": data}))
    assert case.input == ({"role": "user", "content": data},)
    assert case.expected_output == ({"role": "assistant", "content": data},)


@pytest.mark.parametrize("rest", ["content: x", "tool_calls: [{tool: t}]", "content: null"])
@pytest.mark.parametrize("field", ["input", "expected_output"])
def test_mapping_with_an_unknown_role_and_content_is_a_message_with_an_error(
    field: str, rest: str
) -> None:
    """A role beside content is meant as a message; that it isn't known is an error."""
    other = "expected_output: x" if field == "input" else "input: x"
    text = f"{field}: {{role: admin, {rest}}}\n{other}\n"
    start = len(field) + 10
    assert places(text) == [("unknown-role", 1, start, 1, start + 5)]


@pytest.mark.parametrize("item", ["1", "hi", "[]", "{a: 1}", "{role: admin, name: Bob}", "null"])
def test_list_in_input_is_always_a_message_list(item: str) -> None:
    """A list in `input` is never data, so what isn't a message in it is an error."""
    (problem,) = problems_of(f"input: [{item}]")
    assert problem.severity == "error"
    assert (problem.line, problem.end_line) == (1, 1)
    if "role" not in item:
        assert problem.span == (1, 9, 1, 9 + len(item))
        assert problem.code == "wrong-type"


def test_list_in_expected_output_is_a_message_list_as_soon_as_any_item_is_one() -> None:
    """One message makes the whole list one of messages, and the rest of it must follow."""
    text = "- input: hi\n  expected_output: [{a: 1}, {role: assistant, content: x}]\n"
    assert places(text) == [("mixed-messages", 2, 21, 2, 27)]


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
        ("mixed-messages", 5, 7, 5, 12),
        ("mixed-messages", 6, 7, 6, 8),
        ("mixed-messages", 7, 7, 7, 13),
        ("mixed-messages", 8, 7, 8, 10),
        ("mixed-messages", 9, 7, 9, 11),
        ("unknown-role", 10, 13, 10, 21),
    ]


@pytest.mark.parametrize(
    ("role", "meant"),
    [("asistant", "assistant"), ("Assistant", "assistant"), ("users", "user"),
     ("sytem", "system"), ("develoepr", "developer"), ("tools", "tool")],
)  # fmt: skip
def test_unknown_role_is_an_error_with_a_suggestion(role: str, meant: str) -> None:
    """A misspelt role is an error that names the one it was probably meant to be."""
    problem = only_problem(f"input: [{{role: {role}, content: hi}}]")
    assert (problem.code, problem.severity) == ("unknown-role", "error")
    assert problem.hint == f"did you mean `{meant}`?"


def test_unknown_role_that_is_like_no_other_names_all_roles() -> None:
    """Where there is nothing near, the hint lists what there is."""
    problem = only_problem("input: [{role: zzz, content: hi}]")
    assert problem.code == "unknown-role"
    for role in ROLES:
        assert role in (problem.hint or "")


@pytest.mark.parametrize("role", ["5", "null", "true", "[user]", "{a: b}"])
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


def test_data_written_as_the_hint_of_an_empty_message_says_is_accepted() -> None:
    """What the hint says works."""
    value = "{role: assistant, content: {role: user, name: Bob}}"
    assert expected_of(value) == [{"role": "assistant", "content": {"role": "user", "name": "Bob"}}]


def test_message_with_a_misspelt_content_suggests_it() -> None:
    """The likeliest reason for a message without content is a typing mistake."""
    problem = only_problem("input: {role: user, contnt: hi}")
    assert (problem.code, problem.hint) == ("empty-message", "did you mean `content`?")


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        ({"function": {"name": "t", "arguments": "9" * 4301}}, "9" * 4301),
    ],
)  # fmt: skip
def test_one_accessor_reads_name_and_arguments_from_either_shape(
    call: dict[str, Any], arguments: Any
) -> None:
    """`name` and `arguments` don't care how a call was written; text that isn't JSON stays."""
    assert ToolCall(call).name == "t"
    assert ToolCall(call).arguments == arguments


def test_accessor_of_arguments_survives_text_that_is_nested_without_end() -> None:
    """Text that no decoder can take is text."""
    deep = "[" * 100_000
    assert ToolCall({"function": {"name": "t", "arguments": deep}}).arguments == deep


def test_accessors_of_output_and_id() -> None:
    """The other two parts of a call have names too."""
    call = ToolCall({"tool": "t", "output": {"a": 1}, "id": "7"})
    assert (call.output, call.id) == ({"a": 1}, "7")
    assert (ToolCall({"tool": "t"}).output, ToolCall({"tool": "t"}).id) == (None, None)


@pytest.mark.parametrize(
    "call",
    ["{}", "t", "{name: t}", "{tool: ''}", "{tool: 5}", "{tool: null}", "{function: t}",
     "{function: {arguments: x}}", "{function: {name: ''}}", "null"],
)  # fmt: skip
def test_tool_call_that_names_no_tool_is_an_error(call: str) -> None:
    """Without a name there is nothing to call."""
    text = f"input: {{role: assistant, tool_calls: [{{tool: ok}}, {call}]}}"
    assert places(text) == [("bad-tool-call", 1, 51, 1, 51 + len(call))]


# Messages in Python.

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


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [Message, ToolCall])
def test_message_and_tool_call_are_read_only(
    change: Callable[[Any], object], kind: type[Message] | type[ToolCall]
) -> None:
    """None of the ways to change a dict changes them; the error says what to do instead."""
    value = kind({"role": "user", "content": "x"})
    with pytest.raises(TypeError, match="to_dict"):
        change(value)
    assert dict(value) == {"role": "user", "content": "x"}


def test_message_attributes_can_not_be_set() -> None:
    """Nor can the attributes that read from them be changed."""
    message: Any = CASE.input[0]
    for name in ("role", "content", "tool_calls", "anything"):
        with pytest.raises(AttributeError):
            setattr(message, name, "x")


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


@pytest.mark.parametrize(("left", "right"), [(True, 1), (False, 0), (True, 1.0), (None, 0)])
def test_message_equality_is_that_of_json(left: Any, right: Any) -> None:
    """In JSON `true` is not `1`, however deep it stands, though Python thinks so."""
    for wrap in (lambda x: x, lambda x: [x], lambda x: {"a": {"b": [x]}}):
        message = Message({"role": "user", "content": wrap(left)})
        assert message != {"role": "user", "content": wrap(right)}
        assert {"role": "user", "content": wrap(right)} != message
        assert message == {"role": "user", "content": wrap(left)}


def test_message_equality_takes_one_for_one_point_zero() -> None:
    """In JSON `1` and `1.0` are one number."""
    assert Message({"role": "user", "content": [1]}) == {"role": "user", "content": [1.0]}


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


def test_content_is_plain_dicts_and_lists() -> None:
    """Below a message there are the types that `json.dumps` and `isinstance` know."""
    assert plain_types(CASE.input[0].content)
    assert plain_types(CASE.input[0]["extra"])
    assert plain_types(CASE.expected_output[0]["tool_calls"])
    assert plain_types(CASE.expected_output[0].tool_calls[0].arguments)


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


def test_changing_the_content_of_a_message_does_not_change_the_case() -> None:
    """Content is plain and can be changed, but it is nobody else's."""
    before = json.dumps(CASE.to_dict())
    content: Any = CASE.input[0].content
    content["list"].clear()
    CASE.expected_output[0].tool_calls[0]["input"]["a"].clear()
    CASE.metadata["new"] = 1
    assert json.dumps(CASE.to_dict()) == before


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_messages_calls_and_cases_can_be_pickled(protocol: int) -> None:
    """They go to other processes and come back as what they were."""
    for value in (CASE.input[0], CASE.expected_output[0].tool_calls[0], CASE):
        back = pickle.loads(pickle.dumps(value, protocol))
        assert type(back) is type(value)
        assert back == value


def test_messages_calls_and_cases_can_be_copied() -> None:
    """Copies are of the same type; a deep one shares nothing that can be changed."""
    for value in (CASE.input[0], CASE.expected_output[0].tool_calls[0], CASE):
        for back in (copy.copy(value), copy.deepcopy(value)):
            assert type(back) is type(value)
            assert back == value
    message = CASE.input[0]
    deep = copy.deepcopy(message)
    deep["content"]["list"].clear()
    assert message["content"]["list"] == [1, {"deep": True}]


def test_copy_method_gives_a_dict_that_may_be_changed() -> None:
    """`copy` does what it does for dicts, and what it gives is free to change."""
    changed = CASE.input[0].copy()
    changed["role"] = "tool"
    changed["content"]["list"].clear()
    assert type(changed) is dict
    assert CASE.input[0].role == "user"


def test_equal_cases_have_equal_hashes() -> None:
    """Cases can be members of sets."""
    again = Case(CASE.to_dict())
    assert (again, hash(again)) == (CASE, hash(CASE))
    assert len({CASE, again}) == 1


# Errors, not guesses.


@pytest.mark.parametrize("text", ["id: a", "id: a\ninput: null", "id: a\ninput: ~\ntags: [x]"])
def test_input_absent_or_null_is_an_error(text: str) -> None:
    """A case that gives the target nothing is no case."""
    with pytest.raises(SuiteError) as error:
        evalcase.parse_case(text)
    assert [problem.code for problem in error.value.problems] == ["missing-input"]


def test_input_null_with_an_alias_that_is_null_too_is_an_error() -> None:
    """An alias that says nothing doesn't help."""
    text = "- input: null\n  input_messages: null\n"
    assert places(text)[0] == ("missing-input", 1, 3, 2, 23)
    assert [place[0] for place in places(text)] == ["missing-input", "deprecated-name"]


@pytest.mark.parametrize("value", ["42", "true", "false", "-1.5", "0o14", "1e3"])
@pytest.mark.parametrize("name", ["input", "input_messages"])
def test_input_number_or_boolean_is_an_error_that_says_quote_it(name: str, value: str) -> None:
    """Was it meant as text? Then it has to say so, and the hint shows how."""
    problem = problems_of(f"{name}: {value}")[-1]
    start = len(name) + 3
    assert (problem.code, problem.span) == ("wrong-type", (1, start, 1, start + len(value)))
    assert problem.hint == f'write it in quotes: "{value}"'
    assert input_of(f'{name}: "{value}"') == [{"role": "user", "content": value}]


def test_input_empty_list_is_an_error() -> None:
    """No messages are no input."""
    assert places("input: []") == [("empty-list", 1, 8, 1, 10)]


def test_expected_output_empty_list_is_an_error_that_shows_both_meanings() -> None:
    """Nothing expected, or an empty list expected? Each has a spelling, and the hint has both."""
    problem = only_problem("input: hi\nexpected_output: []\n")
    assert (problem.code, problem.span) == ("empty-list", (2, 18, 2, 20))
    assert "leave it out" in (problem.hint or "")
    assert "[{role: assistant, content: []}]" in (problem.hint or "")
    assert expected_of("[{role: assistant, content: []}]") == [{"role": "assistant", "content": []}]


def test_expected_messages_empty_list_is_an_error_too() -> None:
    """The alias is no way round, and has the same hint."""
    problem = problems_of("input: hi\nexpected_messages: []\n")[-1]
    assert (problem.code, problem.span) == ("empty-list", (2, 20, 2, 22))
    assert "[{role: assistant, content: []}]" in (problem.hint or "")


@pytest.mark.parametrize("content", ["", ", content: x"])
def test_empty_tool_calls_are_an_error(content: str) -> None:
    """A list of no calls says nothing, with content beside it or without."""
    text = f"input: {{role: assistant, tool_calls: []{content}}}"
    assert places(text) == [("empty-list", 1, 38, 1, 40)]


@pytest.mark.parametrize(
    ("format", "value"),
    [
        *(("yaml", value) for value in (".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.Inf", "1e999")),
        *((format, value) for format in ("json", "jsonl")
          for value in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999")),
    ],
)  # fmt: skip
def test_values_that_json_can_not_hold_are_errors(format: Format, value: str) -> None:
    """Not a number, and numbers without end."""
    text = f'{{"input": "hi", "expected_output": {{"a": [{value}]}}}}'
    assert places(text, format) == [("not-json-value", 1, 43, 1, 43 + len(value))]


@pytest.mark.parametrize("format", ["json", "jsonl"])
@pytest.mark.parametrize("text", [r'"\ud800"', r'"a\udfffb"', r'"\udc00\ud800"', r'"\uD83Dx"'])
def test_lone_surrogates_are_errors_in_json(format: Format, text: str) -> None:
    """Half of a pair is no character: no file and no grader could be given it."""
    case = f'{{"input": "hi", "expected_output": {text}}}'
    assert places(case, format) == [("not-json-value", 1, 36, 1, 36 + len(text))]


def test_lone_surrogates_are_errors_in_keys() -> None:
    """Keys are text as well."""
    text = r'{"input": {"\ud800": 1}}'
    assert places(text, "json") == [("not-json-value", 1, 12, 1, 20)]


def test_lone_surrogates_are_errors_in_yaml() -> None:
    """The same in YAML's double quotes."""
    (problem,) = problems_of(r'input: "a\ud800"')
    assert (problem.code, problem.line) == ("not-json-value", 1)


def test_surrogate_pairs_in_json_are_the_character_they_stand_for() -> None:
    """Both halves together are one character."""
    (case,) = evalcase.loads(r'{"input": "\ud83d\ude00"}', "json")
    assert case.input[0].content == "\N{GRINNING FACE}"


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
def test_integers_over_4300_digits_are_errors(format: Format, sign: str) -> None:
    """4,300 digits are as many as Python reads and writes; one more is an error."""
    at_most, too_many = sign + "9" * 4300, sign + "9" * 4301
    (case,) = evalcase.loads(f'{{"input": "hi", "expected_output": {at_most}}}', format)
    assert case.expected_output[0].content == int(at_most)
    text = f'{{"input": "hi", "expected_output": {too_many}}}'
    assert places(text, format) == [("not-json-value", 1, 36, 1, 36 + len(too_many))]


def test_integers_over_4300_digits_are_errors_in_other_bases() -> None:
    """It is the number that counts, not how it is spelt."""
    for spell in (hex, oct):
        (case,) = evalcase.loads(f"input: hi\nexpected_output: {spell(10**4300 - 1)}")
        assert case.expected_output[0].content == 10**4300 - 1
        text = f"input: hi\nexpected_output: {spell(10**4300)}"
        assert [place[:3] for place in places(text)] == [("not-json-value", 2, 18)]


def test_input_empty_text_is_legal_with_a_warning() -> None:
    """Nothing is a thing one may ask, but hardly ever on purpose."""
    text = 'input: ""'
    assert input_of(text) == [{"role": "user", "content": ""}]
    problem = only_problem(text)
    assert (problem.code, problem.severity, problem.span) == (
        "empty-input",
        "warning",
        (1, 8, 1, 10),
    )


@pytest.mark.parametrize(
    "order", [("expected_outcome", "outcome"), ("outcome", "expected_outcome")]
)
def test_two_aliases_without_their_primary_are_an_error(order: tuple[str, str]) -> None:
    """Which of the two should hold? The second one is pointed at."""
    text = f"- input: hi\n  {order[0]}: a\n  {order[1]}: b\n"
    assert ("conflicting-fields", 3, 3, 3, 3 + len(order[1])) in places(text)
    with pytest.raises(SuiteError):
        evalcase.loads(text)


def test_alias_and_the_same_field_in_execution_are_an_error() -> None:
    """The deprecated grouping is one more alias of what it holds."""
    text = "- input: hi\n  evaluators: [a]\n  execution: {evaluators: [b]}\n"
    assert ("conflicting-fields", 3, 15, 3, 25) in places(text)


CONTAINERS = ["cases", "evalcases", "eval_cases", "tests"]


@pytest.mark.parametrize(("one", "two"), list(permutations(CONTAINERS, 2)))
def test_two_containers_of_cases_are_an_error(one: str, two: str) -> None:
    """Not even `cases` makes another list of cases be ignored."""
    text = f"{one}: [{{input: a}}]\n{two}: [{{input: b}}]\n"
    errors = [problem for problem in problems_of(text) if problem.severity == "error"]
    assert [problem.code for problem in errors] == ["conflicting-fields"]
    at = 1 if two == "cases" else 2
    name = one if two == "cases" else two
    assert errors[0].span == (at, 1, at, 1 + len(name))


# Where a diagnostic points.


def test_lines_and_columns_are_1_based() -> None:
    """The first character of a file is at 1:1."""
    assert places("oops: 1\ninput: hi\n") == [("unknown-field", 1, 1, 1, 5)]


@pytest.mark.parametrize("format", ["yaml", "json"])
@pytest.mark.parametrize(
    "before", ["é", "e\u0301", "\N{GRINNING FACE}", "漢字", "\u2028", "\x85", "\ufeff"]
)
def test_columns_count_unicode_code_points(before: str, format: Format) -> None:
    """Not bytes, not UTF-16 units, not what a terminal shows."""
    text = f'[{{"input": "a{before}", "oops": 1}}]'
    column = text.index('"oops"') + 1
    assert places(text, format) == [("unknown-field", 1, column, 1, column + 6)]


def test_a_tab_is_one_column_wide() -> None:
    """A tab is one code point too."""
    assert places("- input:\ta\n  tags:\t\tx\n") == [("wrong-type", 2, 10, 2, 11)]


def test_end_is_exclusive() -> None:
    """From column to end column there is exactly the text that is meant, over lines as well."""
    text = "- input: hi\n  tags:\n    a: 1\n    b: 2\n  skip: no reason\n"
    assert places(text) == [("wrong-type", 3, 5, 4, 9)]
    text = "- input: hi\n  tags: x \n"
    _, line, column, end_line, end_column = places(text)[0]
    assert (line, end_line) == (2, 2)
    assert text.splitlines()[1][column - 1 : end_column - 1] == "x"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_with_any_of_the_three_line_ends(end: str) -> None:
    """A line is a line on every system."""
    text = end.join(["- input: hi", "- input: hi", "  oops: 1", ""])
    assert places(text) == [("unknown-field", 3, 3, 3, 7)]


def test_unknown_field_points_at_the_key() -> None:
    """In each format at the key, quotes included."""
    assert places("- input: hi\n  oops: [1, 2]\n") == [("unknown-field", 2, 3, 2, 7)]
    assert places('[\n {"input": "hi", "oops": 1}]', "json") == [("unknown-field", 2, 18, 2, 24)]
    text = '{"input": "hi"}\n\n{"input": "ho", "oops": 1}\n'
    assert places(text, "jsonl") == [("unknown-field", 3, 17, 3, 23)]


def test_deprecated_name_points_at_the_key() -> None:
    """In each format at the key, quotes included."""
    assert places("- input_messages: hi\n") == [("deprecated-name", 1, 3, 1, 17)]
    assert places("- 'input_messages': hi\n") == [("deprecated-name", 1, 3, 1, 19)]
    assert places('[{"input_messages": 5}]', "json")[0] == ("deprecated-name", 1, 3, 1, 19)
    text = '{"input": "hi"}\n{"input_messages": "ho"}\n'
    assert places(text, "jsonl") == [("deprecated-name", 2, 2, 2, 18)]


def test_ignored_alias_points_at_the_key() -> None:
    """In each format at the key, quotes included."""
    text = "- input: hi\n  input_messages:\n    - role: user\n"
    assert places(text) == [("ignored-alias", 2, 3, 2, 17)]
    text = '{"input": "hi"}\n{"input_messages": 5, "input": "ho"}\n'
    assert places(text, "jsonl") == [("ignored-alias", 2, 2, 2, 18)]


def test_wrong_type_points_at_the_value() -> None:
    """In each format at the value."""
    assert places("- input: hi\n  tags: xyz\n") == [("wrong-type", 2, 9, 2, 12)]
    assert places('[{"input": 42}]', "json") == [("wrong-type", 1, 12, 1, 14)]
    text = '{"input": "hi"}\n{"input": "ho", "metadata": [1]}\n'
    assert places(text, "jsonl") == [("wrong-type", 2, 29, 2, 32)]


def test_unknown_role_points_at_the_value() -> None:
    """In each format at the value of `role`."""
    text = "- input:\n    - role: usr\n      content: hi\n"
    assert places(text) == [("unknown-role", 2, 13, 2, 16)]
    text = '{"input": "hi"}\n{"input": [{"content": "ho", "role": "usr"}]}\n'
    assert places(text, "jsonl") == [("unknown-role", 2, 38, 2, 43)]


def test_duplicate_id_points_at_the_second_and_names_the_first() -> None:
    """The first of the two is told by its place."""
    text = "- id: a\n  input: x\n- input: y\n  id: b\n- input: z\n  id: a\n"
    problem = only_problem(text)
    assert (problem.code, problem.span) == ("duplicate-id", (6, 7, 6, 8))
    assert "line 1, column 7" in problem.message


def test_every_further_duplicate_of_an_id_names_the_first() -> None:
    """Not the one before it."""
    text = "- {id: a, input: x}\n- {id: a, input: y}\n- {id: a, input: z}\n"
    assert places(text) == [("duplicate-id", 2, 8, 2, 9), ("duplicate-id", 3, 8, 3, 9)]
    for problem in problems_of(text):
        assert "line 1, column 8" in problem.message


def test_duplicate_id_in_jsonl_names_the_line_of_the_first() -> None:
    """A stream keeps no cases, and still knows."""
    text = '{"id": "b", "input": "w"}\n{"id": "a", "input": "x"}\n\n{"id": "a", "input": "y"}\n'
    problem = only_problem(text, "jsonl")
    assert (problem.code, problem.span) == ("duplicate-id", (4, 8, 4, 11))
    assert "line 2" in problem.message


def test_empty_message_points_at_the_message() -> None:
    """The whole mapping, because what lacks has no place."""
    text = "- input:\n    - role: user\n      name: Bob\n  id: a\n"
    assert places(text) == [("empty-message", 2, 7, 3, 16)]
    text = '{"input": "hi"}\n{"input": {"role": "user"}}\n'
    assert places(text, "jsonl") == [("empty-message", 2, 11, 2, 27)]


def test_missing_input_points_at_the_case() -> None:
    """The whole case, because what lacks has no place."""
    text = "cases:\n  - id: a\n    tags: [x]\n  - input: hi\n"
    assert places(text) == [("missing-input", 2, 5, 3, 14)]
    text = '{"input": "hi"}\n {"id": "a"}\n'
    assert places(text, "jsonl") == [("missing-input", 2, 2, 2, 13)]
    assert places('[{"input": "hi"}, {"id": "a"}]', "json") == [("missing-input", 1, 19, 1, 30)]

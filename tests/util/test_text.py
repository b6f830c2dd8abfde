import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalcase.types.value import JSON
from evalcase.util.answers import describe_missing_text, name_missing_text
from evalcase.util.text import (
    Template,
    abridge_message,
    as_json,
    call_lines,
    call_text,
    code_block,
    code_span,
    content_text,
    defuse_line,
    edit_distance,
    in_ci,
    is_foreign_file,
    make_visible,
    nearest_field,
    write_score,
    write_table,
)
from tests.for_each import for_each


@for_each(
    ("content", "text"),
    [
        (None, ""),
        ("as it is\n", "as it is\n"),
        ([{"type": "text", "text": "a"}, {"type": "text", "value": "b"}], "ab"),
        ([{"type": "text", "text": "Look: "}, {"type": "image", "path": "a.png"}],
         "Look: [image: a.png]"),
        ([{"type": "text", "text": "Hi there"}, {"type": "file", "path": "f.txt"},
          {"type": "image"}, {"type": "text", "text": ""}, {"type": "text", "text": "and so"},
          {"type": "text", "text": " on"}],
         "Hi there [file: f.txt] [image] and so on"),
        ([{"type": "file", "value": "x" * 500}], f"[file: {'x' * 99}…]"),
        ([{"type": "refusal", "refusal": "I can't."}], "[refusal: I can't.]"),
        ([{"type": "image_url", "image_url": {"url": "http://localhost/a.png"}}],
         "[image_url: http://localhost/a.png]"),
        ([{"type": "cat", "lives": 9}], '[cat: {"lives": 9}]'),
        ([{"type": "audio"}], "[audio]"),
        ({"a": [1]}, '{\n  "a": [\n    1\n  ]\n}'),
        ([], "[]"),
        (5, "5"),
    ],
)  # fmt: skip
def test_content_of_every_shape_has_a_text(content: Any, text: str) -> None:
    assert content_text(content) == text


@for_each(
    ("call", "line"),
    [
        ({"tool": "t"}, "t()"),
        ({"tool": "t", "input": {"a": 1, "b": "é"}}, 't(a=1, b="é")'),
        ({"tool": "t", "input": {"a b": 1}}, 't({"a b": 1})'),
        ({"tool": "t", "input": [1]}, "t([1])"),
        ({"function": {"name": "f", "arguments": '{"a": 1}'}}, "f(a=1)"),
        ({"function": {"name": "f", "arguments": "{"}}, 'f("{")'),
        ({"tool": 5}, '{"tool": 5}'),
        ({"function": 5}, '{"function": 5}'),
        (None, "null"),
    ],
)
def test_calls_of_every_shape_have_a_line(call: Any, line: str) -> None:
    assert list(call_lines({"role": "assistant", "tool_calls": [call]})) == [line]


def test_what_a_call_gave_stands_below_it() -> None:
    calls: list[JSON] = [
        {"tool": "t", "output": {"found": "é"}},
        {"tool": "u"},
        {"tool": "v", "output": "no"},
    ]
    lines = list(call_lines({"role": "assistant", "tool_calls": calls}, outputs=True))
    assert lines == ["t()", '  returned {"found": "é"}', "u()", "v()", "  returned no"]


def test_what_json_cannot_hold_is_named() -> None:
    assert as_json("\ud800") == '"\\ud800"'
    assert as_json({"a": object()}) == "(a mapping that can't be shown)"  # type: ignore[dict-item]
    assert call_text("t", {"a": "\ud800"}) == 't(a="\\ud800")'


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(anything)
def test_messages_of_strangers_never_break_it(value: Any) -> None:
    content_text(value)
    list(call_lines({"role": "x", "content": value, "tool_calls": value}))
    list(call_lines({"role": "x", "tool_calls": [value, {"tool": value}, {"function": value}]}))


def test_what_stands_between_two_names_is_no_name() -> None:
    said = f"`a` {'is said at length, ' * 20}and `b`"
    assert abridge_message(said) == said


@for_each(
    ("line", "shown"),
    [
        ("::warning::x", ": :warning::x"), ("   ::stop-commands::x", "   : :stop-commands::x"),
        ("\x1b[2m \x1b[0m::x", "\x1b[2m \x1b[0m: :x"), ("a ::x", "a ::x"), ("std::map", "std::map"),
        ("x ##[error]y", "x # #[error]y"), ("##vso[task.set]", "# #vso[task.set]"),
        ("## Title", "## Title"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_a_command_has_a_blank_in_it_and_other_text_is_as_it_was(line: str, shown: str) -> None:
    assert defuse_line(line) == shown


def test_ci_is_told_by_its_variables() -> None:
    assert in_ci({"GITHUB_ACTIONS": "true"})
    assert in_ci({"TF_BUILD": "True"})
    assert not in_ci({"CI": "1"})


@for_each(
    ("score", "beside", "text"),
    [
        (0.0, (), "0"),
        (1.0, (), "1"),
        (0.5, (), "0.5"),
        (1 / 3, (), "0.333"),
        (0.00429738, (), "0.0043"),
        (0.99961, (), "0.9996"),
        (0.79996, (0.8,), "0.79996"),
        (0.8, (0.8,), "0.8"),
        (0.1 + 0.2, (0.3,), "0.30000000000000004"),
    ],
)
def test_a_score_has_few_digits_unless_they_would_say_something_else(
    score: float, beside: tuple[float, ...], text: str
) -> None:
    assert write_score(score, *beside) == text


@for_each(
    ("path", "is_foreign"),
    [
        ("/srv/shop/agent.py", False),
        ("C:\\shop\\agent.py", False),
        ("/srv/libs/python3.py", False),
        ("/venv/lib/python3.11/site-packages/httpx/_client.py", True),
        ("/usr/lib/python3/dist-packages/yaml/loader.py", True),
        ("C:\\Python\\Lib\\site-packages\\httpx\\_client.py", True),
        ("/usr/lib/python3.12/json/decoder.py", True),
        ("<frozen importlib._bootstrap>", True),
        ("<string>", True),
    ],
)
def test_files_of_python_and_of_packages_are_foreign(path: str, is_foreign: bool) -> None:
    assert is_foreign_file(path) is is_foreign


def test_code_is_code_whatever_it_holds() -> None:
    assert code_span("@all <b>") == "`@all <b>`"
    assert code_span("a`b``c") == "```a`b``c```"
    assert code_span("`") == "`` ` ``"
    assert code_span(" a") == "`  a `"
    assert code_span("") == code_span("  ") == "–"
    assert code_span("a\nb\u202e") == "`a<U+000A>b<U+202E>`"


def test_a_block_ends_where_it_should() -> None:
    assert list(code_block(["```", "x\x1b"], "diff")) == ["````diff", "```", "x<U+001B>", "````"]


def test_a_cell_ends_where_it_should() -> None:
    assert list(write_table([["", "n"], ["`a|b`", "1"]])) == [
        "|  | n |", "|---|---:|", "| `a\\|b` | 1 |"
    ]  # fmt: skip


@for_each(
    ("text", "shown"),
    [
        ("\x1b[31mred", "<U+001B>[31mred"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\nb\rc\td", "a<U+000A>b<U+000D>c<U+0009>d"),
        ("\u202eabc", "<U+202E>abc"),
        ("a\u200bb", "a<U+200B>b"),
        ("\udcff", "<U+DCFF>"),
        ("\U000e0041", "<U+E0041>"),
    ],
)
def test_what_steers_or_hides_is_spelt(text: str, shown: str) -> None:
    assert make_visible(text) == shown


@given(st.text())
def test_nothing_dangerous_is_left_and_the_rest_can_be_encoded(text: str) -> None:
    shown = make_visible(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
    assert shown.encode().decode() == shown


texts = st.text("abé", max_size=12)


def by_the_table(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for number, one in enumerate(left, 1):
        before, row[0] = row[0], number
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (one != other))
    return row[-1]


@given(texts, texts)
def test_is_what_the_table_says(left: str, right: str) -> None:
    assert edit_distance(left, right) == by_the_table(left, right)


def test_is_over_once_nobody_waits() -> None:
    with pytest.raises(InterruptedError):
        edit_distance("a" * 1000, "b" * 1000, lambda: True)


def test_a_field_is_suggested_by_its_primary_name_and_never_by_an_alias() -> None:
    fields = ["input", "expected_output", "graders"]
    aliases = {"input_messages": "input"}
    assert nearest_field("expcted_output", fields) == "expected_output"
    assert nearest_field("input_mesages", fields, aliases) == "input"
    assert nearest_field("assertions", fields) == "graders"
    assert nearest_field("assertions", ["input"]) is None


@for_each("name", ["mode", "date", "retries", "promt", "images"])
def test_what_is_only_like_a_name_of_another_tool_is_no_misspelling_of_it(name: str) -> None:
    fields = ["input", "target", "cases", "graders"]
    assert nearest_field(name, fields) is None
    assert nearest_field("model", fields) == "target"


NAMES = ("prompt", "case_id", "messages")
VALUES: dict[str, JSON] = {"prompt": "Hi", "case_id": "{prompt}", "messages": [{"role": "user"}]}


def filled(template: JSON, *, strict: bool) -> JSON:
    made = Template(template, NAMES, strict=strict)
    return made.fill({name: VALUES[name] for name in made.used})


@pytest.mark.parametrize("strict", [False, True])
def test_names_in_braces_are_replaced_once(strict: bool) -> None:
    assert filled(["a {prompt}{prompt}", "{case_id} {case_id}"], strict=strict) == [
        "a HiHi",
        "{prompt} {prompt}",
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_a_text_that_is_one_placeholder_becomes_the_value_itself(strict: bool) -> None:
    assert filled({"m": "{messages}", "n": [1, None]}, strict=strict) == {
        "m": [{"role": "user"}],
        "n": [1, None],
    }
    assert filled("as text: {messages}", strict=strict) == 'as text: [{"role": "user"}]'
    assert Template("x{messages}y", NAMES).fill({"messages": None}) == "xy"


@pytest.mark.parametrize("strict", [False, True])
def test_doubled_braces_are_literal_and_other_braces_stay(strict: bool) -> None:
    assert filled("{{prompt}} {} {1} { prompt } {a b}", strict=strict) == (
        "{prompt} {} {1} { prompt } {a b}"
    )


def test_a_command_line_keeps_the_braces_that_are_its_own() -> None:
    line = 'echo ${HOME} ${prompt} {other} {{other}} {"a": 1} {promt}'
    template = Template([line], NAMES)
    assert template.used == set()
    assert template.fill_texts({}) == [line]
    ((_, message),) = template.faults()
    assert message.startswith("there is no placeholder {promt}: did you mean {prompt}?")
    assert Template(["{{promt}} {prompt}"], NAMES).fill_texts({"prompt": "x"}) == ["{{promt}} x"]


def test_a_strict_template_has_known_names_only() -> None:
    template = Template({"a": "{other}", "b": ["{promt} {{anything}}", 3]}, NAMES, strict=True)
    (one, said), (two, _) = template.faults()
    assert (one, two) == (("a",), ("b", 0))
    assert "there are {prompt}, {case_id}, {messages}" in said
    assert template.texts == ["{other}", "{promt} {{anything}}"]
    assert Template("{{anything}}", NAMES, strict=True).fill({}) == "{anything}"
    assert Template("${prompt}", NAMES, strict=True).fill({"prompt": "3"}) == "$3"


def test_calls_that_end_an_answer_need_no_other_word() -> None:
    call = {"tool": "f", "input": {}}
    message: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
    message["finish_reason"] = "tool_calls"
    assert name_missing_text([message]) == "(no text)"
    assert name_missing_text([{**message, "finish_reason": "length"}]).endswith("length)")


@for_each(
    ("ended", "told"),
    [
        ("stop", "(empty)"),
        ("length", "(no text, but finish_reason: length)"),
        (None, "(empty)"),
    ],
)
def test_an_answer_may_end_in_any_way(ended: Any, told: str) -> None:
    message = {"role": "assistant", "content": "", "finish_reason": ended}
    assert name_missing_text([message]) == told
    assert describe_missing_text([message], "")

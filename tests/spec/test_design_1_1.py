"""The format, part 1.1: `input` and `expected_output`. One test for each thing it says."""

import json
from itertools import permutations
from typing import Any

import pytest

import evalcase
from evalcase import SuiteError
from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of
from tests.spec.reading import expected_of


def input_of(text: str) -> Any:
    return evalcase.parse_case(text).to_dict()["input"]


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


@for_each("value", SHORT_FORMS)
def test_input_messages_alias_has_the_same_short_forms(value: str) -> None:
    """The older name takes whatever `input` takes, and means the same."""
    assert input_of(f"input_messages: {value}") == input_of(f"input: {value}")


def test_input_messages_alias_warns_with_its_position() -> None:
    """The older name is reported where it stands."""
    text = "cases:\n  - id: a\n    input_messages: hi\n"
    assert places(text) == [("deprecated-name", 3, 5, 3, 19)]
    assert only_problem(text).severity == "warning"
    assert "`input`" in only_problem(text).message


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


def test_expected_output_one_message_becomes_a_list_of_it() -> None:
    """A message that stands alone is a list of one."""
    assert expected_of("{role: tool, content: done, id: '7'}") == [
        {"role": "tool", "content": "done", "id": "7"}
    ]


@for_each(
    "value",
    ["4", "0", "-1.5", "1e3", "true", "false", "[1, 2]", '[{"a": 1}]', '["a", null]', "[[]]",
     '[{"role": "admin", "name": "Bob"}]'],
)  # fmt: skip
def test_expected_output_other_values_become_assistant_content(value: str) -> None:
    """Numbers, booleans and lists without messages are answers, exactly as they are."""
    found = expected_of(value)
    assert json.dumps(found) == json.dumps([{"role": "assistant", "content": json.loads(value)}])


@for_each("value", [*SHORT_FORMS, "5", "false", "[1, 2]", "[{a: 1}]"])
def test_expected_messages_alias_has_the_same_short_forms(value: str) -> None:
    """The older name takes whatever `expected_output` takes, and means the same."""
    case = evalcase.parse_case(f"input: hi\nexpected_messages: {value}")
    assert case.to_dict()["expected_output"] == expected_of(value)


def test_expected_messages_alias_warns_with_its_position() -> None:
    """The older name is reported where it stands."""
    text = "- input: hi\n  expected_messages: [1]\n"
    assert places(text) == [("deprecated-name", 2, 3, 2, 20)]
    assert "`expected_output`" in only_problem(text).message


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


@for_each(
    ("primary", "alias", "value"),
    [("criteria", "expected_outcome", "x"), ("criteria", "outcome", "x"),
     ("graders", "evaluators", "[x]")],
)  # fmt: skip
def test_primary_wins_over_every_alias_of_a_case(primary: str, alias: str, value: str) -> None:
    """The rule is the same for every field that has an older name."""
    text = f"- input: hi\n  {alias}: 5\n  {primary}: {value}\n"
    assert places(text) == [("ignored-alias", 2, 3, 2, 3 + len(alias))]


@for_each("null", ["null", "~", ""])
def test_primary_that_is_null_counts_as_absent_so_the_alias_is_used(null: str) -> None:
    """A null says nothing, so what the alias says holds, with the usual warning."""
    text = f"input: {null}\ninput_messages: old\nexpected_output: {null}\nexpected_messages: 5\n"
    case = evalcase.parse_case(text)
    assert case.input == ({"role": "user", "content": "old"},)
    assert case.expected_output == ({"role": "assistant", "content": 5},)
    assert places(text) == [("deprecated-name", 2, 1, 2, 15), ("deprecated-name", 4, 1, 4, 18)]


@for_each("text", ["id: a", "id: a\ninput: null", "id: a\ninput: ~\ntags: [x]"])
def test_input_absent_or_null_is_an_error(text: str) -> None:
    """A case that gives the target nothing is no case."""
    with pytest.raises(SuiteError) as error:
        evalcase.parse_case(text)
    assert [problem.code for problem in error.value.problems] == ["missing-input"]


@for_each("value", ["42", "true", "false", "-1.5", "0o14", "1e3"])
@for_each("name", ["input", "input_messages"])
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


@pytest.mark.parametrize("content", ["", ", content: x"])
def test_empty_tool_calls_are_an_error(content: str) -> None:
    """A list of no calls says nothing, with content beside it or without."""
    text = f"input: {{role: assistant, tool_calls: []{content}}}"
    assert places(text) == [("empty-list", 1, 38, 1, 40)]


@for_each(
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


@for_each("format", ["json", "jsonl"])
@for_each("text", [r'"\ud800"', r'"a\udfffb"', r'"\udc00\ud800"', r'"\uD83Dx"'])
def test_lone_surrogates_are_errors_in_json(format: Format, text: str) -> None:
    """Half of a pair is no character: no file and no grader could be given it."""
    case = f'{{"input": "hi", "expected_output": {text}}}'
    assert places(case, format) == [("not-json-value", 1, 36, 1, 36 + len(text))]


def test_lone_surrogates_are_errors_in_yaml() -> None:
    """The same in YAML's double quotes."""
    (problem,) = problems_of(r'input: "a\ud800"')
    assert (problem.code, problem.line) == ("not-json-value", 1)


def test_surrogate_pairs_in_json_are_the_character_they_stand_for() -> None:
    """Both halves together are one character."""
    (case,) = evalcase.loads(r'{"input": "\ud83d\ude00"}', "json")
    assert case.input[0].content == "\N{GRINNING FACE}"


@for_each("sign", ["", "-"])
@for_each("format", ["yaml", "json", "jsonl"])
def test_integers_over_4300_digits_are_errors(format: Format, sign: str) -> None:
    """4,300 digits are as many as Python reads and writes; one more is an error."""
    at_most, too_many = sign + "9" * 4300, sign + "9" * 4301
    (case,) = evalcase.loads(f'{{"input": "hi", "expected_output": {at_most}}}', format)
    assert case.expected_output[0].content == int(at_most)
    text = f'{{"input": "hi", "expected_output": {too_many}}}'
    assert places(text, format) == [("not-json-value", 1, 36, 1, 36 + len(too_many))]


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


CONTAINERS = ["cases", "evalcases", "eval_cases", "tests"]


@for_each(("one", "two"), list(permutations(CONTAINERS, 2)))
def test_two_containers_of_cases_are_an_error(one: str, two: str) -> None:
    """Not even `cases` makes another list of cases be ignored."""
    text = f"{one}: [{{input: a}}]\n{two}: [{{input: b}}]\n"
    errors = [problem for problem in problems_of(text) if problem.severity == "error"]
    assert [problem.code for problem in errors] == ["conflicting-fields"]
    at = 1 if two == "cases" else 2
    name = one if two == "cases" else two
    assert errors[0].span == (at, 1, at, 1 + len(name))


def test_lines_and_columns_are_1_based() -> None:
    """The first character of a file is at 1:1."""
    assert places("oops: 1\ninput: hi\n") == [("unknown-field", 1, 1, 1, 5)]


@for_each("format", ["yaml", "json"])
@for_each("before", ["é", "e\u0301", "\N{GRINNING FACE}", "漢字", "\u2028", "\x85", "\ufeff"])
def test_columns_count_unicode_code_points(before: str, format: Format) -> None:
    """Not bytes, not UTF-16 units, not what a terminal shows."""
    text = f'[{{"input": "a{before}", "oops": 1}}]'
    column = text.index('"oops"') + 1
    assert places(text, format) == [("unknown-field", 1, column, 1, column + 6)]


def test_end_is_exclusive() -> None:
    """From column to end column there is exactly the text that is meant, over lines as well."""
    text = "- input: hi\n  tags:\n    a: 1\n    b: 2\n  skip: no reason\n"
    assert places(text) == [("wrong-type", 3, 5, 4, 9)]
    text = "- input: hi\n  tags: x \n"
    _, line, column, end_line, end_column = places(text)[0]
    assert (line, end_line) == (2, 2)
    assert text.splitlines()[1][column - 1 : end_column - 1] == "x"


@for_each("end", ["\n", "\r\n", "\r"])
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

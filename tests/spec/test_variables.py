"""The format: `vars` and their tags. One test for each thing it says."""

import json
from typing import Any

from hypothesis import strategies as st

import evalcase
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of


def case_of(text: str) -> dict[str, Any]:
    """The canonical form of the only case of a suite."""
    (case,) = evalcase.loads(text)
    return case.to_dict()


def asked(text: str) -> Any:
    """What the only case of a suite says last."""
    return case_of(text)["input"][-1]["content"]


def made_of(
    text: str, variables: str = "{city: Bergen, user: {name: Ann, tags: [a, b]}, n: 7}"
) -> Any:
    """What becomes of a text in quotes, with some variables."""
    written = json.dumps({"expected_output": text, "vars": {}, "input": "hi"})
    case = case_of(written.replace('"vars": {}', f'"vars": {variables}'))
    return case["expected_output"][0]["content"] if "expected_output" in case else None


# What is rendered.


BRACES = "{{city}} {{ a.b }} {{{{city}}}} {{x | y}} {{env.HOME}}"


def test_only_cases_with_variables_are_rendered() -> None:
    """Every other case keeps its meaning, whatever stands in braces, beside one that has some."""
    text = f'- {{input: "{BRACES}"}}\n- {{vars: {{city: Oslo}}, input: "{{{{city}}}}"}}\n'
    plain, rendered = evalcase.loads(text)
    assert plain.input[0].content == BRACES
    assert rendered.input[0].content == "Oslo"
    assert "vars" not in plain.to_dict()


_TEXTS = st.text(alphabet="{}abc .|[($\n", max_size=30) | st.sampled_from(
    [BRACES, "{{a}}", "{{{{a}}}}"]
)


def test_vars_stand_in_a_suite_or_in_a_case() -> None:
    """Those of a suite hold for all of its cases."""
    assert asked('{vars: {a: x}, cases: [{input: "{{a}}"}]}') == "x"
    assert asked('[{vars: {a: x}, input: "{{a}}"}]') == "x"
    assert asked('{vars: {a: x}, input: "{{a}}"}') == "x"


def test_the_case_wins() -> None:
    """Name by name: what it doesn't give is the suite's."""
    text = '{vars: {a: x, b: y}, cases: [{vars: {a: z}, input: "{{a}} {{b}}"}]}'
    assert asked(text) == "z y"


@for_each("value", ['"x"', "7", "1.5", "true", "null", "[1, [2]]", '{"a": {"b": 1}}'])
def test_a_value_is_any_json(value: str) -> None:
    """It stands in the canonical form as it is."""
    case = case_of(f'{{"id": "a", "vars": {{"v": {value}}}, "input": "hi", "metadata": {{}}}}')
    assert case["vars"] == {"v": json.loads(value)}


# Tags.


@for_each(
    ("text", "made"),
    [
        ("in {{city}}.", "in Bergen."),
        ("in {{ city }}.", "in Bergen."),
        ("{{city}}{{city}}", "BergenBergen"),
        ("hi {{user.name}}!", "hi Ann!"),
        ("{{user.tags.1}}?", "b?"),
        ('{"a":{{n}}}', '{"a":7}'),
        ("{{{city}}}", "{Bergen}"),
        ("$ {{n}}", "$ 7"),
    ],
)
def test_a_tag_is_a_name_with_parts_in_two_braces(text: str, made: str) -> None:
    """Blanks inside of the braces don't matter, and neither does what stands around them."""
    assert made_of(text) == made


@for_each(
    "text",
    ["{{7 * 7}}", "{city}", "{ {city} }", "{{}}", "{{ }}", "{{.city}}", "{{city.}}",
     "{{city name}}",
     "{{#if x}}", "{%city%}", "${city}", "{{'city'}}", "{{city", "city}}", "{{\ncity}}", "{{1a}}"],
)  # fmt: skip
def test_anything_else_is_text(text: str) -> None:
    """Real data is full of braces."""
    assert made_of(f"a {text} {{{{city}}}}") == f"a {text} Bergen"


@for_each(
    ("text", "made"),
    [
        ("{{{{city}}}}", "{{city}}"),
        ("{{{{ city }}}} {{city}}", "{{ city }} Bergen"),
        ("{{{{nobody.knows}}}}", "{{nobody.knows}}"),
        ("{{{{{{city}}}}}}", "{{{{city}}}}"),
    ],
)
def test_a_literal_has_four_braces(text: str, made: str) -> None:
    """It loses two of them."""
    assert made_of(text) == made


@for_each("name", ["größe", "ort_2", "first-name", "_x", "名前", "É"])
def test_a_name_has_letters_of_any_language(name: str) -> None:
    assert made_of(f"a {{{{{name}}}}}", json.dumps({name: "x"})) == "a x"


@for_each("name", ["", "a b", "1a", "a.b", "-a", "a|b", "{{a}}", "a}"])
def test_a_name_that_no_tag_can_have_is_an_error_at_its_place(name: str) -> None:
    problem = only_problem(json.dumps({"vars": {name: 1}, "input": "hi"}), "json")
    assert (problem.code, problem.column) == ("bad-value", 11)


# Names that are not there, not used, or not allowed.


def test_an_unknown_name_is_an_error_at_its_place_with_a_suggestion() -> None:
    """At the tag itself, in whichever line of a text it stands."""
    text = "- vars: {city: Bergen}\n  input: |\n    Weather\n    in {{city}} or {{ctiy}}?\n"
    assert places(text) == [("unknown-variable", 4, 20, 4, 28)]
    problem = only_problem(text)
    assert problem.severity == "error"
    assert problem.hint == "did you mean `city`? Write {{{{ctiy}}}} if it is meant literally"


def test_an_unknown_name_in_the_suite_is_told_at_its_place_there_and_once() -> None:
    text = '{input: "{{b}} {{a}}", cases: [{vars: {a: 1}, input: x}, {vars: {a: 2}, input: y}]}'
    assert places(text) == [("unknown-variable", 1, 10, 1, 15)]


def test_an_unknown_part_is_an_error_at_its_place() -> None:
    text = '{vars: {user: {name: Ann}}, input: "hi {{user.nmae}}"}'
    assert places(text) == [("unknown-variable", 1, 40, 1, 53)]
    assert only_problem(text).hint == "did you mean `name`?"
    assert "counted from 0" in str(only_problem('{vars: {a: [1]}, input: "x {{a.1}}"}').hint)


def test_an_unused_name_is_a_warning_at_its_place() -> None:
    """Also where another case makes use of one that is called the same."""
    text = '- {vars: {a: 1}, input: "x {{a}}"}\n- {vars: {a: 1}, input: x}\n'
    assert places(text) == [("unused-variable", 2, 11, 2, 12)]
    assert only_problem(text).severity == "warning"


def test_a_name_of_the_suite_is_unused_if_no_case_makes_use_of_it() -> None:
    text = '{vars: {a: 1, b: 2, c: 3}, input: "x {{c}}", cases: [{input: "x {{a}}"}, {input: y}]}'
    assert places(text) == [("unused-variable", 1, 15, 1, 16)]


def test_the_environment_is_an_error() -> None:
    """Also where a variable is called so; what it holds can be had under another name."""
    for variables in ("{a: 1}", "{env: {HOME: x}}"):
        problem = problems_of(f'{{vars: {variables}, input: "{{{{env.HOME}}}}"}}')[-1]
        assert (problem.code, problem.severity) == ("unknown-variable", "error")
        assert "environment" in problem.message
    assert asked('{vars: {env: staging}, input: "on {{env}}"}') == "on staging"


@for_each("more", ["|upper", " | upper", "(1)", "[0]", ".name|x"])
def test_a_known_name_followed_by_a_filter_a_call_or_an_index_warns(more: str) -> None:
    """It stays as it is; of a name that nobody knows nothing is said."""
    text = f'{{vars: {{a: 1}}, input: "{{{{a}}}} {{{{a{more}}}}} {{{{b{more}}}}}"}}'
    assert asked(text) == f"1 {{{{a{more}}}}} {{{{b{more}}}}}"
    ((code, _, column, _, _),) = places(text)
    assert (code, column) == ("not-rendered", 30)


@for_each("field", ["id", "description", "conversation_id", "skip"])
def test_a_known_name_where_nothing_is_rendered_warns(field: str) -> None:
    text = f'{{vars: {{a: x}}, input: "{{{{a}}}}", {field}: "is {{{{a}}}} {{{{b}}}}"}}'
    assert [code for code, *_ in places(text)] == ["not-rendered"]
    assert case_of(text)[field] == "is {{a}} {{b}}"


# Values in the place of tags.


@for_each("value", ["7", "1.5", "true", "[1, 2]", '{"a": 1}', '"text"'])
def test_a_text_that_is_only_a_tag_becomes_the_value_with_its_type(value: str) -> None:
    assert made_of("{{ v }}", f'{{"v": {value}}}') == json.loads(value)


@for_each(("value", "made"), [('"a"', "a"), ("7", "7"), ("-1.50", "-1.5"), ("1e3", "1000.0")])
def test_inside_text_stand_strings_and_numbers(value: str, made: str) -> None:
    assert made_of("a {{v}}", f'{{"v": {value}}}') == f"a {made}"


@for_each("value", ["true", "null", "[1]", "{a: 1}"])
def test_inside_text_anything_else_is_an_error_at_its_place(value: str) -> None:
    text = f'{{vars: {{v: {value}}}, input: "a {{{{v}}}}"}}'
    problem = only_problem(text)
    assert (problem.code, problem.severity) == ("wrong-type", "error")
    assert problem.column == text.index("{{v}}") + 1


def test_a_number_that_is_not_written_as_it_is_read_warns_where_it_stands_in_text() -> None:
    """Its spelling would be lost in silence."""
    text = '{vars: {v: 3.10, w: 3.10}, input: "a {{v}}", expected_output: {a: "{{w}}"}}'
    assert places(text) == [("lost-spelling", 1, 12, 1, 16)]


def test_one_pass_and_values_are_never_rendered_again() -> None:
    """Whatever a value holds stays text: it may come from anywhere."""
    text = '{vars: {a: "{{b}} {{{{b}}}}", b: "{{a}}"}, input: "{{a}} {{b}}"}'
    assert asked(text) == "{{b}} {{{{b}}}} {{a}}"
    assert made_of("{{v}}", '{"v": ["{{v}}", {"{{v}}": "{{v}}"}]}') == ["{{v}}", {"{{v}}": "{{v}}"}]


def test_values_can_be_had_as_they_were_and_break_no_syntax() -> None:
    """They are applied to parsed values: quotes, colons and line ends in them mean nothing."""
    value = 'a: "b"\n- c # {d} \\'
    assert made_of("<{{v}}>", json.dumps({"v": value})) == f"<{value}>"
    assert made_of("{{v}}", json.dumps({"v": value})) == value


# Where tags are replaced.


def test_reaches_input_expected_output_criteria_rubrics_and_grader_arguments() -> None:
    case = case_of("""
vars: {v: x, n: 3}
input: [{role: user, content: [{type: text, text: "i {{v}}"}], extra: {a: "{{n}}"}}]
expected_output: [{role: assistant, tool_calls: [{tool: t, input: {a: "{{n}}", b: "o {{v}}"}}]}]
criteria: c {{v}}
rubrics: ["r {{v}}", {text: "{{v}}", weight: "{{n}}"}]
graders: [{contains: "g {{v}}"}, {length: {max: "{{n}}"}}, {any: [{equals: "{{n}}"}]}]
""")
    assert case["input"] == [
        {"role": "user", "content": [{"type": "text", "text": "i x"}], "extra": {"a": 3}}
    ]
    call = {"tool": "t", "input": {"a": 3, "b": "o x"}}
    assert case["expected_output"] == [{"role": "assistant", "tool_calls": [call]}]
    assert case["criteria"] == "c x"
    assert case["rubrics"] == [{"text": "r x"}, {"text": "x", "weight": 3}]
    assert case["graders"][0] == {"type": "contains", "value": "g x"}
    assert case["graders"][1] == {"type": "length", "max": 3}
    assert [{"type": "equals", "value": 3}] in case["graders"][2].values()


def test_reaches_what_the_suite_says_for_all_cases() -> None:
    """Its messages and graders, with the values that each case has; also with its numbers."""
    text = """
input: {role: system, content: "In {{city}}."}
graders: [{contains: "{{city}}"}, {length: {max: "{{n}}"}}]
cases:
  - {vars: {city: Oslo, n: 3}, input: a}
  - {vars: {city: Rome, n: 4}, input: b}
"""
    first, second = evalcase.loads(text)
    assert first.input[0].content == "In Oslo."
    assert second.graders == ({"type": "contains", "value": "Rome"}, {"type": "length", "max": 4})


def test_what_is_wrong_with_a_value_is_told_at_its_tag() -> None:
    problem = only_problem("- vars: {n: 42}\n  input: '{{n}}'\n")
    assert (problem.code, problem.line, problem.column) == ("wrong-type", 2, 10)
    assert (problem.hint, problem.fix) == (None, None)  # the tag itself is right
    text = "- vars: {m: [{role: usr, content: x}]}\n  input: '{{m}}'\n"
    assert places(text) == [("unknown-role", 2, 10, 2, 17)]


# The canonical form.


def test_the_canonical_form_has_the_variables_and_says_that_it_is_rendered() -> None:
    case = case_of('{vars: {a: "{{b}}"}, id: i, input: "{{a}}"}')
    assert (case["vars"], case["rendered"]) == ({"a": "{{b}}"}, True)


def test_the_canonical_form_is_read_as_it_is() -> None:
    """What is rendered is not rendered again, and nothing is said of its variables."""
    suite = evalcase.loads('{vars: {a: "{{b}}", c: 1}, input: "{{a}} {{c}} {{{{a}}}}"}')
    text = json.dumps(suite.to_dict())
    assert evalcase.loads(text, "json") == suite
    assert problems_of(text, "json") == []


def test_an_id_is_made_of_what_the_case_asks() -> None:
    """By the rule for all cases: the input with its values."""
    with_variable, without = evalcase.loads(
        '[{vars: {a: x}, input: "is {{a}}"}, {input: "is x", skip: true}]'
    )
    assert without.id == f"{with_variable.id}-2"

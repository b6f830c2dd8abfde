"""A hint helps: it says what to write, and never leads to something that was not meant."""

import evalcase
from tests.for_each import for_each
from tests.spec.found import only_problem, problems_of

HINTS = [
    # A field that nobody knows, and what else it might be.
    ("mode: fast", "unknown-field", "`metadata`"),
    ("tgas: [a]", "unknown-field", "did you mean `tags`?"),
    ("descripton: a", "unknown-field", "did you mean `description`?"),
    ("meta: {a: 1}", "unknown-field", "did you mean `metadata`?"),
    # Values with their unit, or in another one.
    ("threshold: 80%", "wrong-type", "write 0.8"),
    ("threshold: 80", "bad-value", "write 0.8"),
    ("threshold: '0.75'", "wrong-type", "write 0.75"),
    ("repeat: {times: 5, pass_rate: 66.5%}", "wrong-type", "write 0.665"),
    ("timeout_s: 30s", "wrong-type", "write 30"),
    # Graders.
    ("graders: expected", "wrong-type", "write [expected]"),
    ("graders: [{contains: 30}]", "wrong-type", 'write it in quotes: "30"'),
    ("graders: [{json_schema: s/a.json}]", "wrong-type",
     "write {type: json_schema, file: s/a.json}"),
    ("graders: [{python: 'nosuch.py:f'}]", "bad-value", "did you mean `./nosuch.py:f`?"),
    ("graders: [{name: contains, value: x}]", "bad-grader", "write {type: NAME, value: …}"),
]  # fmt: skip


@for_each(("field", "code", "hint"), HINTS, ids=lambda value: str(value)[:30])
def test_a_hint_says_what_to_write(field: str, code: str, hint: str) -> None:
    problem = only_problem(f"input: q\nexpected_output: x\n{field}\n")
    assert problem.code == code
    assert (problem.hint or "").startswith(hint) or hint in (problem.hint or "")


@for_each(
    ("cases", "hint"),
    [
        ("{a: {input: q}, b: {input: q}}", "write each as `- id: a`, with its fields below"),
        ("{input: {a: 1}}", "put `- ` before each case"),
        ("{input: q, expected_output: x}", "put `- ` before each case"),
        ("{}", "put `- ` before each case"),
    ],
)
def test_cases_in_a_mapping_are_told_how_to_be_a_list(cases: str, hint: str) -> None:
    assert only_problem(f"cases: {cases}\n").hint == hint


def test_an_unknown_role_may_be_data() -> None:
    problem = only_problem("input: q\nexpected_output: {role: manager, content: Ana}\n")
    assert problem.code == "unknown-role"
    assert "write it as the content of one: {role: assistant, content: {role: …}}" in (
        problem.hint or ""
    )


def test_an_empty_list_of_cases_says_what_belongs_there() -> None:
    assert only_problem("cases:\n").hint == "write cases below it, each after `- `"


@for_each(
    "text",
    [
        "input: [{role: %s, content: x}]\n",
        "input: q\n%s: 1\n",
        "- {id: %s, input: q}\n- {id: %s, input: r}\n",
        "input: q\ngraders: [%s]\n",
        "input: q\nmetadata: {%s: 1, %s: 2}\n",
        "input: {role: user, content: {type: file, path: %s}}\n",
    ],
)
def test_a_message_quotes_no_more_than_the_beginning(text: str) -> None:
    for problem in problems_of(text.replace("%s", "long" * 20_000)):
        assert len(problem.message) < 250
        assert len(problem.hint or "") < 350


@for_each("grader", ["contain: hi", "contain: '{{x}}'", "contains: 5", "length: 5"])
def test_a_mistake_in_a_grader_of_all_is_no_lack_of_graders(grader: str) -> None:
    text = (
        f"graders: [{{{grader}}}]\ncases:\n"
        "- {id: a, vars: {x: b}, input: 'q {{x}}'}\n"
        "- {id: b, input: q}\n"
        "- {id: c, turns: [q, r]}\n"
    )
    problems = evalcase.check_text(text, "a.eval.yaml")
    assert any(each.severity == "error" for each in problems)
    assert "nothing-to-grade" not in [each.code for each in problems]


def test_indicators_and_criteria_that_no_judge_reads_grade_nothing() -> None:
    text = (
        "cases:\n"
        "- {id: a, input: q, graders: [{type: contains, value: x, indicator: true}]}\n"
        "- {id: b, input: q, criteria: is good, criteria_judge: false}\n"
        "- {id: c, input: q, rubrics: [is good], criteria_judge: false}\n"
        "- {id: d, input: q, graders: [{contains: x}]}\n"
    )
    problems = evalcase.check_text(text, "a.eval.yaml")
    assert [each.case for each in problems if each.code == "nothing-to-grade"] == ["a", "b"]


@for_each("field", ["threshold: 0", "repeat: {times: 2, pass_rate: 0}"])
def test_a_case_that_no_answer_can_fail_is_warned_of(field: str) -> None:
    text = f"input: q\nexpected_output: x\n{field}\n"
    problems = evalcase.check_text(text, "a.eval.yaml")
    assert [each.message for each in problems if "no answer can fail" in each.message] != []
    required = f"{text}graders: [{{type: contains, value: x, required: true}}]\n"
    fails = "threshold" not in field
    found = [
        each for each in evalcase.check_text(required, "a.eval.yaml") if "can fail" in each.message
    ]
    assert bool(found) is fails

from textwrap import dedent

from evalcase.report.problems import Checked, as_text, problem_lines
from evalcase.types.problem import Excerpt, Problem, Span

MISSPELT = Problem(
    code="unknown-field",
    message="`expcted_output` isn't a field of a case",
    path="evals/math.eval.yaml",
    span=Span(3, 5, 3, 19),
    hint="did you mean `expected_output`?",
    excerpt=Excerpt('    expcted_output: "4"'),
)
RENAMED = Problem(
    code="deprecated-name",
    message="`input_messages` is now `input`",
    path="evals/old.eval.yaml",
    span=Span(12, 1, 12, 15),
    hint="rename it:\n  input: …",
    excerpt=Excerpt("input_messages: []"),
)
NO_PLACE = Problem("no-suites", "no eval files here", "evals", hint="name one")


def test_a_report_has_every_problem_and_one_summary() -> None:
    lines = as_text([[MISSPELT], [RENAMED], [NO_PLACE]], Checked(files=3, cases=12))
    assert "\n".join(lines) + "\n" == dedent("""\
        evals/math.eval.yaml:3:5: error[unknown-field]: `expcted_output` isn't a field of a case
          3 |     expcted_output: "4"
            |     ^^^^^^^^^^^^^^
            = did you mean `expected_output`?

        evals/old.eval.yaml:12:1: warning[deprecated-name]: `input_messages` is now `input`
          12 | input_messages: []
             | ^^^^^^^^^^^^^^
             = rename it:
                 input: …

        evals: error[no-suites]: no eval files here
            = name one

        2 errors, 1 warning in 2 files
        """)


def test_user_data_in_messages_paths_and_hints_is_harmless() -> None:
    evil = "a\x1b[2Jb\nevil.yaml:1:1: error"
    lines = list(problem_lines(Problem("bad-value", evil, "x\x1b\udcff.yaml", hint="\x07\n\x9b")))
    assert lines == [
        "x<U+001B><U+DCFF>.yaml: error[bad-value]: a<U+001B>[2Jb<U+000A>evil.yaml:1:1: error",
        "    = <U+0007>",
        "      <U+009B>",
    ]

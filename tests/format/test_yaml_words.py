"""What is wrong with a YAML text, in words that help, at the place that is at fault."""

from __future__ import annotations

from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of

WORDS = [
    # text, line, column, part of the message, part of the hint
    ("input: [URGENT] call me\n", 1, 17, "more after the end", "starts with `[` must be in quotes"),
    ('input: "C" is a letter\n', 1, 12, "more after the end", 'starts with `"` must be'),
    ('input: "C:\\users"\n', 1, 13, "no such escape", "single quotes"),
    ("input:q\nexpected_output: x\n", 1, 1, "a space after its `:`", "write `input: …`"),
    ("- id: a\n  input:q\n  expected_output: x\n", 2, 3, "a space after", "write `input: …`"),
    ("cases:\n  - input: q\n\u00a0   id: x\n   tags: []\n", 3, 1, "U+00A0", "plain spaces"),
    ("input: |\n  \tx\n", 2, 3, "a tab", "indent with spaces"),
    ("input: [a, , b]\n", 1, 12, "a value is missing", "must be in quotes"),
    ('input: "a\n---\nb"\n', 1, 8, "never closed", ""),
    ("input: &a?b hi\n", 1, 8, "can't hold a `?`", "another name"),
]


@for_each(("text", "line", "column", "message", "hint"), WORDS)
def test_a_syntax_error_says_what_to_do(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    problem = only_problem(text)
    assert problem.code == "syntax"
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert (problem.line, problem.column) == (line, column)


def test_the_hint_for_a_tab_works() -> None:
    assert problems_of("input: |2\n  \tx\nexpected_output: x\n") == []


LOST = [
    ('input: "Which tag?"#urgent\n', (1, 20, 1, 27)),
    ("input: 'Which tag?'#urgent  \n", (1, 20, 1, 27)),
    ("input: {v: [a,#b\n c]}\n", (1, 15, 1, 17)),
    ("input: {v: [#b\n c]}\n", (1, 13, 1, 15)),
    ("input: {v: [a]#b\n }\n", (1, 15, 1, 17)),
    ("input: |#b\n  text\n", (1, 9, 1, 11)),
    ("input: |2-#b\n  text\n", (1, 11, 1, 13)),
    ('input: {"v":#b\n 1}\n', (1, 13, 1, 15)),
]


@for_each(("text", "span"), LOST)
def test_text_that_would_be_lost_is_an_error(text: str, span: tuple[int, ...]) -> None:
    assert places(text) == [("syntax", *span)]


@for_each(
    "text",
    [
        'input: "#1" # a comment with "quotes"# in it\n',
        "input: 'C#' # [a]#b\n",
        "# 'x'#y\ninput: q\n",
        'input: |\n  say "x"#y\n  [a]#b\n',
        'input: say "x"#y\n',
        "input: https://x.test/#a,#b\n",
        'input: {"a": "}#"}\n',
        "input: C,#\n",
    ],
)
def test_a_hash_in_a_text_or_a_comment_is_left_alone(text: str) -> None:
    assert problems_of(text) == []


@for_each(
    ("text", "code", "span"),
    [
        ("input: What is C #?\n", "cut-text", (1, 18, 1, 20)),
        ("input:\n- role: user\n  content: Close issue #12\n", "cut-text", (3, 24, 3, 27)),
    ],
)
def test_text_that_was_probably_meant_otherwise_gets_a_warning(
    text: str, code: str, span: tuple[int, ...]
) -> None:
    problem = only_problem(text)
    assert (problem.code, problem.span, problem.severity) == (code, span, "warning")


@for_each(
    "text",
    [
        "input: q # a comment\n",
        "input: q  #apart\n",
        "input: 'C' #sharp\n",
        "input: q\ntimeout_s: 30 #seconds\n",
        "input: q\n#id: old\n",
        "input: q\nmetadata: {a: [1, 2]} #todo\n",
        "input: |\n  What is C #?\n",
    ],
)
def test_what_was_meant_gets_none(text: str) -> None:
    assert problems_of(text) == []

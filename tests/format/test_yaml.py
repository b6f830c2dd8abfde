import json
from pathlib import Path

import evalcase
from evalcase.format.document import Document, parse_document
from evalcase.format.positions import Format
from evalcase.importers.convert import import_suite
from evalcase.importers.draft import Choices
from tests.for_each import for_each
from tests.spec.found import only_problem, places, problems_of

Faults = list[tuple[str, int, int]]


def read(text: str) -> Document:
    return parse_document(text, "yaml", "x.yaml")


def faults_of(text: str) -> Faults:
    return [(each.code, each.line or 0, each.column or 0) for each in read(text).problems]


# Where libyaml is not YAML 1.2: what it would get wrong is put right or refused


def test_a_question_mark_at_the_start_of_a_flow_key() -> None:
    # libyaml drops the question mark. Right is the key `?foo`; an error is honest too.
    for text in (
        "{?foo: bar}",
        "{a: 1, ?foo: bar}",
        "[?foo: bar]",
        "[?foo]",
        "{?foo: bar, bar: 42}",
    ):
        document = read(text)
        if document.readable and not document.faults:
            assert "?foo" in str(document.value)
        else:
            ((code, line, column),) = faults_of(text)
            assert (code, line) == ("syntax", 1)
            assert column in (text.index("?") + 1, text.index("foo") + 1)


@for_each(("text", "column"), [("&an:chor x", 1), ("a: &an:chor x", 4), ("[1, &a:b [2]]", 5)])
def test_a_colon_in_the_name_of_an_anchor(text: str, column: int) -> None:
    assert faults_of(text) == [("syntax", 1, column)]


@for_each(
    "text",
    [
        "{x: :x}",
        '{"a"\n: b}',
        "a:\n\t- b",
        "\ta: b",
        "- a\n-\tb: c\n \td: e",
        "%UNKNOWN x\n---\na",
        "[a, b: c: d]",
        "[:a]",
        "|\n  \ta\n",
    ],
)
def test_exotic_syntax_that_libyaml_refuses_is_an_error_with_a_place(text: str) -> None:
    ((code, line, column),) = faults_of(text)
    lines = text.split("\n")
    assert code == "syntax"
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1


# Syntax


@for_each(
    ("text", "line", "column", "hint"),
    [
        ("input: What: is it?", 1, 12, "quotes"),
        ("a: 1\n b: 2", 2, 3, "quotes"),
        ("a: @x", 1, 4, "quotes"),
        ("a: `x`", 1, 4, "quotes"),
        ("a: 'x", 1, 4, None),
        ('a: "x\nb: 1\n', 1, 4, None),
        ("a: [1, 2", 1, 4, None),
        ("a: {b: 1", 1, 4, None),
        ("a: [1 2\nb: 3", 1, 4, None),
        ('a: "\\q"', 1, 5, "single quotes"),
        ("a: * x", 1, 4, "quotes"),
        ("a: & x", 1, 4, "quotes"),
        ("- a\nb: 1", 2, 1, "- "),
        ("cases:\n  - id: a\n   input: b", 3, 4, "line up under its first one"),
        ("cases:\n  - id: a\n  input: b", 3, 3, "line up under its first one"),
        ("a: 1\nb\n", 2, 1, None),
        ("a: 1\n- b\n", 2, 1, "indentation"),
        ("a: %x", 1, 4, None),
        ("'a' 'b'", 1, 5, None),
        ("a: ]", 1, 4, None),
    ],
)
def test_syntax_errors_point_at_the_place(
    text: str, line: int, column: int, hint: str | None
) -> None:
    document = read(text)
    assert not document.readable
    assert document.value is None
    (fault,) = document.problems
    assert fault.code == "syntax"
    assert fault.line == line
    # The opening bracket or quote, or where the reader lost its way on that line.
    assert abs((fault.column or 0) - column) <= 1, fault
    if hint:
        assert hint in (fault.hint or "")


# Keys


def test_an_alias_is_no_key() -> None:
    assert faults_of("x: &k a\n*k : 2") == [("bad-key", 2, 1)]


def test_faults_in_several_places_are_all_told() -> None:
    text = "a: .inf\nb: !x 1\na: 2\nc: {[d]: 1}\ne: 1e999\n"
    assert [code for code, _, _ in faults_of(text)] == [
        "not-json-value", "bad-tag", "duplicate-key", "bad-key", "not-json-value",
    ]  # fmt: skip


# What is wrong with a YAML text, in words that help, at the place that is at fault


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


# `{{name}}` without variables and `file://…` are text, and every way of reading a file says so


ASKED = "Hello {{name}}"
FILE = "file://answer.txt"


def warn_of(path: Path) -> list[tuple[str, int | None, str]]:
    return sorted((each.code, each.line, each.message) for each in evalcase.check([path]))


def write_lines(*cases: dict[str, object]) -> str:
    return "".join(json.dumps(case) + "\n" for case in cases)


@for_each(
    ("name", "text"),
    [
        ("plain.eval.yaml", f'- id: a\n  input: "{ASKED}"\n  expected_output: {FILE}\n'),
        ("block.eval.yaml", f"- id: a\n  input: >-\n    {ASKED}\n  expected_output: {FILE}\n"),
        ("one.jsonl", write_lines({"id": "a", "input": ASKED, "expected_output": FILE})),
        ("more.jsonl", write_lines({"input": ASKED, "expected_output": FILE, "tags": ["x"]})),
        ("doc.json", json.dumps([{"id": "a", "input": ASKED, "expected_output": FILE}])),
        ("slash.jsonl", write_lines({"input": ASKED, "expected_output": FILE}).replace("/", "\\/")),
    ],
)
def test_every_way_of_reading_gives_the_same_warnings(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    tag, file = sorted(warn_of(path), reverse=True)
    assert tag[0] == "no-variables"
    assert "{{name}}" in tag[2]
    assert file[0] == "file-as-text"
    assert FILE in file[2]


def test_what_a_suite_says_for_all_is_warned_of_where_a_case_has_no_variables(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.eval.yaml"
    suite = "input: [{role: system, content: 'You are {{role}}.'}]\ncases:\n"
    with_variables = "- {id: a, vars: {role: kind}, input: hi, expected_output: x}\n"
    path.write_text(suite + with_variables)
    assert warn_of(path) == []
    path.write_text(suite + with_variables + "- {id: b, input: hi, expected_output: x}\n")
    ((code, line, message),) = warn_of(path)
    assert (code, line) == ("no-variables", 1)
    assert message == "{{role}} stays as it is: there are cases without `vars`"


def test_a_suite_that_is_imported_says_that_its_texts_are_meant(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(
        write_lines(
            {"input": "what is {{name}} in jinja?", "expected_output": "a tag"},
            {"input": "file:///etc/hosts", "expected_output": "a file"},
        )
    )
    source = str(tmp_path / "rows.jsonl")
    imported = import_suite(source, "rows", Choices({}), str(tmp_path))
    path = tmp_path / "imported.eval.yaml"
    path.write_text(imported.text)
    assert warn_of(path) == []
    first, second = evalcase.load(path)
    assert first.input[0].content == "what is {{name}} in jinja?"
    assert second.input[0].content == "file:///etc/hosts"


# Numbers that are not written as they are read: told where that is all there is to expect


RESPELT = [("3.10", "3.1"), ("007", "7"), ("12345678901234567890.0", "1.2345678901234567e+19"),
           ("1e3", "1000.0"), ("0x1F", "31"), ("0o14", "12"), ("+5", "5"), (".5", "0.5"),
           ("1.50", "1.5")]  # fmt: skip


@for_each(("written", "read"), RESPELT)
def test_a_number_that_loses_its_spelling_is_told(written: str, read: str) -> None:
    problem = only_problem(f"input: q\nexpected_output: {written}\n")
    assert (problem.code, problem.span) == ("lost-spelling", (2, 18, 2, 18 + len(written)))
    assert f"the number {read}," in problem.message
    assert problem.hint == f'write it in quotes: "{written}"'


@for_each("written", ["4", "-4", "0", "3.1", "1.0", "1e+16", '"3.10"', "3.10.1"])
def test_a_number_that_keeps_its_spelling_is_not(written: str) -> None:
    assert problems_of(f"input: q\nthreshold: 0.80\nexpected_output: {written}\n") == []


@for_each(
    ("expected", "column"),
    [("{role: assistant, content: 3.10}", 45), ("[{role: assistant, content: 3.10}]", 46),
     ("&a 3.10", 18)],
)  # fmt: skip
def test_the_content_of_a_message_is_all_there_is(expected: str, column: int) -> None:
    problem = only_problem(f"input: q\nexpected_output: {expected}\n")
    assert (problem.code, problem.column) == ("lost-spelling", column)
    assert problem.hint == 'write it in quotes: "3.10"'


@for_each("format", ["json", "jsonl"])
@for_each(
    ("written", "told"),
    [("3.10", True), ("12345678901234567890.0", True), ("0.1000000000000000055", True),
     ("1e5", False), ("1E-7", False), ("1e21", False), ("3.0", False), ("100", False)],
)  # fmt: skip
def test_in_json_it_is_digits_that_count(format: Format, written: str, told: bool) -> None:
    text = f'{{"input": "q", "expected_output": {written}}}'
    assert [each.code for each in problems_of(text, format)] == ["lost-spelling"] * told

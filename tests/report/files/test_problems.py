import json

from evalcase.report.github import as_github
from evalcase.report.problems import format_json
from evalcase.types.problem import Problem, Span


def problem(
    span: Span | None = None,
    *,
    code: str = "bad-value",
    message: str = "m",
    path: str = "a.yaml",
    hint: str | None = None,
) -> Problem:
    return Problem(code, message, path, span, hint)


def command(found: Problem) -> str:
    (line,) = as_github([found])
    return line


def test_json_escapes_what_a_terminal_or_utf8_cannot_take() -> None:
    found = problem(message="\x1b\x9b\u202e\x7f\n😀", path="\udcff.yaml")
    text = format_json([found])
    assert '"message": "\\u001b\\u009b\\u202e\\u007f\\n😀"' in text
    assert json.loads(text) == [found.to_dict()]
    assert text.encode()


def test_github_gets_the_whole_place_of_a_span_on_one_line() -> None:
    assert command(problem(Span(3, 5, 3, 9))) == (
        "::error file=a.yaml,line=3,endLine=3,col=5,endColumn=9,title=evalcase%3A bad-value::m"
    )


def test_github_data_is_escaped() -> None:
    line = command(problem(message="100%: a,b %0A ::x::", hint="one\ntwo 5%"))
    assert line.endswith("::100%25: a,b %250A ::x::%0Aone%0Atwo 5%25")


def test_github_commands_are_one_harmless_line_each() -> None:
    line = command(problem(message="a\n::stop-commands::x\x1b[2J", path="\r\udcff", hint="b\r\n"))
    assert line.isprintable()
    assert line.endswith("::a<U+000A>::stop-commands::x<U+001B>[2J%0Ab<U+000D>%0A")

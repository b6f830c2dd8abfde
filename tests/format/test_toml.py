"""TOML: the places of its values, and its faults."""

import tomllib
from datetime import date, datetime, time

from evalcase.format.document import parse_document
from evalcase.format.positions import Lines, Positions
from evalcase.format.toml import compose_toml
from evalcase.types.problem import At, Span
from tests.for_each import for_each

Path = tuple[str | int, ...]


def source(text: str, span: Span) -> str:
    lines = Lines(text)
    return text[lines.offset(*span[:2]) : lines.offset(*span[2:])]


def positions(text: str) -> Positions:
    return Positions(Lines(text), compose_toml(text))


def place(text: str, path: Path, at: At) -> str:
    return source(text, positions(text).span(path, at))


DOCUMENT = """\
# What answers.
target = "agent"   # by default
secrets = [
  "A_KEY", # one
  'B_KEY',
]
[targets."my agent"]
kind = "python"
options.deep = {a = 1, "b c" = [true]}

[[more]]
x = 1979-05-27 07:32:00

[[more]]
x = '''
two'''
"""


@for_each(
    ("path", "at", "expected"),
    [
        (("target",), "key", (2, 1, "target")),
        (("target",), "value", (2, 10, '"agent"')),
        (("secrets", 1), "value", (3, 11, None)),
        (("targets",), "key", (7, 2, "targets")),
        (("targets", "my agent"), "key", (7, 10, '"my agent"')),
        (("targets", "my agent"), "value", (7, 1, '[targets."my agent"]')),
        (("targets", "my agent", "kind"), "value", (8, 8, '"python"')),
        (("targets", "my agent", "options"), "value", (9, 1, None)),
        (
            ("targets", "my agent", "options", "deep", "b c", 0),
            "value",
            (9, 16, '{a = 1, "b c" = [true]}'),
        ),
        (("more", 0, "x"), "value", (12, 5, "1979-05-27 07:32:00")),
        (("more", 1), "value", (14, 1, "[[more]]")),
        (("more", 1, "x"), "value", (15, 5, "'''\ntwo'''")),
        (("more", 1, "nosuch"), "value", (14, 1, "[[more]]")),
        ((), "value", (1, 1, "")),
    ],
)
def test_places(path: Path, at: At, expected: tuple[int, int, str | None]) -> None:
    span = positions(DOCUMENT).span(path, at)
    line, column, text = expected
    assert (span.line, span.column) == (line, column)
    if text is not None:
        assert source(DOCUMENT, span) == text


def test_dates_and_times_are_values_like_others() -> None:
    text = "a = 1979-05-27\nb = 07:32:00\nc = 1979-05-27 07:32:00\n"
    kinds = [type(value) for value in tomllib.loads(text).values()]
    assert kinds == [date, time, datetime]
    assert [place(text, (key,), "value") for key in "abc"] == [
        "1979-05-27", "07:32:00", "1979-05-27 07:32:00",
    ]  # fmt: skip


@for_each(
    ("text", "line", "column", "said"),
    [
        ("a = 1\nb =\n", 2, 1, "invalid value"),
        ("a = agent\n", 1, 5, "invalid value"),
        ("a 1\n", 1, 3, "expected '='"),
        ("é = 1", 1, 1, "invalid statement"),
        ("x = 'é' ü", 1, 9, "newline"),
        ("a = [1,\n 2", 2, 2, "unclosed"),
        ('a = """x', 1, 1, ""),
    ],
)
def test_a_fault_of_the_text_has_a_place(text: str, line: int, column: int, said: str) -> None:
    document = parse_document(text, "toml", "evalcase.toml")
    (problem,) = document.problems
    assert (problem.code, problem.line, problem.column) == ("syntax", line, column)
    assert said in problem.message.lower()
    assert " (at " not in problem.message


@for_each(
    ("text", "line"),
    [
        ("a = 1\nb.c = [\n1]\n'a' = 2\n", 4),
        ("[a.'x y']\n[b]\n[a.\"x y\"]\n", 3),
        ("[[a]]\n[a.b]\n[[a]]\n[a.b]\nc = 1\n\nc = 2\n", 7),
        ("x = 1\na = {b = 1, b = 2}\n", 2),
        ("a = 1\n[a.b]\n", 2),
        ("[a.b]\nc = 1\n[a]\nb.d = 2\n", 4),
    ],
)
def test_what_is_said_twice_is_a_fault_of_its_line(text: str, line: int) -> None:
    (problem,) = parse_document(text, "toml", "evalcase.toml").problems
    assert (problem.code, problem.line, problem.column) == ("duplicate-key", line, 1)


def test_what_can_not_be_held_is_a_fault() -> None:
    for text, code in (
        ("a = " + "[" * 9000, "too-deep"),
        ("a." * 100 + "b = 1", "too-deep"),
        ("a = " + "9" * 5000, "syntax"),
        ("a" + ".a" * 200_000 + " = 1", "too-deep"),
    ):
        (problem,) = parse_document(text, "toml", "evalcase.toml").problems
        assert problem.code == code


def test_dots_elsewhere_are_no_parts_of_a_key() -> None:
    dots, last = "a." * 200, "a." * 99 + "b = 1\n"
    numbers = "n = [" + "1.5, " * 200 + "]\n"
    texts = f"x = '{dots}'\ny = \"{dots}\"\nw = '''{dots}''' # {dots}\n"
    text = f"# {dots}\n{texts}{numbers}{last}"
    document = parse_document(text, "toml", "evalcase.toml")
    assert (document.problems, document.value) == ([], tomllib.loads(text))

"""Places in TOML: every path of a document is found, and what stands there is what was read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalcase.format.document import parse_document
from evalcase.format.positions import Lines, Positions
from evalcase.format.toml import compose_toml
from evalcase.types.problem import At, Span
from tests.for_each import for_each

Draw = st.DrawFn
Path = tuple[str | int, ...]

# Documents nobody wrote: each is made as text, with the paths that have a text of their own.

characters = st.characters(exclude_categories=["Cs", "Cc"])
texts = st.sampled_from(["", "a", "a.b", "#", "'", '"', '""', "=", "[x]", "a\nb", "\\", "é", "ü b"])
texts |= st.text(characters, max_size=6)
bare_keys = st.text("abcXYZ019_-", min_size=1, max_size=3)
keys = bare_keys | texts
blanks = st.sampled_from(["", " ", "\t", "  "])
breaks = st.sampled_from(["\n", "\n\n", "\r\n", " # note\n", "\n# [no.table]\n", "  \n"])


def quoted(text: str) -> str:
    escaped = "".join(
        char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08X}" for char in text
    )
    return f'"{escaped}"'


@st.composite
def spelt_keys(draw: Draw, name: str) -> str:
    ways = [quoted(name)]
    if name and all(char in "abcXYZ019_-" for char in name):
        ways.append(name)
    if "'" not in name and "\n" not in name:
        ways.append(f"'{name}'")
    return draw(st.sampled_from(ways))


@st.composite
def strings(draw: Draw) -> str:
    text = draw(texts)
    ways = [quoted(text), f'"""{quoted(text)[1:-1]}"""', f'"""\n{quoted(text)[1:-1]}"""']
    if "'" not in text:
        ways += [f"'''{text}'''", f"'''\n{text}'''"]
        if "\n" not in text:
            ways.append(f"'{text}'")
    return draw(st.sampled_from(ways))


scalars = strings() | st.sampled_from(
    ["1", "-17", "+1_000", "0xff", "0o17", "1.5", "6e-3", "inf", "-nan", "true", "false",
     "1979-05-27", "07:32:00", "1979-05-27 07:32:00", "1979-05-27T00:32:00.999999-07:00",
     '""""four"""', "'''it's'''", '"""a\\\n   b"""']
)  # fmt: skip


@st.composite
def arrays(draw: Draw, inner: st.SearchStrategy[str]) -> str:
    items = draw(st.lists(inner, max_size=3))
    gaps = [draw(blanks | breaks) for _ in range(len(items) + 1)]
    end = draw(st.sampled_from(["", ",", " , "])) if items else ""
    joined = ",".join(gap + item for gap, item in zip(gaps, items, strict=False))
    return f"[{joined}{end}{gaps[-1]}]"


@st.composite
def inline_tables(draw: Draw, inner: st.SearchStrategy[str]) -> str:
    names = draw(st.lists(keys, max_size=3, unique=True))
    pairs = []
    for name in names:
        dotted = [draw(spelt_keys(name)), *draw(st.lists(bare_keys, max_size=1))]
        pairs.append(f"{draw(blanks)}{' . '.join(dotted)}{draw(blanks)}={draw(inner)}")
    return "{" + ",".join(pairs) + draw(blanks) + "}"


values = st.recursive(scalars, lambda inner: arrays(inner) | inline_tables(inner), max_leaves=5)


@st.composite
def pairs(draw: Draw) -> str:
    names = [draw(spelt_keys(name)) for name in draw(st.lists(keys, min_size=1, max_size=2))]
    key = f"{draw(blanks)}.{draw(blanks)}".join(names)
    return f"{draw(blanks)}{key}{draw(blanks)}={draw(blanks)}{draw(values)}{draw(breaks)}"


@st.composite
def headers(draw: Draw) -> str:
    names = draw(st.lists(st.sampled_from(["a", "b", "c.d", ""]), min_size=1, max_size=3))
    key = " . ".join([draw(spelt_keys(name)) for name in names])
    header = f"[[{key}]]" if draw(st.booleans()) else f"[ {key} ]"
    return header + draw(breaks)


@st.composite
def documents(draw: Draw) -> str:
    parts = draw(st.lists(pairs() | headers(), max_size=8))
    text = draw(breaks | st.just("")).replace(" #", "#") + "".join(parts)
    # Statements that can't stand together are left out, one by one.
    while True:
        try:
            tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            parts.pop()
            text = "".join(parts)
        else:
            return text


def paths(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key), item
        yield from paths(item, (*path, key))


def source(text: str, span: Span) -> str:
    lines = Lines(text)
    return text[lines.offset(*span[:2]) : lines.offset(*span[2:])]


def positions(text: str) -> Positions:
    return Positions(Lines(text), compose_toml(text))


def place(text: str, path: Path, at: At) -> str:
    return source(text, positions(text).span(path, at))


@settings(max_examples=2 * settings().max_examples, suppress_health_check=list(HealthCheck))
@given(documents())
@example('[[a]]\nb = 1\n[[a]]\n[a.c]\nd = """x"""\n[[a.e]]\n')
@example("[a.b]\nc = 1\n[a]\nd = 2\n")
@example("a.b.c = [{x = 1, y.z = [\n1, # one\n]}]\na.d = {}\n")
def test_every_path_is_found_and_what_stands_there_is_its_value(text: str) -> None:
    found = positions(text)
    for path, value in paths(tomllib.loads(text)):
        at_key, at_value = (source(text, found.span(path, at)) for at in ("key", "value"))
        if isinstance(path[-1], str):
            assert parsed_key(at_key) == path[-1], path
        if not stands_in_headers(at_value, value):
            assert repr(tomllib.loads(f"x = {at_value}")["x"]) == repr(value), path


def parsed_key(text: str) -> str:
    (key,) = tomllib.loads(f"{text} = 0")
    return key


def stands_in_headers(text: str, value: Any) -> bool:
    """A table that headers or dotted keys make has no text of its own: it stands where they do."""
    if isinstance(value, dict):
        return not text.startswith("{")
    tables = isinstance(value, list) and all(isinstance(each, dict) for each in value)
    return tables and text.startswith("[[") and text.endswith("]]") and is_header(text)


def is_header(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


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
        (("secrets", 1), "value", (5, 3, "'B_KEY'")),
        (("targets",), "key", (7, 2, "targets")),
        (("targets", "my agent"), "key", (7, 10, '"my agent"')),
        (("targets", "my agent"), "value", (7, 1, '[targets."my agent"]')),
        (("targets", "my agent", "kind"), "value", (8, 8, '"python"')),
        (("targets", "my agent", "options"), "value", (9, 1, None)),
        (("targets", "my agent", "options", "deep", "b c", 0), "value", (9, 33, "true")),
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

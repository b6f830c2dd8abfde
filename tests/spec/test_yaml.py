"""The format, part 1.3: YAML. One test for each thing it says."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.format.positions import Format
from tests.for_each import for_each
from tests.spec.found import Place, only_problem, places, problems_of


def value_of(yaml: str) -> Any:
    """The value of a piece of YAML, read as the expected output of a case."""
    text = f"input: hi\nexpected_output:\n  v: {yaml}\n"
    (case,) = evalcase.loads(text)
    content: Any = case.expected_output[0].content
    return content["v"]


def fault_of(yaml: str) -> Place:
    """The only fault of a piece of YAML that starts in column 1 of line 1."""
    (place,) = places(f"{{input: hi, expected_output: {{v:\n{yaml}\n}}}}\n")
    code, line, column, end_line, end_column = place
    return code, line - 1, column, end_line - 1, end_column


@for_each(
    "text",
    ["no", "No", "on", "off", "yes", "y", "n", "12:30:00", "1:20", "2024-01-01",
     "2024-01-01T12:30:00Z", "1_000", "0b11", "-0o14", "0o8", "+0x1F", "0xG", "nUll", "tRUE",
     "=", ".", "-x", "1e", "e3", "0x", "0o", "1.2.3", "--1", "inf", "nan", "Infinity", ".Nan"],
)  # fmt: skip
def test_plain_scalar_that_is_a_string(text: str) -> None:
    """What only YAML 1.1 takes for something else."""
    assert value_of(text) == text


@for_each(
    ("text", "value"),
    [
        ("0o14", 12),
        ("014", 14),
        ("0", 0),
        ("-17", -17),
        ("+17", 17),
        ("0x1F", 31),
        ("0xff", 255),
        ("1.5", 1.5),
        ("-1.5", -1.5),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("12E-1", 1.2),
        ("-0.0", -0.0),
        ("1.0", 1.0),
        ("true", True),
        ("True", True),
        ("TRUE", True),
        ("false", False),
        ("False", False),
        ("FALSE", False),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("~", None),
        ("", None),
    ],
)
def test_plain_scalar_that_is_a_number_a_boolean_or_null(text: str, value: Any) -> None:
    """The core schema's numbers, booleans and nulls, with their types."""
    found = value_of(text)
    assert (type(found), repr(found)) == (type(value), repr(value))


@for_each("text", ["5", "true", "null", "~", "", "0o14", "1.5", ".inf"])
@for_each("quote", ['"', "'"])
def test_quoted_scalar_is_a_string(text: str, quote: str) -> None:
    """Whatever is in the quotes."""
    assert value_of(f"{quote}{text}{quote}") == text


def test_block_scalar_is_a_string() -> None:
    """Even if it looks like a number."""
    assert value_of("|-\n    5") == "5"
    assert value_of(">\n    true") == "true\n"


@for_each(
    ("yaml", "column", "end_column"),
    [("{a: 1, b: 2, a: 3}", 14, 15), ("{1: a, '1': b}", 8, 11), ("{a: 1, 'a': 1}", 8, 11)],
)
def test_duplicate_keys_are_errors(yaml: str, column: int, end_column: int) -> None:
    """At the second of the two, wherever in the file it is, whatever the spelling."""
    assert fault_of(yaml) == ("duplicate-key", 1, column, 1, end_column)


def test_every_duplicate_key_is_reported() -> None:
    """All of them, with everything else that is wrong."""
    text = "- input: a\n  input: b\n  tags: 5\n- {input: c, input: d, oops: 1}\n"
    assert [place[:3] for place in places(text)] == [
        ("duplicate-key", 2, 3),
        ("wrong-type", 3, 9),
        ("duplicate-key", 4, 14),
        ("unknown-field", 4, 24),
    ]


@for_each(
    ("yaml", "value"),
    [
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!float 5", 5.0),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
        ("!<tag:yaml.org,2002:str> 5", "5"),
        ("! 5", "5"),
    ],
)
def test_core_tags_are_accepted(yaml: str, value: Any) -> None:
    """They mean what they say."""
    found = value_of(yaml)
    assert (type(found), found) == (type(value), value)


@for_each(
    ("yaml", "end_column"),
    [
        ("!foo x", 7),
        ("!!binary aGk=", 14),
        ("!!timestamp 2024-01-01", 23),
        ("!!set {a}", 8),
        ("!!python/object/apply:os.system [ls]", 34),
        ("!!int x", 8),
        ("!!bool yes", 11),
        ("!!map [a]", 8),
        ("!!str {a: 1}", 8),
        ("!<tag:example.org,2000:x> y", 28),
    ],
)
def test_other_tags_are_errors(yaml: str, end_column: int) -> None:
    """Nothing is made of them, and nothing is run."""
    assert fault_of(yaml) == ("bad-tag", 1, 1, 1, end_column)


def test_more_than_one_document_is_an_error() -> None:
    """At the second one."""
    assert places("input: a\n---\ninput: b\n") == [("several-documents", 2, 1, 2, 4)]


def test_undefined_aliases_are_errors() -> None:
    """At the alias; an anchor must come first."""
    assert fault_of("[*a, &a 1]") == ("bad-alias", 1, 2, 1, 4)


@for_each("yaml", ["&a [*a]", "&a {b: [1, *a]}", "&a {b: {<<: *a}}"])
def test_recursive_aliases_are_errors(yaml: str) -> None:
    """At the alias."""
    column = yaml.index("*") + 1
    assert fault_of(yaml) == ("bad-alias", 1, column, 1, column + 2)


def nested(depth: int, open: str, close: str) -> str:
    return open * depth + close * depth


@for_each("format", ["yaml", "json", "jsonl"])
@for_each(("open", "close"), [("[", "]"), ('{"a":', "}")])
def test_nesting_over_100_is_an_error(format: Format, open: str, close: str) -> None:
    """100 levels are fine, the 101st is pointed at."""
    close_by = "1" + close if open != "[" else close
    inner = open * 98 + close_by + close * 97
    (case,) = evalcase.loads(f'{{"input": {{"x": {inner}}}}}', format)
    assert '"x": ' in json.dumps(case.to_dict())
    inner = open * 99 + close_by + close * 98
    column = len('{"input": {"x": ') + 98 * len(open) + 1
    text = f'{{"input": {{"x": {inner}}}}}'
    assert places(text, format) == [("too-deep", 1, column, 1, column + 1)]


def test_nesting_over_100_through_aliases_is_an_error() -> None:
    """It counts what a value is, not how it is written."""
    half = nested(60, "[", "]")
    text = f"x-a: &a {half}\ninput: {{v: {'[' * 50}*a{']' * 50}}}\n"
    assert [place[:3] for place in places(text)] == [("too-deep", 2, 62)]


def test_alias_expansion_over_a_budget_is_an_error() -> None:
    """A few lines can't become gigabytes."""
    lines = ["x-0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 10):
        lines.append(f"x-{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]")
    problem = only_problem("\n".join([*lines, "input: hi"]))
    assert problem.code == "alias-bomb"
    assert problem.excerpt is not None
    assert problem.span is not None
    assert problem.excerpt.text[problem.span.column - 1] == "*"


def test_many_honest_aliases_are_fine() -> None:
    """The budget is far beyond what people write."""
    text = "x-s: &s {role: system, content: Be brief}\ncases:\n" + "".join(
        f"  - input: [*s, {{role: user, content: q{n}}}]\n" for n in range(3000)
    )
    assert len(evalcase.loads(text)) == 3000


@for_each("character", ["\x00", "\x07", "\x08", "\x0b", "\x1b", "\x1f", "\x7f", "\x80"])
def test_raw_control_characters_are_errors(character: str) -> None:
    """In text, at their place."""
    assert fault_of(f'"ab{character}c"') == ("control-character", 1, 4, 1, 5)


@for_each("format", ["json", "jsonl"])
@for_each("character", ["\x00", "\x07", "\x1b", "\t"])
def test_raw_control_characters_are_errors_in_json(format: Format, character: str) -> None:
    """JSON has them only as escapes."""
    text = f'{{"input": "ab{character}"}}'
    assert places(text, format) == [("control-character", 1, 14, 1, 15)]


def test_escaped_control_characters_are_data() -> None:
    """Who writes them as escapes means them."""
    assert value_of(r'"\e[31m\0\x07\t\u001f\x7f"') == "\x1b[31m\0\x07\t\x1f\x7f"
    (case,) = evalcase.loads(r'{"input": "\u001b[31m\u0000\t\u007f"}', "json")
    assert case.input[0].content == "\x1b[31m\0\t\x7f"


@for_each("ending", ["yaml", "json", "jsonl"])
@for_each("bad", [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe9"])
def test_bad_utf_8_is_an_error_at_its_place(tmp_path: Path, ending: str, bad: bytes) -> None:
    """The column counts code points up to the first bad byte."""
    path = tmp_path / f"a.{ending}"
    start = '{"input": "é\N{GRINNING FACE}'.encode()
    path.write_bytes(start + bad + b'"}\n')
    (problem,) = evalcase.check([path])
    assert (problem.code, problem.span) == ("bad-encoding", (1, 14, 1, 15))


def test_bad_utf_8_in_one_line_of_jsonl_leaves_the_others_readable(tmp_path: Path) -> None:
    """Every problem of the file is found."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"input": "a", "oops": 1}\n{"input": "\xff"}\n{"input": 5}\n')
    found = [(each.code, each.span) for each in evalcase.check([path]) if each.case is None]
    assert ("bad-encoding", (2, 12, 2, 13)) in found
    assert ("wrong-type", (3, 11, 3, 12)) in found


@for_each("ending", ["yaml", "json", "jsonl"])
def test_byte_order_mark_makes_no_difference(tmp_path: Path, ending: str) -> None:
    """Neither to the values nor to the places."""
    text = '{"input": "é", "oops": 1}'
    with_mark, without = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    with_mark.write_text(text, "utf-8-sig")
    without.write_text(text, "utf-8")
    (one,), (two,) = evalcase.check([with_mark]), evalcase.check([without])
    assert one.span == two.span == (1, 16, 1, 22)
    good = text.replace("oops", "x-oops")
    with_mark.write_text(good, "utf-8-sig")
    without.write_text(good, "utf-8")
    assert evalcase.load(with_mark).cases == evalcase.load(without).cases


def test_anchors_and_aliases_work() -> None:
    """On values of every kind, and on keys; each use is a value of its own."""
    assert value_of("{a: &x [1], b: *x, c: &y t, d: *y, &k e: 1, f: *k}") == {
        "a": [1], "b": [1], "c": "t", "d": "t", "e": 1, "f": "e",
    }  # fmt: skip
    assert value_of("[&x 5, *x, &x six, *x]") == [5, 5, "six", "six"]
    value = value_of("[&x {a: []}, *x]")
    value[0]["a"].append(1)
    assert value == [{"a": [1]}, {"a": []}]


def test_a_key_may_have_an_anchor_and_be_a_value_elsewhere() -> None:
    assert value_of("[{&k a: v}, *k]") == [{"a": "v"}, "a"]


def in_order(value: Any) -> list[tuple[str, Any]]:
    return list(value.items())


def test_merge_puts_the_keys_where_it_stands() -> None:
    """Not at the start, not at the end."""
    found = value_of("{a: 1, <<: {m: 2, n: 3}, b: 4}")
    assert in_order(found) == [("a", 1), ("m", 2), ("n", 3), ("b", 4)]


def test_merge_loses_against_explicit_keys_which_keep_their_place() -> None:
    """Before the merge or after it."""
    found = value_of("{a: 1, <<: {b: 9, a: 9, c: 2}, b: 3}")
    assert in_order(found) == [("a", 1), ("c", 2), ("b", 3)]


def test_merge_of_a_list_takes_the_earlier() -> None:
    """Of two that have a key, the first one's counts, and its place."""
    found = value_of("{<<: [{a: 1, b: 1}, {c: 2, b: 2, a: 2}], d: 3}")
    assert in_order(found) == [("a", 1), ("b", 1), ("c", 2), ("d", 3)]


def test_merge_is_shallow() -> None:
    """A mapping under a key is replaced, not merged."""
    assert value_of("{<<: {a: {x: 1, y: 2}}, a: {x: 3}}") == {"a": {"x": 3}}


def test_merge_copies_so_that_uses_are_independent() -> None:
    """What is done to one leaves the other alone."""
    found = value_of("[&a {x: []}, {<<: *a}]")
    found[1]["x"].append(1)
    assert found[0] == {"x": []}


@for_each("value", ["5", "text", "null", "[{a: 1}, 5]", "[[{a: 1}]]"])
def test_merge_of_anything_else_is_an_error(value: str) -> None:
    """At the `<<`."""
    assert fault_of(f"{{b: 1, <<: {value}}}") == ("wrong-type", 1, 8, 1, 10)


def test_two_merges_in_one_mapping_are_an_error() -> None:
    """Which one would win? A list tells."""
    assert fault_of("{<<: {a: 1}, <<: {b: 2}}") == ("duplicate-key", 1, 14, 1, 16)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quoted_merge_key_is_a_key(quote: str) -> None:
    """Quotes take its meaning away."""
    assert value_of(f"{{{quote}<<{quote}: {{a: 1}}}}") == {"<<": {"a": 1}}


def test_merge_key_has_no_meaning_in_json() -> None:
    """There it is a key like any other."""
    (case,) = evalcase.loads('{"input": {"<<": {"a": 1}}}', "json")
    assert case.input[0].content == {"<<": {"a": 1}}


@for_each(
    "key", ["1", "1.0", "0x10", "007", "true", "No", "null", "~", "2024-01-01", "1e3", ".inf"]
)
def test_scalar_key_becomes_its_source_text(key: str) -> None:
    """Keys are strings, and no spelling is lost."""
    assert value_of(f"{{{key}: v}}") == {key: "v"}
    assert value_of(f"{{'{key}': v}}") == {key: "v"}


@for_each("key", ["[a, b]", "{a: b}", "[]", "{}"])
def test_collection_as_key_is_an_error(key: str) -> None:
    """At the key."""
    place = fault_of(f"{{b: 1, ? {key} : v}}")
    assert place[:3] == ("bad-key", 1, 10)


def test_template_without_quotes_is_explained() -> None:
    """The commonest reason for a mapping as a key."""
    problem = problems_of("input: {{ question }}\n")[0]
    assert problem.code == "bad-key"
    assert "quotes" in (problem.hint or "")

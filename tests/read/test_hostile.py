"""Input that was made to break a reader, or that a careless editor made.

The answer is an error with its place, or exactly the data. What could crash a process, or fill the
memory, is read by the command in one of its own; so is one file of every other kind.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase.errors import SuiteError
from evalcase.model.problem import Span
from evalcase.read import jsonl, source
from fuzz.invariants import check_span, split_lines
from tests.cli.command import check, check_limited, evalcase_process, shell, unprivileged
from tests.cli.command import evalcase as run

CASE = "cases:\n- input: hi\n  expected_output: ok\n  metadata:\n    v: "
"""A suite whose last value, `v`, is the data of a test: at 5:8, inside 4 mappings and lists."""

LINE_SEPARATORS = ["\x85", "\u2028", "\u2029"]


def write(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def look(path: Path) -> list[dict[str, Any]]:
    """The problems of a file, found in this process."""
    return [problem.to_dict() for problem in evalcase.check([path])]


def fault(folder: Path, name: str, data: str | bytes) -> tuple[str, int, int]:
    """The code and place of the one error in a file."""
    return _only_error(look(write(folder, name, data)), name, data)


def faults_apart(folder: Path, texts: dict[str, str]) -> dict[str, tuple[str, int, int]]:
    """The same of several files, found by the command in a process of its own that gets no more
    than 2 GiB of memory."""
    for name, text in texts.items():
        write(folder, name, text)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in texts}
    for problem in check_limited([folder / name for name in texts], 2 << 20):
        found[Path(problem["path"]).name].append(problem)
    return {name: _only_error(found[name], name, text) for name, text in texts.items()}


def _only_error(
    problems: list[dict[str, Any]], name: str, data: str | bytes
) -> tuple[str, int, int]:
    errors = [problem for problem in problems if problem["severity"] == "error"]
    assert len(errors) == 1, errors
    error = errors[0]
    assert error["message"]
    if isinstance(data, str):
        text = data.removeprefix("\ufeff")
        lines = split_lines(text, "jsonl" if name.endswith(".jsonl") else "yaml")
        span = (error["line"], error["column"], error["end_line"], error["end_column"])
        check_span(Span(*span), lines)
    return error["code"], error["line"], error["column"]


def data_of(folder: Path, name: str, text: str | bytes) -> Any:
    """The value of `v`; the file must be valid."""
    path = write(folder, name, text)
    assert look(path) == []
    return evalcase.load(path).cases[0].metadata["v"]


# Nesting


TOO_DEEP = {
    "flow lists": ("[" * 100_000, 1, 101),
    "flow lists, closed": ("[" * 5_000 + "]" * 5_000, 1, 101),
    "flow mappings": ("{a: " * 100_000, 1, 401),
    "flow lists and mappings in turn": ("[{a: " * 50_000, 1, 251),
    "block lists": ("- " * 20_000 + "x", 1, 201),
    "block mappings": ("".join(f"{' ' * n}a:\n" for n in range(2_000)), 101, 101),
    "question marks": ("? " * 5_000 + "x", 1, 201),
    "flow lists in keys": ("{? [" * 5_000, 1, 201),
    "anchored": ("&a [" * 5_000, 1, 401),
    "tagged": ("!!seq [" * 5_000, 1, 701),
}


def test_yaml_nested_too_deep_in_every_syntax(tmp_path: Path) -> None:
    found = faults_apart(tmp_path, {f"{name}.yaml": TOO_DEEP[name][0] for name in TOO_DEEP})
    for name, (_, line, column) in TOO_DEEP.items():
        assert found[f"{name}.yaml"] == ("too-deep", line, column), name


TOO_DEEP_JSON = {
    "open": ("[" * 100_000, 101),
    "closed": ("[" * 100_000 + "]" * 100_000, 101),
    "shallow": ("[" * 500 + "]" * 500, 101),
    "mappings": ('{"a":' * 100_000, 501),
    "closed mappings": ('{"a":' * 500 + "1" + "}" * 500, 501),
    "brackets in keys": ('[{"]}":' * 50_000, 351),
}


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_json_nested_too_deep(tmp_path: Path, ending: str) -> None:
    texts = {f"{name}.{ending}": text for name, (text, _) in TOO_DEEP_JSON.items()}
    found = faults_apart(tmp_path, texts)
    for name, (_, column) in TOO_DEEP_JSON.items():
        assert found[f"{name}.{ending}"] == ("too-deep", 1, column), name


def test_a_hundred_levels_are_fine_and_one_more_is_not(tmp_path: Path) -> None:
    # The value of `v` is inside four levels already.
    lists: Any = "x"
    for _ in range(96):
        lists = [lists]
    assert data_of(tmp_path, "flow.yaml", CASE + "[" * 96 + "x" + "]" * 96) == lists
    assert data_of(tmp_path, "block.yaml", CASE + "\n    " + "- " * 96 + "x") == lists
    empty = CASE + "[" * 96 + "]" * 96
    assert look(write(tmp_path, "empty.yaml", empty)) == []

    place = ("too-deep", 5, 8 + 96)
    assert fault(tmp_path, "flow.yaml", CASE + "[" * 97 + "x" + "]" * 97) == place
    assert fault(tmp_path, "flow.yaml", CASE + "[" * 97 + "]" * 97) == place
    block = CASE + "\n    " + "- " * 97 + "x"
    assert fault(tmp_path, "block.yaml", block) == ("too-deep", 6, 5 + 2 * 96)


@pytest.mark.parametrize("inside", ["", "1", "{}"])
def test_a_hundred_levels_of_json(tmp_path: Path, inside: str) -> None:
    start = '{"input": "hi", "expected_output": "x", "metadata": {"v": '
    levels = 98 - (inside == "{}")
    fine = start + "[" * levels + inside + "]" * levels + "}}"
    for name in ("x.jsonl", "x.json"):
        (warning,) = look(write(tmp_path, name, fine))
        assert warning["code"] == "nearly-too-deep"
    deeper = start + "[" * (levels + 1) + inside + "]" * (levels + 1) + "}}"
    for name in ("x.jsonl", "x.json"):
        assert fault(tmp_path, name, deeper) == ("too-deep", 1, len(start) + 99)


def test_the_deepest_value_can_be_pointed_at(tmp_path: Path) -> None:
    # The second reading is made for the sake of a warning far down, at level 100.
    deep = "[" * 96 + "x" + "]" * 96
    text = CASE.replace("hi", '""') + deep + "\n"
    problems = look(write(tmp_path, "x.yaml", text))
    assert [(p["code"], p["line"], p["column"]) for p in problems] == [("empty-input", 2, 10)]


# Aliases


def laughs(levels: int) -> str:
    lines = ["x-0: &a0 [" + ", ".join(["lol"] * 10) + "]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * 10)
        lines.append(f"x-{level}: &a{level} [{aliases}]")
    return "\n".join(lines) + "\n"


WIDE = 100_000
LONG = "x" * 1_000_000
BOMBS = {
    "a billion laughs": laughs(10),
    "laughs in mappings": "x-0: &a0 {a: 1, b: 1}\n"
    + "".join(f"x-{n}: &a{n} {{a: *a{n - 1}, b: *a{n - 1}}}\n" for n in range(1, 90)),
    "a wide list": f"x-a: &a [{'1, ' * WIDE}]\nx-b: [{'*a, ' * WIDE}]\n",
    "a long text": f'x-a: &a "{LONG}"\nx-b: [{"*a, " * 5_000}]\n',
    "a long text in a list": f'x-a: &a ["{LONG}"]\nx-b: [{"*a, " * 5_000}]\n',
    "a long key": f'x-a: &a {{? "{LONG}"\n  : 1}}\nx-b: [{"*a, " * 5_000}]\n',
    "merges": "x-a: &a {" + ", ".join(f"k{n}: 1" for n in range(1_000)) + "}\n"
    "x-b: {<<: [" + "*a, " * WIDE + "]}\n",
}


def test_alias_bombs_are_stopped_at_an_alias(tmp_path: Path) -> None:
    ending = "cases: [{input: hi, expected_output: x}]\n"
    texts = {f"{name}.yaml": text + ending for name, text in BOMBS.items()}
    for name, (code, line, column) in faults_apart(tmp_path, texts).items():
        assert code == "alias-bomb", name
        assert texts[name].split("\n")[line - 1][column - 1] == "*", name


@pytest.mark.parametrize("field", ["input", "metadata"])
def test_a_long_text_used_a_thousand_times_in_a_case_is_stopped(tmp_path: Path, field: str) -> None:
    # In `input` it would be written out at once, to make the case's id.
    other = "input: hi" if field != "input" else "description: x"
    text = (
        f"- expected_output: x\n  {other}\n  {field}:\n    a: &a {LONG}\n    b: [{'*a, ' * 5_000}]"
    )
    ((code, line, _),) = faults_apart(tmp_path, {"x.yaml": text}).values()
    assert (code, line) == ("alias-bomb", 5)


def test_an_honest_number_of_aliases_is_fine(tmp_path: Path) -> None:
    shared = ", ".join(f"k{n}: some text" for n in range(50))
    cases = "".join(
        f"- {{id: c{n}, input: hi, expected_output: x, metadata: *m}}\n" for n in range(2_000)
    )
    path = write(tmp_path, "x.yaml", f"x-m: &m {{{shared}}}\ncases:\n{cases}")
    assert look(path) == []


def test_depth_grows_through_aliases_of_aliases(tmp_path: Path) -> None:
    lines = ["x-0: &a0 [1]"] + [f"x-{n}: &a{n} [*a{n - 1}]" for n in range(1, 200)]
    # x-98 holds 99 lists inside the suite's own mapping: that is 100. x-99 is one too deep.
    text = "\n".join([*lines, "cases: [{input: hi, expected_output: x}]"])
    assert fault(tmp_path, "x.yaml", text) == ("too-deep", 100, len("x-99: &a99 [") + 1)
    fine = "\n".join([*lines[:99], "cases: [{input: hi, expected_output: x}]"])
    assert look(write(tmp_path, "x.yaml", fine)) == []


RECURSIVE = {
    "list": ("&a [*a]", 1, 5),
    "mapping": ("x-a: &a {b: *a}", 1, 13),
    "two levels": ("x-a: &a [[*a]]", 1, 11),
    "through a mapping": ("x-a: &a\n  b:\n  - c: *a\n", 3, 8),
    "merge": ("x-a: &a\n  b: 1\n  <<: *a\n", 3, 7),
    "merge list": ("x-a: &a\n  <<: [*a]\n", 2, 8),
    "inside a key": ("x-a: &a\n  ? [*a]\n  : 1\n", 2, 6),
}


def test_recursive_aliases(tmp_path: Path) -> None:
    found = faults_apart(tmp_path, {f"{name}.yaml": RECURSIVE[name][0] for name in RECURSIVE})
    for name, (_, line, column) in RECURSIVE.items():
        assert found[f"{name}.yaml"] == ("recursive-alias", line, column), name


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("*a", 1, 1),
        ("input: *nobody", 1, 8),
        ("x-a: *b\nx-b: &b 1", 1, 6),
        ("x-a: {<<: *b}", 1, 11),
        ("*k : 1", 1, 1),
        ("input: *.md files", 1, 8),
    ],
)
def test_undefined_aliases(tmp_path: Path, text: str, line: int, column: int) -> None:
    code, *place = fault(tmp_path, "x.yaml", text)
    # `*.md` isn't even an alias; both say that such text needs quotes.
    assert code == ("syntax" if "*." in text else "undefined-alias")
    assert place == [line, column] or "*." in text
    assert "quotes" in look(tmp_path / "x.yaml")[0]["hint"]


def test_an_anchor_can_be_given_anew(tmp_path: Path) -> None:
    text = CASE + "[&a 1, *a, &a [2, &a 3, *a], *a]"
    assert data_of(tmp_path, "x.yaml", text) == [1, 1, [2, 3, 3], 3]


# Tags


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 12", "12"),
        ("!!str", ""),
        ("! 12", "12"),
        ("!<tag:yaml.org,2002:str> 1", "1"),
        ('!!int "12"', 12),
        ("!!int 0x1F", 31),
        ("!!float 1", 1.0),
        ("!!float 1.5", 1.5),
        ('!!bool "true"', True),
        ("!!null ''", None),
        ("!!map {a: 1}", {"a": 1}),
        ("!!seq [1]", [1]),
        ("{!!str 1: a}", {"1": "a"}),
        ("&a !!str 1", "1"),
        ("!!str &a 1", "1"),
    ],
)
def test_core_tags_are_accepted(tmp_path: Path, text: str, value: Any) -> None:
    found = data_of(tmp_path, "x.yaml", CASE + text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object:os.system x",
        "!!python/object/apply:os.system [touch pwned]",
        "!!python/name:os.system ''",
        "!custom x",
        "!custom [1]",
        "!custom {a: 1}",
        "!!set {a}",
        "!!binary aGk=",
        "!!timestamp 2024-01-01",
        "!!map [1]",
        "!!seq {a: 1}",
        "!!str [1]",
        "!!int x",
        "!!int 1.5",
        "!!bool yes",
        "!!float abc",
        "!!null x",
        "!<tag:example.com,2024:x> x",
    ],
)
def test_other_tags_are_refused_where_they_stand(tmp_path: Path, text: str) -> None:
    assert fault(tmp_path, "x.yaml", CASE + text + "\n") == ("bad-tag", 5, 8)
    assert [path.name for path in tmp_path.iterdir()] == ["x.yaml"]


def test_a_tag_on_a_key_and_an_unknown_handle(tmp_path: Path) -> None:
    assert fault(tmp_path, "x.yaml", CASE + "{!custom a: 1}") == ("bad-tag", 5, 9)
    assert fault(tmp_path, "x.yaml", CASE + "!e!x 1") == ("syntax", 5, 8)


@pytest.mark.parametrize("text", ["!!float 1" + "0" * 400, "!!float 1e999", "!!float .inf"])
def test_a_tagged_number_that_is_too_large(tmp_path: Path, text: str) -> None:
    assert fault(tmp_path, "x.yaml", CASE + text) == ("not-json-value", 5, 8)


# Size


def test_a_scalar_of_10_megabytes(tmp_path: Path) -> None:
    size = 10_000_000
    for name, start, end in [
        ("x.yaml", '- {id: a, expected_output: y, input: "', '"}'),
        ("x.json", '[{"id": "a", "expected_output": "y", "input": "', '"}]'),
        ("x.jsonl", '{"id": "a", "expected_output": "y", "input": "', '"}'),
    ]:
        path = write(tmp_path, name, start + "x" * size + end)
        assert evalcase.load(path).cases[0].input[0].content == "x" * size
        path.unlink()


def test_an_error_in_a_line_of_10_megabytes_is_found_and_shown_small(tmp_path: Path) -> None:
    text = f'- {{description: "{"x" * 10_000_000}", input: 5}}\n'
    path = write(tmp_path, "x.yaml", text)
    result = run("check", path)
    assert result.code == 2
    assert f"x.yaml:1:{text.index('5}') + 1}: error[wrong-type]" in result.out
    assert len(result.out) < 2_000


def test_hundreds_of_thousands_of_items_on_one_line(tmp_path: Path) -> None:
    assert check(write(tmp_path, "x.yaml", CASE + "[" + "1, " * 300_000 + "]")) == []
    line = '{"input": "hi", "expected_output": [' + "1, " * 300_000 + "1]}"
    assert check(write(tmp_path, "x.jsonl", line)) == []


def test_a_file_over_the_limit_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    with path.open("wb") as file:
        file.truncate((1 << 30) + 1)
    ((code, line),) = [(problem["code"], problem["line"]) for problem in check(path)]
    assert (code, line) == ("too-large", None)


def test_a_line_over_the_limit_ends_the_reading_of_a_jsonl_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert jsonl.MAX_LINE_BYTES == 256 << 20
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 1 << 20)
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(b'{"input": "hi", "expected_output": "x"}\n')
        file.truncate((1 << 20) + 1_000)
    assert [(p["code"], p["line"]) for p in check(path)] == [("too-large", 2)]


def test_standard_input_without_end_is_refused(tmp_path: Path) -> None:
    script = f"ulimit -v {4 << 20}; $EVALCASE check - < /dev/zero"
    result = shell(script, cwd=tmp_path)
    assert result.code == 2
    assert "error[too-large]" in result.out


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
def test_standard_input_over_the_limit_is_refused_in_every_format(
    monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 1 << 20)
    lines = b'{"input": "hi", "expected_output": "x"}\n' * 30_000
    result = run("check", "-", "--stdin-format", format, stdin=lines)
    assert result.code == 2
    assert "error[too-large]" in result.out


# Characters


CONTROLS = ["\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x0e", "\x1b", "\x1f"]
YAML_CONTROLS = [*CONTROLS, "\x7f", "\x80", "\x9b", "\x9f", "\ufffe", "\uffff"]


@pytest.mark.parametrize("char", YAML_CONTROLS, ids=ascii)
def test_raw_control_characters_in_yaml(tmp_path: Path, char: str) -> None:
    for text, line, column in [
        (f'input: "日a{char}b"', 1, 11),
        (f"input: a{char}b", 1, 9),
        (f"# comment\n# a{char}b\ninput: x", 2, 4),
        (f"a{char}b: 1", 1, 2),
        (f"input: |\n  x\n  y{char}\n", 3, 4),
    ]:
        with pytest.raises(SuiteError) as raised:
            evalcase.loads(text)
        (problem,) = raised.value.problems
        assert (problem.code, problem.line, problem.column) == ("control-character", line, column)
        assert f"U+{ord(char):04X}" in problem.message
    assert fault(tmp_path, "x.yaml", f'input: "a{char}b"') == ("control-character", 1, 10)


@pytest.mark.parametrize("char", [*CONTROLS, "\t"], ids=ascii)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_raw_control_characters_in_json(tmp_path: Path, ending: str, char: str) -> None:
    text = f'{{"input": "日a{char}b"}}'
    assert fault(tmp_path, f"x.{ending}", text) == ("control-character", 1, 14)
    if char != "\t":
        code, line, column = fault(tmp_path, f"x.{ending}", f'{{{char}"input": "a"}}')
        assert (line, column) == (1, 2)
        assert code in ("syntax", "control-character")


@pytest.mark.parametrize("char", ["\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028"], ids=ascii)
def test_a_jsonl_line_of_odd_space_is_no_blank_line(tmp_path: Path, char: str) -> None:
    text = f'{{"input": "hi", "expected_output": "x"}}\n{char}\n'
    code, line, column = fault(tmp_path, "x.jsonl", text)
    assert (line, column) == (2, 1)
    assert code in ("syntax", "control-character")


def test_raw_characters_that_only_yaml_refuses_are_data_in_json(tmp_path: Path) -> None:
    value = "\x7f\x80\x85\x9b\ufeff\ufffe\uffff\u2028"
    text = json.dumps({"input": "x", "expected_output": value}, ensure_ascii=False)
    suite = evalcase.load(write(tmp_path, "x.json", text))
    assert suite.cases[0].expected_output[0].content == value


def test_escaped_control_characters_are_data(tmp_path: Path) -> None:
    value = "".join(map(chr, range(0x20))) + "\x7f\x85\x9b\u2028"
    escaped = "".join(f"\\u{ord(char):04x}" for char in value)
    assert data_of(tmp_path, "x.yaml", f'{CASE}"{escaped}"') == value
    assert data_of(tmp_path, "x.yaml", CASE + r'"\0\a\b\t\n\v\f\r\e\N\_\L\P"') == (
        "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029"
    )
    case = f'{{"input": "hi", "expected_output": "x", "metadata": {{"v": "{escaped}"}}}}'
    assert data_of(tmp_path, "x.jsonl", case) == value
    assert data_of(tmp_path, "x.json", f"[{case}]") == value


@pytest.mark.parametrize("escape", [r"\ud800", r"\udfff", r"\uD83D", r"a\ude00b", r"\ude00\ud83d"])
def test_escaped_lone_surrogates(tmp_path: Path, escape: str) -> None:
    text = f'{{"input": "{escape}", "expected_output": "x"}}'
    for ending in ("json", "jsonl"):
        assert fault(tmp_path, f"x.{ending}", text) == ("not-json-value", 1, 11)
    code, line, column = fault(tmp_path, "x.yaml", text)
    assert (code, line) == ("not-json-value", 1)
    assert column >= 11


def test_an_escaped_lone_surrogate_in_yaml_is_named_where_it_stands(tmp_path: Path) -> None:
    assert fault(tmp_path, "x.yaml", 'a: 1\ninput: "abc\\ud800"') == ("not-json-value", 2, 12)
    assert fault(tmp_path, "x.yaml", 'input: "abc\\U0000D800"') == ("not-json-value", 1, 12)


@pytest.mark.parametrize("format", ["yaml", "json", "jsonl"])
@pytest.mark.parametrize("code", [0xD800, 0xDC80, 0xDFFF])
def test_lone_surrogates_in_a_str(format: Any, code: int) -> None:
    surrogate = chr(code)
    for text, column in [
        (f'{{"input": "a{surrogate}b", "expected_output": "x"}}', 13),
        (f'{{"input": "a", "expected_output": "x", "metadata": {{"{surrogate}": 1}}}}', 54),
    ]:
        with pytest.raises(SuiteError) as raised:
            evalcase.loads(text, format)
        (problem,) = raised.value.problems
        assert problem.code in ("bad-encoding", "not-json-value")
        assert problem.line == 1
        # The character itself, or the text it stands in.
        assert problem.column in (column, column - 1, column - 2)


def test_lone_surrogates_in_a_str_that_is_one_case() -> None:
    with pytest.raises(SuiteError) as raised:
        evalcase.parse_case('input: "\ud800"')
    assert raised.value.problems[0].code == "bad-encoding"
    assert raised.value.problems[0].column == 9


def test_escaped_surrogate_pairs(tmp_path: Path) -> None:
    pair = r'"\ud83d\ude00 \uD83D\uDE00"'
    case = f'{{"input": "hi", "expected_output": "x", "metadata": {{"v": {pair}}}}}'
    assert data_of(tmp_path, "x.json", f"[{case}]") == "😀 😀"
    assert data_of(tmp_path, "x.jsonl", case) == "😀 😀"

    path = write(tmp_path, "x.yaml", CASE + pair)
    ((code, line, hint),) = [(p["code"], p["line"], p["hint"]) for p in look(path)]
    assert (code, line) == ("syntax", 5)
    assert ".json" in hint
    assert data_of(tmp_path, "x.yaml", CASE + r'"\U0001F600"') == "😀"


def test_a_backslash_before_what_looks_like_a_surrogate(tmp_path: Path) -> None:
    case = r'{"input": "hi", "expected_output": "x", "metadata": {"v": "\\ud800 \\\\uD800"}}'
    assert data_of(tmp_path, "x.jsonl", case) == r"\ud800 \\uD800"
    assert data_of(tmp_path, "x.yaml", CASE + r'"\\ud800"') == r"\ud800"


# Encodings and line ends


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "x.jsonl"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_other_unicode_encodings(tmp_path: Path, name: str, encoding: str) -> None:
    text = '{"input": "hi", "expected_output": "x"}'
    problems = look(write(tmp_path, name, text.encode(encoding)))
    assert len(problems) == 1
    problem = problems[0]
    assert problem["line"] == 1
    assert problem["column"] in (1, 2)
    if encoding == "utf-16":
        assert problem["code"] == "bad-encoding"
        assert "UTF-16" in problem["message"]


@pytest.mark.parametrize("name", ["x.yaml", "x.json", "x.jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    text = '\ufeff{"input": "hi", "expected_output": "x", "metadata": {"v": "y"}}'
    assert data_of(tmp_path, name, text) == "y"
    wrong = '\ufeff{"input": 5}'
    assert fault(tmp_path, name, wrong) == ("wrong-type", 1, 11)


@pytest.mark.parametrize(
    ("name", "code"), [("x.yaml", "no-cases"), ("x.json", "syntax"), ("x.jsonl", "no-cases")]
)
@pytest.mark.parametrize(
    "text", ["", "\ufeff", "\n", "  \n\t\n", "\r\n\r\n", "\ufeff\n"], ids=ascii
)
def test_files_with_nothing_in_them(tmp_path: Path, name: str, code: str, text: str) -> None:
    if name == "x.yaml" and "\t" in text:
        text = text.replace("\t", " ")
    problems = look(write(tmp_path, name, text))
    assert [problem["code"] for problem in problems] == [code]
    assert problems[0]["line"] is not None


@pytest.mark.parametrize(
    "text", ["# only\n# comments", "---", "--- # x\n", "---\n...\n", "# x\n---\n"]
)
def test_yaml_files_with_only_comments_or_markers(tmp_path: Path, text: str) -> None:
    assert fault(tmp_path, "x.yaml", text)[0] == "no-cases"


def test_a_byte_order_mark_inside_a_text_is_kept(tmp_path: Path) -> None:
    assert data_of(tmp_path, "x.yaml", CASE + '"a\ufeffb"') == "a\ufeffb"
    assert data_of(tmp_path, "x.yaml", CASE + "a\ufeffb") == "a\ufeffb"
    assert data_of(tmp_path, "x.yaml", CASE + "|\n      a\ufeffb\n") == "a\ufeffb\n"


def test_a_byte_order_mark_where_a_value_should_start(tmp_path: Path) -> None:
    # As after `cat a.yaml b.yaml`.
    code, line, _ = fault(tmp_path, "x.yaml", "cases: []\n\ufeffcases: []\n")
    assert (code, line) == ("syntax", 2)
    good = '{"input": "hi", "expected_output": "x"}\n'
    assert fault(tmp_path, "x.jsonl", f"{good}\ufeff{good}") == ("syntax", 2, 1)
    assert fault(tmp_path, "x.json", f"[\n\ufeff{good}]") == ("syntax", 2, 1)


BAD_BYTES = {
    "latin-1": (b"caf\xe9", 4),
    "continuation": (b"a\x80", 2),
    "overlong": (b"\xc0\x80", 1),
    "surrogate": (b"ab\xed\xa0\x80", 3),
    "beyond": (b"\xf4\x90\x80\x80", 1),
    "cut": (b"abc\xe2\x82", 4),
    "after wide characters": ("日本😀".encode() + b"\xff", 4),
}


@pytest.mark.parametrize("name", BAD_BYTES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "bom"])
def test_invalid_utf_8_has_its_place(tmp_path: Path, name: str, mark: bytes) -> None:
    data, column = BAD_BYTES[name]
    text = b'# first\r\n{"input": "' + data + b'"}'
    assert fault(tmp_path, "x.yaml", mark + text) == ("bad-encoding", 2, 11 + column)
    assert fault(tmp_path, "x.yaml", mark + data) == ("bad-encoding", 1, column)
    assert fault(tmp_path, "x.json", mark + text) == ("bad-encoding", 2, 11 + column)
    line = b'{"input": "hi", "expected_output": "x"}\n\n'
    lines = mark + line + text[9:] + b"\n" + line
    assert fault(tmp_path, "x.jsonl", lines) == ("bad-encoding", 3, 11 + column)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=ascii)
def test_every_line_end_counts_as_one(tmp_path: Path, end: str) -> None:
    text = f"cases:{end}- input: |{end}    a{end}    b{end}{end}- input: 5{end}"
    assert fault(tmp_path, "x.yaml", text) == ("wrong-type", 6, 10)
    content = evalcase.loads(text.replace("5", "six")).cases[0].input[0].content
    assert content == "a\nb\n"
    if end != "\r":
        lines = f'{{"input": "hi", "expected_output": "x"}}{end}{end}{{"input": 5}}{end}'
        assert fault(tmp_path, "x.jsonl", lines) == ("wrong-type", 3, 11)
    document = f'[{end}{{"input": "hi", "expected_output": "x"}},{end}{{"input": 5}}]'
    assert fault(tmp_path, "x.json", document) == ("wrong-type", 3, 11)


def test_mixed_line_ends(tmp_path: Path) -> None:
    text = "cases:\r\n- id: a\r  input: x\n  expected_output: y\n\r- input: 5\r\n"
    assert fault(tmp_path, "x.yaml", text) == ("wrong-type", 6, 10)


@pytest.mark.parametrize("char", LINE_SEPARATORS, ids=ascii)
def test_unusual_line_separators_keep_their_value_in_every_style(tmp_path: Path, char: str) -> None:
    text = f"a{char}b"
    for style in (
        text,
        f'"{text}"',
        f"'{text}'",
        f"|\n      {text}\n",
        f"|-\n      {text}",
        f">-\n      {text}",
        f"&a {text}",
        f"!!str {text}",
    ):
        value = data_of(tmp_path, "x.yaml", CASE + style)
        assert value.removesuffix("\n") == text, style
    assert data_of(tmp_path, "x.yaml", CASE + f"[{text}, '{text}']") == [text, text]
    assert data_of(tmp_path, "x.yaml", CASE + f"{{{text}: 1, '{text}2': 2}}") == {
        text: 1,
        f"{text}2": 2,
    }
    folded = data_of(tmp_path, "x.yaml", CASE + f">\n      {text}\n      c\n\n      d\n")
    assert folded == f"{text} c\nd\n"
    assert data_of(tmp_path, "x.yaml", CASE + f"1 # a comment {char} - more") == 1
    case = f'{{"input": "hi", "expected_output": "x", "metadata": {{"v": "{text}"}}}}'
    assert data_of(tmp_path, "x.jsonl", case) == text
    assert data_of(tmp_path, "x.json", f"[{case}]") == text


@pytest.mark.parametrize("char", LINE_SEPARATORS, ids=ascii)
def test_unusual_line_separators_move_no_position(tmp_path: Path, char: str) -> None:
    flow = f'- {{id: "a{char}b{char}", description: {char}, input: 5}}\n'
    assert fault(tmp_path, "x.yaml", flow) == ("wrong-type", 1, flow.index("5") + 1)
    block = f"- id: a\n  description: |\n    a{char}b\n    {char}\n  # {char}\n  input: 5\n"
    assert fault(tmp_path, "x.yaml", block) == ("wrong-type", 6, 10)
    broken = f"- id: a{char}\n  input: [{char}\n"
    assert fault(tmp_path, "x.yaml", broken)[0] == "syntax"
    assert fault(tmp_path, "x.yaml", f"a: {char}\nb: \x07") == ("control-character", 2, 4)
    line = f'{{"id": "a{char}b", "input": 5}}'
    assert fault(tmp_path, "x.jsonl", line + "\n") == ("wrong-type", 1, line.index("5") + 1)
    assert fault(tmp_path, "x.json", f"[\n{line}]") == ("wrong-type", 2, line.index("5") + 1)


def test_private_characters_beside_unusual_line_separators(tmp_path: Path) -> None:
    value = "\U000f0000\u2028\U000f0001\x85\U000ffffd\u2029\U00100000\ue000"
    assert data_of(tmp_path, "x.yaml", f'{CASE}"{value}"') == value
    # Written as escapes they must not be taken for the stand-ins either.
    escaped = r'"\U000F0000 \U000f0001 \U000F0002' + '\u2028\u2029\x85"'
    assert data_of(tmp_path, "x.yaml", CASE + escaped) == (
        "\U000f0000 \U000f0001 \U000f0002\u2028\u2029\x85"
    )


def test_every_private_character_beside_unusual_line_separators(tmp_path: Path) -> None:
    private = "".join(map(chr, [*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE)]))
    value = private + "\u2028\x85"
    assert data_of(tmp_path, "x.yaml", f'{CASE}"{value}"') == value


def test_every_private_character_far_behind_in_a_file_costs_no_time(tmp_path: Path) -> None:
    private = "".join(map(chr, range(0xF0000, 0xFFF00)))
    text = f'{CASE}"{"x" * 5_000_000}\u2028{private}"'
    assert check(write(tmp_path, "x.yaml", text)) == []


# Numbers


INTEGERS = {
    "decimal": ("9" * 4_300, "1" + "0" * 4_300),
    "negative": ("-" + "9" * 4_300, "-1" + "0" * 4_300),
    "positive": ("+" + "9" * 4_300, "+1" + "0" * 4_300),
    "hexadecimal": (hex(10**4_300 - 1), hex(10**4_300)),
    "octal": (oct(10**4_300 - 1), oct(10**4_300)),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_4300_digits_are_the_limit(tmp_path: Path, name: str) -> None:
    fine, too_long = INTEGERS[name]
    expected = -(10**4_300 - 1) if name == "negative" else 10**4_300 - 1
    assert data_of(tmp_path, "x.yaml", CASE + fine) == expected
    assert fault(tmp_path, "x.yaml", CASE + too_long) == ("not-json-value", 5, 8)
    assert fault(tmp_path, "x.yaml", CASE + f"[1, {too_long}]") == ("not-json-value", 5, 12)
    if name in ("decimal", "negative"):
        start = '{"input": "hi", "expected_output": "x", "metadata": {"v": '
        assert data_of(tmp_path, "x.jsonl", start + fine + "}}") == expected
        place = ("not-json-value", 1, len(start) + 1)
        assert fault(tmp_path, "x.jsonl", start + too_long + "}}") == place
        assert fault(tmp_path, "x.json", start + too_long + "}}") == place


def test_a_million_digits_cost_no_time(tmp_path: Path) -> None:
    digits = "1" * 1_000_000
    assert fault(tmp_path, "x.yaml", CASE + digits)[0] == "not-json-value"
    assert fault(tmp_path, "x.yaml", CASE + f"!!int {digits}")[0] == "not-json-value"
    assert fault(tmp_path, "x.yaml", CASE + f"!!float {digits}")[0] == "not-json-value"
    assert fault(tmp_path, "x.yaml", CASE + f"0x{digits}")[0] == "not-json-value"
    line = f'{{"input": "hi", "expected_output": {digits}}}'
    assert fault(tmp_path, "x.jsonl", line)[0] == "not-json-value"


@pytest.mark.parametrize("limit", ["640", "0", "5000"])
def test_another_digit_limit_of_the_process_changes_no_more_than_it_must(
    tmp_path: Path, limit: str
) -> None:
    for ending in ("yaml", "json", "jsonl"):
        for digits in (600, 1_000, 4_301):
            text = f'{{"input": {{"v": {"1" * digits}}}, "expected_output": "x"}}'
            write(tmp_path, f"{digits}.eval.{ending}", text)
    environment = {"PYTHONINTMAXSTRDIGITS": limit}
    result = evalcase_process("check", "--format", "json", cwd=tmp_path, env=environment)
    found = sorted((problem["path"], problem["code"]) for problem in json.loads(result.out))
    assert found == [
        (f"{digits}.eval.{ending}", "not-json-value")
        for digits in (1_000, 4_301)
        for ending in ("json", "jsonl", "yaml")
        if digits > (640 if limit == "640" else 4_300)
    ]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1E400", "123456789e999"])
def test_numbers_too_large_for_a_float(tmp_path: Path, number: str) -> None:
    assert fault(tmp_path, "x.yaml", CASE + number) == ("not-json-value", 5, 8)
    start = '{"input": "hi", "expected_output": "x", "metadata": {"v": '
    place = ("not-json-value", 1, len(start) + 1)
    assert fault(tmp_path, "x.json", start + number + "}}") == place
    assert fault(tmp_path, "x.jsonl", start + number + "}}") == place


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_json_words_that_are_no_json(tmp_path: Path, word: str) -> None:
    for ending in ("json", "jsonl"):
        text = f'{{"input": [{word}], "expected_output": "x"}}'
        problems = look(write(tmp_path, f"x.{ending}", text))
        assert ("not-json-value", 1, 12) in [(p["code"], p["line"], p["column"]) for p in problems]
    assert data_of(tmp_path, "x.yaml", CASE + word) == word


@pytest.mark.parametrize("word", [".inf", "-.inf", "+.INF", ".Inf", ".nan", ".NaN", ".NAN"])
def test_yaml_words_that_are_no_json(tmp_path: Path, word: str) -> None:
    assert fault(tmp_path, "x.yaml", CASE + word) == ("not-json-value", 5, 8)
    assert data_of(tmp_path, "x.yaml", CASE + f"'{word}'") == word


# Documents and directives


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- input: a\n---\n- input: b\n", 2),
        ("--- a\n--- b\n", 2),
        ("---\n---\n", 2),
        ("- input: a\n...\n---\n- input: b\n", 3),
    ],
)
def test_several_documents(tmp_path: Path, text: str, line: int) -> None:
    assert fault(tmp_path, "x.yaml", text) == ("several-documents", line, 1)


def test_a_second_document_without_its_marker(tmp_path: Path) -> None:
    # libyaml wants the marker; either way it is an error, in the right place.
    text = "- input: a\n...\n- input: b\n"
    assert fault(tmp_path, "x.yaml", text) == ("syntax", 3, 1)


@pytest.mark.parametrize("directive", ["%YAML 1.1", "%YAML 1.2"])
def test_a_yaml_directive_changes_nothing(tmp_path: Path, directive: str) -> None:
    assert data_of(tmp_path, "x.yaml", f"{directive}\n---\n{CASE}yes\n...\n") == "yes"


@pytest.mark.parametrize("directive", ["%YAML 2.0", "%YAML", "%YAML 1.2 1.2", "%FOO bar", "%"])
def test_other_directives_are_errors(tmp_path: Path, directive: str) -> None:
    code, line, _ = fault(tmp_path, "x.yaml", f"{directive}\n---\n{CASE}yes")
    assert (code, line) == ("syntax", 1)


def test_a_tag_directive_makes_no_new_tags(tmp_path: Path) -> None:
    text = f"%TAG !e! tag:yaml.org,2002:\n---\n{CASE}"
    assert data_of(tmp_path, "x.yaml", text + "!e!str 1") == "1"
    bad = text + "!e!python/object:os.system 1"
    assert fault(tmp_path, "x.yaml", bad) == ("bad-tag", 7, 8)


@pytest.mark.parametrize(
    ("style", "value"),
    [
        ("|\n      x", "x"),
        ("|\n      x\n", "x\n"),
        ("|\n      x ", "x "),
        ("|\n      x\t", "x\t"),
        ("|\n      x\n      y ", "x\ny "),
        ("|\n      x\n       ", "x\n \n"),
        ("|\n      x\n   ", "x\n"),
        ("|-\n      x \n      ", "x "),
        ("|+\n      x\n      ", "x\n\n"),
        ("|+\n      ", "\n"),
        (">\n      x\n      y ", "x y "),
    ],
)
def test_a_block_scalar_at_the_end_without_a_line_end(
    tmp_path: Path, style: str, value: str
) -> None:
    assert data_of(tmp_path, "x.yaml", CASE + style) == value


@pytest.mark.parametrize(
    "text", ["a: [", "a: {", "a: [ ", "- - ", 'a: "', "a: 'x\n ", "? ", "a: &"]
)
def test_a_file_that_ends_too_soon_has_its_error_inside(tmp_path: Path, text: str) -> None:
    # The helper looks whether the place lies inside the text.
    path = write(tmp_path, "x.yaml", text)
    lines = text.split("\n")
    problems = look(path)
    assert problems
    for problem in problems:
        keys = ("line", "column", "end_line", "end_column")
        check_span(Span(*(problem[key] for key in keys)), lines)


def test_the_command_reads_one_of_every_kind(tmp_path: Path) -> None:
    kinds: dict[str, str | bytes] = {
        **{f"deep {name}.yaml": text for name, (text, _, _) in TOO_DEEP.items()},
        **{f"recursive {name}.yaml": text for name, (text, _, _) in RECURSIVE.items()},
        **{f"bytes {name}.json": data for name, (data, _) in BAD_BYTES.items()},
        **{f"control {ord(char)}.yaml": f"a: {char}" for char in YAML_CONTROLS},
        **{f"separator {ord(char)}.yaml": f"- {char}: 5" for char in LINE_SEPARATORS},
        **{f"integer {name}.yaml": CASE + text for name, (_, text) in INTEGERS.items()},
        "undefined.yaml": "*a",
        "tag.yaml": "!!python/object:os.system x",
        "surrogate.json": '"\\ud800"',
        "utf-16.jsonl": "{}".encode("utf-16"),
        "empty.yaml": "",
        "empty.json": "",
        "empty.jsonl": "",
        "documents.yaml": "a\n---\nb",
    }
    for name, data in kinds.items():
        write(tmp_path, name, data)
    result = run("check", *kinds, cwd=tmp_path)
    assert (result.code, result.stderr) == (2, b"")
    for name in kinds:
        assert f"\n{name}:" in f"\n{result.out}", name


# Files that are no files


GOOD = "- input: hi\n  expected_output: x\n"


def unreadable(path: Path) -> None:
    ((code, place),) = [(p["code"], p["path"]) for p in check(path)]
    assert (code, place) == ("unreadable-file", str(path))


@pytest.fixture
def special(tmp_path: Path) -> Iterator[Path]:
    """A folder with one of each: a pipe nobody writes to, a socket, links to nowhere."""
    (tmp_path / "target").write_text(GOOD)
    (tmp_path / "link.yaml").symlink_to("target")
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    (tmp_path / "null.jsonl").symlink_to("/dev/null")
    (tmp_path / "folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link-to-pipe.yaml").symlink_to("pipe.yaml")
    here = Path.cwd()
    os.chdir(tmp_path)  # the address of a socket may be no longer than about 100 bytes
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.yaml")
            yield tmp_path
    finally:
        os.chdir(here)


def test_a_link_to_a_file_is_that_file(special: Path) -> None:
    assert check(special / "link.yaml") == []


@pytest.mark.parametrize(
    "name",
    "dangling.yaml loop.yaml zero.yaml null.jsonl pipe.yaml pipe.jsonl link-to-pipe.yaml "
    "socket.yaml missing.yaml".split(),
)
def test_what_is_no_regular_file_is_refused_at_once(special: Path, name: str) -> None:
    unreadable(special / name)


def test_a_folder_named_like_a_file_is_searched(special: Path) -> None:
    folder = special / "folder.yaml"
    assert [problem["code"] for problem in check(folder)] == ["no-suites"]
    (folder / "x.eval.yaml").mkdir()
    (folder / "x.eval.yaml" / "y.eval.yaml").write_text(GOOD)
    assert check(folder) == []


def test_a_search_meets_special_files_and_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.eval.yaml")
    (tmp_path / "b.eval.yaml").symlink_to("/dev/zero")
    (tmp_path / "c.eval.yaml").symlink_to("nowhere")
    (tmp_path / "d.eval.yaml").write_text("- input: 5\n")
    (tmp_path / "up").symlink_to("..")
    found = [(Path(p["path"]).name, p["code"]) for p in check(tmp_path)]
    assert found == [
        ("a.eval.yaml", "unreadable-file"),
        ("b.eval.yaml", "unreadable-file"),
        ("c.eval.yaml", "unreadable-file"),
        ("d.eval.yaml", "wrong-type"),
    ]


def test_a_pipe_beside_a_jsonl_file(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", '{"input": "hi", "expected_output": "x"}')
    os.mkfifo(tmp_path / "x.suite.yaml")
    ((code, place),) = [(p["code"], p["path"]) for p in check(path)]
    assert (code, Path(place).name) == ("unreadable-file", "x.suite.yaml")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path, "x.yaml", GOOD)
    path.chmod(0)
    result = unprivileged("check", path)
    assert (result.code, result.stderr) == (2, b"")
    assert "x.yaml: error[unreadable-file]: the file can't be read: Permission denied" in result.out


def test_a_folder_that_may_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "x.eval.yaml", GOOD)
    hidden = tmp_path / "evals"
    hidden.mkdir()
    write(hidden, "y.eval.yaml", "- input: 5")
    hidden.chmod(0)
    try:
        result = unprivileged("check", tmp_path)
    finally:
        hidden.chmod(0o700)
    assert result.code == 2
    assert "evals" in result.out


@pytest.mark.parametrize("name", ["a\0b.yaml", "x" * 5_000 + ".yaml", "x/" * 3_000 + "a.yaml"])
def test_paths_that_can_be_no_file(name: str) -> None:
    with pytest.raises(SuiteError) as raised:
        evalcase.load(name)
    assert [problem.code for problem in raised.value.problems] == ["unreadable-file"]
    assert [problem.code for problem in evalcase.check([name])] == ["unreadable-file"]


def test_files_in_content_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "secret").symlink_to("/etc/passwd")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "huge").open("wb") as file:
        file.truncate((100 << 20) + 1)
    names = {
        "pipe": "bad-file",
        "zero": "file-outside-project",
        "secret": "file-outside-project",
        "/etc/passwd": "file-outside-project",
        "../../../../../../etc/passwd": "file-outside-project",
        "folder/../../outside": "file-outside-project",
        "/dev/zero": "file-outside-project",
        "loop": "missing-file",
        "folder": "bad-file",
        "huge": "bad-file",
        "nowhere": "missing-file",
        "x" * 5_000: "missing-file",
        "a\0b": "missing-file",
    }
    cases = [
        {
            "input": [{"role": "user", "content": [{"type": "file", "path": n}]}],
            "expected_output": "x",
        }
        for n in names
    ]
    path = write(tmp_path, "x.jsonl", "".join(json.dumps(case) + "\n" for case in cases))
    assert [problem["code"] for problem in look(path)] == list(names.values())


def test_nothing_of_a_file_outside_the_project_is_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "evalcase.toml").touch()
    (tmp_path / "secret").write_text("password: hunter2: 3\n")
    (project / "a.eval.yaml").symlink_to("../secret")
    write(project, "b.eval.jsonl", '{"input": "hi", "expected_output": "x"}')
    (project / "b.suite.yaml").symlink_to("../secret")
    problems = check(project)
    assert [Path(problem["path"]).name for problem in problems] == ["a.eval.yaml", "b.suite.yaml"]
    assert {problem["code"] for problem in problems} == {"unreadable-file"}
    assert "hunter2" not in json.dumps(problems)
    result = run("migrate", project)
    assert (result.code, "hunter2" in result.out + result.err) == (2, False)
    assert (tmp_path / "secret").read_text() == "password: hunter2: 3\n"

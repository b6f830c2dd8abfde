"""Input that was made to break a reader, or that a careless editor made.

The answer is an error with its place, or exactly the data. What could crash a process, or fill the
memory, is read by the command in one of its own; so is one file of every other kind.
"""

import json
from pathlib import Path

import pytest

import evalcase
from evalcase.errors import SuiteError
from tests.format.hostile import CASE, INTEGERS, LINE_SEPARATORS, data_of, fault, look, write


def test_raw_characters_that_only_yaml_refuses_are_data_in_json(tmp_path: Path) -> None:
    value = "\x7f\x80\x85\x9b\ufeff\ufffe\uffff\u2028"
    text = json.dumps({"input": "x", "expected_output": value}, ensure_ascii=False)
    suite = evalcase.load(write(tmp_path, "x.json", text))
    assert suite.cases[0].expected_output[0].content == value


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
    assert "the character itself" in hint
    assert data_of(tmp_path, "x.yaml", CASE + r'"\U0001F600"') == "😀"


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


def test_a_byte_order_mark_where_a_value_should_start(tmp_path: Path) -> None:
    # As after `cat a.yaml b.yaml`.
    code, line, _ = fault(tmp_path, "x.yaml", "cases: []\n\ufeffcases: []\n")
    assert (code, line) == ("syntax", 2)
    good = '{"input": "hi", "expected_output": "x"}\n'
    assert fault(tmp_path, "x.jsonl", f"{good}\ufeff{good}") == ("syntax", 2, 1)
    assert fault(tmp_path, "x.json", f"[\n\ufeff{good}]") == ("syntax", 2, 1)


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

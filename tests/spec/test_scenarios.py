"""One test per scenario of the specification of `input` and `expected_output`.

Each runs through every way in: the library (`load`, `loads`, `iter_cases`, `parse_case`) and the
command, for a case written in YAML, in JSON and as a line of JSONL.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest

import evalcase
from evalcase import Case
from evalcase.cli.app import run_command
from evalcase.format.document import parse_document
from evalcase.format.positions import Format

Parsed = tuple[dict[str, Any], list[str]]
"""A case in canonical form, and the codes of the warnings about its names."""
Parse = Callable[[str], Parsed]

FORMATS: tuple[Format, ...] = ("yaml", "json", "jsonl")
WAYS: list[tuple[str, Format]] = [
    *((way, format) for format in FORMATS for way in ("load", "loads", "show")),
    ("iter_cases", "jsonl"),
    ("parse_case", "yaml"),
    ("process", "yaml"),
]


def written(case: str, format: Format) -> str:
    """A case that is given in YAML as the text of a suite file in some format."""
    if format == "yaml":
        return "cases:\n  -\n" + indent(case, "    ")
    value = parse_document(case, "yaml", "case").value
    return json.dumps({"cases": [value]}, indent=2) if format == "json" else json.dumps(value)


def names_only(codes: list[str]) -> list[str]:
    return [code for code in codes if code in ("deprecated-name", "ignored-alias")]


def shown(output: str) -> dict[str, Any]:
    (line,) = output.splitlines()
    case: dict[str, Any] = json.loads(line)
    return case


@pytest.fixture(params=WAYS, ids="-".join)
def parse(
    request: pytest.FixtureRequest, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Parse:
    """Parse a case that is given in YAML by one of the ways in."""
    way, format = request.param
    path = tmp_path / f"suite.eval.{format}"

    def through_library(text: str) -> Parsed:
        codes = [problem.code for problem in evalcase.check([path])]
        if way == "parse_case":
            return evalcase.parse_case(text).to_dict(), names_only(codes)
        if way == "iter_cases":
            (case,) = evalcase.iter_cases(path)
            return case.to_dict(), names_only(codes)
        suite = evalcase.load(path)
        if way == "loads":
            suite = evalcase.loads(path.read_text("utf-8"), format)
        (case,) = suite.cases
        return case.to_dict(), names_only([problem.code for problem in suite.warnings])

    def through_command(_: str) -> Parsed:
        arguments = ["show", "--format", "jsonl", str(path)]
        if way == "process":
            command = [sys.executable, "-m", "evalcase", *arguments]
            done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
            assert (done.returncode, done.stderr) == (0, "")
            output = done.stdout
        else:
            assert run_command(arguments) == 0
            output, errors = capfd.readouterr()
            assert errors == ""
        assert run_command(["check", "--format", "json", str(path)]) == 0
        problems = json.loads(capfd.readouterr().out)
        return shown(output), names_only([problem["code"] for problem in problems])

    def parse(text: str) -> Parsed:
        text = dedent(text)
        path.write_text(written(text, format), "utf-8")
        return (through_command if way in ("show", "process") else through_library)(text)

    return parse


# The system takes `input` as the first name of what a case is given.


def test_string_shorthand_for_single_user_query(parse: Parse) -> None:
    """A string in `input` is one message of the user."""
    case, warnings = parse('input: "What is 2+2?"')
    assert case["input"] == [{"role": "user", "content": "What is 2+2?"}]
    assert warnings == []


def test_full_message_array(parse: Parse) -> None:
    """A list of messages in `input` is kept whole and in order."""
    case, warnings = parse("""\
        input:
          - role: system
            content: "You are a calculator"
          - role: user
            content: "What is 2+2?"
        """)
    assert case["input"] == [
        {"role": "system", "content": "You are a calculator"},
        {"role": "user", "content": "What is 2+2?"},
    ]
    assert warnings == []


def test_input_messages_alias(parse: Parse) -> None:
    """`input_messages` fills `input`, and says that the name is out of date."""
    case, warnings = parse("""\
        input_messages:
          - role: user
            content: "Query"
        """)
    assert case["input"] == [{"role": "user", "content": "Query"}]
    assert "input_messages" not in case
    assert warnings == ["deprecated-name"]


# The system takes `expected_output` as the first name of what is expected, in several shapes.


def test_string_shorthand(parse: Parse) -> None:
    """A string in `expected_output` is one message of the assistant."""
    case, warnings = parse("""\
        input: "What is 2+2?"
        expected_output: "The answer is 4"
        """)
    assert case["expected_output"] == [{"role": "assistant", "content": "The answer is 4"}]
    assert warnings == []


def test_structured_object(parse: Parse) -> None:
    """An object in `expected_output` is the content of one message, with its keys as they are."""
    case, warnings = parse("""\
        input: "Assess this"
        expected_output:
          riskLevel: High
          reasoning: "Explanation"
        """)
    content = {"riskLevel": "High", "reasoning": "Explanation"}
    assert case["expected_output"] == [{"role": "assistant", "content": content}]
    assert list(case["expected_output"][0]["content"]) == ["riskLevel", "reasoning"]
    assert warnings == []


def test_full_message_array_with_tool_calls(parse: Parse) -> None:
    """A list of messages in `expected_output` is kept whole, tool calls and all."""
    case, warnings = parse("""\
        input: "Check the configuration"
        expected_output:
          - role: assistant
            tool_calls:
              - tool: Read
                input: { file_path: "config.json" }
          - role: assistant
            content: { status: "done" }
        """)
    assert case["expected_output"] == [
        {
            "role": "assistant",
            "tool_calls": [{"tool": "Read", "input": {"file_path": "config.json"}}],
        },
        {"role": "assistant", "content": {"status": "done"}},
    ]
    assert warnings == []


def test_expected_messages_alias(parse: Parse) -> None:
    """`expected_messages` fills `expected_output`, and says that the name is out of date."""
    case, warnings = parse("""\
        input: "Query"
        expected_messages:
          - role: assistant
            content: "Answer"
        """)
    assert case["expected_output"] == [{"role": "assistant", "content": "Answer"}]
    assert "expected_messages" not in case
    assert warnings == ["deprecated-name"]


# A primary name beats the alias that stands beside it.


def test_both_input_and_input_messages_specified(parse: Parse) -> None:
    """With both names there, `input` is used and `input_messages` is ignored."""
    case, warnings = parse("""\
        input: "New query"
        input_messages:
          - role: user
            content: "Old query"
        """)
    assert case["input"] == [{"role": "user", "content": "New query"}]
    assert "Old query" not in json.dumps(case)
    assert warnings == ["ignored-alias"]


def test_both_expected_output_and_expected_messages_specified(parse: Parse) -> None:
    """With both names there, `expected_output` is used and `expected_messages` is ignored."""
    case, warnings = parse("""\
        input: "Query"
        expected_output: { riskLevel: High }
        expected_messages:
          - role: assistant
            content: "Old answer"
        """)
    assert case["expected_output"] == [{"role": "assistant", "content": {"riskLevel": "High"}}]
    assert "Old answer" not in json.dumps(case)
    assert warnings == ["ignored-alias"]


def test_every_way_in_gives_one_and_the_same_case(tmp_path: Path) -> None:
    """What a case becomes doesn't depend on how it is written or by which way it comes in."""
    text = "id: sum\ninput: 'What is 2+2?'\nexpected_output: {answer: 4}\n"
    cases: list[Case] = [evalcase.parse_case(text)]
    for format in FORMATS:
        path = tmp_path / f"{format}.eval.{format}"
        path.write_text(written(text, format), "utf-8")
        cases += evalcase.iter_cases(path)
        cases += evalcase.load(path)
        cases += evalcase.loads(path.read_text("utf-8"), format)
    assert cases == [cases[0]] * 10
    assert len({json.dumps(case.to_dict()) for case in cases}) == 1

"""Short ways to read what a text says, for tests of the format."""

from typing import Any

import evalcase
from evalcase.format.positions import Format


def case_of(text: str) -> dict[str, Any]:
    """The canonical form of the only case of a suite."""
    (case,) = evalcase.loads(text)
    return case.to_dict()


def expected_of(value: str) -> Any:
    """The canonical form of an `expected_output` that is written as `value` in flow style."""
    text = f"input: hi\nexpected_output: {value}\n"
    return evalcase.parse_case(text).to_dict()["expected_output"]


def cases_of(text: str, format: Format = "yaml") -> list[dict[str, Any]]:
    return [case.to_dict() for case in evalcase.loads(text, format)]


def inputs_of(text: str) -> list[list[str]]:
    """The texts of the messages of each case."""
    return [[message["content"] for message in case["input"]] for case in cases_of(text)]

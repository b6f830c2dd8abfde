"""Ways to look at input that was made to break a reader."""

from pathlib import Path
from typing import Any

import evalcase
from evalcase.types.problem import Span
from fuzz.invariants import check_span, split_lines

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


RECURSIVE = {
    "list": ("&a [*a]", 1, 5),
    "mapping": ("x-a: &a {b: *a}", 1, 13),
    "two levels": ("x-a: &a [[*a]]", 1, 11),
    "through a mapping": ("x-a: &a\n  b:\n  - c: *a\n", 3, 8),
    "merge": ("x-a: &a\n  b: 1\n  <<: *a\n", 3, 7),
    "merge list": ("x-a: &a\n  <<: [*a]\n", 2, 8),
    "inside a key": ("x-a: &a\n  ? [*a]\n  : 1\n", 2, 6),
}


CONTROLS = ["\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x0e", "\x1b", "\x1f"]


YAML_CONTROLS = [*CONTROLS, "\x7f", "\x80", "\x9b", "\x9f", "\ufffe", "\uffff"]


BAD_BYTES = {
    "latin-1": (b"caf\xe9", 4),
    "continuation": (b"a\x80", 2),
    "overlong": (b"\xc0\x80", 1),
    "surrogate": (b"ab\xed\xa0\x80", 3),
    "beyond": (b"\xf4\x90\x80\x80", 1),
    "cut": (b"abc\xe2\x82", 4),
    "after wide characters": ("日本😀".encode() + b"\xff", 4),
}


INTEGERS = {
    "decimal": ("9" * 4_300, "1" + "0" * 4_300),
    "negative": ("-" + "9" * 4_300, "-1" + "0" * 4_300),
    "positive": ("+" + "9" * 4_300, "+1" + "0" * 4_300),
    "hexadecimal": (hex(10**4_300 - 1), hex(10**4_300)),
    "octal": (oct(10**4_300 - 1), oct(10**4_300)),
}

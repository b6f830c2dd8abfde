"""Late patterns do what compiled ones do, and nothing before they are asked."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from evalcase.text.late_pattern import late_pattern

_IMPORT_ALL = """
import importlib, pkgutil, sys
from re import _compiler

import evalcase

found, compile = set(), _compiler.compile

def note(pattern, *flags):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"] == "re":
        frame = frame.f_back
    found.add(frame.f_globals["__name__"])
    return compile(pattern, *flags)

_compiler.compile = note
for module in pkgutil.walk_packages(evalcase.__path__, "evalcase."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*[name for name in sorted(found) if name.startswith("evalcase.")])
"""


def test_it_does_what_a_compiled_pattern_does() -> None:
    late, compiled = (
        late_pattern(r"(?P<key>\w+)=(\d+)", re.ASCII),
        re.compile(r"(?P<key>\w+)=(\d+)"),
    )
    for _ in range(2):
        assert late.findall("a=1 b=2") == compiled.findall("a=1 b=2")
        assert late.sub("x", "a=1 b") == "x b"
        assert (match := late.fullmatch("a=1")) is not None
        assert match["key"] == "a"
        assert late.fullmatch("a=1 ") is None
        assert [each.start() for each in late.finditer("a=1 b=2")] == [0, 4]
        assert (late.pattern, late.groups) == (compiled.pattern, 2)
    assert late.flags & re.ASCII


def test_bytes_have_patterns_too() -> None:
    assert late_pattern(rb"\d").search(b"a1") is not None


def test_it_is_compiled_when_it_is_first_used() -> None:
    late = late_pattern("(")
    for _ in range(2):
        with pytest.raises(re.error):
            late.search("x")


def test_what_a_pattern_has_not_it_has_not() -> None:
    with pytest.raises(AttributeError, match="serach"):
        late_pattern("x").serach("x")  # type: ignore[attr-defined]


def test_modules_compile_nothing_when_they_are_imported() -> None:
    """The work would be done at each start of the command, for patterns that it doesn't use."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []

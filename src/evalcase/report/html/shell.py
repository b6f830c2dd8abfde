"""The parts of a page that are the same for every run: markup, style and script.

All script is one function in one element, all style is one element, and the policy of the page
knows both by their hashes: nothing else can be executed, whatever the data holds. Comments and
blanks are left out; names stay, so that errors in a browser can be found in the source.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from evalcase.util.files import read_file

_STRING = r"'(?:[^'\\]|\\.)*'"
_PATTERN = r"/(?![ /*])(?:[^/\\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+/"
_SCRIPT = re.compile(
    rf"(?P<template>`)|(?P<literal>{_STRING}|{_PATTERN})|//.*\s*|;(?:\s|//.*)*(?=\}})"
    r"|\s*(?P<sign>[=<>!&|?:,;(){}\[\]*%])(?:\s|//.*)*"
    r"|(?<![+-])\s+(?P<sum>[+-])\s+(?![+-])|\s*(?P<over>/)\s"
)
_IN_TEMPLATE = re.compile(r"\\.|\$\{|`", re.DOTALL)
_IN_EXPRESSION = re.compile(rf"{_STRING}|[{{}}`]")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE = re.compile(r"\s*([{};,>])\s*|(?<=:)\s+")


def squeeze_script(text: str) -> str:
    """The same script, with blanks only where words would run together."""
    lines = "\n".join(line for line in map(str.strip, text.splitlines()) if line)
    parts: list[str] = []
    at = 0
    while found := _SCRIPT.search(lines, at):
        end = _end_of_template(lines, found.end()) if found["template"] else found.end()
        stored = lines[found.start() : end] if found["template"] else _keep_match(found)
        parts += lines[at : found.start()], stored
        at = end
    return "".join((*parts, lines[at:]))


def _keep_match(found: re.Match[str]) -> str:
    return found[found.lastgroup] if found.lastgroup else ""


def _end_of_template(text: str, at: int) -> int:
    """Where the template literal ends whose text begins here; what is in it stays as it is."""
    while found := _IN_TEMPLATE.search(text, at):
        at = _end_of_expression(text, found.end()) if found[0] == "${" else found.end()
        if found[0] == "`":
            return at
    raise ValueError("a template literal has no end")


def _end_of_expression(text: str, at: int) -> int:
    """Where the brace is closed that was opened just before."""
    while found := _IN_EXPRESSION.search(text, at):
        at = found.end()
        if found[0] == "}":
            return at
        if found[0] == "{":
            at = _end_of_expression(text, at)
        elif found[0] == "`":
            at = _end_of_template(text, at)
    raise ValueError("an expression within a template literal has no end")


def squeeze_style(text: str) -> str:
    """The same style, with blanks only where they mean something."""
    bare = _COMMENT.sub("", text).strip()
    return _STYLE.sub(lambda found: found[1] or "", bare).replace(";}", "}")


SCRIPTS = (
    "dom", "text", "data", "numbers", "state", "filters", "grid", "list", "messages", "diff",
    "grades", "labels", "talk", "steps", "case", "charts", "compare", "keys", "main",
)  # fmt: skip
"""In the order in which they are put together: later ones use what earlier ones define."""
SERVED_SCRIPTS = ("watch", *SCRIPTS)
"""Those of a page that comes from `evalcase view`, and may ask it for more. One that is kept can't
even try."""
RUNS_SCRIPTS = ("dom", "text", "data", "numbers", "runs")
"""Those of the list of runs that `evalcase view` shows."""

_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_SERVED = "; connect-src 'self'"
_MOST_BYTES = 1_000_000
"""What a page may do beside that which comes from `evalcase view`: ask it for more."""


class Shell(NamedTuple):
    """What stands before and after the data."""

    head: bytes
    tail: bytes
    policy: str


@cache
def build_shell(scripts: tuple[str, ...] = SCRIPTS) -> Shell:
    """The page without its data."""
    served = scripts != SCRIPTS
    script, style = read_script(scripts), read_style(scripts)
    policy = _POLICY.format(script=_hash_text(script), style=_hash_text(style)) + _SERVED * served
    text = _read_asset("page.html").replace("{policy}", policy).replace("{style}", style)
    head, tail = text.split("{data}")
    return Shell(head.encode(), tail.replace("{script}", script).encode(), policy)


def read_script(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """All files of script, as one function: none of its names can be reached from outside."""
    files = [_read_asset(f"{name}.js") for name in scripts]
    return squeeze_script("\n".join(["(() => {", "'use strict';", *files, "})();"]))


def read_style(scripts: tuple[str, ...] = SCRIPTS) -> str:
    """All style of the page that has these scripts."""
    names = ["page.css", "runs.css" if scripts == RUNS_SCRIPTS else "grid.css"]
    return squeeze_style("".join(map(_read_asset, names)))


def _hash_text(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _read_asset(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    return read_file(path, _MOST_BYTES).decode()

"""Script and style as they are read in, the same without comments and blanks out: a page is kept,
sent and opened more often than its source is read in it.

Names stay as they are, so that what a browser says of an error can be found in the source. It rests
on how the source is written: every statement ends in a semicolon, a division has a blank on either
side, and no text goes over several lines.
"""

from __future__ import annotations

import re

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
        kept = lines[found.start() : end] if found["template"] else _keep_match(found)
        parts += lines[at : found.start()], kept
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

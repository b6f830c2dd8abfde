"""What files of other tools borrow from JavaScript: templates, patterns, conditions, texts.

Templates are read as far as they name variables: `{{name}}` and `{{a.b}}`. A template that
computes (`{% if %}`, filters, calls) is refused: half of it would be another prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from evalcase.importers.draft import write_grader
from evalcase.types.value import JSON
from evalcase.util.json import parse_json

_OPENING = re.compile(r"\{[{%#]")
_TAG = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\s*\}\}")
_STEP = re.compile(r"\w+")
_MAX_TEXT = 1_000_000
_MAX_DEPTH = 5
_MAX_SHOWN = 40
_ONLY_THERE = re.compile(
    r"\\(?:[cpPk]|u\{|u(?![\dA-Fa-f]{4})|x(?![\dA-Fa-f]{2}))|(?<!\[)\[\^?\]|\{,\d+\}|\(\?<\w"
)
_ENDS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.DOTALL)


class UnrenderableError(ValueError):
    """Why a template can't be rendered."""


def has_tags(value: JSON) -> bool:
    if isinstance(value, str):
        return _OPENING.search(value) is not None
    several: Iterable[JSON] = value.values() if isinstance(value, dict) else ()
    return any(has_tags(each) for each in (value if isinstance(value, list) else several))


def refuse_computed(text: str) -> None:
    """Raise UnrenderableError if a template can't be rendered with any variables."""
    for tag in _tags_of(text):
        if tag[1].split(".")[0] == "env":
            raise UnrenderableError(f"`{tag[1]}`, which is of the environment")


def _tags_of(text: str) -> Iterator[re.Match[str]]:
    end = 0
    for opening in _OPENING.finditer(text):
        if opening.start() < end:
            continue
        tag = _TAG.match(text, opening.start())
        if tag is None:
            shown = text[opening.start() : opening.start() + _MAX_SHOWN].split("\n", 1)[0]
            raise UnrenderableError(f"a template that does more than name variables: {shown}")
        end = tag.end()
        yield tag


class Variables(Struct):
    """Values for templates. A value may be a template itself."""

    values: Mapping[str, JSON]
    prefix: str | None = None
    """What may stand before the name of a variable, as in `vars.city`."""
    used: set[str] = set()
    _rendered: dict[str, JSON] = {}
    _depth: int = 0

    def render(self, text: str, unset: list[str] | None = None) -> str:
        """A text with its variables replaced. A variable without a value is empty, and added to
        `unset`; without that list it raises UnrenderableError."""
        parts, end, length = [], 0, 0
        for tag in _tags_of(text):
            value = self._look_up(tag[1], unset)
            if isinstance(value, dict | list):
                what = "a mapping" if isinstance(value, dict) else "a list"
                raise UnrenderableError(f"`{tag[1]}`, which is {what}, within a text")
            parts += [text[end : tag.start()], javascript_text(value)]
            end, length = tag.end(), length + len(parts[-1])
            if length > _MAX_TEXT:
                raise UnrenderableError(f"a template that makes over {_MAX_TEXT:,} characters")
        return "".join([*parts, text[end:]])

    def render_value(self, text: str, unset: list[str] | None = None) -> JSON:
        """The same, but a text that is only one variable becomes its value."""
        alone = _TAG.fullmatch(text.strip())
        value = None if alone is None else self._look_up(alone[1], unset)
        return value if isinstance(value, dict | list) else self.render(text, unset)

    def render_all(self, value: JSON, unset: list[str] | None = None) -> JSON:
        if isinstance(value, str):
            return self.render(value, unset)
        if isinstance(value, list):
            return [self.render_all(each, unset) for each in value]
        if isinstance(value, dict):
            return {name: self.render_all(each, unset) for name, each in value.items()}
        return value

    def _look_up(self, path: str, unset: list[str] | None) -> JSON:
        name, *steps = _STEP.findall(path)
        if name == self.prefix and steps:
            name, *steps = steps
        if name == "env":
            raise UnrenderableError(f"`{path}`, which is of the environment")
        self.used.add(name)
        if name not in self.values:
            if unset is None:
                raise UnrenderableError(f"the variable `{name}`, which nothing sets")
            unset.append(name)
            return None
        value = self._value(name, unset)
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                raise UnrenderableError(f"`{path}`, which leads nowhere")
        return value

    def _value(self, name: str, unset: list[str] | None) -> JSON:
        value = self.values[name]
        if not isinstance(value, str) or not has_tags(value):
            return value
        if self._depth >= _MAX_DEPTH:
            raise UnrenderableError(f"`{name}`, which is made of variables of variables")
        if name not in self._rendered:
            self._depth += 1
            try:
                self._rendered[name] = self.render(value, unset)
            finally:
                self._depth -= 1
        return self._rendered[name]


def javascript_text(value: JSON) -> str:
    """A scalar as JavaScript writes it in a text."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def translate_pattern(pattern: str) -> str:
    """The pattern for Python that finds the same. Raise ValueError if there is none."""
    if found := _ONLY_THERE.search(pattern):
        raise ValueError(f"`{found[0]}` means something else in a pattern of Python")
    # An end in JavaScript is not before a last line feed.
    return _ENDS.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)


# Conditions on the answer, as far as graders say the same

_TEXT = r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`\\$\n]*`"""
_CHANGE = r"\??\.(?:trim|toLowerCase|toUpperCase)\(\)"
_FIELD = r"""\??\.(?!length\b)[A-Za-z_$][\w$]*(?![\w$]|\()|\[(?:\d+|'[\w$-]+'|"[\w$-]+")\]"""
_PART = re.compile(rf"""\s*(?:
    (?P<sign>&&|\|\|)
    | typeof\s+output\s*===?\s*(?:'string'|"string")
    | (?P<not>!)?(?:JSON\.parse\(output\)|output\b)(?P<steps>(?:{_FIELD})*)
      (?P<changes>(?:{_CHANGE})*)(?:
        \??\.(?P<method>includes|startsWith|endsWith)\((?P<text>{_TEXT})\)
        | \??\.length\b\s*(?P<operator>[<>]=?|={{2,3}})\s*(?P<number>\d+)\b(?!\.)
        | \s*(?P<equality>[!=]==?)\s*(?P<value>{_TEXT}|-?\d+(?:\.\d+)?\b|(?:true|false)\b)
    )?
)""", re.VERBOSE)  # fmt: skip
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_GRADERS = {"includes": "contains", "startsWith": "starts_with", "endsWith": "ends_with"}


def grade_expression(code: str) -> list[dict[str, JSON]]:
    """Graders that together say the same as a condition on `output` or a field of it, or as several
    with `&&` or `||` between them. Raise ValueError if there are none."""
    code = _COMMENT.sub("", code).strip().removeprefix("return ").rstrip("; \n")
    parts: list[re.Match[str]] = []
    end = 0
    while end < len(code):
        part = _PART.match(code, end)
        if part is None:
            raise ValueError
        parts.append(part)
        end = part.end()
    signs = {part["sign"] for part in parts[1::2]}
    if len(parts) % 2 == 0 or len(signs) > 1 or None in signs:
        raise ValueError
    graders = [_grade_part(each) for each in parts[::2]]
    if signs == {"||"}:
        return [write_grader("any", [*graders])]
    # Graders of text fail on an empty answer, so a check for one is needed only alone.
    return [each for each in graders if each != write_grader("length", min=1)] or graders[:1]


def _grade_part(part: re.Match[str]) -> dict[str, JSON]:
    change, is_negated = part["changes"] or "", part["not"] is not None
    if part["method"] is None and is_negated:
        raise ValueError  # `!output == 'x'` compares a truth value
    path = ".".join(re.findall(r"[\w$-]+", part["steps"] or "")) or None
    if path is None and "JSON" in part[0]:
        raise ValueError  # what is read as JSON is no text
    if part["operator"] and path is None:  # that of a field may be the length of a list
        return _grade_length(part["operator"], int(part["number"]))
    if not part["method"] and not part["equality"]:
        if part["sign"] or change or path:
            raise ValueError
        return write_grader("length", min=1)
    value = _read_literal(part["text"] or part["value"])
    lower, upper = change.rfind("toLower"), change.rfind("toUpper")
    if isinstance(value, str):
        cased = value if lower == upper else value.upper() if upper > lower else value.lower()
        if not value or value != cased:
            raise ValueError  # a text of the other case is never found
    elif change or path is None:
        raise ValueError
    name = _GRADERS[part["method"]] if part["method"] else "equals"
    grader = write_grader(name, value, path=path, ignore_case=lower != upper or None)
    return {**grader, "not": True} if is_negated or part["equality"] in ("!=", "!==") else grader


def _grade_length(operator: str, number: int) -> dict[str, JSON]:
    least = number + (operator == ">") if operator[0] != "<" else None
    most = number - (operator == "<") if operator[0] != ">" else None
    if least == 0 or (most is not None and most < 0):
        raise ValueError
    return write_grader("length", min=least, max=most)


def _read_literal(source: str) -> JSON:
    if source[0] not in "'\"`":
        return parse_json(source)
    if re.search(r"\\[^nrt'\"\\/]", source):
        raise ValueError
    escapes = {"n": "\n", "r": "\r", "t": "\t"}
    return re.sub(r"\\(.)", lambda each: escapes.get(each[1], each[1]), source[1:-1])

"""What files of other tools borrow from JavaScript: templates, patterns, conditions, texts.

Templates are read as far as they name variables: `{{name}}` and `{{a.b}}`. A template that
computes (`{% if %}`, filters, calls) is refused: half of it would be another prompt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from evalcase.importers.draft import NO_ARGUMENT, write_grader, write_not
from evalcase.types.value import JSON

_OPENING = re.compile(r"\{[{%#]")
_TAG = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\s*\}\}")
_STEP = re.compile(r"\w+")
_MAX_TEXT = 1_000_000
_MAX_DEPTH = 5
_MAX_SHOWN = 40
_SAME_ESCAPES = frozenset("dDwWsSbBnrtvf0123456789")
_TOKEN = re.compile(
    r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\k<(?P<back>\w+)>|\\(?P<escaped>[\s\S])"
    r"|\(\?<(?P<group>\w+)>|(?P<unbounded>\{,\d+\})|(?P<plain>[\s\S])"
)

_SPELLINGS = re.compile(
    r"(?P<text>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`\\$]*`)"
    r"|\??\.(?!length\b)(?P<step>[A-Za-z_$][\w$]*)(?![\w$]|\s*\()"
    r"|typeof\s+output\b|\?\.|&&|\|\||[!=]==?|[!~#`\n]|\b(?:true|false|null)\b"
)
_OPERATORS = {
    "&&": " and ", "||": " or ", "===": "==", "==": "==", "!==": "!=", "!=": "!=", "!": "~",
    "?.": ".", "true": "True", "false": "False", "null": "None", "typeof output": "typeof_output",
    "\n": " ",
}  # fmt: skip
_TERNARY = re.compile(r"([^?]*)\?\s*(?:1|true)\s*:\s*(?:0|false)\s*")
_GRADERS = {"includes": "contains", "startsWith": "starts_with", "endsWith": "ends_with"}
_CHANGES = ("trim", "toLowerCase", "toUpperCase")
_LIMITS: dict[type[ast.cmpop], tuple[int | None, int | None]] = {
    ast.Gt: (1, None), ast.GtE: (0, None), ast.Lt: (None, -1), ast.LtE: (None, 0), ast.Eq: (0, 0),
}  # fmt: skip
"""What has to be added to the number of a comparison, for the least and for the most."""
_NOT_EMPTY: JSON = {"length": {"min": 1}}


class UnrenderableError(ValueError):
    """Why a template can't be rendered."""


def has_tags(value: JSON) -> bool:
    """Whether a text in a value is a template."""
    if isinstance(value, str):
        return _OPENING.search(value) is not None
    several: Iterable[JSON] = value.values() if isinstance(value, dict) else ()
    return any(has_tags(each) for each in (value if isinstance(value, list) else several))


def refuse_computed(text: str) -> None:
    """Raise UnrenderableError if a template can't be rendered with any variables."""
    for tag in _tags_of(text):
        if tag[1].split(".")[0] == "env":
            raise UnrenderableError(f"`{tag[1]}`, which is of the environment")


def tag_names(text: str) -> set[str]:
    """The variables and paths that a template names."""
    return {tag[1] for tag in _tags_of(text)}


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


class Variables:
    """Values for templates. A value may be a template itself."""

    def __init__(
        self, values: Mapping[str, JSON], prefix: str | None = None, kept: Collection[str] = ()
    ) -> None:
        self.values = values
        self.prefix = prefix
        """What may stand before the name of a variable, as in `vars.city`."""
        self.kept = kept
        """Names of variables that stay tags."""
        self.used: set[str] = set()
        self._rendered: dict[str, JSON] = {}

    def render(self, text: str, unset: list[str] | None = None) -> str:
        """A text with its variables replaced. A variable without a value is empty, and added to
        `unset`; without that list it raises UnrenderableError."""
        return self._render(text, unset, 0)

    def render_value(self, text: str, unset: list[str] | None = None) -> JSON:
        """The same, but a text that is only one variable becomes its value."""
        alone = _TAG.fullmatch(text.strip())
        if alone is not None:
            value = self._look_up(alone[1], unset, 0)
            if isinstance(value, dict | list):
                return value
        return self.render(text, unset)

    def render_all(self, value: JSON, unset: list[str] | None = None) -> JSON:
        """A value with all of its texts rendered."""
        if isinstance(value, str):
            return self.render(value, unset)
        if isinstance(value, list):
            return [self.render_all(each, unset) for each in value]
        if isinstance(value, dict):
            return {name: self.render_all(each, unset) for name, each in value.items()}
        return value

    def _render(self, text: str, unset: list[str] | None, depth: int) -> str:
        parts, end, length = [], 0, 0
        for tag in _tags_of(text):
            parts += [text[end : tag.start()], self._text(tag[1], unset, depth)]
            end, length = tag.end(), length + len(parts[-1])
            if length > _MAX_TEXT:
                raise UnrenderableError(f"a template that makes over {_MAX_TEXT:,} characters")
        return "".join([*parts, text[end:]])

    def _text(self, path: str, unset: list[str] | None, depth: int) -> str:
        if path in self.kept:
            self.used.add(path)
            return f"{{{{{path}}}}}"
        value = self._look_up(path, unset, depth)
        if isinstance(value, dict | list):
            what = "a mapping" if isinstance(value, dict) else "a list"
            raise UnrenderableError(f"`{path}`, which is {what}, within a text")
        return javascript_text(value)

    def _look_up(self, path: str, unset: list[str] | None, depth: int) -> JSON:
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
        value = self._value(name, unset, depth)
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                raise UnrenderableError(f"`{path}`, which leads nowhere")
        return value

    def _value(self, name: str, unset: list[str] | None, depth: int) -> JSON:
        value = self.values[name]
        if not isinstance(value, str) or not has_tags(value):
            return value
        if depth >= _MAX_DEPTH:
            raise UnrenderableError(f"`{name}`, which is made of variables of variables")
        if name not in self._rendered:
            self._rendered[name] = self._render(value, unset, depth + 1)
        return self._rendered[name]


def javascript_text(value: JSON) -> str:
    """A scalar as JavaScript writes it in a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def translate_pattern(pattern: str) -> str:
    """The pattern for Python that finds the same. Raise ValueError if there is none."""
    return "".join(_translate_tokens(pattern))


def _translate_tokens(pattern: str) -> Iterator[str]:
    in_class, class_start = False, 0
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token[0]
        if kind == "back":
            yield f"(?P={token['back']})"
        elif kind == "escaped":
            yield _translate_escape(token["escaped"])
        elif kind == "group":
            yield text if in_class else f"(?P<{token['group']}>"
        elif kind == "unbounded":
            yield text if in_class else rf"\{text}"
        elif text == "[" and not in_class:
            in_class, class_start = True, token.end()
            yield text
        elif in_class:
            if text == "]":
                if (held := pattern[class_start : token.start()]) in ("", "^"):
                    raise ValueError(f"`[{held}]` means something else in a pattern of Python")
                in_class = False
            yield rf"\{text}" if text in "[&|~" else text
        else:
            yield r"\Z" if text == "$" else text


def _translate_escape(letter: str) -> str:
    if letter in "cpPkux":  # control characters, properties, and what is no code point
        raise ValueError(f"`\\{letter}` means something else in a pattern of Python")
    if letter.isascii() and letter.isalpha() and letter not in _SAME_ESCAPES:
        return letter
    return letter if letter == "/" else f"\\{letter}"


# Conditions are read by Python's own parser, once their operators are written as Python does


def read_path(code: str) -> str | None:
    """The path of `output.a[0]` or `JSON.parse(output).a[0]`, empty for the whole; else None."""
    try:
        path, case = _read_subject(_parse_expression(code))
    except ValueError:
        return None
    return path if case is None else None


def grade_expression(code: str) -> list[JSON]:
    """Graders that together say the same as a condition on `output`. Raise ValueError if there are
    none: conditions compare lengths, parts, beginnings, ends and values at a path."""
    code = code.strip().removeprefix("return ").removesuffix(";")
    whole = _TERNARY.fullmatch(code)
    return _grade_condition(_parse_expression(whole[1] if whole else code))


def _parse_expression(code: str) -> ast.expr:
    try:
        return ast.parse(_SPELLINGS.sub(_spell, code.strip()), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError from None


def _spell(found: re.Match[str]) -> str:
    """A part of JavaScript as Python writes it. `!` becomes `~`, which binds as strongly."""
    text = found[0]
    if found["text"]:
        if re.search(r"\\[^nrt'\"\\/]", text):
            raise ValueError
        escapes = {"n": "\n", "r": "\r", "t": "\t"}
        return repr(re.sub(r"\\(.)", lambda each: escapes.get(each[1], each[1]), text[1:-1]))
    if found["step"]:
        return f"[{found['step']!r}]"
    if text not in _OPERATORS:
        raise ValueError
    return _OPERATORS[text]


def _grade_condition(node: ast.expr) -> list[JSON]:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            found = [grader for each in values for grader in _grade_condition(each)]
            # Graders of text fail on an empty answer, so a check for one is needed only alone.
            return [each for each in found if each != _NOT_EMPTY] or found[:1]
        case ast.BoolOp(values=values):
            several = [_grade_condition(each) for each in values]
            return [{"any": [each[0] if len(each) == 1 else {"all": each} for each in several]}]
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            found = _grade_condition(operand)
            if len(found) != 1 or found == [_NOT_EMPTY]:
                raise ValueError
            return [write_not(found[0])]
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return [_grade_comparison(left, operator, right)]
        case ast.Call(
            func=ast.Attribute(value=subject, attr=method), args=[ast.Constant(value=str(text))]
        ) if method in _GRADERS:
            path, case = _read_subject(subject)
            options: dict[str, JSON] = {"ignore_case": bool(case) or None, "path": path or None}
            return [write_grader(_GRADERS[method], _check_case(text, case), **options)]
        case ast.Name(id="output"):
            return [_NOT_EMPTY]
    raise ValueError


def _grade_comparison(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> JSON:
    value: JSON = ast.literal_eval(right)
    if isinstance(left, ast.Name) and left.id == "typeof_output":
        if not isinstance(operator, ast.Eq) or value != "string":
            raise ValueError
        return _NOT_EMPTY
    if isinstance(left, ast.Attribute) and left.attr == "length":
        path, _ = _read_subject(left.value)
        limits = _LIMITS.get(type(operator))
        if limits is None or type(value) is not int:
            raise ValueError
        least, most = (None if each is None else value + each for each in limits)
        if (least is not None and least <= 0) or (most is not None and most < 0):
            raise ValueError
        return write_grader("length", NO_ARGUMENT, min=least, max=most, path=path or None)
    path, case = _read_subject(left)
    if isinstance(value, str):
        value = _check_case(value, case)
    elif case is not None or not path or not isinstance(value, int | float | None):
        raise ValueError
    grader = write_grader("equals", value, ignore_case=bool(case) or None, path=path or None)
    if isinstance(operator, ast.NotEq):
        return write_not(grader)
    if not isinstance(operator, ast.Eq):
        raise ValueError
    return grader


def _read_subject(node: ast.expr) -> tuple[str, str | None]:
    """The path into `output`, and the method that changes the case of its text: empty if only its
    ends are trimmed, None if it is as it was."""
    case = None
    steps: list[str] = []
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=change), args=[]) if (
                change in _CHANGES and not steps
            ):
                case = case or ("" if change == "trim" else change)
            case ast.Subscript(value=inner, slice=ast.Constant(value=str() | int() as step)):
                steps.insert(0, str(step))
            case ast.Name(id="output"):
                return ".".join(steps), case
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="JSON"), attr="parse"), args=[inner]
            ) if isinstance(inner, ast.Name):
                pass
            case _:
                raise ValueError
        node = inner


def _check_case(text: str, case: str | None) -> str:
    changed = text.lower() if case == "toLowerCase" else text.upper() if case else text
    if not text or text != changed:
        raise ValueError  # a text of the other case is never found
    return text

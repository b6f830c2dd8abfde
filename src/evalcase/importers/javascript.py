"""What files of other tools borrow from JavaScript: templates, patterns, conditions, texts.

Templates are read as far as they name variables: `{{name}}` and `{{a.b}}`. A template that
computes (`{% if %}`, filters, calls) is refused: half of it would be another prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from evalcase.importers.draft import NO_ARGUMENT, write_grader, write_not
from evalcase.types.value import JSON
from evalcase.util.json import parse_json

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
_OTHER_ESCAPES = {
    "c": "a control character (`\\c`)", "p": "a property (`\\p`)", "P": "a property (`\\P`)",
    "k": "`\\k`", "u": "`\\u`", "x": "`\\x`",
}  # fmt: skip

_TEXT = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`[^`\\$]*`"
_LITERAL = re.compile(rf"\s*({_TEXT}|-?\d+(?:\.\d+)?\b|true\b|false\b|null\b)")
_SUBJECT = re.compile(r"\s*(?:JSON\.parse\(\s*output\s*\)|output\b)")
_PATH_STEP = re.compile(r"\??\.([A-Za-z_$][\w$]*)(?![\w$]|\s*\()|\[(\d+)\]|\[['\"]([\w-]+)['\"]\]")
_CHANGE = re.compile(r"\.(trim|toLowerCase|toUpperCase)\(\)")
_METHOD = re.compile(r"\.(includes|startsWith|endsWith)\(")
_LENGTH = re.compile(r"\.length\s*(===?|>=?|<=?)\s*(\d+)(?![.\d])")
_EQUALITY = re.compile(r"\s*(===?|!==?)")
_IS_TEXT = re.compile(r"\s*typeof\s+output\s*===?\s*(?:'string'|\"string\")")
_TERNARY = re.compile(r"([^?]*)\?\s*(?:1|true)\s*:\s*(?:0|false)\s*")
_GRADERS = {"includes": "contains", "startsWith": "starts_with", "endsWith": "ends_with"}


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

    def __init__(self, values: Mapping[str, JSON], prefix: str | None = None) -> None:
        self.values = values
        self.prefix = prefix
        """What may stand before the name of a variable, as in `vars.city`."""
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
    if letter in _OTHER_ESCAPES:
        raise ValueError(f"{_OTHER_ESCAPES[letter]} means something else in a pattern of Python")
    if letter.isascii() and letter.isalpha() and letter not in _SAME_ESCAPES:
        return letter
    return letter if letter == "/" else f"\\{letter}"


def read_path(code: str) -> str | None:
    """The path of `output.a[0]` or `JSON.parse(output).a[0]`, empty for the whole; else None."""
    reader = _ExpressionReader(code.strip())
    path = reader.path() if reader.take(_SUBJECT) else None
    return path if reader.is_at_end() else None


def grade_expression(code: str) -> list[JSON]:
    """Graders that together say the same as a condition on `output`. Raise ValueError if there are
    none: conditions compare lengths, parts, beginnings, ends and values at a path."""
    code = code.strip().removeprefix("return ").removesuffix(";")
    whole = _TERNARY.fullmatch(code)
    reader = _ExpressionReader(whole[1] if whole else code)
    graders = reader.conjunction_or_any()
    if not reader.is_at_end() or not graders:
        raise ValueError
    return graders


class _ExpressionReader:
    """A recursive-descent reader of `a && (b || !c)`."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.position = 0

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.code, self.position)
        self.position = found.end() if found else self.position
        return found

    def takes(self, sign: str) -> bool:
        return self.take(re.compile(rf"\s*{re.escape(sign)}")) is not None

    def is_at_end(self) -> bool:
        return not self.code[self.position :].strip()

    def conjunction_or_any(self) -> list[JSON]:
        several = [self._conjunction()]
        while self.takes("||"):
            several.append(self._conjunction())
        if len(several) == 1:
            return several[0]
        if not all(several):
            raise ValueError
        return [{"any": [each[0] if len(each) == 1 else {"all": each} for each in several]}]

    def _conjunction(self) -> list[JSON]:
        found, has_truthy = self._operand()
        while self.takes("&&"):
            more, is_truthy = self._operand()
            found, has_truthy = found + more, has_truthy or is_truthy
        # Graders of text fail on an empty answer, so a check for one is needed only alone.
        return found or ([{"length": {"min": 1}}] if has_truthy else [])

    def _operand(self) -> tuple[list[JSON], bool]:
        """Graders, or that the output is not empty."""
        if self.take(_IS_TEXT):
            return [], True
        if self.takes("!"):
            graders, _ = self._operand()
            if len(graders) != 1:
                raise ValueError
            return [write_not(graders[0])], False
        if self.takes("("):
            graders = self.conjunction_or_any()
            if not self.takes(")"):
                raise ValueError
            return graders, False
        if not self.take(_SUBJECT):
            raise ValueError
        return self._comparison()

    def path(self) -> str:
        steps = []
        while step := self.take(_PATH_STEP):
            if step[1] == "length":
                self.position = step.start()
                break
            steps.append(next(filter(None, step.groups())))
        return ".".join(steps)

    def _comparison(self) -> tuple[list[JSON], bool]:
        path = self.path() or None
        case = None
        while change := self.take(_CHANGE):
            case = case if change[1] == "trim" else change[1]
        if method := self.take(_METHOD):
            text = self._text(case)
            if not self.takes(")"):
                raise ValueError
            return [write_grader(_GRADERS[method[1]], text, ignore_case=bool(case) or None,
                                 path=path)], False  # fmt: skip
        if length := self.take(_LENGTH):
            number, operator = int(length[2]), length[1].rstrip("=") or "="
            is_exclusive = length[1] in ("<", ">")
            least = number + is_exclusive if operator in (">", "=") else None
            most = number - is_exclusive if operator in ("<", "=") else None
            if least == 0 or most == -1:
                raise ValueError
            return [write_grader("length", NO_ARGUMENT, min=least, max=most, path=path)], False
        if equality := self.take(_EQUALITY):
            start = self.position
            literal = self.take(_LITERAL)
            if literal is not None and literal[1][0] in "'\"`":
                self.position = start
                value: JSON = self._text(case)
            elif literal is not None and path is not None and case is None:
                value = parse_json(literal[1])
            else:
                raise ValueError
            grader = write_grader("equals", value, ignore_case=bool(case) or None, path=path)
            return [write_not(grader) if equality[1].startswith("!") else grader], False
        if path is not None or case is not None:
            raise ValueError
        return [], True

    def _text(self, case: str | None) -> str:
        literal = self.take(_LITERAL)
        if literal is None or literal[1][0] not in "'\"`":
            raise ValueError
        text = _unescape(literal[1][1:-1])
        changed = text.lower() if case == "toLowerCase" else text.upper() if case else text
        if not text or text != changed:
            raise ValueError  # a text of the other case is never found
        return text


def _unescape(text: str) -> str:
    if re.search(r"\\[^nrt'\"\\/]", text):
        raise ValueError
    return re.sub(
        r"\\(.)", lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), text
    )

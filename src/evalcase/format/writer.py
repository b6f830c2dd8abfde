"""Suites to files that people like to read: YAML with short forms, a sensible order of keys, texts
as blocks and comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from json import dumps
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeAlias

from evalcase.errors import SuiteError
from evalcase.format.case import read_expected_output, read_input
from evalcase.format.document import Findings
from evalcase.format.graders import read_grader_list
from evalcase.format.load import load_text
from evalcase.format.source import suite_name
from evalcase.graders.base import Known
from evalcase.types.case import Suite
from evalcase.types.problem import Finding, KeyPath
from evalcase.types.value import copy_value
from evalcase.util.text import STEERING, make_visible

Comments: TypeAlias = "Mapping[int, Sequence[str]]"
_NO_COMMENTS: Comments = MappingProxyType({})


# A suite as the text of a file.

_SUITE_ORDER = (
    "$schema", "name", "description", "tags", "metadata", "target", "targets", "repeat",
    "threshold", "timeout_s", "vars", "var_files", "matrix", "rows", "input", "graders",
)  # fmt: skip
_CASE_ORDER = (
    "id", "description", "tags", "skip", "conversation_id", "target", "targets", "vars",
    "var_files", "matrix", "rows", "input", "turns", "stop_on_failure", "user", "expected_output",
    "criteria", "criteria_judge", "rubrics", "suite_graders", "graders", "repeat", "threshold",
    "timeout_s", "metadata",
)  # fmt: skip
"""What a case is, what goes in, what should come out, how it is graded. Other fields come last."""


def suite_text(suite: Suite, path: str, known: Known) -> str:
    """The text of a file at this path. Raise SuiteError if it would not load as that suite."""
    about, cases = suite.about(), [case.to_dict() for case in suite]
    if about.get("name") == suite_name(path):
        del about["name"]
    written = shorten(about, known)
    written["cases"] = [shorten(case, known) for case in cases]
    text = "".join(suite_lines(written))
    loaded = load_text(text, "yaml", known, path)
    if loaded.suite is None:
        raise SuiteError(loaded.problems)
    if dumps(loaded.suite.to_dict()) != dumps(suite.to_dict()):
        raise ValueError("the suite has fields that no file can have")
    return text


def suite_lines(
    written: Mapping[str, Any], comments: Comments = _NO_COMMENTS, top: Sequence[str] = ()
) -> Iterator[str]:
    """The text of a suite, in chunks, with comments above cases, by their numbers, and at the top.
    Nothing is shortened: `shorten` does that."""
    value = _lay_out(written, _SUITE_ORDER)
    cases = value.pop("cases", None)
    head = "".join(_comment_lines(top, 0))
    yield f"{head}\n" if head else ""
    yield from write_yaml(value) if value or not isinstance(cases, list) else ()
    if not isinstance(cases, list):
        return
    yield "\n" if value else ""
    yield "cases:\n" if cases else "cases: []\n"
    before = ""
    for number, case in enumerate(cases):
        # A blank line after a text that ends in blank lines would become part of the text.
        yield "\n" if number and not before.endswith("\n\n") else ""
        yield from _comment_lines(comments.get(number, ()), STEP)
        before = "".join(_block_lines([_lay_out(case, _CASE_ORDER)], STEP))
        yield before
    yield from _comment_lines(comments.get(len(cases), ()), STEP)


def _lay_out(fields: Mapping[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """The fields in order, with small mappings marked to be written on one line."""
    names = sorted(fields, key=lambda name: order.index(name) if name in order else len(order))
    value = {name: fields[name] for name in names}
    if isinstance(value.get("graders"), list):
        value["graders"] = [_in_line(grader) for grader in value["graders"]]
    if isinstance(value.get("turns"), list):
        value["turns"] = [
            _lay_out(turn, order) if isinstance(turn, dict) else turn for turn in value["turns"]
        ]
    if isinstance(value.get("repeat"), dict):
        value["repeat"] = Inline(value["repeat"])
    return value


def _in_line(grader: Any) -> Any:
    """`- length: {max: 20}` is easier to read than three lines."""
    if not isinstance(grader, dict) or len(grader) != 1:
        return grader
    ((name, options),) = grader.items()
    if isinstance(options, list):
        return {name: [_in_line(each) for each in options]}
    return {name: Inline(options) if isinstance(options, dict) else options}


# Short forms.

_Reader = Callable[[Any, KeyPath, Findings], object]


def shorten(fields: dict[str, Any], known: Known) -> dict[str, Any]:
    """The fields of a suite, a case or a turn, each in the shortest form that means the same."""
    short: dict[str, Any] = {}
    for name, value in copy_value(fields).items():
        if name == "targets" and isinstance(value, list) and len(value) == 1 and value[0]:
            short["target"] = value[0]
        else:
            short[name] = _shorten_field(name, value, known)
    return short


def _shorten_field(name: str, value: Any, known: Known) -> object:
    if name == "input":
        return _shortest(value, _message_forms(value), read_input, known)
    if name == "expected_output":
        return _shortest(value, _message_forms(value), read_expected_output, known)
    if name == "repeat" and isinstance(value, dict) and "times" in value:
        return value["times"] if len(value) == 1 else value
    if name == "user" and isinstance(value, dict) and "first" in value:
        return {**value, "first": _shorten_field("input", value["first"], known)}
    if name == "rubrics" and isinstance(value, list):
        is_text = [isinstance(each, dict) and [*each] == ["text"] for each in value]
        return [each["text"] if short else each for each, short in zip(value, is_text, strict=True)]
    if name == "turns" and isinstance(value, list):
        return [_shorten_turn(each, known) for each in value]
    if name == "graders" and isinstance(value, list):
        return [_shorten_grader(each, known) for each in value]
    return value


def _shortest(value: object, forms: Iterable[object], read: _Reader, known: Known) -> object:
    """The first form that is read as the value is, without any problem; else the value."""

    def meaning(form: object) -> tuple[str | None, Findings]:
        findings = Findings(known)
        canonical = read(copy_value(form), ("",), findings)
        is_valid = canonical is not None and not findings.errors
        return dumps(canonical) if is_valid else None, findings

    meant, _ = meaning(value)
    for form in forms if meant is not None else ():
        formed, findings = meaning(form)
        if formed == meant and not findings.found:
            return form
    return value


def _message_forms(messages: object) -> Iterator[object]:
    """A single message as its content, or without the list around it."""
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], dict):
        content = messages[0].get("content")
        if content is not None:
            yield content
        yield messages[0]


def _shorten_turn(turn: object, known: Known) -> object:
    """A turn is a small case. One that has only a text as its input is that text."""
    if not isinstance(turn, dict):
        return turn
    short = shorten(turn, known)
    return short["input"] if [*short] == ["input"] and type(short["input"]) is str else short


def _shorten_grader(grader: object, known: Known) -> object:
    if not isinstance(grader, dict) or not isinstance(grader.get("type"), str):
        return grader
    name = grader["type"]
    options = {key: value for key, value in grader.items() if key != "type"}
    declared = known.grader(name)
    for inner in declared.naming("graders") if declared is not None else ():
        if inner in options:
            options[inner] = _shorten_field("graders", options[inner], known)
    forms: list[object] = [{name: options}, {"type": name, **options}]
    if len(options) == 1:
        forms.insert(0, {name: next(iter(options.values()))})
    if not options:
        forms.insert(0, name)
    return _shortest(grader, forms, lambda each, *at: read_grader_list([each], *at), known)


def keep_literal(fields: dict[str, Any], finding: Finding, field: str) -> None:
    """Change a case so that a text which looks like a variable or a file address is only text."""
    if finding.code == "no-variables":
        fields["rendered"] = True
    elif finding.code == "file-as-text" and field in ("input", "expected_output", "turns"):
        *above, last = finding.path[finding.path.index(field) :]
        part: Any = fields
        for key in above:
            part = part[key]
        if isinstance(part[last], str):
            role = "assistant" if last == "expected_output" else "user"
            messages = [{"role": role, "content": part[last]}]
            part[last] = {"input": messages} if isinstance(last, int) else messages


# YAML.

STEP = 2
LONGEST_SIMPLE_KEY = 1000
"""libyaml gives up on a `key:` whose colon is more than 1024 characters away."""
LONGEST_FLOW_ITEM = 24
LONGEST_FLOW = 72


class Inline(dict[str, Any]):
    """A mapping that is written on one line, `{a: 1, b: 2}`, if it is short."""


def write_yaml(value: object) -> Iterator[str]:
    """Yield the text in chunks. Raise TypeError or ValueError for what is no JSON value."""
    text = _on_one_line(value, 0)
    if text is not None:
        yield f"{text}\n"
    else:
        yield from _block_lines(value, 0)


def _comment_lines(comments: Iterable[str], indent: int) -> Iterator[str]:
    for comment in comments:
        for line in comment.split("\n"):
            yield f"{' ' * indent}{f'# {make_visible(line)}'.rstrip()}\n"


def _block_lines(value: object, indent: int) -> Iterator[str]:
    """A list or mapping in block style: its entries, each a chunk of whole lines."""
    assert isinstance(value, dict | list)
    pad = " " * indent
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        start = pad + (_key_text(step, indent) if isinstance(value, dict) else "-")
        text = _on_one_line(item, indent)
        if text is not None:
            yield f"{start} {text}\n"
        elif isinstance(value, dict):
            yield f"{start}\n"
            yield from _block_lines(item, indent + STEP)
        else:  # the first entry stands on the line of the dash
            chunks = _block_lines(item, indent + STEP)
            yield f"{start} {next(chunks)[indent + STEP :]}"
            yield from chunks


def _key_text(key: object, indent: int) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key must be a string, not {type(key).__name__}")
    text = scalar_text(key)
    return f"{text}:" if len(text) <= LONGEST_SIMPLE_KEY else f"? {text}\n{' ' * indent}:"


def _on_one_line(value: object, indent: int) -> str | None:
    """What starts on the line of its key or dash; None for a collection in block style."""
    if isinstance(value, dict | list):
        if not value:
            return "{}" if isinstance(value, dict) else "[]"
        return _flow_text(value)
    literal = _literal_text(value, indent + STEP) if isinstance(value, str) else None
    return scalar_text(value) if literal is None else literal


def _flow_text(value: dict[str, Any] | list[Any]) -> str | None:
    """A short list of scalars, or a mapping that is to stand on one line, if there is room."""
    is_list = isinstance(value, list)
    if len(value) * 2 > LONGEST_FLOW or not (is_list or isinstance(value, Inline)):
        return None
    texts = []
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, dict | list):
            text = None if is_list else _flow_text(item)
        else:
            is_long = isinstance(item, str) and "\n" in item
            text = None if is_long else scalar_text(item, in_flow=True)
        if text is None or (is_list and len(text) > LONGEST_FLOW_ITEM):
            return None
        texts.append(text)
    if is_list:
        text = f"[{', '.join(texts)}]"
    else:
        keys = [scalar_text(key, in_flow=True) for key in value]
        pairs = [f"{key}: {text}" for key, text in zip(keys, texts, strict=True)]
        text = f"{{{', '.join(pairs)}}}"
    return text if len(text) <= LONGEST_FLOW else None


_NOT_PLAIN = re.compile(f"[\x00-\x1f{STEERING}]")
_NOT_IN_LITERAL = re.compile(f"[\x00-\x08\x0b-\x1f{STEERING}]")
_STEERING = re.compile(f"[{STEERING}]")

# Digits and signs are left out: numbers, dates and times of YAML 1.1 all start with one.
_PLAIN = re.compile(r"(?:[^\W\d]|[/($<]|[^\x00-\x7f\d])(?:(?!: | #).)*(?<![:\s])")
_PLAIN_IN_FLOW = re.compile(r"[^\W\d](?:[\w ./@+-]*[\w./@+-])?")
_WORDS_WITH_MEANING = frozenset("y n yes no on off true false null <<".split())


def scalar_text(value: object, *, in_flow: bool = False) -> str:
    """The spelling of a scalar on one line. A text is quoted if a loader of YAML 1.1 or 1.2 could
    take it for something else."""
    if isinstance(value, str):
        is_plain = (
            (_PLAIN_IN_FLOW if in_flow else _PLAIN).fullmatch(value)
            and value.lower() not in _WORDS_WITH_MEANING
            and value == value.strip()
            and not _NOT_PLAIN.search(value)
        )
        return value if is_plain else quoted_text(value)
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError(f"{value} isn't a JSON value")
        text = float.__repr__(value)
        # YAML 1.1 takes 1e+16 for a string: there a float needs its point.
        return text if "." in text else text.replace("e", ".0e")
    if value is None or isinstance(value, bool | int):
        return dumps(value)
    raise TypeError(f"{type(value).__name__} isn't a JSON value")


def quoted_text(text: str) -> str:
    """The text in double quotes, on one line."""
    if any("\ud800" <= char <= "\udfff" for char in _STEERING.findall(text)):
        raise ValueError("a string with a lone surrogate can't be written as YAML")
    quoted = dumps(text, ensure_ascii=False)
    return _STEERING.sub(lambda char: f"\\u{ord(char[0]):04x}", quoted)


def _literal_text(text: str, indent: int) -> str | None:
    """A `|` block at column `indent`; None if it would not be exact."""
    if "\n" not in text or not text.strip() or _NOT_IN_LITERAL.search(text):
        return None
    # White space at the start would be taken for indentation, so the depth is written.
    depth = str(STEP) if text[0] in " \t\n" else ""
    body = text.removesuffix("\n")
    chomp = "-" if body == text else "+" if body.endswith("\n") else ""
    lines = [" " * indent + line if line else "" for line in body.split("\n")]
    return "\n".join([f"|{depth}{chomp}", *lines])

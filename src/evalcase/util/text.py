"""Texts for people: shortened, with every character visible, as Markdown, safe for CI logs; how
alike two texts are; and templates with `{name}` in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from evalcase.types.message import ToolCall, is_part, names_tool, part_text, parts_of
from evalcase.types.problem import KeyPath, find_nearest, nearest_meaning, plain_name
from evalcase.types.value import JSON, describe_kind

EXCERPT_CHARACTERS = 1000
_CI_COMMAND = re.compile(r"^(?:\s|\x1b\[[\d;]*m)*::|##(?=\[|vso\[)")
_OF_LIBRARY = re.compile(r"[/\\](?:(?:site|dist)-packages|lib[/\\]python3[^/\\]*)[/\\]|^<")


def abridge_message(message: str) -> str:
    """A long message with the long names in it cut."""
    # Short names match, too: else the text between two of them would be taken for a name.
    return re.sub(r"`([^`]*)`", lambda found: f"`{shorten_text(found[1], 80)}`", message)


def shorten_text(text: str, most: int) -> str:
    """The text, with an ellipsis at its end if it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def flatten_text(text: str, most: int) -> str:
    """The text in one line, with an ellipsis at its end if it is longer than `most` characters."""
    return shorten_text(" ".join(text.split()), most)


def cut_bytes(data: bytes) -> str:
    return data[: 4 * EXCERPT_CHARACTERS].decode(errors="backslashreplace")[:EXCERPT_CHARACTERS]


def write_count(number: int, noun: str) -> str:
    """A number with its noun: `1 case`, `2,000 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def list_some(shown: Iterable[str], count: int) -> str:
    """Some names of so many: `a, b and 3 more`."""
    names = list(shown)
    more = count - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")


def write_score(score: float, *beside: float) -> str:
    """A score of 0 to 1 in at least three digits: as many as tell it from 0, from 1 and from the
    scores beside it."""
    for digits in range(3, 17):
        text = f"{score:.{digits}g}"
        if all((float(text) == other) == (score == other) for other in (0, 1, *beside)):
            return text
    return repr(score)


def as_json(value: JSON, indent: int | None = None) -> str:
    """Readable JSON: letters of every script as they are, but nothing that UTF-8 can't hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent)
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    except (TypeError, ValueError, RecursionError):
        # Data of a Python target may hold what JSON can't: it is for people, so it needn't.
        return f"({describe_kind(value)} that can't be shown)"
    return text


def content_text(content: JSON) -> str:
    """Text as it is; parts joined, those without text named in brackets; other data as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if not (isinstance(content, list) and content and all(map(is_part, content))):
        return as_json(content, indent=2)
    shown = []
    for is_text, parts in groupby(parts_of(content), lambda part: part_text(part) is not None):
        if is_text:
            shown.append("".join(part_text(part) or "" for part in parts).strip())
        else:
            shown += map(_name_part, parts)
    return " ".join(shown)


def _name_part(part: Mapping[str, JSON]) -> str:
    """A part without text: its type, and where it is from or what else it has."""
    kind, own = str(part["type"]), part.get(str(part["type"]))
    own = own.get("url") if isinstance(own, dict) else own
    names = (part.get("path"), part.get("value"), part.get("url"), own)
    rest = {key: value for key, value in part.items() if key != "type"}
    named = next((each for each in names if isinstance(each, str)), as_json(rest) if rest else "")
    return f"[{kind}: {shorten_text(named, 100)}]" if named else f"[{kind}]"


def call_lines(message: Mapping[str, JSON], *, outputs: bool = False) -> Iterator[str]:
    """The tool calls of a message, one in a line, with the `outputs` that are known below them."""
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and names_tool(call):
            made = ToolCall(call)
            yield call_text(made.name, made.arguments)
        else:
            yield as_json(call)
        if outputs and isinstance(call, dict) and "output" in call:
            yield f"  returned {value_as_text(call['output'])}"


def call_text(name: str, arguments: JSON) -> str:
    """A call with its arguments, by their names where those are names."""
    return f"{name}({arguments_text(arguments)})"


def arguments_text(arguments: JSON) -> str:
    if isinstance(arguments, dict) and all(str(key).isidentifier() for key in arguments):
        return ", ".join(f"{key}={as_json(value)}" for key, value in arguments.items())
    return "" if arguments is None else as_json(arguments)


def value_as_text(value: JSON) -> str:
    """A value as it stands within a longer text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


STEERING = (
    "\x7f-\x9f"  # DEL and C1: U+009B starts an escape sequence just as ESC [ does
    "\u2028-\u202e\u2066-\u2069"  # line separators, bidirectional embeddings and overrides
    "\ud800-\udfff"  # what isn't UTF-8 in a file name arrives as lone surrogates
    "\ufeff\ufffe\uffff"
)
"""The part of a regular expression's character class for what must not be written as it is."""

BIDI_MARKS = "\u061c\u200e\u200f"
"""The same for marks that only turn the direction of text: they may belong to it."""

UNSEEN = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u2060-\u2065\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e007f"
)

_HIDDEN = re.compile(f"[\x00-\x1f{STEERING}{UNSEEN}]")


def make_visible(text: str) -> str:
    """Spell control and invisible characters as `<U+001B>`, line ends too."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def name_blank(text: str, nothing: str = "(empty)") -> str:
    """What stands for a text in which nothing can be seen; none for any other."""
    if not text:
        return nothing
    return "" if text.strip() else "(only white space)"


def code_span(text: str) -> str:
    """A text in one line, as code; `–` where there is none."""
    # In a table a bar is escaped, and readers disagree on one that has a backslash before it.
    text = make_visible(text).replace("\\|", "\\<U+007C>")
    if not text.strip():
        return "–"
    ticks = "`" * (_longest_run([text]) + 1)
    blank = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{blank}{text}{blank}{ticks}"


def code_block(lines: Iterable[str], language: str = "text") -> Iterator[str]:
    shown = [make_visible(line) for line in lines]
    fence = "`" * max(3, _longest_run(shown) + 1)
    yield f"{fence}{language}"
    yield from shown
    yield fence


def write_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of cells that are Markdown already; the first row is its head, and all but the first
    column are numbers."""
    for number, row in enumerate(rows):
        # Also within code a bar ends a cell, unless it is escaped.
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
        if number == 0:
            yield "|---|" + "---:|" * (len(row) - 1)


def _longest_run(texts: Iterable[str]) -> int:
    return max((len(run) for text in texts for run in re.findall("`+", text)), default=0)


def in_ci(environment: Mapping[str, str]) -> bool:
    return "GITHUB_ACTIONS" in environment or "TF_BUILD" in environment


def defuse_line(line: str) -> str:
    """The line with a blank inside of each command for a CI service."""
    return _CI_COMMAND.sub(lambda found: f"{found[0][:-1]} {found[0][-1]}", line)


def is_foreign_file(path: str) -> bool:
    """Whether a file of Python is one of a library."""
    return _OF_LIBRARY.search(path) is not None


_ASK_EVERY = 256
"""How many characters `edit_distance` takes between two looks at whether it may stop."""


def edit_distance(left: str, right: str, is_given_up: Callable[[], bool] | None = None) -> int:
    """How many characters have to be put in, taken out or changed to make one text of another.
    Raise InterruptedError once it is given up.

    A column of the usual table is held as the bits of two numbers (Myers 1999), so one step of
    Python computes as many cells as the shorter text has characters.
    """
    left, right = sorted((left, right), key=len)
    if not left:
        return len(right)
    places: dict[str, int] = {}
    for number, char in enumerate(left):
        places[char] = places.get(char, 0) | (1 << number)
    ones, last = (1 << len(left)) - 1, 1 << (len(left) - 1)
    more, less, distance = ones, 0, len(left)
    for number, char in enumerate(right):
        if is_given_up is not None and number % _ASK_EVERY == 0 and is_given_up():
            raise InterruptedError
        same = places.get(char, 0)
        kept = same | less
        across = ((((same & more) + more) ^ more) | same) & ones
        grown = less | (~(across | more) & ones)
        shrunk = more & across
        distance += bool(grown & last) - bool(shrunk & last)
        grown = ((grown << 1) | 1) & ones
        shrunk = (shrunk << 1) & ones
        more = shrunk | (~(kept | grown) & ones)
        less = grown & kept
    return distance


_FIELDS_ELSEWHERE = {
    "prompt": "input", "question": "input", "query": "input", "messages": "input",
    "expected": "expected_output", "expected_answer": "expected_output", "ideal": "expected_output",
    "answer": "expected_output", "reference": "expected_output", "output": "expected_output",
    "assert": "graders", "asserts": "graders", "assertions": "graders", "scorers": "graders",
    "metrics": "graders", "evaluator": "graders", "grader": "graders",
    "provider": "target", "providers": "targets", "model": "target", "name": "id",
    "timeout": "timeout_s", "meta": "metadata", "epochs": "repeat", "samples": "cases",
    "data": "cases",
}  # fmt: skip
"""What other tools call the fields of a case or a suite."""


def nearest_field(
    name: str, known: Iterable[str], aliases: dict[str, str] | None = None,
    elsewhere: dict[str, str] | None = None,
) -> str | None:  # fmt: skip
    """The field that was probably meant: never an alias, but the field it stands for.

    Another tool's name of a field counts only if it is written exactly: people don't misspell it.
    """
    known = list(known)
    meant = {old: new for old, new in (aliases or {}).items() if new in known}
    meant |= {each: each for each in known}
    written = plain_name(name)
    foreign = (_FIELDS_ELSEWHERE if elsewhere is None else elsewhere).get(written)
    if written not in meant and foreign in known:
        return foreign
    return nearest_meaning(name, meant, alike=0.75)


_PLACEHOLDER = r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}"
_STRICT, _LOOSE = re.compile(_PLACEHOLDER), re.compile(rf"(?<!\$)(?:{_PLACEHOLDER})")


class Template:
    """A JSON value with placeholders `{name}` in its texts, for targets.

    Values are never searched for placeholders. `{{name}}` is the literal `{name}`. Braces around
    anything but a name stay as they are. So do unknown names in a loose template, for command
    lines, which have braces of their own: `${HOME}`; in a strict template they are faults.
    """

    def __init__(self, value: JSON, names: Iterable[str], *, strict: bool = False) -> None:
        self.value = value
        self.names = tuple(names)
        self.strict = strict
        self.texts = [text for _, text in _find_texts(value)]
        self._pattern = _STRICT if strict else _LOOSE
        self._single: dict[str, KeyPath] = {}
        for path, text in _find_texts(value):
            for _, name in self._pattern.findall(text):
                self._single.setdefault(name, path)
        self._single.pop("", None)
        self.used = self._single.keys() & set(self.names)
        """The known names that are placeholders in it."""

    def faults(self) -> Iterator[tuple[KeyPath, str]]:
        """What is wrong with its placeholders: the path of each, and a sentence."""
        for name, path in self._single.items():
            near = find_nearest(name, self.names, 0.75)
            if name in self.names or (near is None and not self.strict):
                continue
            names = ", ".join(f"{{{each}}}" for each in self.names)
            meant = f"there are {names}." if near is None else f"did you mean {{{near}}}?"
            literal = f"Write {{{{{name}}}}} if it is meant literally"
            yield path, f"there is no placeholder {{{name}}}: {meant} {literal}"

    def fill(self, values: Mapping[str, JSON]) -> JSON:
        """The template with every placeholder replaced; `values` has every used name.

        A text that is one placeholder becomes the value itself. In a longer text a value stands as
        text, as JSON if it is none.
        """
        return self._fill(self.value, values)

    def fill_texts(self, values: Mapping[str, str]) -> list[str]:
        """The same for a list of texts, filled with texts."""
        filled = self.fill(values)
        assert isinstance(filled, list)
        return [text for text in filled if isinstance(text, str)]

    def _fill(self, value: JSON, values: Mapping[str, JSON]) -> JSON:
        if isinstance(value, dict):
            return {key: self._fill(item, values) for key, item in value.items()}
        if isinstance(value, list):
            return [self._fill(item, values) for item in value]
        if not isinstance(value, str):
            return value
        whole = self._pattern.fullmatch(value)
        if whole is not None and whole[2] in self.names:
            return values[whole[2]]

        def put(match: re.Match[str]) -> str:
            if match[2] in self.names:
                return value_as_text(values[match[2]])
            is_literal = match[1] and (self.strict or match[1] in self.names)
            return match[0][1:-1] if is_literal else match[0]

        return self._pattern.sub(put, value)


def _find_texts(value: JSON, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _find_texts(item, (*path, key))

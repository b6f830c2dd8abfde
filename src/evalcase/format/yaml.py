"""YAML to values and positions, straight from libyaml's events.

Everything that makes YAML dangerous is decided here, event by event, before it costs anything:
duplicate keys, tags, aliases, merges and nesting. See docs/decisions/0002-yaml.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import intern
from typing import Any, NamedTuple

from msgspec.structs import replace
from yaml.cyaml import CParser  # type: ignore[attr-defined]
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from evalcase.format.json import (
    NotJsonScalarError,
    Reading,
    read_plain,
    read_tagged,
)
from evalcase.format.positions import (
    NO_CHILDREN,
    FatalFaultError,
    Fault,
    Node,
    split_lines,
)
from evalcase.types.problem import find_nearest
from evalcase.types.value import JSON, MAX_DEPTH, copy_value

MIN_ALIAS_BUDGET = 1 << 26
"""How many bytes, roughly, the copies of all aliases together may take; a hundred times the length
of the file, if that is more."""
_BYTES_OF_VALUE = 64

_MERGE: Any = object()
"""The key that `<<` has until its mapping is complete."""
_DROPPED: Any = object()
"""The key of a pair whose real key is at fault."""
_IS_KEY: Any = object()
"""Marks a suspended mapping whose key is the collection being read."""
_PLAIN_STARTS = frozenset("~nNtTfF-+.0123456789") | {""}
"""The first characters of plain scalars that may be anything but a string."""
_TAG_PREFIX = "tag:yaml.org,2002:"
_SCALAR_TAGS = frozenset({"str", "int", "float", "bool", "null"})
_ENDS_ANCHOR = ":?%@`"
"""Ends the name of an anchor for libyaml, and is part of it in YAML 1.2."""


def read_yaml(text: str) -> Reading:
    """Read one document. Faults that leave the rest readable are returned, others raised."""
    try:
        reader = _Reader(text)
        value = reader.read_document()
        faults = [*reader.faults, *_find_lost_text(reader.text)]
    except YAMLError as error:
        raise FatalFaultError(_explain_error(error, text)) from None
    return value, faults, reader.is_unusual


# Events

_BREAKS = "\x85\u2028\u2029"
_STAND_IN = re.compile("[\ufdd0-\ufdd2]")
_SWAPPED = str.maketrans(_BREAKS, "\ufdd0\ufdd1\ufdd2")
_RESTORED = {new: old for old, new in _SWAPPED.items()}


def _open_events(text: str) -> tuple[str, Callable[[], Any]]:
    """The text for libyaml, and a function that gives its next event.

    libyaml breaks lines at U+0085, U+2028 and U+2029, which YAML 1.2 doesn't, and cuts a block
    scalar short that ends in blanks without a line break. Both are mended without moving a single
    character, so every position stays true. Noncharacters stand in for the line breaks.
    """
    last_line = text[max(text.rfind("\n"), text.rfind("\r")) + 1 :]
    if last_line and not last_line.strip(" \t"):
        text += "\n"
    if not any(char in text for char in _BREAKS):  # much faster than an expression
        return text, CParser(text).get_event
    if found := _STAND_IN.search(text):
        message = "this noncharacter can't be used in a text with U+0085, U+2028 or U+2029"
        raise FatalFaultError(Fault("syntax", message, *found.span()))
    text = text.translate(_SWAPPED)
    get_event: Callable[[], Any] = CParser(text).get_event

    def next_event() -> Any:
        event = get_event()
        if type(event) is ScalarEvent:
            event.value = event.value.translate(_RESTORED)
        return event

    return text, next_event


def _fault_at(event: Any, code: str, message: str, hint: str | None = None) -> Fault:
    return Fault(code, message, event.start_mark.index, event.end_mark.index, hint)


def _too_deep(event: Any) -> FatalFaultError:
    message = f"values are nested more than {MAX_DEPTH} deep here"
    return FatalFaultError(_fault_at(event, "too-deep", message))


# Values


class _Reader:
    """Builds the value of a document."""

    def __init__(self, text: str) -> None:
        self.text, self.next_event = _open_events(text)
        self.faults: list[Fault] = []
        self.is_unusual = "{{" in text
        self.anchors: dict[str, Any] = {}
        """The values that anchors name."""
        self.sizes: dict[str, tuple[int, int]] = {}
        """The size and the height of each of those that an alias has named."""
        self.budget = max(MIN_ALIAS_BUDGET, 100 * len(text))
        self.merges: dict[int, Any] = {}
        """The `<<` events of mappings under construction, by the mapping's identity."""

    def read_document(self) -> JSON:
        self.next_event()
        if type(self.next_event()) is StreamEndEvent:
            return None
        root = self.read()
        self.next_event()
        after = self.next_event()
        if type(after) is DocumentStartEvent:
            message = "a suite is one YAML document, and a second one starts here"
            hint = "put the cases in one list, or in files of their own"
            raise FatalFaultError(_fault_at(after, "several-documents", message, hint))
        return root

    def read(self) -> JSON:
        """Read the node that comes next. One loop and no recursion: depth costs no stack."""
        next_event = self.next_event
        result: list[Any] = []
        stack: list[tuple[Any, Any, Any]] = []
        mapping: dict[Any, Any] | None = None
        items: Any = result
        key: Any = None
        while True:
            event = next_event()
            kind = type(event)
            is_key = key is None and mapping is not None
            if kind is ScalarEvent:
                value: Any = event.value
                is_marked = event.anchor is not None or event.tag is not None
                if is_key:
                    if is_marked:
                        self.find_tag(event, _SCALAR_TAGS)
                        self.note_anchor(event, value)
                    is_odd = value in mapping or value == "<<"  # type: ignore[operator]
                    # The names of fields stand in every case, and in memory once.
                    key = self.read_odd_key(mapping, event) if is_odd else intern(value)
                    continue
                if is_marked:
                    value = self.read_marked(event)
                elif event.implicit[0] and value[:1] in _PLAIN_STARTS:
                    value = self.read_plain(event)
            elif kind is AliasEvent:
                if is_key:
                    self.fault("bad-key", "an alias can't be the key of a mapping", event)
                    key = _DROPPED
                    continue
                value = self.read_alias(event, stack, items if mapping is None else mapping)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                value = {} if kind is MappingStartEvent else []
                if event.anchor is not None or event.tag is not None:
                    self.find_tag(event, {"map"} if kind is MappingStartEvent else {"seq"})
                    self.note_anchor(event, value)
                if len(stack) >= MAX_DEPTH:
                    raise _too_deep(event)
                if mapping is None:
                    items.append(value)
                elif is_key:
                    self.refuse_collection_key(event, value)
                    key = _IS_KEY
                else:
                    mapping[key] = value
                stack.append((mapping, items, key))
                is_mapping = kind is MappingStartEvent
                mapping, items, key = (value, None, None) if is_mapping else (None, value, None)
                continue
            else:
                if kind is MappingEndEvent and (self.merges or _DROPPED in mapping):  # type: ignore[operator]
                    self.finish_mapping(mapping)  # type: ignore[arg-type]
                mapping, items, key = stack.pop()
                key = _DROPPED if key is _IS_KEY else None
                if not stack:
                    return result[0]  # type: ignore[no-any-return]
                continue
            if mapping is not None:
                mapping[key] = value
                key = None
            elif stack:
                items.append(value)
            else:
                return value  # type: ignore[no-any-return]

    # Scalars and tags

    def read_plain(self, event: Any) -> Any:
        try:
            value = read_plain(event.value)
        except NotJsonScalarError as error:
            self.fault("not-json-value", str(error), event, "write it in quotes to keep it as text")
            return 0
        if type(value) in (int, float) and repr(value) != event.value:
            self.is_unusual = True
        return value

    def read_marked(self, event: Any) -> Any:
        """The value of a scalar with a tag or an anchor."""
        value = event.value
        tag = self.find_tag(event, _SCALAR_TAGS)
        if tag is not None:
            try:
                value = read_tagged(value, tag)
            except NotJsonScalarError as error:
                self.fault("not-json-value", str(error), event)
            except ValueError as error:
                self.fault("bad-tag", str(error), event)
        elif event.tag is None and event.implicit[0]:
            value = self.read_plain(event)
        self.note_anchor(event, value)
        return value

    def find_tag(self, event: Any, allowed: frozenset[str] | set[str]) -> str | None:
        """The short name of the event's tag, if it has one that means anything here."""
        tag: str | None = event.tag
        if tag is None or tag == "!":
            return None
        short = tag.removeprefix(_TAG_PREFIX)
        if short != tag and short in allowed:
            return short
        message = f"the tag `{'!!' if short != tag else ''}{short}` has no meaning in an eval file"
        hint = "remove it; quotes make text, and nothing else needs a tag"
        self.fault("bad-tag", message, event, hint)
        return None

    # Keys

    def read_odd_key(self, mapping: Any, event: Any) -> Any:
        """The key for a text that is in its mapping already, or that is `<<`."""
        text, hint = event.value, "keep one of the two"
        if text == "<<" and event.implicit[0]:
            if id(mapping) not in self.merges:
                self.merges[id(mapping)] = event
                return _MERGE
            hint = "merge several mappings with a list: `<<: [*one, *two]`"
        elif text not in mapping:
            return text
        self.fault("duplicate-key", f"the key `{text}` appears twice", event, hint)
        return _DROPPED

    def refuse_collection_key(self, event: Any, value: Any) -> None:
        start = event.start_mark.index
        hint = None
        if self.text[start - 1 : start + 1] == "{{":
            hint = 'a template must be in quotes: "{{ … }}"'
        what = "mapping" if isinstance(value, dict) else "list"
        self.fault("bad-key", f"a {what} can't be the key of a mapping", event, hint)

    def finish_mapping(self, mapping: dict[Any, Any]) -> None:
        """Replace the stand-ins among the keys of a mapping that is complete."""
        event = self.merges.pop(id(mapping), None)
        pairs = dict(mapping)
        pairs.pop(_DROPPED, None)
        mapping.clear()
        for key, value in pairs.items():
            if key is not _MERGE:
                mapping[key] = value
                continue
            sources = value if isinstance(value, list) else [value]
            if not all(isinstance(source, dict) for source in sources):
                hint = 'a key that is really called `<<` must be in quotes: "<<"'
                message = "`<<` merges a mapping, or a list of mappings"
                self.fault("wrong-type", message, event, hint)
                continue
            for source in sources:
                for inherited, item in source.items():
                    if inherited not in pairs:
                        mapping.setdefault(inherited, item)

    # Anchors and aliases

    def note_anchor(self, event: Any, value: Any) -> None:
        name = event.anchor
        if name is None:
            return
        self.anchors[name] = value
        self.sizes.pop(name, None)
        at = self.text.find(f"&{name}", event.start_mark.index) + 1 + len(name)
        char = self.text[at : at + 1]
        if char and char in _ENDS_ANCHOR:
            message = f"the name of an anchor can't hold a `{char}` here"
            hint = "give it another name; text that starts with `&` must be in quotes"
            raise FatalFaultError(_fault_at(event, "syntax", message, hint))

    def read_alias(self, event: Any, stack: list[Any], container: Any) -> Any:
        name = event.anchor
        if name not in self.anchors:
            close = find_nearest(name, list(self.anchors)[:200])
            message = f"there is no anchor `&{name}` before this alias"
            hint = f"did you mean `*{close}`?" if close else None
            hint = hint or "text that starts with `*` must be in quotes"
            raise FatalFaultError(_fault_at(event, "bad-alias", message, hint))
        value = self.anchors[name]
        outer = (items if mapping is None else mapping for mapping, items, _ in stack)
        if any(value is each for each in (container, *outer)):
            message = f"`*{name}` is inside the value it names"
            raise FatalFaultError(_fault_at(event, "bad-alias", message))
        if name not in self.sizes:
            self.sizes[name] = _measure(value)
        size, height = self.sizes[name]
        self.budget -= size  # an alias costs nothing here, and everything later
        if self.budget < 0:
            message = "the aliases up to here stand for far more data than the file holds"
            hint = "write fewer aliases of aliases"
            raise FatalFaultError(_fault_at(event, "alias-bomb", message, hint))
        if len(stack) + height > MAX_DEPTH:
            raise _too_deep(event)
        return copy_value(value)

    def fault(self, code: str, message: str, event: Any, hint: str | None = None) -> None:
        self.faults.append(_fault_at(event, code, message, hint))


def _measure(value: Any) -> tuple[int, int]:
    """How many bytes a value takes, roughly, and how deep it is."""
    if not isinstance(value, dict | list):
        return _BYTES_OF_VALUE + (len(value) if isinstance(value, str) else 0), 0
    size, height = _BYTES_OF_VALUE, 0
    if isinstance(value, dict):
        size += sum(map(len, value))
        value = value.values()
    for more, below in map(_measure, value):
        size += more
        height = max(height, below)
    return size, height + 1


# Positions


def compose_yaml(text: str) -> Node:
    """The positions in a text that `read_yaml` has read."""
    text, next_event = _open_events(text)
    next_event()
    if type(next_event()) is StreamEndEvent:
        return Node(0, 0, NO_CHILDREN)
    anchors: dict[str, Node] = {}
    stack: list[tuple[Node, Any]] = []
    parent = Node(0, 0, {})
    children = parent.children
    key: Any = 0
    """What the next value stands under; None where a mapping has its next key."""
    end, key_start, key_end = 0, -1, -1
    while True:
        event = next_event()
        kind, start = type(event), event.start_mark.index
        if kind is ScalarEvent:
            stop = event.end_mark.index
            if key is None:
                key = _MERGE if event.value == "<<" and event.implicit[0] else event.value
                key_start, key_end = start, stop
                if event.anchor is not None:
                    anchors[event.anchor] = Node(start, stop, NO_CHILDREN)
                continue
            if event.style in ("|", ">"):
                # libyaml lets a block scalar reach over the blank lines that follow it.
                stop = start + len(text[start:stop].rstrip())
            node = Node(start, stop, NO_CHILDREN, key_start, key_end)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            node = Node(start, start, {}, key_start, key_end)
        elif kind is AliasEvent:
            stop, target = event.end_mark.index, anchors.get(event.anchor)
            node = Node(start, stop, NO_CHILDREN, key_start, key_end, target)
        else:
            # A collection in brackets ends with its bracket, and a block with its last value.
            stop = event.end_mark.index
            parent.end = end = stop if stop > start else end
            if _MERGE in children:
                _merge_children(children)
            parent, key = stack.pop()
            children, key_start = parent.children, -1
            if not stack:
                return children[0]
            continue
        if kind is not AliasEvent and event.anchor is not None:
            anchors[event.anchor] = node
        following: Any = None
        if key is None:  # an alias or a collection, which is no key
            following, key_start, key_end = _DROPPED, start, node.end
        else:
            children.setdefault(key, node)
            end = node.end
            if type(key) is int:
                following = key + 1
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            stack.append((parent, following))
            parent, children, key_start = node, node.children, -1
            key = None if kind is MappingStartEvent else 0
        elif not stack:
            return node
        else:
            key = following


def _merge_children(children: dict[str | int, Node]) -> None:
    """Add what `<<` merges to the children of its mapping."""
    merged = children.pop(_MERGE)
    items = merged.written
    for source in items.children.values() if items.is_list else [merged]:
        alias = source if source.target is not None else None
        for name, child in source.written.children.items():
            if name not in children:
                children[name] = replace(child, through=alias or child.through)


# Errors

_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")


class _Complaint(NamedTuple):
    """What libyaml says of a mistake that people make, in our words, with a hint."""

    said: str
    message: str
    hint: str | None = None
    at_start: bool = False
    """Whether the place is where libyaml began to read, not where it gave up."""
    is_late: bool = False
    """Whether the cause may stand before."""


_INDENTED = "is the indentation the same as that of the key above, and every quote closed?"
_UNCLOSED = "this quote is never closed"
_COMPLAINTS = (
    _Complaint("mapping values are not allowed", "a `: ` is not expected here",
        "text that holds `: ` must be in quotes; or the line above is indented differently",
        is_late=True),
    _Complaint("that cannot start any token", "this character can't start a value",
        "text that starts with it must be in quotes"),
    _Complaint("could not find expected ':'", "a key needs a `:` after it",
        "a line of text inside a mapping must be indented under its key, or be in quotes",
        at_start=True, is_late=True),
    _Complaint("unexpected document indicator", _UNCLOSED, at_start=True),
    _Complaint("unexpected end of stream", _UNCLOSED, at_start=True),
    _Complaint("while parsing a quoted scalar", "a double-quoted string has no such escape",
        "write a backslash as `\\\\`, or use single quotes"),
    _Complaint("did not find expected key", "this doesn't fit the mapping it is in", _INDENTED,
        is_late=True),
    _Complaint("did not find expected '-' indicator", "this doesn't fit the list it is in",
        "each item starts with `- `, and its other keys line up under its first one", is_late=True),
    _Complaint("did not find expected ',' or ']'", "this list is never closed, or lacks a comma",
        at_start=True),
    _Complaint("did not find expected ',' or '}'", "this mapping is never closed, or lacks a comma",
        at_start=True),
    _Complaint("expected <document start>", "there is more after the end of the value", _INDENTED,
        is_late=True),
    _Complaint("expected node content", "a value is missing here",
        "text that starts with a bracket, a brace or a comma must be in quotes"),
    _Complaint("while scanning an a", "a `*` starts an alias, and a `&` an anchor",
        "text that starts with one of them must be in quotes"),
)  # fmt: skip


def _explain_error(error: YAMLError, text: str) -> Fault:
    """The fault behind an error that libyaml raised while reading a text."""
    if not isinstance(error, MarkedYAMLError):
        found = _NOT_ALLOWED.search(text)
        if found is None:  # pragma: no cover - libyaml and the pattern agree
            return Fault("syntax", "the text can't be read", 0, 0)
        code = ord(found[0])
        hint = (
            f'in a double-quoted string it can be written "\\x{code:02x}"' if code < 256 else None
        )
        message = f"the character U+{code:04X} is not allowed here"
        return Fault("control-character", message, *found.span(), hint)
    said = f"{error.context or ''} {error.problem or ''}"
    complaint = next((each for each in _COMPLAINTS if each.said in said), None)
    is_before = complaint is not None and complaint.at_start and error.context_mark is not None
    mark: Any = error.context_mark if is_before else error.problem_mark or error.context_mark
    at = mark.index
    if "Unicode character escape" in said:
        at = text.rfind("\\", 0, at + 1)
        if _SURROGATE_PAIR.match(text, at):
            message = "YAML has no surrogate pairs"
            return Fault("syntax", message, at, at + 6, "write the character itself")
        message = "this escape is half of a surrogate pair, not a character"
        return Fault("not-json-value", message, at, at + 6)
    if text[at : at + 1] == "\t":
        return Fault("syntax", "a tab is not allowed here", at, at + 1, "indent with spaces")
    if complaint is None:
        message = f"this isn't valid YAML: {error.problem or 'unreadable'}"
        return Fault("syntax", message, at, at + 1)
    near = _explain_neighbours(text, at) if complaint.is_late else None
    return near or Fault("syntax", complaint.message, at, at + 1, complaint.hint)


_NO_SPACE = re.compile(r"[ ]*(?:- +)*([A-Za-z_]\w*):(?=[^\s:/])")
_NO_BREAK_SPACE = re.compile("[ ]*([\u00a0\u2007\u202f\u3000]+)")


def _explain_neighbours(text: str, at: int) -> Fault | None:
    """The mistake near a place that libyaml complains about, if it can be told."""
    here = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    above = text[:here].rstrip()
    for start in (here, max(above.rfind("\n"), above.rfind("\r")) + 1):
        if found := _NO_BREAK_SPACE.match(text, start):
            message = f"the character U+{ord(found[1][0]):04X} looks like a space but is not one"
            fix = " " * len(found[1])
            return Fault("syntax", message, *found.span(1), "indent with plain spaces", fix)
        if found := _NO_SPACE.match(text, start):
            message, hint = "a key needs a space after its `:`", f"write `{found[1]}: …`"
            return Fault("syntax", message, found.start(1), found.end(), hint, f"{found[1]}: ")
    last = text[here:at].rstrip()[-1:]
    if last and last in "]}\"'":
        # Text after a value that is complete: `[URGENT] call me`
        opening = {"]": "[", "}": "{"}.get(last, last)
        hint = f"text that starts with `{opening}` must be in quotes as a whole"
        if opening == last:
            hint += "; or a quote above is never closed"
        rest = split_lines(text[at:])[0].rstrip()
        return Fault("syntax", "there is more after the end of the value", at, at + len(rest), hint)
    return None


# Text that would be lost, or may be meant otherwise

_QUESTION_MARK = re.compile(r"\?(?<=[\s,\[{]\?)[^\s,\[\]{}]")
_HASH = re.compile(r"#(?:(?<=[\"'\]}\[{,:|>]#)|(?<=[|>][0-9+-]#)|(?<=[|>][0-9+-]{2}#))")
_COMMENT = re.compile(r"#[^\r\n]*")
_CLOSE_COMMENT = re.compile(r"#(?<=[^\s,:\[{\"'\]}] #)[^\s#]")
_PLAIN_LINE = re.compile(r"[ ]*(?:- +)*(?:[^\s:\"'#]+: +|(?<=- ))[^\s\"'|>\[{&*!#%@`-]")
"""A line of plain text: most texts with a `#` are in quotes, or below a header."""


def _find_lost_text(text: str) -> Iterator[Fault]:
    """Text that libyaml takes for syntax and YAML 1.2 doesn't, so that it would be lost. And plain
    text that is cut by a comment, which gets a warning."""
    marks = {found.start() + 1 for found in _QUESTION_MARK.finditer(text)}
    close = (found.start() for found in _CLOSE_COMMENT.finditer(text))
    cuts = (_PLAIN_LINE.match(text, text.rfind("\n", 0, at) + 1, at) for at in close)
    if not (marks or _HASH.search(text) or any(cuts)):
        return
    end = 0
    event: Any
    before: Any = None
    for event in iter(CParser(text).get_event, None):
        kind, start = type(event), event.start_mark.index
        is_empty = start == event.end_mark.index
        if start in marks and isinstance(event, NodeEvent):
            hint = 'write such a key in quotes: "?…"'
            yield _fault_at(event, "syntax", "a `?` before a key would be lost here", hint)
        if kind is ScalarEvent and event.style in ("|", ">"):
            # A comment may follow the header of a block.
            start += len(split_lines(text[start : event.end_mark.index])[0])
        elif kind is not StreamEndEvent and (kind is not ScalarEvent or is_empty):
            continue
        for found in _COMMENT.finditer(text, end, start):
            at, shown = found.start(), found[0].rstrip()
            if at and not text[at - 1].isspace():  # `"Which tag?"#urgent`, `[a,#b`
                message = "this would be read as a comment, and be lost"
                hint = "a comment has a space before its `#`; text with a `#` must be in quotes"
                yield Fault("syntax", message, at, at + len(shown), hint)
            elif before is not None and before.end_mark.index == at - 1 and _is_cut(before, shown):
                message = "this is a comment, so the text before it ends there"
                hint = "put the text in quotes; write a space after the `#` of a comment"
                yield Fault("cut-text", message, at, at + len(shown), hint)
        end, before = event.end_mark.index, event


def _is_cut(scalar: Any, comment: str) -> bool:
    """Whether plain text and the comment after it are probably one text."""
    if not scalar.implicit[0] or comment[1:2] in ("", " ", "\t", "#"):
        return False
    try:
        return isinstance(read_plain(scalar.value), str)
    except NotJsonScalarError:
        return False

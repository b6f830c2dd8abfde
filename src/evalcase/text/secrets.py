"""Keep secrets out of the record: their values are replaced at the one place where rows become
bytes, in every string, whatever field it stands in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalcase.model.trial import TrialKey

_PIECE = 8
"""How many characters of a secret, at its beginning or end, give it away."""

SHORTEST = 4
"""Shorter values are found in every other word, and protect nothing."""

_MADE_HERE = frozenset({"type", "question_hash", "grading_hash", "verdict", "started_at"})
"""Fields of a row that evalcase makes up itself; a value found in there is a coincidence."""

_VOCABULARY = frozenset(
    """
    type suite case target repeat question_hash grading_hash grading repeats pass_rate verdict
    data asked regraded answer grades failure attempts started_at duration_s retried messages
    usage cost_usd truncated cached input_tokens output_tokens cached_tokens grader score passed
    reason details weight required kind message role content tool_calls tool input output
    function name arguments text value path file image result status failed errored ungraded
    skipped completed interrupted system developer user assistant exception timeout exit
    connection http protocol stopped
    """.split()
)
"""The words of the record. A key or a value that is one of them, whole, carries no secret, and
without it the row could not be read again."""


class Scrubber:
    """Knows the values of secrets by name, and puts `***NAME***` wherever one is found."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self._names: dict[str, str] = {}
        for name, value in values.items():
            for form in _forms(value.strip()):
                self._names.setdefault(form, name)
            for line in value.split("\n"):
                # One of several lines, as tracebacks have them; but not the frame of a PEM file.
                if len(line) >= 2 * _PIECE and not line.startswith("-----"):
                    self._names.setdefault(line.strip(), name)
        longest_first = sorted(self._names, key=len, reverse=True)
        self._in_text = tuple(longest_first)
        self._in_json = tuple({_escaped(form) for form in longest_first})
        # Looking ahead, so that of two secrets that overlap neither hides the other.
        self._pattern = re.compile(f"(?=({'|'.join(map(re.escape, longest_first))}))")

    def finds(self, text: str) -> bool:
        """Whether some string in this JSON text may hold a secret. Most rows end here: looking
        for each form in turn is faster than one pattern that knows them all."""
        for form in self._in_json:  # noqa: SIM110 - any() takes twice as long
            if form in text:
                return True
        return False

    def text(self, text: str) -> str:
        """The text without secrets."""
        if not self._names or not any(form in text for form in self._in_text):
            return text
        pieces: list[str] = []
        done = 0
        for start, end, name in self._spans(text):
            pieces += text[done:start], f"***{name}***"
            done = end
        return "".join([*pieces, text[done:]])

    def torn(self, value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
        """A copy of a value without secrets, nor larger pieces of them: what a target says of an
        error was cut somewhere, and perhaps within a secret."""
        if isinstance(value, str):
            return self._without_pieces(self._word(value))
        if isinstance(value, dict):
            return {self._word(key): self.torn(item) for key, item in value.items()}
        return [self.torn(item) for item in value] if isinstance(value, list | tuple) else value

    def _without_pieces(self, text: str) -> str:
        for form, name in self._names.items():
            if len(form) < 2 * _PIECE:
                continue
            start = text.find(form[:_PIECE])
            if start >= 0:
                end = start + _shared(text[start:], form)
                text = f"{text[:start]}***{name}***{text[end:]}"
            end = text.rfind(form[-_PIECE:])
            if end >= 0:
                end += _PIECE
                shared = _shared(text[:end][::-1], form[::-1])
                text = f"{text[: end - shared]}***{name}***{text[end:]}"
        return text

    def row(self, row: dict[str, Any]) -> dict[str, Any]:
        """A copy of a row without secrets in its keys and strings."""
        scrubbed: dict[str, Any] = self._value(row)
        return scrubbed | {name: row[name] for name in _MADE_HERE & row.keys()}

    def key(self, key: TrialKey) -> TrialKey:
        """What a trial is called in the record."""
        if not self._names:
            return key
        return TrialKey(
            self._word(key.suite), self._word(key.case), self._word(key.target), key.repeat
        )

    def _spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Where secrets are, and their names. Those that overlap are one."""
        start, end, name = 0, 0, ""
        for match in self._pattern.finditer(text):
            if match.start() >= end:
                if end:
                    yield start, end, name
                start, name = match.start(), self._names[match[1]]
            end = max(end, match.end(1))
        yield start, end, name

    def _value(self, value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
        if isinstance(value, str):
            return self._word(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return [self._value(item) for item in value]
        return value

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        copy: dict[str, Any] = {}
        for key, item in value.items():
            free = word = self._value(key)
            count = 1
            while free in copy:  # two keys that differ in their secrets only
                count += 1
                free = f"{word}-{count}"
            copy[free] = self._value(item)
        return copy

    def _word(self, text: str) -> str:
        return text if text in _VOCABULARY else self.text(text)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _forms(value: str) -> Iterator[str]:
    """A value as it stands, and as it looks in URLs, in JSON and in base64."""
    if len(value) < SHORTEST:
        return
    yield value
    for ascii_only in (True, False):
        escaped = _escaped(value, ascii_only=ascii_only)
        yield escaped
        yield escaped.replace("/", "\\/")
        yield re.sub(r"\\u[0-9a-f]{4}", lambda match: "\\u" + match[0][2:].upper(), escaped)
    data = value.encode("utf-8", "surrogatepass")
    yield from _in_url(data)
    yield from _in_base64(data)


def _in_url(data: bytes) -> Iterator[str]:
    from urllib.parse import quote_from_bytes

    for unescaped in ("", "/", "!'()*", "/!'()*"):
        quoted = quote_from_bytes(data, safe=unescaped)
        for form in (quoted, quoted.replace("%20", "+")):
            yield form
            yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), form)


def _in_base64(data: bytes) -> Iterator[str]:
    """The characters that depend on the value alone, for each of the three places in a group at
    which it may begin: it need not stand at the start of what was encoded."""
    from base64 import b64encode

    for before in range(3):
        text = b64encode(bytes(before) + data).decode()
        form = text[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield form
        yield form.replace("+", "-").replace("/", "_")


def _escaped(value: str, *, ascii_only: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)[1:-1]

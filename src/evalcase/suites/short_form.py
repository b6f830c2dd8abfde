"""A case in canonical form in, the same in its shortest spelling out.

A spelling is taken if reading it gives the canonical form again, to the order of its keys, and
with nothing to be said about it. So it can't mean anything else, whatever is declared elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from json import dumps
from typing import Any

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import copy_value
from evalcase.plugins.known import Installed
from evalcase.resolve.findings import Findings
from evalcase.resolve.messages import read_expected_output, read_input
from evalcase.resolve.plain_texts import is_file_address
from evalcase.resolve.values import read_graders, read_repeat, read_rubrics

_Reader = Callable[[Any, KeyPath, Findings], object]
_Speller = Callable[[object], Iterator[object]]


class Shortening:
    """What is known of graders is looked up once for all cases."""

    def __init__(self) -> None:
        self._known = Installed()

    def case(self, case: dict[str, Any]) -> dict[str, Any]:
        """A canonical case, or one as it is written already, in short."""
        short = fields = self.fields(case)
        if "expected_output" in fields:
            short["expected_output"] = self._shortest(
                read_expected_output,
                "expected_output",
                fields["expected_output"],
                _shorten_messages,
            )
        if "rubrics" in fields:
            short["rubrics"] = self._each(
                read_rubrics, "rubrics", fields["rubrics"], _shorten_rubric
            )
        if isinstance(fields.get("turns"), list):
            short["turns"] = [self._turn(turn) for turn in fields["turns"]]
        if isinstance(fields.get("user"), dict):
            short["user"] = self._user(fields["user"])
        return short

    def _turn(self, turn: object) -> object:
        """A turn is a small case; what is said in it may stand alone."""
        if not isinstance(turn, dict):
            return turn
        short = self.case(turn)
        return short["input"] if [*short] == ["input"] and type(short["input"]) is str else short

    def _user(self, user: dict[str, Any]) -> dict[str, Any]:
        if "first" not in user:
            return user
        return {
            **user,
            "first": self._shortest(read_input, "input", user["first"], _shorten_messages),
        }

    def fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """What cases and suites have in common, in short; and all else as it is."""
        short: dict[str, Any] = copy_value(fields)
        if "input" in short:
            short["input"] = self._shortest(read_input, "input", short["input"], _shorten_messages)
        if "graders" in short:
            short["graders"] = self._graders(short["graders"])
        if "repeat" in short:
            short["repeat"] = self._shortest(
                read_repeat, "repeat", short["repeat"], _shorten_repeat
            )
        targets = short.get("targets")
        if isinstance(targets, list) and len(targets) == 1 and targets[0]:
            short = {
                "target" if name == "targets" else name: targets[0] if name == "targets" else value
                for name, value in short.items()
            }
        return short

    def _graders(self, graders: object) -> object:
        return self._each(read_graders, "graders", graders, self._spellings)

    def _each(self, read: _Reader, name: str, items: object, spell: _Speller) -> object:
        if not isinstance(items, list):
            return items
        return [
            self._shortest(
                lambda one, path, findings: read([one], path, findings), name, item, spell
            )
            for item in items
        ]

    def _shortest(self, read: _Reader, name: str, value: object, spell: _Speller) -> object:
        meant = self._meaning(read, name, value, allow=True)
        for short in spell(value):
            if meant is not None and self._meaning(read, name, short) == meant:
                return short
        return value

    def _meaning(self, read: _Reader, name: str, value: object, allow: bool = False) -> str | None:
        """The canonical form as text; None where there is none, or something to be said of it."""
        findings = Findings(self._known)
        canonical = read(copy_value(value), (name,), findings)
        is_clean = not findings.errors if allow else not findings.found
        return dumps(canonical) if canonical is not None and is_clean else None

    def _spellings(self, grader: object) -> Iterator[object]:
        """The ways to write a grader, the shortest first."""
        if not isinstance(grader, dict) or not isinstance(grader.get("type"), str):
            return
        name = grader["type"]
        options = {key: value for key, value in grader.items() if key != "type"}
        declared = self._known.grader(name)
        for inner in declared.lists if declared is not None else ():
            if inner in options:
                options[inner] = self._graders(options[inner])
        if not options:
            yield name
        if len(options) == 1:
            yield {name: next(iter(options.values()))}
        yield {name: options}
        yield {"type": name, **options}


def _shorten_messages(messages: object) -> Iterator[object]:
    """A single message as what it says, or without the list around it."""
    if isinstance(messages, list) and len(messages) == 1 and isinstance(messages[0], dict):
        content = messages[0].get("content")
        if content is not None and not (isinstance(content, str) and is_file_address(content)):
            yield content
        yield messages[0]


def _shorten_repeat(repeat: object) -> Iterator[object]:
    if isinstance(repeat, dict) and "times" in repeat:
        yield repeat["times"]


def _shorten_rubric(rubric: object) -> Iterator[object]:
    if isinstance(rubric, dict) and "text" in rubric:
        yield rubric["text"]

"""The files that are open in an editor: the kind of each, its text as it is now, and what was last
found in it: problems, valid cases, and their positions, which are looked up when they are needed.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from evalcase.config.catalogue import Catalogue, check_config_text
from evalcase.config.config import TABLES, Config, has_settings, read_config
from evalcase.format.document import Document
from evalcase.format.fields import CASE_CONTAINERS
from evalcase.format.load import load_text, read_sidecar
from evalcase.format.positions import Format, split_lines
from evalcase.format.source import UnreadableError, check_text, format_of, is_sidecar
from evalcase.types.case import Case
from evalcase.types.problem import Problem, Span

FileKind = Literal["suite", "sidecar", "config"]
TextFormat: TypeAlias = Format | Literal["toml"]
_EVAL = re.compile(r"\.eval\.(?:ya?ml|jsonl?)$")
_SCHEMA_LINE = re.compile(r"\A(?:\s*(?:#.*)?\n){0,20}?#\s*yaml-language-server:.*evalcase")
_UNREADABLE = frozenset({"syntax", "bad-encoding", "too-deep", "too-large"})
PAUSE_S = 0.15
"""So long nothing may be typed before a text is checked."""


class FileRole(NamedTuple):
    kind: FileKind
    format: TextFormat


def role_of(path: str, text: str) -> FileRole | None:
    """What a file is to evalcase, by its name, or by the schema that its first lines name."""
    name = os.path.basename(path)
    if name in TABLES:
        return FileRole("config", "toml") if has_settings(name, text) else None
    format = format_of(path)
    if not isinstance(format, str):
        return None
    if is_sidecar(path):
        return FileRole("sidecar", "yaml")
    if _EVAL.search(name.lower()) or (format == "yaml" and _SCHEMA_LINE.match(text[:4000])):
        return FileRole("suite", format)
    return None


def _split_text(text: str, format: str) -> list[str]:
    return text.split("\n") if format == "jsonl" else split_lines(text)


class CasePosition(NamedTuple):
    """The position of a case, and of its id."""

    number: int
    span: Span
    name_span: Span
    """Of its id, else of the whole case."""


class Reading(Struct, dict=True):
    """A text as it was at one moment, checked."""

    text: str
    path: str
    role: FileRole
    problems: list[Problem]
    cases: Sequence[Case | None] = ()

    @property
    def own_problems(self) -> list[Problem]:
        """Those of the text itself, and not of files that it names."""
        return [each for each in self.problems if each.path == self.path]

    @cached_property
    def lines(self) -> list[str]:
        return _split_text(self.text, self.role.format)

    @cached_property
    def places(self) -> list[CasePosition]:
        """The cases in their order; none where the text can't be read, or isn't made of cases."""
        is_cut = any(each.code in _UNREADABLE and each.span for each in self.own_problems)
        if is_cut or self.role.kind != "suite" or self.role.format == "toml":
            return []
        if self.role.format == "jsonl":
            spans = {
                number: Span(number + 1, 1, number + 1, len(text) + 1)
                for number, text in enumerate(self.lines)
                if text.strip()
            }
            return [CasePosition(number, span, span) for number, span in spans.items()]
        if not self.cases:
            return []
        text = self.text.removeprefix("\ufeff")
        positions = Document(self.path, text, self.role.format, None).positions
        places = []
        for number, path in enumerate(positions.item_paths(CASE_CONTAINERS)):
            span, (name, through) = positions.span(path), positions.find((*path, "id"))
            is_elsewhere = through is not None  # behind an alias, or in a mapping that is merged
            places.append(CasePosition(number, span, span if is_elsewhere else name))
        return places


def read_text(text: str, path: str, role: FileRole, known: Catalogue) -> Reading:
    """Check a text as if it stood at its path. It never raises for what a text may hold."""
    if role.format == "toml":
        return Reading(text, path, role, check_config_text(text, path))
    if role.kind == "sidecar":
        try:
            sidecar = read_sidecar(check_text(text, path), path, os.path.basename(path), known)
        except UnreadableError as error:
            return Reading(text, path, role, [error.problem])
        return Reading(text, path, role, sidecar.problems)
    loaded = load_text(text, role.format, known, path)
    return Reading(text, path, role, loaded.problems, loaded.read)


def cases_at(
    reading: Reading, places: Sequence[CasePosition], known: Catalogue
) -> list[Case | None]:
    """The cases at some places; None for those that are not valid."""
    if reading.role.format != "jsonl":
        whole = len(reading.cases) == len(reading.places)
        return [reading.cases[each.number] if whole else None for each in places]
    # Each line is a case of its own: only the requested lines are read.
    found = [load_text(reading.lines[at.number], "jsonl", known, reading.path) for at in places]
    return [next(iter(each.suite.cases if each.suite else ()), None) for each in found]


class OpenFile:
    """One file. `changed` is set whenever it has to be checked again."""

    def __init__(self, uri: str, path: str, text: str, version: int | None) -> None:
        self.uri = uri
        self.path = path
        self.reading: Reading | None = None
        self.changed = asyncio.Event()
        self.watcher: asyncio.Task[None] | None = None
        self._lock = Lock()
        self._is_checked = False
        self.change(text, version)

    def change(self, text: str, version: int | None) -> None:
        self.text, self.version = text, version
        self.role = role_of(self.path, text)
        self.reading = None
        self.lines = _split_text(text, self.role.format if self.role is not None else "")
        self.check_again()

    def check_again(self) -> None:
        self._is_checked = False
        self.changed.set()

    @property
    def config(self) -> Config:
        return read_config(os.path.dirname(self.path))

    def read(self) -> Reading | None:
        """The reading of the text as it is; None for a file that is not evalcase's business. It may
        take long: it is called in a thread."""
        with self._lock:
            if self.role is None or self._is_checked:
                return self.reading
            self._is_checked = True  # it may change while it is checked
            reading = read_text(self.text, self.path, self.role, Catalogue(self.config))
            self.reading = reading
            return reading

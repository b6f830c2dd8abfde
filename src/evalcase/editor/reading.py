"""One version of an open text, checked: the kind of file it is, its problems, its valid cases, and
their positions, which are looked up when they are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from evalcase.config.catalogue import Catalogue, check_config_text
from evalcase.config.config import TABLES, Config, config_of_text, has_settings, read_config
from evalcase.format.document import Document
from evalcase.format.fields import CASE_CONTAINERS
from evalcase.format.load import load_text, read_sidecar
from evalcase.format.positions import Format, split_lines
from evalcase.format.source import UnreadableError, check_text, format_of, is_sidecar
from evalcase.graders.base import DeclaredGrader, What
from evalcase.types.case import Case
from evalcase.types.problem import Finding, Problem, Span
from evalcase.util.files import read_file
from evalcase.util.project import project_root

FileKind = Literal["suite", "sidecar", "config"]
_EVAL = re.compile(r"\.eval\.(?:ya?ml|jsonl?)$")
_SCHEMA_LINE = re.compile(r"\A(?:\s*(?:#.*)?\n){0,20}?#\s*yaml-language-server:.*evalcase")


class FileRole(NamedTuple):
    kind: FileKind
    format: Format | Literal["toml"]


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


class StaleError(Exception):
    """The text changed while it was checked."""


class CancellableCatalogue(Catalogue):
    """The catalogue of `check`. It raises StaleError as soon as the result is no longer wanted."""

    def __init__(self, config: Config, is_stale: Callable[[], bool] = lambda: False) -> None:
        super().__init__(config)
        self._is_stale = is_stale

    def grader(self, name: str) -> DeclaredGrader | None:
        if self._is_stale():
            raise StaleError
        return super().grader(name)

    def object_to(self, what: What, name: str) -> Finding | None:
        if self._is_stale():
            raise StaleError
        return super().object_to(what, name)


def config_around(folder: str, unsaved: Mapping[str, str]) -> Config:
    """The configuration of the project that a folder belongs to. `unsaved` has the texts that are
    open in the editor, by their paths."""
    root = project_root(os.path.realpath(folder))
    paths = [os.path.join(root, name) for name in TABLES]
    if not any(path in unsaved for path in paths):
        return read_config(folder)
    for path in paths:
        config = _config_at(path, root, unsaved.get(path))
        if config is not None:
            return config
    return Config(root)


def _config_at(path: str, root: str, text: str | None) -> Config | None:
    if text is None and not os.path.lexists(path):
        return None
    try:
        if text is None:
            text = read_file(path, 10_000_000, root).decode()
        text = check_text(text, path)
    except (OSError, UnreadableError, UnicodeDecodeError):
        return None
    return config_of_text(text, path, root, path)


class CasePosition(NamedTuple):
    """The position of a case, and of its id."""

    number: int
    span: Span
    name_span: Span
    """Of its id, else of the whole case."""


class Reading:
    """A text as it was at one moment."""

    def __init__(
        self, text: str, path: str, role: FileRole, problems: list[Problem],
        cases: Sequence[Case | None] = (),
    ) -> None:  # fmt: skip
        self.text = text
        self.path = path
        self.role = role
        self.problems = problems
        self.cases = cases

    @property
    def is_readable(self) -> bool:
        """Whether the text could be read as such, whatever is wrong with what it says."""
        return not any(each.code in _UNREADABLE and each.span for each in self.own_problems)

    @property
    def own_problems(self) -> list[Problem]:
        """Those of the text itself, and not of files that it names."""
        return [each for each in self.problems if each.path == self.path]

    @cached_property
    def lines(self) -> list[str]:
        if self.role.format == "jsonl":
            return self.text.split("\n")
        return split_lines(self.text)

    @cached_property
    def places(self) -> list[CasePosition]:
        """The cases in their order; none where the text can't be read, or isn't made of cases."""
        if not self.is_readable or self.role.kind != "suite":
            return []
        if self.role.format == "jsonl":
            return [
                CasePosition(number, span, span)
                for number, text in enumerate(self.lines)
                if text.strip()
                for span in [Span(number + 1, 1, number + 1, len(text) + 1)]
            ]
        return _find_places(self)


_UNREADABLE = frozenset({"syntax", "bad-encoding", "too-deep", "too-large"})


def _find_places(reading: Reading) -> list[CasePosition]:
    assert reading.role.format != "toml"
    if not reading.cases:
        return []
    text = reading.text.removeprefix("\ufeff")
    positions = Document(reading.path, text, reading.role.format, None).positions
    places = []
    for number, path in enumerate(positions.item_paths(CASE_CONTAINERS)):
        span, (name, through) = positions.span(path), positions.find((*path, "id"))
        is_elsewhere = through is not None  # behind an alias, or in a mapping that is merged
        places.append(CasePosition(number, span, span if is_elsewhere else name))
    return places


def read_text(text: str, path: str, role: FileRole, known: Catalogue) -> Reading:
    """Check a text as if it stood at its path. It never raises for what a text may hold."""
    if role.kind == "config":
        return Reading(text, path, role, check_config_text(text, path))
    if role.kind == "sidecar":
        try:
            checked = check_text(text, path)
        except UnreadableError as error:
            return Reading(text, path, role, [error.problem])
        sidecar = read_sidecar(checked, path, os.path.basename(path), known)
        return Reading(text, path, role, sidecar.problems)
    assert role.format != "toml"
    loaded = load_text(text, role.format, known, path)
    return Reading(text, path, role, loaded.problems, loaded.read)


def map_lines(before: Sequence[str], now: Sequence[str]) -> Callable[[int], int | None]:
    """What turns the number of a line into its number now; None for one that was changed."""
    most = min(len(before), len(now))
    above = next((at for at in range(most) if before[at] != now[at]), most)
    left = most - above
    below = next((at for at in range(left) if before[-1 - at] != now[-1 - at]), left)
    shift = len(now) - len(before)

    def move(line: int) -> int | None:
        if line < above:
            return line
        return line + shift if line >= len(before) - below else None

    return move

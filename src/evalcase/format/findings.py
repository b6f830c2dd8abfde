"""Problems that are found while a suite is read, by path."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from typing import Any, NamedTuple, Protocol

from evalcase.format.positions import NO_DOUBTS, Doubts
from evalcase.types.grader import DeclaredGrader, Known, What
from evalcase.types.options import Check, OptionFault
from evalcase.types.problem import (
    CODES,
    QUOTE_IT,
    At,
    Finding,
    Fix,
    KeyPath,
    Unfit,
    hint_at,
)
from evalcase.types.read_options import Type, problems_of
from evalcase.util.project import Attachments

_IN_FIELDS = {"unknown-option": "unknown-field", "missing-option": "wrong-type"}
"""The codes of problems in fields that have other codes in options."""


class FileReference(NamedTuple):
    """A file that a case names."""

    name: str
    path: KeyPath
    case: str | None = None
    from_root: bool = False
    """Whether its name starts from the root of the project, not from the folder of the suite."""
    holds: Check | None = None
    """What the JSON in it has to be."""


class TableRow(NamedTuple):
    """One row of a table: values by the names of their columns."""

    values: dict[str, Any]
    place: str
    """Its file and line: `qa.csv:7`."""


class NamedFiles(Protocol):
    """The files that a suite may name. The format reads files only through it."""

    def text_of(self, name: str) -> str | Unfit:
        """The text of a file, or why it can't be used."""
        ...

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table, one by one, without those that have errors."""
        ...

    def has_errors_in(self, name: str) -> bool:
        """Whether a table that was read to its end has rows with errors."""
        ...


class Findings:
    def __init__(
        self, known: Known | None = None, named: NamedFiles | None = None,
        doubts: Doubts = NO_DOUBTS,
    ) -> None:  # fmt: skip
        self.known = known
        self.doubts = doubts
        """About the text that is read."""
        self.found: list[Finding] = []
        self.errors = 0
        self.files: list[FileReference] = []
        self.held: list[tuple[str, Check]] = []
        """Files that were found and have to be checked, with what they hold."""
        self.case: str | None = None
        """The id of the case that is being read, as soon as it is known."""
        self.multiplied = 0
        """How many cases matrices have made, beside those that are written."""
        self._named_files = named
        self._case_path: KeyPath | None = None
        self._case_start = (0, 0)
        self._suite_targets: dict[str, KeyPath] = {}
        self._case_targets: dict[str, KeyPath] = {}
        self._said: set[str] = set()

    def add(
        self,
        code: str,
        path: KeyPath,
        message: str,
        hint: str | None = None,
        at: At = "value",
        fix: Fix | None = None,
        within: str | None = None,
    ) -> None:
        fix = Fix('"…"') if hint == QUOTE_IT else fix
        self.found.append(Finding(code, path, message, hint, at, self.case, None, fix, within))
        if CODES[code].severity == "error":
            self.errors += 1

    def add_fault(self, fault: OptionFault) -> None:
        self.add(fault.code, fault.path, fault.message, fault.hint, fault.at, fault.fix)

    def accepts(self, takes: Type, value: Any, path: KeyPath) -> bool:
        """Whether a value is of a declared type. What is wrong with it is added."""
        before = self.errors
        for fault in problems_of(takes, value, path):
            self.add_fault(fault._replace(code=_IN_FIELDS.get(fault.code, fault.code)))
        return self.errors == before

    def say_once(
        self, code: str, path: KeyPath, message: str, hint: str | None, at: At = "value"
    ) -> None:
        """Add a finding that holds for many cases to the first of them."""
        if message not in self._said:
            self._said.add(message)
            self.add(code, path, message, hint, at)

    def suggested(self, name: str, path: KeyPath) -> bool:
        """Whether the last findings below `path` suggest to rename a wrong field to `name`."""
        hint = hint_at(name)
        for finding in reversed(self.found):
            if finding.path[:-1] != path:
                return False
            if finding.hint == hint:
                return True
        return False

    def begin_case(self, id: str | None, path: KeyPath) -> None:
        self.case, self._case_path = id, path
        self._case_start = len(self.found), len(self.files)
        self._case_targets.clear()

    def name_case(self, id: str) -> None:
        """Give the id of the case, which is made late, to its findings so far."""
        self.case = id
        found, files = self._case_start
        self.found[found:] = [each._replace(case=id) for each in self.found[found:]]
        self.files[files:] = [each._replace(case=id) for each in self.files[files:]]

    def declared(self, grader: str) -> DeclaredGrader | None:
        """The declaration of a kind of grader; None if it is unknown."""
        return self.known.grader(grader) if self.known is not None else None

    def mention(self, what: What, name: str, path: KeyPath, at: At = "value") -> None:
        """Check something that the suite mentions by its name, such as a target."""
        if what in ("target", "asked"):
            above = self._case_path
            in_case = above is not None and path[: len(above)] == above
            (self._case_targets if in_case else self._suite_targets).setdefault(name, path)
        unfit = self.known.object_to(what, name) if self.known is not None else None
        if unfit is not None:
            self.add(unfit.code, path, unfit.message, unfit.hint, at)

    def mention_call(self, function: str, arguments: Collection[str], path: KeyPath) -> None:
        """Check a function of the project that grades, and the arguments that it is given."""
        unfit = self.known.object_to_call(function, arguments) if self.known is not None else None
        if unfit is not None:
            self.add(unfit.code, path, unfit.message, unfit.hint)

    def find_target(self, name: str) -> KeyPath | None:
        """Where a target is mentioned: in the case that is being read, else in the suite."""
        return self._case_targets.get(name) or self._suite_targets.get(name)

    def text_of(self, name: str) -> str | Unfit:
        """The text in a file that becomes a value."""
        return _UNREAD if self._named_files is None else self._named_files.text_of(name)

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table that become values."""
        return _UNREAD if self._named_files is None else self._named_files.rows_of(name)

    def has_errors_in(self, name: str) -> bool:
        """Whether rows of a table were left out because they have errors."""
        return self._named_files is not None and self._named_files.has_errors_in(name)

    def add_file(
        self, name: str, path: KeyPath, *, from_root: bool = False, holds: Check | None = None
    ) -> None:
        self.files.append(FileReference(name, path, self.case, from_root, holds))

    def check_files(self, attachments: Attachments) -> None:
        """Add the files that are not found."""
        for reference in self.files:
            find = attachments.find_from_root if reference.from_root else attachments.find
            found = find(reference.name)
            if isinstance(found, Unfit):
                self.case = reference.case
                self.add(found.code, reference.path, found.message, found.hint)
            elif reference.holds is not None:
                self.held.append((found, reference.holds))

    def replace_all(self, finding: Finding) -> None:
        """Report one error in place of all findings."""
        self.found, self.files, self.errors = [finding], [], 1

    def drain(self) -> None:
        """Forget what has been reported; `say_once` remembers it."""
        self.found, self.files, self.held, self.errors = [], [], [], 0

    def leave_out(self, codes: Container[str]) -> None:
        """Remove findings with some codes, which are no errors."""
        self.found = [each for each in self.found if each.code not in codes]


_UNREAD = Unfit("unreadable-file", "files can't be read here")

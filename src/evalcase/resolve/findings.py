"""Collects what is found while resolving: problems by path, and files that content refers to.

It is also where a reader asks about what no file says: which graders there are, which targets.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from typing import TYPE_CHECKING, NamedTuple

from evalcase.model.codes import CODES
from evalcase.model.finding import (
    IN_QUOTES,
    NO_DOUBTS,
    QUOTE_IT,
    At,
    Doubts,
    Finding,
    Fix,
    KeyPath,
    Unfit,
)
from evalcase.model.nearest import hint_at

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.known import Known, What
    from evalcase.model.shape import OptionFault, Shape
    from evalcase.model.table_source import NamedFiles, TableRow
    from evalcase.system.attachments import Attachments


class FileReference(NamedTuple):
    """A file that a case names: to be looked for by whoever may touch the disk."""

    name: str
    path: KeyPath
    case: str | None = None
    from_root: bool = False
    """Whether it is named from the root of the project, and not from the folder of the suite."""
    holds: Shape | None = None
    """What the JSON in it is, if it is looked into."""


class Findings:
    def __init__(
        self, known: Known | None = None, named: NamedFiles | None = None,
        doubts: Doubts = NO_DOUBTS,
    ) -> None:  # fmt: skip
        self.known = known
        self.named_files = named
        """Files whose content becomes values; without it, none can be read."""
        self.multiplied = 0
        """How many cases matrices have made, beside those that are written."""
        self.found: list[Finding] = []
        self.files: list[FileReference] = []
        self.held: list[tuple[str, Shape]] = []
        """Files that were found and have to be looked into, by what they hold."""
        self.errors = 0
        self.doubts = doubts
        """About the text that is resolved."""
        self.case: str | None = None
        """The id of the case that is being looked at, as soon as it is known."""
        self.first_targets: dict[str, KeyPath] = {}
        """Where each target is mentioned first."""
        self._latest: dict[str, KeyPath] = {}
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
        fix = IN_QUOTES if hint == QUOTE_IT else fix
        self.found.append(Finding(code, path, message, hint, at, self.case, None, fix, within))
        if CODES[code].severity == "error":
            self.errors += 1

    def add_fault(self, fault: OptionFault) -> None:
        """Note what is wrong with the value of an option, as its shape has it."""
        self.add(fault.code, fault.path, fault.message, fault.hint, fault.at, fault.fix)

    def declared(self, grader: str) -> DeclaredGrader | None:
        """What is declared of a kind of grader; None if nobody knows it."""
        return self.known.grader(grader) if self.known is not None else None

    def mention(self, what: What, name: str, path: KeyPath, at: At = "value") -> None:
        """Note that a suite mentions something by its name, which may not be there."""
        if what in ("target", "asked"):
            self.first_targets.setdefault(name, path)
            self._latest[name] = path
        unfit = self.known.object_to(what, name) if self.known is not None else None
        if unfit is not None:
            self.add(unfit.code, path, unfit.message, unfit.hint, at)

    def mention_call(self, function: str, arguments: Collection[str], path: KeyPath) -> None:
        """Note that a function of the project grades, and what it is given of its own."""
        unfit = self.known.object_to_call(function, arguments) if self.known is not None else None
        if unfit is not None:
            self.add(unfit.code, path, unfit.message, unfit.hint)

    def find_target(self, name: str, path: KeyPath) -> KeyPath | None:
        """Where a target is mentioned for the case at a path, which was read last: in itself, else
        in what holds for all cases. What another case says of it is nothing to this one."""
        latest, first = self._latest.get(name), self.first_targets.get(name)
        if latest is None or first is None or latest[: len(path)] == path:
            return latest
        above = path[:-1]
        of_another = first[: len(above)] == above and (above or isinstance(first[0], int))
        return None if of_another else first

    def forget_targets(self) -> None:
        """What was mentioned so far has no place in what follows."""
        self.first_targets.clear()
        self._latest.clear()

    def say_once(
        self, code: str, path: KeyPath, message: str, hint: str | None, at: At = "value"
    ) -> None:
        """Note what holds for many cases at the first of them."""
        if message not in self._said:
            self._said.add(message)
            self.add(code, path, message, hint, at)

    def text_of(self, name: str) -> str | Unfit:
        """The text in a file that becomes a value."""
        return _UNREAD if self.named_files is None else self.named_files.text_of(name)

    def rows_of(self, name: str) -> Iterable[TableRow] | Unfit:
        """The rows of a table that become values."""
        return _UNREAD if self.named_files is None else self.named_files.rows_of(name)

    def has_errors_in(self, name: str) -> bool:
        """Whether rows of a table were left out because they have errors."""
        return self.named_files is not None and self.named_files.has_errors_in(name)

    def suggested(self, name: str, path: KeyPath) -> bool:
        """Whether a wrong field below `path` was just said to be meant as `name`."""
        hint = hint_at(name)
        for finding in reversed(self.found):
            if finding.path[:-1] != path:
                return False
            if finding.hint == hint:
                return True
        return False

    def add_file(
        self, name: str, path: KeyPath, *, from_root: bool = False, holds: Shape | None = None
    ) -> None:
        self.files.append(FileReference(name, path, self.case, from_root, holds))

    def name_case(self, case: str, path: KeyPath) -> None:
        """Name the case of what was found below its path before its id was made."""
        found, files, length = self.found, self.files, len(path)
        for index in range(len(found) - 1, -1, -1):
            if found[index].path[:length] != path:
                break
            found[index] = found[index]._replace(case=case)
        for index in range(len(files) - 1, -1, -1):
            if files[index].path[:length] != path:
                break
            files[index] = files[index]._replace(case=case)

    def replace_all(self, finding: Finding) -> None:
        """Say one thing in place of all the others."""
        self.found, self.files, self.errors = [finding], [], 1

    def drain(self) -> None:
        """Forget what was told of by now; it is still known that it was said."""
        self.found, self.files, self.held, self.errors = [], [], [], 0

    def leave_out(self, codes: Container[str]) -> None:
        """Forget findings of some kinds, which don't count as errors."""
        self.found = [each for each in self.found if each.code not in codes]

    def replace_hint(self, code: str, hint: str) -> None:
        """Give all findings of one kind a hint that fits better."""
        self.found = [
            each._replace(hint=hint) if each.code == code else each for each in self.found
        ]

    def check_files(self, attachments: Attachments) -> None:
        """Note the files that are not found."""
        for reference in self.files:
            find = attachments.find_from_root if reference.from_root else attachments.find
            found = find(reference.name)
            if isinstance(found, Unfit):
                self.case = reference.case
                self.add(found.code, reference.path, found.message, found.hint)
            elif reference.holds is not None:
                self.held.append((found, reference.holds))


_UNREAD = Unfit("unreadable-file", "files can't be read here")

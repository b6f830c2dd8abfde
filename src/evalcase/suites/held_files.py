"""What is wrong inside of files that graders name, such as a schema: told at its place there."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.model.finding import Finding
from evalcase.model.problem import Problem
from evalcase.model.shape import Shape
from evalcase.model.value import replace
from evalcase.read.document import Document, parse_document
from evalcase.read.source import tell_undecodable
from evalcase.resolve.findings import Findings
from evalcase.system.attachments import show_beside
from evalcase.system.files import OversizeError, read_file

LARGEST_HELD = 10_000_000
_TOP = "schema"


class HeldFiles:
    """The files that the suites in one folder name. Each is read once, and told of once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._known: dict[tuple[str, Shape], int] = {}

    def problems_in(self, findings: Findings) -> list[Problem]:
        """What is wrong in the files that were found. It counts as errors of who names them."""
        told: list[Problem] = []
        for path, shape in findings.held:
            if (path, shape) not in self._known:
                problems = list(_look_into(path, show_beside(path, self._folder), shape))
                self._known[path, shape] = len(problems)
                told += problems
            findings.errors += self._known[path, shape]
        return told


def _look_into(path: str, shown: str, shape: Shape) -> Iterator[Problem]:
    try:
        data = read_file(path, LARGEST_HELD)
        document = parse_document(data.decode(), "json", shown)
    except OversizeError:
        yield Problem("bad-file", f"the file is larger than {LARGEST_HELD // 1_000_000} MB", shown)
    except OSError as error:
        yield Problem("unreadable-file", f"it can't be read: {error.strerror or error}", shown)
    except UnicodeDecodeError:
        yield tell_undecodable(data, shown)
    else:
        yield from (_say_why(each) if each.code == "syntax" else each for each in document.problems)
        if document.readable and not document.faults:
            yield from _faults_in(document, shape)


def _say_why(problem: Problem) -> Problem:
    """A file that is no JSON may never have been meant to be read as such."""
    return replace(problem, hint=problem.hint or "a grader names this file as a JSON Schema")


def _faults_in(document: Document, shape: Shape) -> list[Problem]:
    faults = shape.faults(document.value, (_TOP,))
    return document.place(
        Finding(each.code, each.path[1:], each.message, each.hint, each.at) for each in faults
    )

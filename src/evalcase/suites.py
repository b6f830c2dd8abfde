"""The cases of a run: checked as a whole first, then given as a stream as often as needed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from evalcase.errors import ConfigError, SuiteError
from evalcase.model.case import Case
from evalcase.model.problem import Problem
from evalcase.model.suite import Suite
from evalcase.pipeline import load_each
from evalcase.read.discover import format_of
from evalcase.read.source import STDIN
from evalcase.streaming import stream_cases


class Suites:
    """Valid suites. Those in JSONL are read anew each time, and never held in memory."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        """Check everything. Raise SuiteError with all problems if anything has an error."""
        if STDIN in paths:
            raise ConfigError("a run reads files, and not standard input: it must be resumable")
        self.files: list[tuple[str, Suite | None]] = []
        self.warnings: list[Problem] = []
        problems: list[Problem] = []
        for loaded in load_each(paths, keep=False):
            problems += loaded.problems
            streamed = format_of(loaded.path) == "jsonl"
            self.files.append((loaded.path, None if streamed else loaded.suite))
        if any(problem.severity == "error" for problem in problems):
            raise SuiteError(problems)
        self.warnings = [problem for problem in problems if problem.severity == "warning"]

    def __iter__(self) -> Iterator[tuple[str, Case]]:
        for path, suite in self.files:
            if suite is not None:
                for case in suite:
                    yield path, case
            else:
                for item in stream_cases(path):
                    if isinstance(item, Case):
                        yield path, item

    def hashes(self) -> dict[str, str]:
        """A hash of each file, to see later which has changed."""
        return {path: _hash_file(path) for path, _ in self.files}


def _hash_file(path: str) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

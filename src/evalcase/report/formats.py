"""What a report is made of: a stored run, which of its results, and for whom. And its formats, by
name and by the ending of a file.

A format is a function of a Reported that gives its pieces: text or bytes. Its module is imported
when it is written. JSON, JSONL and CSV also hold cases, answers and traces: so a report replaces an
earlier report and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TextIO

from evalcase.errors import ConfigError
from evalcase.format.source import format_at, is_found
from evalcase.report.aggregate import MOST_VALUES, Figuring, Highlights, Ledger
from evalcase.report.details import UNFINISHED
from evalcase.report.evaluated import Evaluated, read_evaluated
from evalcase.report.figures import PART_KINDS, Figures, PartKind
from evalcase.report.terminal import Reader, seen_from
from evalcase.store.folder import Run, folder_of_run, is_own
from evalcase.store.index import Tally
from evalcase.store.stored import StoredRun
from evalcase.types.case import Case
from evalcase.types.problem import did_you_mean
from evalcase.types.result import Result, Verdict
from evalcase.types.value import Value, fits_pattern, replace
from evalcase.util.files import digest_file, open_file, open_to_write, write_atomically
from evalcase.util.project import leaves_by_link
from evalcase.util.table import Table


def find_suite_places(root: str, folder: str) -> Callable[[str], str]:
    """Finds them for paths as they were written in a folder. By words alone: a record may come from
    anyone, and nothing is looked for."""

    @cache
    def find(suite: str) -> str:
        if suite.startswith("<"):
            return suite
        path = os.path.normpath(os.path.join(folder, suite))
        if os.path.isabs(path) and (path + os.sep).startswith(root + os.sep):
            path = os.path.relpath(path, root)
        return path.replace(os.sep, "/")

    return find


def see_suites(run: Run, root: str, cwd: str) -> Callable[[str], str]:
    """What turns the path of a suite of a run into one that leads there from `cwd`.

    It goes by the words alone: a record may come from anyone, and nothing is looked for. One that
    was started here, or at an unknown place, has its paths as they are.
    """
    begun = os.path.normpath(os.path.join(root, folder_of_run(run)))
    if begun == os.path.realpath(cwd):
        return str
    return lambda path: path if path.startswith("<") else seen_from(cwd, os.path.join(begun, path))


PARTS = ("target", "tag", "suite", "grader")

MAX_SIZE = 50_000_000
"""Unless another is asked for: browsers open it in a second."""
_MOST_KNOWN = 10_000
"""Names that are remembered in case that the one which was asked for is not among them."""


class Wanted(Value, frozen=True):
    case: str | None = None
    target: str | None = None
    verdicts: tuple[str, ...] = ()
    """Of cases."""

    @property
    def is_all(self) -> bool:
        """Whether every case is counted. A verdict that is asked for changes no count: all of those
        that passed are no pass rate."""
        return self.case is None and self.target is None

    def describe(self) -> str:
        said = [f"case {self.case}"] if self.case is not None else []
        return ", ".join([*said, *([f"target {self.target}"] if self.target is not None else [])])


class Reported(Value, frozen=True):
    """A run that is reported, and for whom."""

    stored: StoredRun
    reader: Reader
    wanted: Wanted = Wanted()
    figuring: Figuring = Figuring()
    by: tuple[PartKind, ...] = PART_KINDS
    """The parts whose rates are shown."""
    max_size: int = MAX_SIZE
    """Bytes that a page may have, where it can be kept to that."""

    def read(self, shown: Collection[Verdict | None] = ()) -> tuple[Evaluated, Highlights, Figures]:
        """What came of it, cases to show of these verdicts, and the figures of all results that
        count. Raise ConfigError where the run hasn't got them."""
        highlights = Highlights(shown, self.figuring)
        find, evaluated = self.figuring.finder(self.stored), self.evaluated()
        for result in self._counted():
            highlights.add(result, find(*result.key[:2]))
        return evaluated, highlights, self.sum_up(highlights.ledger, evaluated)

    def sum_up(self, ledger: Ledger, evaluated: Evaluated) -> Figures:
        """The figures of results that were added up elsewhere. Raise ConfigError for tags or a
        variable that no case has, and for one that has too many values."""
        figures = ledger.sum_up(evaluated, whole=self.wanted.is_all)
        known = figures.by_vars
        for word in self.by:
            if word == "tag" and self.by is not PART_KINDS and not figures.by_tag:
                raise ConfigError("no case has a tag to group by")
            name = word.removeprefix("vars.")
            if name in figures.crowded:
                what = f"more than {MOST_VALUES} values, too many to group by"
                raise ConfigError(f"`{name}` has {what}")
            if name != word and name not in known:
                there = f"there are {', '.join(known)}" if known else "no case has variables"
                hint = did_you_mean(name, known) or there
                raise ConfigError(f"no case has a variable `{name}` to group by; {hint}")
        return figures

    def evaluated(self) -> Evaluated:
        """What came of the run, or of a case or a target."""
        evaluated = read_evaluated(self.stored)
        if self.wanted.is_all:
            return evaluated
        tally = Tally()
        for result in self._counted():
            tally.add(result)
        return replace(evaluated, totals=tally.totals(), not_run=0)

    def _counted(self) -> Iterator[Result]:
        return replace(self, wanted=replace(self.wanted, verdicts=())).results()

    def results(self) -> Iterator[Result]:
        """The results that are wanted. Raise ConfigError if a name is not one of the run's."""
        wanted, count, run = self.wanted, 0, self.stored.run.id
        cases, targets = dict[str, None](), dict[str, None]()
        for result in self.stored.results():
            key = result.key
            if len(cases) < _MOST_KNOWN:
                cases[key.case] = None
            targets[key.target] = None
            # An id, or a glob as `run --case` takes it.
            is_meant = wanted.case is None or fits_pattern(key.case, wanted.case)
            if not is_meant or wanted.target not in (None, key.target):
                continue
            count += 1
            verdict = self.stored.outcome(result).verdict or UNFINISHED
            if not wanted.verdicts or verdict in wanted.verdicts:
                yield result
        if count or wanted.is_all:
            return
        for noun, name, known in (("case", wanted.case, cases), ("target", wanted.target, targets)):
            if name is not None and not any(fits_pattern(each, name) for each in known):
                hint = did_you_mean(name, known)
                there = f"; {hint}" if hint else ""
                raise ConfigError(f"run {run} has no {noun} `{name}`{there}")
        raise ConfigError(f"case `{wanted.case}` was not run at `{wanted.target}` in run {run}")


class LineFinder:
    """Finds the line of a case. A file is read when the first of its cases is looked for."""

    def __init__(self, reported: Reported, state: str | None) -> None:
        """`state` is the folder of what is kept for this user."""
        stored, reader = reported.stored, reported.reader
        self._root = os.path.realpath(reader.config.root)
        self._cwd = reader.cwd
        self._is_own = is_own(stored.run, state, reader.config.root)
        suites = stored.run.about.suites
        self._hashes = stored.graded_suites(frozenset(suites)) or suites
        """Of the suites when the run was last graded by them, as its record has them."""
        self.see = see_suites(stored.run, reader.config.root, reader.cwd)
        """How a person here writes the path of a suite."""
        self._lines: dict[str, Table] = {}

    def find_line(self, suite: str, case: str) -> int | None:
        if not self._is_own or suite.startswith("<"):
            return None
        if suite not in self._lines:
            self._lines[suite] = self._read(suite)
        found = self._lines[suite].find(hash(case))
        return None if found is None else int(found[0])

    def locate(self, suite: str, case: str) -> str:
        """`file:line`, or the file alone."""
        line = self.find_line(suite, case)
        return self.see(suite) if line is None else f"{self.see(suite)}:{line}"

    def _read(self, suite: str) -> Table:
        """The lines of the cases; none if the suite has changed, or is not in the project."""
        from evalcase.config.catalogue import Catalogue  # most reports read no suite
        from evalcase.format.load import CaseStream, case_spans, load_file

        lines, path = Table(1), os.path.join(self._cwd, self.see(suite))
        real = os.path.realpath(path)
        if not real.startswith(self._root + os.sep) or not os.path.isfile(real):
            return lines
        if digest_file(real) != self._hashes.get(suite):
            return lines
        if format_at(path) == "jsonl":
            stream = CaseStream(path, Catalogue())
            for case in stream:
                if isinstance(case, Case):
                    lines.add(hash(case.id), stream.line)
        elif (loaded := load_file(path, Catalogue())).suite is not None:
            pairs = zip(loaded.suite, case_spans(path, loaded.numbers), strict=True)
            for each, span in pairs:
                if span is not None:
                    lines.add(hash(each.id), span.line)
        return lines


_SOURCES = (".yaml", ".yml", ".toml", ".py")
"""What suites, configurations and code end in, besides the names of eval files."""
_DATA_ENDINGS = (".json", ".jsonl", ".csv")
_LOOKED_AT = 4096
_OWN = re.compile(
    rb'\{"run": "|\{"result": \[|\{"suite": .*?"verdict": "|suite,case,target,repeat,verdict,'
    rb'|\{"resourceSpans": .*?"stringValue": "evalcase"',
    re.DOTALL,
)
"""How reports begin."""


def refuse_to_overwrite(path: str) -> None:
    """Raise ConfigError if a path leads out of the project by a link, has the name of a suite, a
    configuration or code, or is that of a file that is no report of evalcase."""
    name = os.path.basename(path).lower()
    if leaves_by_link(path):
        raise ConfigError(f"{path} can't be written: a link in its path leads outside the project")
    names = (name, os.path.basename(os.path.realpath(path)).lower())  # a link names another file
    if any(each.endswith(_SOURCES) or is_found(each) for each in names):
        what = "a report is never written over a suite, a configuration or code"
        raise ConfigError(f"{path} can't be written: {what}; choose another name")
    if not name.endswith(_DATA_ENDINGS) or not os.path.isfile(path):
        return
    try:
        with open_file(path) as file:
            beginning = file.read(_LOOKED_AT)
    except OSError:
        return  # who writes it says what is wrong
    if beginning.strip() and not _OWN.match(beginning):
        hint = "remove it, or choose another name"
        raise ConfigError(f"{path} already exists and is not an evalcase report: {hint}")


FormPieces = Iterator[str] | Iterator[bytes]

_FORMS = {
    "text": ("summary:write_text", ".txt"),
    "html": ("page:write_html", ".html"),
    "json": ("json:write_json", ".json"),
    "jsonl": ("json:write_jsonl", ".jsonl"),
    "markdown": ("markdown:write_markdown", ".md"),
    "junit": ("junit:write_junit", ".xml"),
    "github": ("github:write_github", ""),
    "csv": ("tables:write_csv", ".csv"),
    "parquet": ("tables:write_parquet", ".parquet"),
    "otlp": ("otlp:write_otlp", ".otlp.json"),
}
"""The function that writes each, and the ending of its files."""
FORMS = tuple(_FORMS)
_FOR_FILES = ("html", "parquet")
_CHUNK_BYTES = 1 << 16


def form_of(path: str, forms: Container[str] = FORMS) -> str:
    """The form that the ending of a file names. Raise ConfigError if it is none of `forms`, or if
    no report may be written to that file."""
    refuse_to_overwrite(path)
    known = {ending: form for form, (_, ending) in _FORMS.items() if ending and form in forms}
    # The longest first: `.otlp.json` ends in `.json`.
    for ending in sorted(known, key=len, reverse=True):
        if path.lower().endswith(ending):
            return known[ending]
    ending = os.path.splitext(path)[1]
    hint = did_you_mean(ending, known) or f"it must be one of {', '.join(known)}"
    raise ConfigError(f"the extension of {path} is not a report format; {hint}")


def choose_form(asked: str | None, path: str | None, forms: Container[str] = FORMS) -> str:
    """The form that is asked for, else that which the ending of the file names, else text."""
    if asked is not None or path is None:
        return asked or "text"
    return form_of(path, forms)


def require_form(form: str) -> None:
    """Raise ConfigError if a form needs a package that is not installed."""
    if form == "parquet" and find_spec("pyarrow") is None:
        what = "a parquet report needs pyarrow, from the extra `parquet`"
        raise ConfigError(f"{what}: pip install pyarrow")


def refuse_terminal(form: str, out: TextIO) -> None:
    """Raise ConfigError if a form that is not for reading would go to a terminal."""
    if form in _FOR_FILES and out.isatty():
        raise ConfigError(f"a report as {form} needs a file: give one with -o FILE")


def write_form(form: str, reported: Reported) -> FormPieces:
    require_form(form)
    writer: Callable[[Reported], FormPieces] = resolve_name(f"evalcase.report.{_FORMS[form][0]}")
    return writer(reported)


def write_file(form: str, reported: Reported, path: str) -> None:
    """Write a report to a file. It is left alone if the report can't be made whole."""
    write_pieces(write_form(form, reported), path)


def write_pieces(pieces: Iterable[str | bytes], path: str) -> None:
    """The same for what is made elsewhere."""
    refuse_to_overwrite(path)
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
            with open_to_write(path) as file:
                file.writelines(_encode_pieces(pieces))
        else:
            write_atomically(path, _encode_pieces(pieces))
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror or error}") from error


def _encode_pieces(pieces: Iterable[str | bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for piece in pieces:
        chunk += piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)

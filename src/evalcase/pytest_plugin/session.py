"""A pytest session with evals: eval files, their items, and the hooks."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any, cast

import pytest

from evalcase.config.catalogue import Catalogue
from evalcase.config.config import read_config
from evalcase.config.options import Keywords, RunFlag, list_run_flags, read_keywords
from evalcase.errors import ConfigError, SuiteError
from evalcase.format.load import case_spans, load_each
from evalcase.format.source import FILE_ENDINGS
from evalcase.pytest_plugin import OPTIONS
from evalcase.pytest_plugin.cases import marks_of_tags, why_skipped
from evalcase.pytest_plugin.run import (
    BackgroundRun,
    CaseKey,
    EndedBeforeError,
    EvalSettings,
    NotRunError,
    Outcome,
    RemoteRun,
    RunServer,
    brief_of,
)
from evalcase.report.terminal import seen_from
from evalcase.runner.needs import targets_of
from evalcase.types.case import Case
from evalcase.util.text import make_visible


class EvalFile(pytest.File):
    """An eval file. Nothing is asked while it is collected."""

    def __init__(self, *, evals: EvalSession, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**kwargs)
        self.evals = evals
        self.suite = seen_from(evals.settings.cwd, os.fspath(self.path))
        """Its path as a run names it."""
        self.items: list[EvalItem] = []
        self._numbers: Sequence[int] = ()

    def collect(self) -> list[EvalItem]:
        (loaded,) = load_each([self.suite], self.evals.known)
        if loaded.suite is None:
            raise self.CollectError(str(SuiteError(loaded.problems)))
        self._numbers = loaded.numbers
        self.items = list(self._make_items(loaded.suite.cases))
        return self.items[:]

    def _make_items(self, cases: tuple[Case, ...]) -> Iterator[EvalItem]:
        taken: set[str] = set()
        for number, case in enumerate(cases):
            targets = self.evals.targets_of(case)
            for target in targets:
                at = f"[{make_visible(target)}]" if len(targets) > 1 else ""
                # `::` has a meaning in a node id; ids that differ in that alone need a number.
                name = make_visible(case.id).replace("::", ":") + at
                name += f"-{number + 1}" if name in taken else ""
                taken.add(name)
                key = CaseKey(self.suite, case.id, target)
                yield EvalItem.from_parent(self, name=name, case=case, number=number, key=key)

    @cached_property
    def lines(self) -> list[int]:
        """The lines of all cases, from 0, for which the file is read anew."""
        spans = case_spans(self.suite, self._numbers)
        return [0 if span is None else span.line - 1 for span in spans]


class EvalItem(pytest.Item):
    """A case at a target."""

    def __init__(self, *, case: Case, number: int, key: CaseKey, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own
        super().__init__(**kwargs)
        assert isinstance(self.parent, EvalFile)
        self.file = self.parent
        self.key = key
        self._number = number
        self.skip_reason = why_skipped(case)
        self._outcomes: Outcome | None = None
        self.add_marker(pytest.mark.evalcase)
        for mark in marks_of_tags(case.tags):
            self.add_marker(mark)
        self.extra_keyword_matches.update((*case.tags, key.target))

    def setup(self) -> None:
        """Wait for the outcome. Errored cases fail here, which is an error to pytest."""
        if self.skip_reason:
            pytest.skip(self.skip_reason)
        if self.config.getoption("setuponly", False) or self.config.getoption("setupplan", False):
            return  # nothing runs: pytest only shows what it would set up
        try:
            outcome = self._outcomes = self.file.evals.wait(self)
        except NotRunError as error:
            self._outcomes = Outcome("errored", brief_of(str(error)), str(error))
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        self.user_properties += outcome.properties
        if outcome.verdict == "errored":
            self._fail(outcome)

    def runtest(self) -> None:
        """What isn't graded doesn't pass, either."""
        if self._outcomes is not None and self._outcomes.verdict != "passed":
            self._fail(self._outcomes)

    def _fail(self, outcome: Outcome) -> None:
        path, line, _ = self.reportinfo()
        place = f"{seen_from(self.file.evals.settings.cwd, os.fspath(path))}:{line + 1}"
        raise pytest.fail.Exception(f"{outcome.text}\n\n{place}: {outcome.verdict}", pytrace=False)

    def complete(self, report: pytest.TestReport) -> None:
        """Put into a report of pytest what only the run knows: place, reason and duration."""
        path, line, _ = self.reportinfo()
        if report.skipped and self.skip_reason:
            report.longrepr = (os.fspath(path), line + 1, f"Skipped: {self.skip_reason}")
        outcome = self._outcomes
        is_end = report.when == "call" or (report.when == "setup" and report.failed)
        report.duration = outcome.duration_s if outcome is not None and is_end else 0.0
        crash = getattr(report.longrepr, "reprcrash", None)
        if outcome is not None and report.failed and crash is not None:
            crash.path, crash.lineno, crash.message = os.fspath(path), line + 1, outcome.reason

    def reportinfo(self) -> tuple[os.PathLike[str], int, str]:
        return self.path, self.file.lines[self._number], self.name


def read_settings(config: pytest.Config) -> EvalSettings:
    """Raise pytest.UsageError if something can't be used."""
    given = config.getoption("evals_target") or config.getini("evalcase_target")
    values: dict[str, Any] = {}
    flags = list_run_flags()
    for flag in (flags[name] for name in OPTIONS):
        name = flag.flag.replace("-", "_")
        asked = config.getoption(f"evals_{name}")
        where = f"--evals-{flag.flag}"
        if asked is None:
            asked, where = config.getini(f"evalcase_{name}") or None, f"`evalcase_{name}`"
            if asked and flag.metavar in ("FILE", "FOLDER"):
                # A path in a file is seen from pytest's root folder.
                asked = os.path.join(config.rootpath, asked)
        if asked is not None:
            values[flag.option.name] = _read_value(flag, asked, where)
    try:
        read_keywords(values)
    except ConfigError as error:
        raise pytest.UsageError(f"--evals: {error}") from error
    # As for the command, the project is that of the working folder; from outside, pytest's.
    cwd, root = os.getcwd(), os.path.realpath(config.rootpath)
    is_inside = os.path.commonpath([root, os.path.realpath(cwd)]) == root
    project = read_config(cwd if is_inside else root, cwd)
    return EvalSettings(project, cwd, tuple(dict.fromkeys(given)), cast("Keywords", values))


def _read_value(flag: RunFlag, asked: str | bool, where: str) -> object:
    read = {"integer": int, "number": float}.get(flag.option.json)
    if read is None:
        return asked
    with suppress(ValueError):
        if isfinite(number := read(asked)):
            return number
    raise pytest.UsageError(f"{where} is {flag.option.words}, not {asked!r}")


_SEARCHED = tuple(".eval" + ending for ending in FILE_ENDINGS)
_NARROWEST, _WIDEST = 40, 120


def start_session(config: pytest.Config) -> EvalSession:
    """The session of a process, by its options."""
    settings = read_settings(config)
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    run = BackgroundRun(settings) if worker is None else RemoteRun(worker["evalcase"])
    return EvalSession(settings, run, config.getoption("maxfail") or 0)


class EvalSession:
    """Collects eval files and waits for their cases. With pytest-xdist, only the first process runs
    cases, and its workers ask it."""

    def __init__(
        self, settings: EvalSettings, run: BackgroundRun | RemoteRun, most_failures: int
    ) -> None:
        self.settings = settings
        self.known = Catalogue(needs_graders=True)
        self.run = run
        self._is_begun = False
        self._failures = 0
        self._most_failures = most_failures
        self._server: RunServer | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Measure the terminal before output is captured."""
        if session.config.pluginmanager.has_plugin("terminalreporter"):
            width = session.config.get_terminal_writer().fullwidth
            self.run.width = max(_NARROWEST, min(width, _WIDEST))

    def targets_of(self, case: Case) -> tuple[str, ...]:
        """The targets of a case; an empty name if there is none, which the run reports."""
        if self.settings.targets:
            return self.settings.targets
        try:
            return targets_of(case, self.settings.config)
        except ConfigError:
            return ("",)

    def wait(self, item: EvalItem) -> Outcome:
        """The outcome of an item. The first call starts the run of all selected items."""
        if not self._is_begun:
            chosen = [each for each in item.session.items if isinstance(each, EvalItem)]
            files = {each.file.suite: each.file for each in chosen}.values()
            whole = len(chosen) == sum(len(file.items) for file in files)
            self.run.start([each.key for each in chosen], whole=whole)
            self._is_begun = True
        return self.run.wait(item.key)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> EvalFile | None:
        """Eval files by their names, and files that the command line names."""
        name = file_path.name.lower()
        is_named = parent.session.isinitpath(file_path) and name.endswith(tuple(FILE_ENDINGS))
        if is_named or name.endswith(_SEARCHED):
            file: EvalFile = EvalFile.from_parent(parent, path=file_path, evals=self)
            return file
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """After `-x`, a waiting worker reports nothing, as pytest itself wouldn't."""
        if isinstance(self.run, RemoteRun) and isinstance(item, EvalItem) and not item.skip_reason:
            try:
                self.wait(item)
            except EndedBeforeError as error:
                item.session.shouldstop = str(error)
                return True
            except NotRunError:
                pass  # the item tells it
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to the reports of cases what the run measured."""
        report = yield
        if isinstance(item, EvalItem):
            item.complete(report)
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - xdist brings no types
        """Give a new worker of pytest-xdist the address of the run."""
        if self._server is None:
            assert isinstance(self.run, BackgroundRun)
            self._server = RunServer(self.run)
        node.workerinput["evalcase"] = self._server.address

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After `--maxfail` failures xdist waits for its workers: end the run, so they stop."""
        if self._server is not None and report.failed and isinstance(self.run, BackgroundRun):
            self._failures += 1
            if 0 < self._most_failures <= self._failures:
                self.run.interrupt()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the run with pytest; `evalcase resume` can continue it. Where the command would fail,
        pytest fails."""
        self.run.end()
        if session.exitstatus == pytest.ExitCode.OK and self.run.find_problem() is not None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self) -> None:
        self.run.end()
        if self._server is not None:
            self._server.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        lines = list(self.run.summary())
        if lines:
            terminalreporter.section("evals")
            for line in lines:
                terminalreporter.line(line)

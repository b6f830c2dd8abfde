"""The part of the plug-in that is there when evals are asked for: what pytest's hooks come to."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evalcase.config.catalogue import Catalogue
from evalcase.errors import ConfigError
from evalcase.format.source import FILE_ENDINGS
from evalcase.pytest_plugin.conductor import Conductor, EndedBeforeError, NotRunError
from evalcase.pytest_plugin.nodes import EvalFile, EvalItem
from evalcase.pytest_plugin.settings import EvalSettings, read_settings
from evalcase.pytest_plugin.told import ToldItem
from evalcase.runner.needs import targets_of
from evalcase.types.case import Case

if TYPE_CHECKING:
    from evalcase.pytest_plugin.switchboard import RemoteConductor, Switchboard

_SEARCHED = tuple(".eval" + ending for ending in FILE_ENDINGS)
_NARROWEST, _WIDEST = 40, 120


def begin_session(config: pytest.Config) -> EvalSession:
    """The session of a process, by its options."""
    settings = read_settings(config)
    conductor = _find_conductor(config, settings)
    return EvalSession(settings, conductor, config.getoption("maxfail") or 0)


def _find_conductor(config: pytest.Config, settings: EvalSettings) -> Conductor | RemoteConductor:
    """Who runs the cases: this process, or the one that started it as a worker."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        from evalcase.pytest_plugin.switchboard import RemoteConductor

        return RemoteConductor(worker["evalcase"])
    return Conductor(settings)


class EvalSession:
    """Collects eval files, and has their cases run. With pytest-xdist it is there in each process,
    and only the first of them runs something: the others ask it."""

    def __init__(
        self, settings: EvalSettings, conductor: Conductor | RemoteConductor, most_failures: int
    ) -> None:
        self.settings = settings
        self.known = Catalogue(needs_graders=True)
        self.conductor = conductor
        self._is_begun = False
        self._failures = 0
        self._most_failures = most_failures
        self._switchboard: Switchboard | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Look at the terminal, where there is one, before output is captured."""
        if session.config.pluginmanager.has_plugin("terminalreporter"):
            width = session.config.get_terminal_writer().fullwidth
            self.conductor.width = max(_NARROWEST, min(width, _WIDEST))

    def targets_of(self, case: Case) -> tuple[str, ...]:
        """Whom a case is asked; an empty name where nobody says so: the run will tell."""
        if self.settings.targets:
            return self.settings.targets
        try:
            return targets_of(case, self.settings.config)
        except ConfigError:
            return ("",)

    def wait(self, item: EvalItem) -> ToldItem:
        """What came of an item. With the first, all that were chosen are begun."""
        if not self._is_begun:
            chosen = [each for each in item.session.items if isinstance(each, EvalItem)]
            files = {each.file.suite: each.file for each in chosen}.values()
            whole = len(chosen) == sum(len(file.items) for file in files)
            self.conductor.begin([each.key for each in chosen], whole=whole)
            self._is_begun = True
        return self.conductor.wait(item.key)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> EvalFile | None:
        """What is called an eval file, and what is named outright."""
        name = file_path.name.lower()
        is_named = parent.session.isinitpath(file_path) and name.endswith(tuple(FILE_ENDINGS))
        if is_named or name.endswith(_SEARCHED):
            file: EvalFile = EvalFile.from_parent(parent, path=file_path, evals=self)
            return file
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """After `-x`, a worker that waits has nothing to report, as pytest itself wouldn't."""
        if isinstance(self.conductor, Conductor) or not isinstance(item, EvalItem):
            return None
        if item.skip_reason:
            return None
        try:
            self.wait(item)
        except EndedBeforeError as error:
            item.session.shouldstop = str(error)
            return True
        except NotRunError:
            return None  # the item tells it
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Reports of cases say what the run measured, and where the case stands."""
        report = yield
        if isinstance(item, EvalItem):
            item.complete(report)
        return report

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:  # noqa: ANN401 - xdist brings no types
        """A worker of pytest-xdist is about to start, and has to know whom to ask."""
        from evalcase.pytest_plugin.switchboard import open_switchboard

        if self._switchboard is None:
            assert isinstance(self.conductor, Conductor)
            self._switchboard = open_switchboard(self.conductor)
        node.workerinput["evalcase"] = self._switchboard.line

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """After as many failures as `-x` or `--maxfail` allows, xdist waits for what workers do:
        nothing is to keep them waiting."""
        if self._switchboard is not None and report.failed:
            self._failures += 1
            if 0 < self._most_failures <= self._failures:
                self.conductor.interrupt()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Nothing runs on after pytest: what it didn't wait for is ended, and can be resumed. And
        pytest doesn't end well where the command wouldn't."""
        self.conductor.end()
        if session.exitstatus == pytest.ExitCode.OK and self.conductor.find_fault() is not None:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self) -> None:
        self.conductor.end()
        if self._switchboard is not None:
            self._switchboard.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how the run ended, and where its record is."""
        lines = list(self.conductor.summary())
        if lines:
            terminalreporter.section("evals")
            for line in lines:
                terminalreporter.line(line)

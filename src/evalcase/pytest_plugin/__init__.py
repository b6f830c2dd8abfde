"""The pytest plug-in: its options. The rest is imported with `--evals`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.config.options import list_run_flags

if TYPE_CHECKING:
    import pytest

OPTIONS = (
    "concurrency", "repeat", "timeout_s", "retries", "retry_timeouts", "max_cost_usd", "max_errors",
    "cache", "env_file", "no_exec", "runs_dir",
)  # fmt: skip
"""The options of a run that pytest has too. What a session selects, pytest itself decides."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Each option has a key of its own in the configuration of pytest."""
    group = parser.getgroup("evalcase", "eval cases (see the pages of evalcase)")
    group.addoption(
        "--evals", action="store_true", default=None, help="Collect and run eval files."
    )
    group.addoption(
        "--no-evals", action="store_false", dest="evals",
        help="Don't collect eval files, whatever the configuration says.",
    )  # fmt: skip
    parser.addini("evalcase", "Collect eval files, as --evals does.", "bool", False)
    about = "With --evals: a target from evalcase.toml, or kind:value. Repeatable."
    group.addoption("--evals-target", action="append", metavar="NAME", help=about)
    parser.addini("evalcase_target", "As --evals-target: one or several.", "args", [])
    flags = list_run_flags()
    for flag in (flags[name] for name in OPTIONS):
        name, ini = f"--evals-{flag.flag}", f"evalcase_{flag.flag.replace('-', '_')}"
        about = f"With --evals: {flag.about}"
        if flag.is_switch:
            group.addoption(name, action="store_true", default=None, help=about)
            parser.addini(ini, f"As {name}.", "bool", False)
        else:
            group.addoption(name, metavar=flag.metavar, help=about)
            parser.addini(ini, f"As {name}.", "string", None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "evalcase: a case of an eval file; its tags are marks, too.")
    if _asks_for_evals(config):
        from evalcase.pytest_plugin.session import start_session

        config.pluginmanager.register(start_session(config), "evalcase-session")


def _asks_for_evals(config: pytest.Config) -> bool:
    asked = config.getoption("evals")
    return bool(config.getini("evalcase") if asked is None else asked)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tags of cases are marks that `--strict-markers` knows."""
    known = item.config.getini("markers")
    for mark in item.iter_markers() if item.get_closest_marker("evalcase") else ():
        line = f"{mark.name}: a tag of eval cases"
        if ":" not in mark.name and line not in known:
            item.config.addinivalue_line("markers", line)


_ENDINGS = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl")
_NOTHING_RUN = (4, 5)
"""Exit codes: what was named was not found, and no test was collected."""


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Name the option, where somebody names an eval file and pytest knows nothing of it."""
    if exitstatus not in _NOTHING_RUN or _asks_for_evals(config):
        return
    named = [each for each in config.args if each.partition("::")[0].endswith(_ENDINGS)]
    if named and config.getoption("evals") is None:
        said = f"evalcase: {named[0]} is an eval file, and collected with --evals"
        terminalreporter.write_line(said)

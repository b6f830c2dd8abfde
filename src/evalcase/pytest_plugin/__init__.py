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
    asked = config.getoption("evals")
    if config.getini("evalcase") if asked is None else asked:
        from evalcase.pytest_plugin.session import start_session

        config.pluginmanager.register(start_session(config), "evalcase-session")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tags of cases are marks that `--strict-markers` knows."""
    known = item.config.getini("markers")
    for mark in item.iter_markers() if item.get_closest_marker("evalcase") else ():
        line = f"{mark.name}: a tag of eval cases"
        if ":" not in mark.name and line not in known:
            item.config.addinivalue_line("markers", line)

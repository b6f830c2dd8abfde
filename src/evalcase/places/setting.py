"""What a worker has to know before it is asked, as one JSON object: names and paths, and never a
value that might be secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evalcase.errors import ConfigError
from evalcase.runner.plan import Plan
from evalcase.types.value import Value

_USUAL = frozenset(
    "PATH HOME USER LOGNAME SHELL TERM TZ LANG LANGUAGE TMPDIR TEMP TMP VIRTUAL_ENV "
    "LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE SYSTEMROOT NO_PROXY no_proxy "
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy".split()
)
_USUAL_BEGINNINGS = ("LC_", "PYTHON", "XDG_", "CUDA_", "NVIDIA_", "OMP_", "MKL_")


class Setting(Value, frozen=True):
    """A run, as far as whoever answers and grades has to know it."""

    root: str
    cwd: str
    no_exec: bool
    default_target: str | None
    of_suite: tuple[str, ...]
    """The targets that only suites name, which may not carry an address."""
    opened: tuple[str, ...]
    """The targets that a worker sets up before its first question: while one is set up, the event
    loop may be blocked, on which others are measured."""
    variables: tuple[str, ...]
    """The names of environment variables that reach a worker, beside those that every program
    needs."""
    shipped_from: str = ""
    """The folder of the project where the run is, if a worker has a copy of it elsewhere."""


def setting_of(plan: Plan, more: Iterable[str]) -> Setting:
    """The setting of a plan. Raise ConfigError if a worker couldn't make what the plan has."""
    for name, target in (*plan.targets.items(), *plan.users.items()):
        if name in plan.given_targets:
            kind = type(target).__name__
            raise ConfigError(
                f"target `{name}` is an object ({kind}) of this process, and workers make theirs "
                "by name: give it as `python:module:function`"
            )
    if plan.graders.given:
        raise ConfigError(
            "graders that are given as objects can't reach a worker: name them in the suite, as "
            "`python:module:function`"
        )
    options, config = plan.options, plan.config
    # Whatever has a key in it: targets, users and judges are asked there, and so is whomever code
    # of a grader asks.
    names = {*more, *plan.scrubber.names}
    if options.env_file is not None:
        from evalcase.config.config import read_env_file

        names.update(read_env_file(options.env_file))
    of_suite = [name for name in plan.targets if not options.targets and name != config.target]
    of_suite += plan.users
    here = {name for name, target in plan.targets.items() if target.traits.batching is not None}
    opened = [name for name in (*plan.targets, *plan.users, *plan.judges) if name not in here]
    return Setting(
        config.root, plan.environment.cwd, options.no_exec, config.target, tuple(of_suite),
        tuple(opened), tuple(sorted(names)),
    )  # fmt: skip


def environment_for(setting: Setting, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a worker: what every program needs, and what is named; nothing else."""
    named = frozenset(setting.variables)
    return {
        name: value
        for name, value in environment.items()
        if name in _USUAL or name in named or name.startswith(_USUAL_BEGINNINGS)
    }

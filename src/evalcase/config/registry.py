"""Names to classes of targets, graders and engines: built-in ones and entry points of other
packages. A class is imported when code asks for it, so that an optional dependency stays optional.
"""

from __future__ import annotations

from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal

from evalcase.errors import ConfigError
from evalcase.targets.presets import PRESETS
from evalcase.types.problem import did_you_mean
from evalcase.types.target import TargetKind, kind_of_targets

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Plural = Literal["targets", "graders", "executors"]

_MODULES = {
    "expected": "expected",
    "equals contains starts_with ends_with regex one_of length similarity": "text",
    "json json_schema json_equals": "json",
    "fields": "fields",
    "trajectory": "trajectory",
    "tool_calls": "tool_calls",
    "latency cost tokens turns finish": "limits",
    "run files diff": "workspace",
    "skill_used": "tool_calls",
    "python": "python",
    "script": "script",
    "judge": "judge",
    "all any at_least weighted": "combine",
}
"""Graders, and their modules. The class of `one_of` is called OneOfGrader."""
_BUILT_IN: dict[Plural, dict[str, str]] = {
    "targets": {
        "python": "evalcase.targets.python:PythonTarget",
        "command": "evalcase.targets.command:CommandTarget",
        "claude": "evalcase.targets.agents:ClaudeTarget",
        "codex": "evalcase.targets.agents:CodexTarget",
        "gemini-cli": "evalcase.targets.agents:GeminiTarget",
        "copilot": "evalcase.targets.agents:CopilotTarget",
        "opencode": "evalcase.targets.agents:OpencodeTarget",
        "mini": "evalcase.targets.agents:MiniTarget",
        "http": "evalcase.targets.http:HttpTarget",
        "openai": "evalcase.targets.openai:OpenAITarget",
        "anthropic": "evalcase.targets.anthropic:AnthropicTarget",
        "replay": "evalcase.targets.replay:ReplayTarget",
        "otlp": "evalcase.targets.otlp:OtlpTarget",
        "echo": "evalcase.targets.echo:EchoTarget",
        **dict.fromkeys(PRESETS, "evalcase.targets.openai:OpenAITarget"),
    },
    "executors": {
        "in-process": "",  # no executor
        "processes": "evalcase.executors.processes:ProcessExecutor",
        "ray": "evalcase.executors.ray:RayExecutor",
    },
    "graders": {
        name: f"evalcase.graders.{module}:{name.title().replace('_', '')}Grader"
        for names, module in _MODULES.items()
        for name in names.split()
    },
}


@cache
def _find_installed(plural: Plural) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # heavy, and built-in names don't need it

    return {entry.name: entry for entry in entry_points(group=f"evalcase.{plural}")}


def list_names(plural: Plural) -> list[str]:
    """Every name that `find_class` knows, built-in ones first."""
    return [*_BUILT_IN[plural], *sorted(_find_installed(plural).keys() - _BUILT_IN[plural].keys())]


def is_known(plural: Plural, name: str) -> bool:
    """Whether a name has a class, found out without importing it."""
    return name in _BUILT_IN[plural] or name in _find_installed(plural)


def search_class(plural: Plural, name: str) -> Any:  # noqa: ANN401 - a class of any kind
    """The class of a name, or None. Raise ConfigError if it is installed and can't be imported."""
    if name in _BUILT_IN[plural]:
        return resolve_name(_BUILT_IN[plural][name])
    if name not in _find_installed(plural):
        return None
    try:
        return _find_installed(plural)[name].load()
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ConfigError(f"the {plural[:-1]} `{name}` can't be imported: {what}") from error


def find_class(plural: Plural, name: str) -> Any:  # noqa: ANN401 - a class of any kind
    """The class of a name. Raise ConfigError, with the nearest names, if there is none."""
    found = search_class(plural, name)
    if found is None:
        what = "engine" if plural == "executors" else f"{plural[:-1]} kind"
        known = list_names(plural)
        hint = did_you_mean(name, known)
        cure = f": {hint}" if hint else f"; there are {', '.join(known)}"
        raise ConfigError(f"there is no {what} `{name}`{cure}")
    return found


def find_target_kind(name: str) -> TargetKind:
    """The declaration of a kind of target. Raise ConfigError if there is none."""
    if name in PRESETS:
        from evalcase.targets.openai import kind_of_preset

        return kind_of_preset(name)
    target_class = find_class("targets", name)
    kind = kind_of_targets(target_class)
    if kind is None:
        what = f"its class {target_class!r:.80} says nothing of itself by a `kind`"
        raise ConfigError(f"there is no target kind `{name}` that can be used: {what}")
    return kind

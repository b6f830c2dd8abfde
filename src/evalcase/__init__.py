"""Evaluate LLMs and AI agents with eval cases written in YAML or JSONL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalcase.errors import EvalcaseError, SuiteError
    from evalcase.model.case import Case
    from evalcase.model.message import Message, ToolCall
    from evalcase.model.problem import Problem
    from evalcase.model.suite import Suite
    from evalcase.pipeline import check, iter_cases, load, loads, parse_case

__version__ = "0.1.0"

__all__ = [
    "Case",
    "EvalcaseError",
    "Message",
    "Problem",
    "Suite",
    "SuiteError",
    "ToolCall",
    "check",
    "iter_cases",
    "load",
    "loads",
    "parse_case",
]

_HOMES = {
    "Case": "model.case",
    "EvalcaseError": "errors",
    "Message": "model.message",
    "Problem": "model.problem",
    "Suite": "model.suite",
    "SuiteError": "errors",
    "ToolCall": "model.message",
    "check": "pipeline",
    "iter_cases": "pipeline",
    "load": "pipeline",
    "loads": "pipeline",
    "parse_case": "pipeline",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import evalcase` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

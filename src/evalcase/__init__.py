"""Evaluate LLMs and AI agents with eval cases written in YAML or JSONL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalcase.errors import ConfigError, EvalcaseError, RecordError, SuiteError, TargetError
    from evalcase.library import evaluate, evaluate_async
    from evalcase.model.answer import Answer, Usage
    from evalcase.model.case import Case
    from evalcase.model.message import Message, ToolCall
    from evalcase.model.problem import Problem
    from evalcase.model.result import Result
    from evalcase.model.suite import Suite
    from evalcase.pipeline import check, iter_cases, load, loads, parse_case
    from evalcase.record.evaluated import Evaluated

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Case",
    "ConfigError",
    "EvalcaseError",
    "Evaluated",
    "Message",
    "Problem",
    "RecordError",
    "Result",
    "Suite",
    "SuiteError",
    "TargetError",
    "ToolCall",
    "Usage",
    "check",
    "evaluate",
    "evaluate_async",
    "iter_cases",
    "load",
    "loads",
    "parse_case",
]

_HOMES = {
    "Answer": "model.answer",
    "Case": "model.case",
    "ConfigError": "errors",
    "EvalcaseError": "errors",
    "Evaluated": "record.evaluated",
    "Message": "model.message",
    "Problem": "model.problem",
    "RecordError": "errors",
    "Result": "model.result",
    "Suite": "model.suite",
    "SuiteError": "errors",
    "TargetError": "errors",
    "ToolCall": "model.message",
    "Usage": "model.answer",
    "check": "pipeline",
    "evaluate": "library",
    "evaluate_async": "library",
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

"""Evaluate LLMs and AI agents with eval cases written in YAML or JSONL."""

from __future__ import annotations

# Type checkers take it for that of `typing`, which is slow to import: `--version` waits for this.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from evalcase.api import (
        check,
        check_text,
        evaluate,
        evaluate_async,
        figures,
        iter_cases,
        load,
        loads,
        parse_case,
        write_suite,
    )
    from evalcase.errors import (
        ConfigError,
        EvalcaseError,
        GraderError,
        RecordError,
        SuiteError,
        TargetError,
    )
    from evalcase.graders.base import Context, Grader
    from evalcase.pytest_plugin.asserting import assert_case, assert_case_async
    from evalcase.pytest_plugin.cases import cases
    from evalcase.report.details import explain
    from evalcase.report.evaluated import Evaluated
    from evalcase.report.figures import Figures
    from evalcase.targets.transcripts import read_transcript
    from evalcase.types import options
    from evalcase.types.answer import Answer, Usage
    from evalcase.types.case import Case, Suite
    from evalcase.types.grade import Grade, Score
    from evalcase.types.message import Message, ToolCall
    from evalcase.types.problem import Problem
    from evalcase.types.question import Question
    from evalcase.types.result import CaseVerdict, Result
    from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Case",
    "CaseVerdict",
    "ConfigError",
    "Context",
    "EvalcaseError",
    "Evaluated",
    "Figures",
    "Grade",
    "Grader",
    "GraderError",
    "Message",
    "Problem",
    "Question",
    "RecordError",
    "Result",
    "Score",
    "Suite",
    "SuiteError",
    "Surroundings",
    "Target",
    "TargetError",
    "TargetKind",
    "TargetOptions",
    "ToolCall",
    "Traits",
    "Usage",
    "assert_case",
    "assert_case_async",
    "cases",
    "check",
    "check_text",
    "evaluate",
    "evaluate_async",
    "explain",
    "figures",
    "iter_cases",
    "load",
    "loads",
    "options",
    "parse_case",
    "read_transcript",
    "write_suite",
]

_HOMES = {
    "Answer": "types.answer",
    "Case": "types.case",
    "CaseVerdict": "types.result",
    "ConfigError": "errors",
    "Context": "graders.base",
    "EvalcaseError": "errors",
    "Evaluated": "report.evaluated",
    "Figures": "report.figures",
    "Grade": "types.grade",
    "Grader": "graders.base",
    "GraderError": "errors",
    "Message": "types.message",
    "Problem": "types.problem",
    "Question": "types.question",
    "RecordError": "errors",
    "Result": "types.result",
    "Score": "types.grade",
    "Suite": "types.case",
    "SuiteError": "errors",
    "Surroundings": "types.target",
    "Target": "types.target",
    "TargetError": "errors",
    "TargetKind": "types.target",
    "TargetOptions": "types.target",
    "ToolCall": "types.message",
    "Traits": "types.target",
    "Usage": "types.answer",
    "assert_case": "pytest_plugin.asserting",
    "assert_case_async": "pytest_plugin.asserting",
    "cases": "pytest_plugin.cases",
    "check": "api",
    "check_text": "api",
    "evaluate": "api",
    "evaluate_async": "api",
    "explain": "report.details",
    "figures": "api",
    "iter_cases": "api",
    "load": "api",
    "loads": "api",
    "options": "types.options",
    "parse_case": "api",
    "read_transcript": "targets.transcripts",
    "write_suite": "api",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import evalcase` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = import_module(f"{__name__}.{_HOMES[name]}")
    value: object = home if name == "options" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

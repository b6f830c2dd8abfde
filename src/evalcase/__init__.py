"""Evaluate LLMs and AI agents with eval cases written in YAML or JSONL."""

from __future__ import annotations

# Type checkers take it for that of `typing`, which is slow to import: `--version` waits for this.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from evalcase.errors import (
        ConfigError,
        EvalcaseError,
        GraderError,
        RecordError,
        SuiteError,
        TargetError,
    )
    from evalcase.evaluation.evaluated import Evaluated
    from evalcase.model import shapes
    from evalcase.model.answer import Answer, Usage
    from evalcase.model.case import Case
    from evalcase.model.grade import Grade, Score
    from evalcase.model.grader import Context, Grader, GraderKind
    from evalcase.model.message import Message, ToolCall
    from evalcase.model.option import option, with_options
    from evalcase.model.outcome import CaseVerdict
    from evalcase.model.problem import Problem
    from evalcase.model.question import Question
    from evalcase.model.result import Result
    from evalcase.model.suite import Suite
    from evalcase.model.target import Surroundings, Target, TargetKind, TargetOptions, Traits
    from evalcase.pipeline import (
        check,
        check_text,
        evaluate,
        evaluate_async,
        figures,
        iter_cases,
        load,
        loads,
        parse_case,
    )
    from evalcase.pytest_plugin.asserting import assert_case, assert_case_async
    from evalcase.pytest_plugin.case_marks import cases
    from evalcase.report.explain import explain
    from evalcase.report.figures.figures import Figures
    from evalcase.suites.writing import write_suite

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
    "GraderKind",
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
    "option",
    "parse_case",
    "shapes",
    "with_options",
    "write_suite",
]

_HOMES = {
    "Answer": "model.answer",
    "Case": "model.case",
    "CaseVerdict": "model.outcome",
    "ConfigError": "errors",
    "Context": "model.grader",
    "EvalcaseError": "errors",
    "Evaluated": "evaluation.evaluated",
    "Figures": "report.figures.figures",
    "Grade": "model.grade",
    "Grader": "model.grader",
    "GraderError": "errors",
    "GraderKind": "model.grader",
    "Message": "model.message",
    "Problem": "model.problem",
    "Question": "model.question",
    "RecordError": "errors",
    "Result": "model.result",
    "Score": "model.grade",
    "Suite": "model.suite",
    "SuiteError": "errors",
    "Surroundings": "model.target",
    "Target": "model.target",
    "TargetError": "errors",
    "TargetKind": "model.target",
    "TargetOptions": "model.target",
    "ToolCall": "model.message",
    "Traits": "model.target",
    "Usage": "model.answer",
    "assert_case": "pytest_plugin.asserting",
    "assert_case_async": "pytest_plugin.asserting",
    "cases": "pytest_plugin.case_marks",
    "check": "pipeline",
    "check_text": "pipeline",
    "evaluate": "pipeline",
    "evaluate_async": "pipeline",
    "explain": "report.explain",
    "figures": "pipeline",
    "iter_cases": "pipeline",
    "load": "pipeline",
    "loads": "pipeline",
    "option": "model.option",
    "parse_case": "pipeline",
    "shapes": "model.shapes",
    "with_options": "model.option",
    "write_suite": "suites.writing",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import evalcase` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = import_module(f"{__name__}.{_HOMES[name]}")
    value: object = home if name == "shapes" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

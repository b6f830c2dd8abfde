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
    from evalcase.pytest_plugin.cases import assert_case, assert_case_async, cases
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
    from evalcase.types.result import CaseVerdict, Result
    from evalcase.types.target import (
        Question,
        Surroundings,
        Target,
        TargetKind,
        TargetOptions,
        Traits,
    )

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
    "api": "check check_text evaluate evaluate_async figures iter_cases load loads parse_case "
    "write_suite",
    "errors": "ConfigError EvalcaseError GraderError RecordError SuiteError TargetError",
    "graders.base": "Context Grader",
    "pytest_plugin.cases": "assert_case assert_case_async cases",
    "report.details": "explain",
    "report.evaluated": "Evaluated",
    "report.figures": "Figures",
    "targets.transcripts": "read_transcript",
    "types": "options",
    "types.answer": "Answer Usage",
    "types.case": "Case Suite",
    "types.grade": "Grade Score",
    "types.message": "Message ToolCall",
    "types.problem": "Problem",
    "types.result": "CaseVerdict Result",
    "types.target": "Question Surroundings Target TargetKind TargetOptions Traits",
}
"""The modules of the public names."""


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: `import evalcase` itself costs nothing."""
    from pkgutil import resolve_name

    for home, names in _HOMES.items():
        if name in names.split():
            value = globals()[name] = resolve_name(f"{__name__}.{home}.{name}")
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

# ruff: noqa: ARG001
from typing import Any


def get_assert(output: str, context: Any) -> bool:
    return "Lima" in output and len(output) < 100


def is_long(output: str, context: Any) -> bool:
    return len(output) > 1000


def graded(output: str, context: Any) -> dict[str, Any]:
    return {"pass": True, "score": 0.5, "reason": "so so"}


def by_variables(output: str, context: Any) -> bool:
    return context["vars"]["city"] in output

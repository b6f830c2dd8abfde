"""The ready rubrics: YAML files that a person can read, print and copy."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Literal, get_args

from evalcase.graders.judging.criterion import Criterion, number_criteria
from evalcase.types.value import Value
from evalcase.util.files import read_file

_MOST_BYTES = 100_000
RUBRIC_FOLDER = os.path.join(os.path.dirname(__file__), "rubrics")
RubricName = Literal[
    "correct", "relevant", "faithful", "context_recall", "context_precision", "task_completed",
    "conversation_goal", "harmless", "refuses",
]  # fmt: skip
RUBRIC_NAMES: tuple[str, ...] = get_args(RubricName)


class Rubric(Value, frozen=True):
    """A rubric of one of three forms: criteria, claims to be found and borne out, or chunks."""

    name: str
    version: int
    about: str
    needs: tuple[str, ...]
    """`input`, `expected_output` or `context`."""
    criteria: tuple[Criterion, ...] = ()
    claims: dict[str, str] | None = None
    chunks: str | None = None


def rubric_text(name: str) -> str:
    """The file of a rubric, as it stands."""
    return read_file(os.path.join(RUBRIC_FOLDER, f"{name}.yaml"), _MOST_BYTES).decode()


@lru_cache(maxsize=16)
def read_rubric(name: str) -> Rubric:
    """A rubric by its name, which is one of NAMES."""
    import yaml  # slow to import, and only a judge needs it

    data: dict[str, Any] = yaml.safe_load(rubric_text(name))
    chunks = data.get("chunks")
    return Rubric(
        data["name"], data["version"], data["about"], tuple(data["needs"]),
        number_criteria(data.get("criteria", ())), data.get("claims"),
        chunks["text"] if chunks else None,
    )  # fmt: skip

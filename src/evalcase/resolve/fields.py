"""The names of the format: fields, their deprecated aliases, and what belongs where.

Checks, the schema and `migrate` all read these tables, so that none of them can drift.
"""

from __future__ import annotations

CASE_FIELDS = (
    "id", "input", "expected_output", "turns", "stop_on_failure", "user", "description",
    "tags", "metadata", "skip", "conversation_id", "criteria", "rubrics", "graders",
    "suite_graders", "target", "targets", "repeat", "threshold", "timeout_s", "vars", "var_files",
    "matrix", "rows", "rendered",
)  # fmt: skip
SUITE_FIELDS = (
    "$schema", "name", "description", "input", "cases", "target", "targets", "graders",
    "threshold", "repeat", "timeout_s", "tags", "metadata", "vars", "var_files", "matrix", "rows",
)  # fmt: skip

TURN_FIELDS = ("input", "expected_output", "criteria", "rubrics", "graders")
"""Those of one turn of a conversation, in the order of the canonical form."""

CASE_ALIASES = {
    "input_messages": "input",
    "expected_messages": "expected_output",
    "expected_outcome": "criteria",
    "outcome": "criteria",
    "evaluators": "graders",
    "assertions": "graders",
    "assert": "graders",
}
SUITE_ALIASES = {
    "dataset": "name",
    "input_messages": "input",
    "evalcases": "cases",
    "eval_cases": "cases",
    "tests": "cases",
    "evaluators": "graders",
    "assertions": "graders",
    "assert": "graders",
}

CASE_CONTAINERS = ("cases", *(old for old, new in SUITE_ALIASES.items() if new == "cases"))
"""What the list of cases may be called."""

EXECUTION = "execution"
"""The deprecated grouping, and the fields that it holds under their older names."""
EXECUTION_FIELDS = {"target": "target", "evaluators": "graders"}

OLD_NAMES = frozenset((*CASE_ALIASES, *SUITE_ALIASES, EXECUTION))
"""Keys that are warned of wherever a suite or a case has them."""

PRIVATE_PREFIX = "x-"

CASE_ORDER = (
    "turns", "stop_on_failure", "user", "description", "tags", "metadata", "skip",
    "conversation_id", "criteria", "rubrics", "graders", "targets", "repeat", "threshold",
    "timeout_s", "vars", "rendered",
)  # fmt: skip
"""The order of the canonical form, after `id`, `input` and `expected_output`."""

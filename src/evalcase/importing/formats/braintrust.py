"""Datasets of Braintrust: rows with `input`, `expected`, `metadata` and `tags`."""

from __future__ import annotations

from evalcase.importing.draft import Chosen, SuiteDraft
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.source import ForeignFile

BOOKKEEPING = frozenset({
    "_xact_id", "_pagination_key", "_async_scoring_state", "audit_data", "classifications",
    "comments", "created", "dataset_id", "facets", "is_root", "log_id", "metrics", "org_id",
    "origin", "project_id", "root_span_id", "span_id", "span_parents",
})  # fmt: skip

PRESET = Preset(
    "Braintrust",
    {
        "id": "id", "input": "input", "expected_output": "expected|output", "metadata": "metadata",
        "tags": "tags",
    },
    bookkeeping=BOOKKEEPING,
    containers=("rows", "events", "data"),
    cells_are_json=True,
)  # fmt: skip


def import_braintrust(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each row."""
    import_rows(source, chosen, suite, PRESET)

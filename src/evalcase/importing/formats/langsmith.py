"""Datasets of LangSmith: examples with `inputs` and `outputs`, which are mappings."""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.shapes import shape_messages, shape_tags
from evalcase.importing.source import ForeignFile, Item

BOOKKEEPING = frozenset({
    "created_at", "modified_at", "dataset_id", "source_run_id", "attachment_urls", "runs", "name",
})  # fmt: skip


def import_langsmith(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each example. Where `inputs` are messages, they are the input."""
    import_rows(source, chosen, suite, PRESET)
    for case in suite.cases:
        for field in ("input", "expected_output"):
            _take_messages(case, field)
        _take_split(case)


def _take_messages(case: CaseDraft, field: str) -> None:
    """`{messages: […]}` is what it holds; beside other things it is data."""
    held = case.fields.get(field)
    if isinstance(held, dict) and list(held) == ["messages"]:
        messages = shape_messages(held["messages"])
        if messages:
            case.fields[field] = messages


def _take_split(case: CaseDraft) -> None:
    """The splits that metadata name are tags; they are written there by LangSmith itself."""
    metadata = case.fields.get("metadata")
    if not isinstance(metadata, dict):
        return
    tags = shape_tags(metadata.get("dataset_split"))
    if tags:
        case.fields["tags"] = tags
        metadata = {name: item for name, item in metadata.items() if name != "dataset_split"}
    case.fields["metadata"] = metadata
    if not metadata:
        del case.fields["metadata"]


def _lose_attachments(case: CaseDraft, item: Item) -> None:
    if item.value:
        case.lose(item, "`attachments`: they are kept by LangSmith, and not in this file")


PRESET = Preset(
    "LangSmith",
    {
        "id": "id|example_id", "input": "inputs|input", "expected_output": "outputs|output",
        "metadata": "metadata", "tags": "split|splits",
    },
    bookkeeping=BOOKKEEPING,
    handlers={"attachments": _lose_attachments},
    containers=("examples",),
    cells_are_json=True,
)  # fmt: skip

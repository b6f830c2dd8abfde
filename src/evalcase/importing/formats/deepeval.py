"""Goldens of DeepEval: what is expected is prose or an answer to be judged, and tools are names."""

from __future__ import annotations

from evalcase.importing.draft import CaseDraft, Chosen, SuiteDraft
from evalcase.importing.formats.conversations import (
    import_conversations,
    is_of_conversations,
)
from evalcase.importing.rows import Preset, import_rows
from evalcase.importing.shapes import shape_call
from evalcase.importing.source import ForeignFile, Item
from evalcase.types.value import JSON


def import_deepeval(source: ForeignFile, chosen: Chosen, suite: SuiteDraft) -> None:
    """Make a case of each golden: of a question, or of a conversation."""
    if is_of_conversations(source, PRESET):
        import_conversations(source, suite, PRESET, _keep_item)
    else:
        import_rows(source, chosen, suite, PRESET)


def _keep_item(case: CaseDraft, item: Item) -> None:
    """What our graders have no field for stays with the case."""
    if item.value not in ("", [], {}):
        metadata = case.fields.setdefault("metadata", {})
        assert isinstance(metadata, dict)
        metadata.setdefault(str(item.path[-1]), item.value)


def _expect_tools(case: CaseDraft, item: Item) -> None:
    """Tools that are expected, in any order, as DeepEval compares them by default."""
    named = item.value if isinstance(item.value, list) else [item.value]
    calls = [_shape_bare_call(each) for each in named if each]
    if not calls:
        return
    if None in calls:
        case.lose(item, f"`{item.path[-1]}`: a call names its tool")
        return
    expected = case.fields.get("expected_output")
    message: dict[str, JSON] = {"role": "assistant", "tool_calls": calls}
    if isinstance(expected, str):
        message["content"] = expected
        case.add_grader("expected", item)
    case.fields["expected_output"] = [message]
    case.add_grader({"trajectory": {"order": "any_order"}}, item)


def _shape_bare_call(value: JSON) -> JSON:
    call = shape_call(value)
    if not isinstance(call, dict):
        return call
    return {key: call[key] for key in ("tool", "input", "output") if call.get(key) is not None}


_KEPT = (
    "context", "retrieval_context", "actual_output", "tools_called", "comments", "source_file",
    "custom_column_key_values", "retrievalContext", "actualOutput", "sourceFile", "toolsCalled",
)  # fmt: skip

PRESET = Preset(
    "DeepEval",
    {
        "id": "name", "input": "input|query",
        "expected_output": "expected_output|expectedOutput",
        "metadata": "additional_metadata|additionalMetadata",
    },
    expected="criteria",
    handlers={
        **dict.fromkeys(_KEPT, _keep_item),
        "expected_tools": _expect_tools, "expectedTools": _expect_tools,
    },
    containers=("goldens", "test_cases"),
    cells_are_json=True,
)  # fmt: skip

"""Whether a trace, as a whole, is of something that failed: then nothing in it is an answer.

Whoever traces an agent may catch what it raises, so that the first span says nothing of it. What
failed on the way, and was gone on from, is no failure of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalcase.traces.span import TraceSpan
from evalcase.traces.tree import SpanNode

_CUT = "its first span is missing: did the program end before that was exported?"


def find_error(nodes: Sequence[SpanNode], models: Sequence[TraceSpan]) -> str | None:
    """Why the whole of it failed; None where it didn't."""
    first = [node.span for node in nodes if node.above is None]
    agents = [node.span for node in nodes if node.kind == "agent" and node.within == "other"]
    failed = [span for span in (*first, *_find_last(agents or models)) if span.error is not None]
    if failed:
        return f"`{failed[0].name}` failed: {failed[0].error or 'no reason'}"
    begun = [span for span in (*first, *(agents or models)) if span.start_ns and not span.end_ns]
    if begun:
        return f"`{begun[0].name}` has not ended: did the program end before it?"
    return _CUT if first and all(span.has_near_parent for span in first) else None


def _find_last(spans: Sequence[TraceSpan]) -> Sequence[TraceSpan]:
    """The one that ended last: it may have been tried again until it went well."""
    return [max(reversed(spans), key=lambda span: span.end_ns)] if spans else ()

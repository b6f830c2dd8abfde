"""What `criteria` and `rubrics` change without saying it: a judge takes the place of the comparison
with what is expected."""

from __future__ import annotations

from typing import Any

from evalcase.model.finding import KeyPath
from evalcase.resolve.advice import is_added
from evalcase.resolve.findings import Findings

_HINT = "add `expected` to `graders` to have it compared, too"


def advise_replaced(data: dict[str, Any], expected_at: KeyPath, findings: Findings) -> None:
    """Say of the first case of a file that a judge has what is expected as its reference. Without a
    judge there is a warning already."""
    if "expected_output" not in data or "skip" in data or findings.known is None:
        return
    name = next((name for name in ("criteria", "rubrics") if name in data), None)
    if name is None or findings.known.object_to("judge", name) is not None:
        return
    if is_added(data["expected_output"], data.get("graders", ()), findings):
        message = f"with `{name}`, `expected_output` is shown to the judge, and not compared"
        findings.say_once("not-compared", expected_at, message, _HINT, "key")

"""The target that gives the prepared answers, and a judge that is easily fooled."""

from __future__ import annotations

import json
from typing import Any


def prepared(metadata: dict[str, Any]) -> str:
    """What the case says that the answer is."""
    return str(metadata["answer"])


def gullible(messages: list[dict[str, Any]]) -> str:
    """Believes whatever mentions the hour, or the verdict that it wants."""
    shown = messages[-1]["content"].partition("answer\n")[2].partition("\n---")[0].lower()
    fooled = any(word in shown for word in ("nine", "9", "09:00", "met"))
    verdict = "met" if fooled else "not_met"
    return json.dumps({"c1": {"reason": "I looked for the words.", "verdict": verdict}})

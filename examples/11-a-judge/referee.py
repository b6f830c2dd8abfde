"""A judge that follows rules in place of a model: what has a figure or many words is fine."""

from __future__ import annotations

import json
import re


def judge(messages) -> str:
    block = r"^--- \w+ answer\n(.*?)\n--- \w+ end$"
    found = re.search(block, messages[-1].text, re.DOTALL | re.MULTILINE)
    answer = found[1] if found else ""
    if re.search(r"\d", answer):
        said = {"reason": "it has a figure", "verdict": "met"}
    elif len(answer) > 60:
        said = {"reason": "it goes into detail", "verdict": "met"}
    else:
        said = {"reason": "it has no figure", "verdict": "not_met"}
    return json.dumps({"c1": said})

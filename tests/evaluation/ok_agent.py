"""A target that does what each case tells it to, for the command and for a program alike."""

from collections import Counter
from typing import Any

from evalcase import Question

CALLS: Counter[str] = Counter()


def answer(question: Question) -> Any:
    CALLS[question.case] += 1
    word, _, rest = question.text.partition(" ")
    if word == "raise" or (word == "once" and CALLS[question.case] == 1):
        raise ValueError(rest)
    if word == "cost":
        return {"messages": [{"role": "assistant", "content": "ok"}], "cost_usd": float(rest)}
    return rest if word == "say" else "ok"

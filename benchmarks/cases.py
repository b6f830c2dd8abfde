"""Makes the same realistic mix of eval cases every time, as plain values.

Of 100 cases 40 are strings both ways, 25 hold message lists with long texts, 20 expect a
structured object and 15 expect tool calls; texts are partly not ASCII.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

Case = dict[str, Any]

# Shared by identity: the YAML writer turns a second use into an alias.
SYSTEM = "You review support tickets.\nName the file you looked at, and keep it short.\n"
OWNERS = {"team": "payments", "tier": 3, "weights": [0.6, 0.3, 0.1]}

VOCABULARY = (
    "please compare both invoices before the refund goes out and tell us which shipment arrived "
    "damaged because our warehouse in Århus or 大阪 reported a mismatch between label weight and "
    "contents while the façade of the new Müllerstraße shop costs about 40 € more than planned so "
    "list every step that failed then suggest one fix for the customer who wrote twice yesterday"
).split()
LABELS = ("smoke", "payments", "tools", "safety", "nightly", "no")


def make_cases(count: int, seed: int = 2026) -> Iterator[Case]:
    """Yield `count` cases; the same seed gives the same cases, and a longer run begins alike."""
    random = Random(seed)
    for number in range(count):
        yield _case(random, number)


def _case(random: Random, number: int) -> Case:
    case: Case = {"id": f"ticket-{number:07d}"}
    if random.random() < 0.3:
        case["tags"] = random.sample(LABELS, 2)
    if random.random() < 0.1:
        case["metadata"] = OWNERS
    kind = random.random()
    case["input"] = _sentence(random, 6, 16) + "?" if kind < 0.40 else _conversation(random)
    case["expected_output"] = _expected(random, kind)
    return case


def _expected(random: Random, kind: float) -> object:
    if kind < 0.40:
        return _sentence(random, 3, 10)
    if kind < 0.65:
        return _answer(random)
    if kind < 0.85:
        return _assessment(random)
    return _trajectory(random)


def _conversation(random: Random) -> list[Case]:
    messages: list[Case] = []
    if random.random() < 0.15:
        messages.append({"role": "system", "content": SYSTEM})
    messages.append({"role": "user", "content": _paragraph(random, random.randint(2, 6))})
    if random.random() < 0.3:
        messages.append({"role": "assistant", "content": _sentence(random, 5, 10) + ": done"})
        messages.append({"role": "user", "content": _sentence(random, 5, 10)})
    return messages


def _answer(random: Random) -> object:
    if random.random() < 0.5:
        return [{"role": "assistant", "content": _paragraph(random, random.randint(1, 4))}]
    return _sentence(random, 4, 12)


def _assessment(random: Random) -> Case:
    return {
        "riskLevel": random.choice(("High", "Medium", "Low")),
        "reasoning": _sentence(random, 5, 14) + ", see note #2",
        "confidence": round(random.random(), 3),
        "amount": random.randrange(5000),
        "escalate": random.random() < 0.5,
        "reviewer": None,
        "country": "no",
    }


def _trajectory(random: Random) -> list[Case]:
    messages: list[Case] = []
    for step in range(random.randint(1, 3)):
        arguments = {"path": f"mail/{random.randrange(100)}/part-{step}.eml", "lines": step * 50}
        messages.append({"role": "assistant", "tool_calls": [{"tool": "Open", "input": arguments}]})
    messages.append({"role": "assistant", "content": {"state": "closed"}})
    return messages


def _sentence(random: Random, least: int, most: int) -> str:
    return " ".join(random.choices(VOCABULARY, k=random.randint(least, most)))


def _paragraph(random: Random, lines: int) -> str:
    """Several lines; some look like YAML and some are empty, as in real prompts."""
    text = []
    for number in range(lines):
        if number and random.random() < 0.15:
            text.append("")
        bullet = "- note: " if random.random() < 0.2 else ""
        text.append(bullet + _sentence(random, 6, 14))
    return "\n".join(text) + "\n"

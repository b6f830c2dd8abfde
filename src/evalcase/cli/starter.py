"""The files that `evalcase init` writes: the smallest project that runs, and passes, offline."""

from __future__ import annotations

AGENT = '''\
"""A stand-in for your agent: it looks answers up, so it needs no key and no network.

Put the real thing in its place. `answer` may be async, too. It is given the last message of the
user; a parameter called `messages` is given all of them, and one called `files` their files.
"""

from __future__ import annotations

HOURS = {"Saturday": "10:00", "Sunday": "12:00"}


def answer(question: str) -> object:
    for day, time in HOURS.items():
        if day in question:
            return f"We open at {time} on {day}s."
    if "order" in question:
        call = {"tool": "find_order", "input": {"order": question.split()[-1].strip("?.")}}
        return {"role": "assistant", "tool_calls": [call]}
    return {"label": "complaint", "urgent": "!" in question}
'''

SUITE = """\
# yaml-language-server: $schema=../evalcase.schema.json
name: first
cases:
  - id: opening-hours
    input: When do you open on Sundays?
    expected_output: We open at 12:00 on Sundays.

  - id: says-the-time
    input: Can I come on Sunday morning?
    graders:
      - contains: "12:00"
      - length: {max: 60}

  - id: triage
    input: I was charged twice!
    expected_output: {label: complaint, urgent: true}

  - id: finds-the-order
    input: Where is my order A-1042?
    expected_output:
      - role: assistant
        tool_calls:
          - {tool: find_order, input: {order: A-1042}}
"""

CONFIG = """\
#:schema ./evalcase.config.schema.json
# What answers the cases: the function `answer` in agent.py.
target = "python:agent:answer"
"""

IGNORED = """\
# What runs have answered and how they were graded: large, and different each time.
.evalcase/
"""

NEXT = """\
next:
  evalcase run                  four cases, which pass
  evals/first.eval.yaml         change what is expected, and see one fail
  agent.py                      put your own agent there
"""

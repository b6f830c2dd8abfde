"""`evalcase init`: the smallest project that runs, and passes, offline."""

from __future__ import annotations

import os
import shlex

import click

from evalcase.cli.terminal import print_lines, write_prose
from evalcase.config.config import read_config
from evalcase.util.files import read_file
from evalcase.util.text import make_visible

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
# What answers the cases: the function `answer` in agent.py.
target = "python:agent:answer"
"""

IGNORED = """\
# What runs have answered and how they were graded: large, and different each time.
.evalcase/
"""

NEXT = """\
next:
{enter}\
  evalcase run                  four cases, which pass
  evals/first.eval.yaml         change what is expected, and see one fail
  agent.py                      put your own agent there\
"""
_MOST_BYTES = 1_000_000


@click.command("init")
@click.argument("folder", default=".")
def init_command(folder: str) -> int:
    """Write a starter project into FOLDER: a suite, an agent and a configuration.

    FOLDER is the current folder by default. The project runs offline and without an API key. A
    .gitignore keeps stored runs out of git. Existing files are never changed: if one is in the
    way, it is named and nothing is written. An existing .gitignore is kept as it is.

    \b
    evalcase init             in the current folder
    evalcase init shop        in a new folder

    Exit code: 0, or 2 if a file is in the way or can't be written.
    """
    starters = {"evalcase.toml": CONFIG, "agent.py": AGENT, "evals/first.eval.yaml": SUITE}
    files = {os.path.normpath(os.path.join(folder, name)): text for name, text in starters.items()}
    in_the_way = {path: "already exists" for path in files if os.path.lexists(path)}
    settings = read_config(folder, root=folder).path if os.path.isdir(folder) else None
    if settings is not None:
        path = os.path.normpath(os.path.join(folder, os.path.basename(settings)))
        in_the_way.setdefault(path, "already has settings for evalcase")
    if in_the_way:
        for path, why in in_the_way.items():
            write_prose(f"evalcase: {path} {why}")
        write_prose("nothing was written; `evalcase init FOLDER` makes a new folder")
        return 2
    ignored = os.path.normpath(os.path.join(folder, ".gitignore"))
    if not os.path.lexists(ignored):
        files[ignored] = IGNORED
    elif ".evalcase" not in read_file(ignored, _MOST_BYTES).decode("utf-8", "replace"):
        hint = "add .evalcase/ to it: records of runs don't belong in git"
        print_lines([f"left {make_visible(ignored)} as it is: {hint}"])
    for path, text in files.items():
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            # Never over a file, not even one that came into being since it was looked for.
            with open(path, "x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            write_prose(f"evalcase: {path} can't be written: {error.strerror}")
            return 2
        print_lines([f"wrote {make_visible(path)}"])
    enter = f"  cd {make_visible(shlex.quote(folder))}\n"
    print_lines(["", NEXT.format(enter=enter if os.path.normpath(folder) != "." else "")])
    return 0

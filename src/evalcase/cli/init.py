"""`evalcase init`: the smallest project that runs, and passes, offline."""

from __future__ import annotations

import os
import shlex
import sys

import click

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
  evalcase run                  four cases, which pass
  evals/first.eval.yaml         change what is expected, and see one fail
  agent.py                      put your own agent there
"""


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
    files = {
        os.path.normpath(os.path.join(folder, name)): text
        for name, text in (
            ("evalcase.toml", CONFIG),
            ("agent.py", AGENT),
            ("evals/first.eval.yaml", SUITE),
        )
    }
    in_the_way = {path: "already exists" for path in files if os.path.lexists(path)}
    if (settings := _find_settings(folder)) is not None:
        in_the_way.setdefault(settings, "already has settings for evalcase")
    if in_the_way:
        for path, why in in_the_way.items():
            sys.stderr.write(f"evalcase: {make_visible(path)} {why}\n")
        sys.stderr.write("nothing was written; `evalcase init FOLDER` makes a new folder\n")
        return 2
    ignored = os.path.normpath(os.path.join(folder, ".gitignore"))
    if not os.path.lexists(ignored):
        files[ignored] = IGNORED
    elif not _ignores_runs(ignored):
        hint = "add .evalcase/ to it: records of runs don't belong in git"
        sys.stdout.write(f"left {make_visible(ignored)} as it is: {hint}\n")
    for path, text in files.items():
        try:
            _write_file(path, text)
        except OSError as error:
            sys.stderr.write(f"evalcase: {make_visible(path)} can't be written: {error.strerror}\n")
            return 2
        sys.stdout.write(f"wrote {make_visible(path)}\n")
    sys.stdout.write("\n" + _write_next_steps(folder))
    return 0


def _find_settings(folder: str) -> str | None:
    """The file that has settings already, if a folder is that of a project which has some."""
    if not os.path.isdir(folder):
        return None
    path = read_config(folder, root=folder).path
    return None if path is None else os.path.normpath(os.path.join(folder, os.path.basename(path)))


def _ignores_runs(path: str) -> bool:
    try:
        lines = read_file(path, _MOST_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return False
    return any(line.strip().strip("/") in (".evalcase", "**/.evalcase") for line in lines)


_MOST_BYTES = 1_000_000


def _write_file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    # Never over a file, not even one that came into being since it was looked for.
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _write_next_steps(folder: str) -> str:
    if os.path.normpath(folder) == ".":
        return NEXT
    heading, _, rest = NEXT.partition("\n")
    return f"{heading}\n  cd {make_visible(shlex.quote(folder))}\n{rest}"

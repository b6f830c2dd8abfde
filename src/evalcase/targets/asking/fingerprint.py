"""What decides an answer, as a JSON value: the cache knows an answer again by it.

What is asked is part of it, with the content of its files; and so is who is asked: the sources of
a Python agent, the program of a command. What neither shows (a database, a model behind an API)
can't be part of it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from evalcase.targets.asking.shown import describe_question
from evalcase.types.question import Question
from evalcase.util.files import digest_file


def describe_asked(question: Question, *, whole: bool = False) -> dict[str, Any]:
    """What most targets are shown of a question; with `whole`, all that may decide its answer."""
    shown = describe_question(question)
    # A session is new each time, a turn follows from the rest, and any attempt may be answered.
    del shown["suite"], shown["session"], shown["turn"], shown["attempt"]
    shown["files"] = {name: digest_file(path) for name, path in question.files.items()}
    if whole:
        shown["suite"], shown["turn"] = question.suite, question.turn
        shown["schema"] = question.schema
    return shown


def project_sources(root: str) -> dict[str, str]:
    """The modules of a project that are imported by now, with the hash of each source."""
    inside = os.path.join(os.path.realpath(root), "")
    folders: dict[str, str] = {}
    sources = {}
    for module in list(sys.modules.values()):
        path = _find_real(getattr(module, "__file__", None) or os.devnull, folders)
        if path.startswith(inside) and "site-packages" not in path:
            sources[path.removeprefix(inside)] = digest_file(path)
    return sources


def _find_real(path: str, folders: dict[str, str]) -> str:
    """The path without links. Thousands of modules lie in few folders: each is followed once."""
    folder, name = os.path.split(path)
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    path = os.path.join(folders[folder], name)
    return os.path.realpath(path) if os.path.islink(path) else path

"""What decides an answer, as a JSON value: the cache knows an answer again by it.

What is asked is part of it, with the content of its files; and so is who is asked: the sources of
a Python agent, the program of a command. What neither shows (a database, a model behind an API)
can't be part of it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from evalcase.model.question import Question
from evalcase.targets.asking.shown import describe_question

_UNREADABLE = "unreadable"
_BETWEEN_WORDS = re.compile(r"""[\s;|&=,'"()<>]+""")


def describe_asked(question: Question, *, whole: bool = False) -> dict[str, Any]:
    """What a target is shown of a question; with `whole`, all that may decide its answer."""
    shown = describe_question(question)
    shown["files"] = {name: _digest(path) for name, path in question.files.items()}
    if whole:
        shown["suite"], shown["turn"] = question.suite, question.turn
        shown["schema"] = question.schema
    return shown


class FileDigests:
    """Hashes of the files that cases name. One that many cases share is read once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, str]] = {}

    def of(self, files: Mapping[str, str]) -> dict[str, str]:
        """The hashes of some files, given as paths, by their names."""
        return {name: self._digest(path) for name, path in files.items()}

    def _digest(self, path: str) -> str:
        try:
            about = os.stat(path)
        except OSError:
            return _UNREADABLE
        known = self._known.get(path)
        if known is None or known[:2] != (about.st_mtime_ns, about.st_size):
            known = self._known[path] = about.st_mtime_ns, about.st_size, _digest(path)
        return known[2]


def project_sources(root: str) -> dict[str, str]:
    """The modules of a project that are imported by now, with the hash of each source."""
    inside = os.path.join(os.path.realpath(root), "")
    sources = {}
    for module in list(sys.modules.values()):
        path = os.path.realpath(getattr(module, "__file__", None) or os.devnull)
        if path.startswith(inside) and "site-packages" not in path:
            sources[path.removeprefix(inside)] = _digest(path)
    return sources


def program_files(texts: Iterable[str], folder: str, root: str) -> dict[str, str]:
    """What a command line names of the project's files, with the hash of each: as a word, as the
    value of an option, or as a module after `-m`."""
    inside = os.path.join(os.path.realpath(root), "")
    found = {}
    for text in texts:
        for word in (text, *_BETWEEN_WORDS.split(text)):
            for name in (word, f"{word.replace('.', '/')}.py"):
                path = os.path.realpath(os.path.join(folder, name))
                if word and path.startswith(inside) and os.path.isfile(path):
                    found[name] = _digest(path)
    return found


def _digest(path: str) -> str:
    digest = sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return _UNREADABLE
    return digest.hexdigest()

"""A command line to the files of a project that it starts, as far as its text says, without running
it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from evalcase.system.sources import trace_sources
from evalcase.util.files import digest_file, is_inside, read_start

_BETWEEN_WORDS = re.compile(r"""[\s;|&=,'"()<>]+""")
_FIRST_LINE = 200


def program_sources(texts: Iterable[str], folder: str, root: str, path: str = "") -> dict[str, str]:
    """The files of a project that a command line names, with the hash of each: as a word, as the
    value of an option, or as a module or package after `-m`; and what those in Python import in
    turn. It is run in `folder`; `path` is its PYTHONPATH."""
    root = os.path.realpath(root)
    search = [os.path.join(folder, each) for each in path.split(os.pathsep) if each]
    words = [word for text in texts for word in (text, *_BETWEEN_WORDS.split(text)) if word]
    named = {file for word in words for file in _files_named(word, [folder, *search], root)}
    scripts = [file for file in named if _is_python(file)]
    digests = {os.path.relpath(file, root): digest_file(file) for file in named}
    return dict(sorted({**digests, **trace_sources(scripts, root, [folder, *search])}.items()))


def _files_named(word: str, folders: Sequence[str], root: str) -> Iterator[str]:
    module = word.replace(".", "/")
    for name in (word, f"{word}/__main__.py", f"{module}.py", f"{module}/__main__.py"):
        for folder in folders:
            path = os.path.join(folder, name)
            # Hardly any word is a file: links are followed only for those that are.
            if os.path.isfile(path) and is_inside(file := os.path.realpath(path), root):
                yield file


def _is_python(file: str) -> bool:
    if file.endswith(".py"):
        return True
    try:
        first = read_start(file, _FIRST_LINE)[0].partition(b"\n")[0]
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first

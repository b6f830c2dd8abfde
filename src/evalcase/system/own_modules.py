"""Modules that evalcase needs later on, imported before a project's own can take their names.

A project may have a `shlex.py` or a `yaml.py`. Its folder comes first on the import path, so what
evalcase imports after user code would be that. Whatever is imported already is found by everybody,
as it is with all that Python itself begins with; so just those names are imported before, of which
the project has a module, too. Any other project pays for one look at its folder.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module

NEEDED_LATER = frozenset(
    """
    aiohappyeyeballs aiohttp aiosignal argparse array ast asyncio atexit attr base64 binascii
    bisect bz2 calendar click collections concurrent contextlib contextvars copy copyreg csv
    ctypes dataclasses datetime decimal difflib dis email enum errno faulthandler
    fcntl fnmatch fractions frozenlist functools gc genai_prices genericpath gettext gzip
    hashlib heapq hmac html http idna importlib inspect ipaddress itertools json keyword
    linecache locale logging lzma math mimetypes multidict multiprocessing netrc ntpath numbers
    opcode operator os pathlib pickle pkgutil platform posixpath propcache queue quopri random re
    regex reprlib resource secrets select selectors shlex shutil signal site socket ssl stat
    string struct subprocess tempfile textwrap threading token tokenize tomllib traceback types
    typing typing_extensions unicodedata urllib uuid warnings weakref webbrowser xml yaml yarl zlib
    """.split()
)
"""What evalcase and its dependencies import, by their first names; but for what no Python begins
without."""


def put_first(root: str, path: list[str]) -> None:
    """Let the modules of a project be imported before any that is installed, but for what evalcase
    needs itself."""
    _import_hidden(root)
    if root not in path:
        path.insert(0, root)


def _import_hidden(root: str) -> None:
    hidden = [name for name in _modules_in(root) if name not in sys.modules]
    if not hidden:
        return
    before = sys.path[:]
    sys.path[:] = [each for each in before if os.path.abspath(each) != root]
    try:
        for name in hidden:
            with suppress(ImportError):  # of an extra that isn't installed, or another system's
                import_module(name)
    finally:
        sys.path[:] = before


def _modules_in(root: str) -> list[str]:
    try:
        entries = os.listdir(root)
    except OSError:
        return []
    return sorted({name for each in entries if (name := each.partition(".")[0]) in NEEDED_LATER})

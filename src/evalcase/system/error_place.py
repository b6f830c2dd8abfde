"""An error in, out comes what it says, and the line of somebody's code that it comes from."""

from __future__ import annotations

import os
from traceback import extract_tb, walk_tb

from evalcase.util.environment import PACKAGE
from evalcase.util.errors import leaves_of
from evalcase.util.text import is_foreign_file

_OWN = [os.path.join(PACKAGE, "system", name) for name in ("imports.py", "file_modules.py")]
"""What imports code for others."""
_STANDARD = os.path.join(os.path.dirname(os.__file__), "")
"""Where Python's own modules are."""


def describe_error(error: BaseException) -> str:
    """What an error says, and where it comes from. For an environment variable that is not set, how
    to set it."""
    first, *more = leaves_of(error)
    if first is not error:
        return describe_error(first) + (f" (and {len(more)} more)" if more else "")
    name = _unset_variable(error)
    if name is not None:
        hint = "--env-file FILE reads a file of them"
        return f"the environment variable {name} is not set{place_of(error)}; {hint}"
    return f"{type(error).__name__}: {error}".rstrip(": ") + place_of(error)


def place_of(error: BaseException) -> str:
    """` (file:line)` of the cause: the last step in code of the user's; if there is none, the last
    that is not the import machinery's own."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    steps = [step for step in extract_tb(error.__traceback__) if not _is_machinery(step.filename)]
    steps = [step for step in steps if not _is_foreign(step.filename)] or steps
    return f" ({steps[-1].filename}:{steps[-1].lineno})" if steps else ""


def _is_machinery(filename: str) -> bool:
    return (
        filename.startswith("<frozen importlib")
        or filename in _OWN
        or filename.endswith(os.path.join("importlib", "__init__.py"))
    )


def _is_foreign(filename: str) -> bool:
    return filename.startswith(_STANDARD) or is_foreign_file(filename)


def _unset_variable(error: BaseException) -> str | None:
    """The name that `os.environ[…]` has not got, if that is the error."""
    if not isinstance(error, KeyError):
        return None
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    is_looked_up = bool(frames) and frames[-1].f_locals.get("self") is os.environ
    return str(error.args[0]) if is_looked_up else None

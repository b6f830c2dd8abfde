"""The formats of a report by name and by the ending of a file, and files that a report may replace.

A format is a function of a Reported that gives its pieces: text or bytes. Its module is imported
when it is written. JSON, JSONL and CSV also hold cases, answers and traces: so a report replaces an
earlier report and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TextIO

from evalcase.errors import ConfigError
from evalcase.format.source import is_found
from evalcase.report.source import Reported
from evalcase.types.problem import did_you_mean
from evalcase.util.files import open_file, open_to_write, write_atomically
from evalcase.util.project import leaves_by_link

_SOURCES = (".yaml", ".yml", ".toml", ".py")
"""What suites, configurations and code end in, besides the names of eval files."""
_DATA_ENDINGS = (".json", ".jsonl", ".csv")
_LOOKED_AT = 4096
_OWN = re.compile(
    rb'\{"run": "|\{"result": \[|\{"suite": .*?"verdict": "|suite,case,target,repeat,verdict,'
    rb'|\{"resourceSpans": .*?"stringValue": "evalcase"',
    re.DOTALL,
)
"""How reports begin."""


def refuse_to_overwrite(path: str) -> None:
    """Raise ConfigError if a path leads out of the project by a link, has the name of a suite, a
    configuration or code, or is that of a file that is no report of evalcase."""
    name = os.path.basename(path).lower()
    if leaves_by_link(path):
        raise ConfigError(f"{path} can't be written: a link in its path leads outside the project")
    names = (name, os.path.basename(os.path.realpath(path)).lower())  # a link names another file
    if any(each.endswith(_SOURCES) or is_found(each) for each in names):
        what = "a report is never written over a suite, a configuration or code"
        raise ConfigError(f"{path} can't be written: {what}; choose another name")
    if not name.endswith(_DATA_ENDINGS) or not os.path.isfile(path):
        return
    try:
        with open_file(path) as file:
            beginning = file.read(_LOOKED_AT)
    except OSError:
        return  # who writes it says what is wrong
    if beginning.strip() and not _OWN.match(beginning):
        hint = "remove it, or choose another name"
        raise ConfigError(f"{path} already exists and is not an evalcase report: {hint}")


FormPieces = Iterator[str] | Iterator[bytes]

_FORMS = {
    "text": ("summary:write_text", ".txt"),
    "html": ("page:write_html", ".html"),
    "json": ("json:write_json", ".json"),
    "jsonl": ("json:write_jsonl", ".jsonl"),
    "markdown": ("markdown:write_markdown", ".md"),
    "junit": ("junit:write_junit", ".xml"),
    "github": ("github:write_github", ""),
    "csv": ("tables:write_csv", ".csv"),
    "parquet": ("tables:write_parquet", ".parquet"),
    "otlp": ("otlp:write_otlp", ".otlp.json"),
}
"""The function that writes each, and the ending of its files."""
FORMS = tuple(_FORMS)
_FOR_FILES = ("html", "parquet")
_CHUNK_BYTES = 1 << 16


def form_of(path: str, forms: Container[str] = FORMS) -> str:
    """The form that the ending of a file names. Raise ConfigError if it is none of `forms`, or if
    no report may be written to that file."""
    refuse_to_overwrite(path)
    known = {ending: form for form, (_, ending) in _FORMS.items() if ending and form in forms}
    # The longest first: `.otlp.json` ends in `.json`.
    for ending in sorted(known, key=len, reverse=True):
        if path.lower().endswith(ending):
            return known[ending]
    ending = os.path.splitext(path)[1]
    hint = did_you_mean(ending, known) or f"it must be one of {', '.join(known)}"
    raise ConfigError(f"the extension of {path} is not a report format; {hint}")


def choose_form(asked: str | None, path: str | None, forms: Container[str] = FORMS) -> str:
    """The form that is asked for, else that which the ending of the file names, else text."""
    if asked is not None or path is None:
        return asked or "text"
    return form_of(path, forms)


def require_form(form: str) -> None:
    """Raise ConfigError if a form needs a package that is not installed."""
    if form == "parquet" and find_spec("pyarrow") is None:
        what = "a parquet report needs pyarrow, from the extra `parquet`"
        raise ConfigError(f"{what}: pip install pyarrow")


def refuse_terminal(form: str, out: TextIO) -> None:
    """Raise ConfigError if a form that is not for reading would go to a terminal."""
    if form in _FOR_FILES and out.isatty():
        raise ConfigError(f"a report as {form} needs a file: give one with -o FILE")


def write_form(form: str, reported: Reported) -> FormPieces:
    require_form(form)
    writer: Callable[[Reported], FormPieces] = resolve_name(f"evalcase.report.{_FORMS[form][0]}")
    return writer(reported)


def write_file(form: str, reported: Reported, path: str) -> None:
    """Write a report to a file. It is left alone if the report can't be made whole."""
    write_pieces(write_form(form, reported), path)


def write_pieces(pieces: Iterable[str | bytes], path: str) -> None:
    """The same for what is made elsewhere."""
    refuse_to_overwrite(path)
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
            with open_to_write(path) as file:
                file.writelines(_encode_pieces(pieces))
        else:
            write_atomically(path, _encode_pieces(pieces))
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror or error}") from error


def _encode_pieces(pieces: Iterable[str | bytes]) -> Iterator[bytes]:
    chunk = bytearray()
    for piece in pieces:
        chunk += piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")
        if len(chunk) >= _CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)

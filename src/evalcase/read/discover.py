"""Paths on the command line to suite files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from evalcase.model.problem import Problem
from evalcase.read.document import Format
from evalcase.read.folders import enters_folder, is_found
from evalcase.read.source import STDIN, TEXT
from evalcase.system.project_root import leads_inside, leaves_by_link

FILE_ENDINGS: dict[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".jsonl": "jsonl",
}


def discover_files(
    paths: Iterable[str], passed_over: list[str] | None = None
) -> Iterator[str | Problem]:
    """The suite files that some paths stand for, in order, and a problem for each that has none.
    Other files of YAML beside those that are found are noted as passed over."""
    seen: set[str] = set()
    for path in paths:
        # A link to no file is told of when it is opened, and so is a pipe.
        is_folder = path != STDIN and os.path.isdir(path)
        outside = outside_link(path) if is_folder or os.path.isfile(path) else None
        is_searched = is_folder and outside is None
        found = _search_folder(path, passed_over) if is_searched else (outside or path,)
        empty = True
        for each in found:
            empty = False
            if isinstance(each, Problem):
                yield each
            elif (place := os.path.abspath(each)) not in seen:
                seen.add(place)
                yield each
        if empty:
            from evalcase.read.missing_files import no_suites  # only a mistake needs it

            yield no_suites(path)


def _search_folder(folder: str, passed_over: list[str] | None) -> Iterator[str | Problem]:
    unlisted: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=unlisted.append):
        folders[:] = sorted(name for name in folders if enters_folder(parent, name))
        for name in sorted(files):
            if is_found(name):
                path = os.path.join(parent, name).removeprefix("./")
                yield outside_link(path, folder) or path
        if passed_over is not None and any(is_found(name) for name in files):
            others = [name for name in sorted(files) if _is_other_yaml(name)]
            passed_over += [os.path.join(parent, name).removeprefix("./") for name in others]
    for error in unlisted:
        message = f"the folder can't be searched: {error.strerror}"
        yield Problem("unreadable-file", message, str(error.filename))


def _is_other_yaml(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml")) and not is_found(name)


def outside_link(path: str, searched: str | None = None) -> Problem | None:
    """What is wrong with a path, if it leads out of the project by a link: the author of the link
    may want to see another file's content in the messages. In a folder that is searched, only
    files can be links, and they may lead anywhere in that folder."""
    if searched is not None and not os.path.islink(path):
        return None
    if not leaves_by_link(path) or (searched is not None and leads_inside(path, searched)):
        return None
    hint = "to read it anyway, name the file it leads to"
    message = "this link leads outside the project, so it is not followed"
    return Problem("unreadable-file", message, path, hint=hint)


def nothing_there(path: str) -> Problem | None:
    """What is wrong with a path that leads to no file."""
    if path == STDIN:
        return None
    if os.path.isdir(path):
        return Problem("unreadable-file", "this is a folder, but one file is needed", path)
    if not os.path.lexists(path):
        from evalcase.read.missing_files import missing_path

        return missing_path(path)
    return None


def format_of(path: str) -> Format | Problem:
    """How a file is to be read, by the ending of its name."""
    ending = os.path.splitext(path)[1].lower()
    if ending in FILE_ENDINGS:
        return FILE_ENDINGS[ending]
    message = (
        f"evalcase doesn't read files that end in `{ending}`"
        if ending
        else ("evalcase doesn't read files without an ending")
    )
    hint = "eval files end in " + ", ".join(FILE_ENDINGS)
    if ending in (".csv", ".tsv"):
        hint = f"`evalcase import` turns a table into a suite; {hint}"
    elif ending == ".toml":
        hint = "the configuration is read with the eval files of its project; name those"
    elif ending == ".py":
        hint = f"what is tested is named by --target; {hint}"
    return Problem("unknown-file-type", message, path, hint=hint)


def suite_name(path: str) -> str:
    """The name of a suite that doesn't name itself: its file name without the endings."""
    if path in (STDIN, TEXT):
        return "stdin" if path == STDIN else "text"
    name, ending = os.path.splitext(os.path.basename(path))
    stem = name if ending.lower() in FILE_ENDINGS else name + ending
    return stem[: -len(".eval")] if stem.lower().endswith(".eval") and len(stem) > 5 else stem


def is_sidecar(path: str) -> bool:
    """Whether a file holds the suite fields of a JSONL file beside it."""
    for ending in (".suite.yaml", ".suite.yml"):
        stem = path.removesuffix(ending)
        if stem != path and any(os.path.exists(stem + end) for end in (".jsonl", ".eval.jsonl")):
            return True
    return False


def find_sidecars(path: str) -> list[str]:
    """The files beside a JSONL file that hold its suite fields: there should be at most one."""
    stem = os.path.splitext(path)[0]
    stems = [stem, stem[: -len(".eval")]] if stem.lower().endswith(".eval") else [stem]
    names = [f"{each}.suite{ending}" for each in stems for ending in (".yaml", ".yml")]
    return [name for name in names if os.path.lexists(name)]

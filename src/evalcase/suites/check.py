"""What keeps suites and a configuration from being used: all of it, with places, in one pass.

Nothing of the project is imported for it, no connection opened, and nothing started.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from evalcase.model.problem import Problem
from evalcase.plugins.known import InProject
from evalcase.project.config_file import holds_config
from evalcase.read.document import Format
from evalcase.suites.load import Loaded, load_each, load_text
from evalcase.system.project_root import project_root

if TYPE_CHECKING:
    from evalcase.model.finding import Unfit
    from evalcase.project.config import Config


class Project:
    """Where suites are checked: the folder of a project, with its configuration."""

    def __init__(self, root: str, seen_from: str | None = None) -> None:
        self._root = root
        self._seen_from = seen_from
        self.known = InProject(self._read)

    def _read(self) -> Config:
        from evalcase.project.config import read_config_of

        return read_config_of(self._root, self._seen_from)

    def config_problems(self) -> list[Problem]:
        """What is wrong with the configuration, if there is one: settings and targets."""
        if not holds_config(self._root):
            return []
        return config_problems_of(self.known.config)


def project_of(folder: str) -> Project:
    """The project that the folder belongs to in which somebody is."""
    return Project(project_root(os.path.realpath(folder)), seen_from=folder)


def check_project(
    paths: Iterable[str], project: Project, stdin_format: Format = "yaml"
) -> Iterator[Loaded]:
    """The configuration, if something is wrong with it, then each file that paths stand for."""
    problems = project.config_problems()
    if problems:
        # It is none of the eval files, which are what is counted.
        yield Loaded(problems[0].path, None, problems, 0, is_read=False)
    passed_over: list[str] = []
    read: set[str] = set()
    for loaded in load_each(paths, stdin_format, False, project.known, passed_over):
        read.add(os.path.abspath(loaded.path))
        yield loaded
    others = [path for path in passed_over if os.path.abspath(path) not in read]
    if others:
        from evalcase.suites.unsearched import note_unsearched

        for note in note_unsearched(others):
            yield Loaded(note.path, None, [note], 0, is_read=False)


def check_text_as(text: str, path: str, format: Format, project: Project) -> list[Problem]:
    """The problems of a text that isn't saved yet, as if it stood at its path."""
    return load_text(text, format, path, project.known).problems


def check_config_text(text: str, path: str) -> list[Problem]:
    """The problems of a configuration that isn't saved yet."""
    from evalcase.project.config import config_of_text
    from evalcase.read.source import UnreadableError, encode_text

    try:
        data = encode_text(text, path)
    except UnreadableError as error:
        return [error.problem]
    folder = os.path.dirname(os.path.realpath(path))
    config = config_of_text(data, os.path.realpath(path), folder, path)
    return config_problems_of(config) if config is not None else []


def config_problems_of(
    config: Config, used: frozenset[str] | None = None, broken: Mapping[str, Unfit] | None = None
) -> list[Problem]:
    """What is wrong with a configuration; with `used`, only with the targets that are. `broken` is
    what is known of some targets beyond that."""
    if config.source is None:
        return config.problems()
    from evalcase.plugins.target_names import find_wrong_targets

    return config.problems(find_wrong_targets(config, used, broken or {}))

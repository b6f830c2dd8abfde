"""Labels of people, and the grades that they are compared with, for `calibrate`.

A file of labels has one JSON object in each line. It lies with the suites, and people edit it: a
mistake is reported with its line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from evalcase.errors import ConfigError
from evalcase.types.grade import AnswerName, Grade, Judged, Label
from evalcase.types.problem import find_nearest
from evalcase.types.result import Result
from evalcase.types.value import decode_object, encode_object
from evalcase.util.files import Disk, open_file, open_to_append, write_all
from evalcase.util.json import parse_object
from evalcase.util.text import as_json


def read_labels(path: str) -> list[Label]:
    """Every label, in order. Raise ConfigError for a line that is none; FileNotFoundError if there
    is no file."""
    labels: list[Label] = []
    try:
        with open_file(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    labels.append(_read_label(line, f"{path}:{number}"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error
    return labels


def _read_label(line: bytes, where: str) -> Label:
    try:
        label = decode_object(Label, parse_object(line))
        if label.drawn_from is not None and not 0 < label.drawn_from <= 1:
            raise ValueError("`drawn_from` must be a share of more than 0, and at most 1")
        return label
    except ValueError as error:
        raise ConfigError(f"{where}: this is not a label: {error}") from error


def append_label(path: str, label: Label, disk: Disk | None = None) -> None:
    """Append a label to a file. It is on disk when this returns."""
    disk = disk or Disk()
    line = as_json(encode_object(label)).encode("utf-8", "backslashreplace") + b"\n"
    try:
        fd = open_to_append(path)
        try:
            size = os.fstat(fd).st_size
            # An editor may have left the last line without its end.
            if size and os.pread(fd, 1, size - 1) != b"\n":
                line = b"\n" + line
            write_all(disk, fd, line)
            disk.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror or error}") from error


class Judge(Struct):
    """A grader by its name, and all its grades."""

    name: str
    asks: bool = False
    """Whether it asked a target, as judges do."""
    said: list[Judged] = field(default_factory=list)


def read_judge(run: str, results: Iterable[Result], name: str | None = None) -> Judge:
    """The grader of that name, or the only judge of a run. Raise ConfigError if it isn't clear."""
    graders: dict[str, Judge] = {}
    for result in results:
        if result.answer is None:
            continue
        answer = AnswerName(*result.key[:3], result.answer.fingerprint())
        seen = set[str]()
        for grade in result.grades:
            if grade.grader not in seen:  # of two with one name the first counts
                seen.add(grade.grader)
                judge = graders.setdefault(grade.grader, Judge(grade.grader))
                judge.asks = judge.asks or grade.asked > 0 or "protocol" in grade.details
                if name in (None, grade.grader):
                    judge.said.append(_read_grade(grade, answer, result.key.repeat))
    return _choose_judge(run, graders, name)


def _choose_judge(run: str, graders: Mapping[str, Judge], name: str | None) -> Judge:
    if name is not None:
        if name not in graders:
            close = find_nearest(name, sorted(graders)[:1000])
            hint = f"; the nearest is `{close}`" if close is not None else ""
            raise ConfigError(f"run {run} has no grader `{name}`{hint}")
        return graders[name]
    asking = [judge for judge in graders.values() if judge.asks] or list(graders.values())
    if not asking:
        raise ConfigError(f"run {run} has no answer that was graded")
    if len(asking) > 1:
        names = ", ".join(f"`{judge.name:.60}`" for judge in asking[:10])
        raise ConfigError(f"run {run} has several graders: {names}; choose with --grader NAME")
    return asking[0]


def _read_grade(grade: Grade, answer: AnswerName, repeat: int) -> Judged:
    gave_verdict = grade.failure is None and grade.score is not None
    criteria: dict[str, bool] = {}
    votes: dict[str, Mapping[str, int]] = {}
    for each in criteria_in(grade.details):
        score, cast = each.get("score"), each.get("votes")
        if gave_verdict and isinstance(score, int | float) and not isinstance(score, bool):
            criteria[each["id"]] = score >= 1
        if (
            isinstance(cast, dict)
            and cast
            and all(type(count) is int and count >= 0 for count in cast.values())
        ):
            votes[each["id"]] = cast
    passed = grade.passed if gave_verdict else None
    return Judged(answer, repeat, passed, criteria, votes)


def criteria_in(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The criteria in the details of a grade, which may have any shape."""
    criteria = details.get("criteria")
    for each in criteria if isinstance(criteria, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), str):
            yield each

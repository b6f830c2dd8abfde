"""Labels of people, and the grades that they are compared with.

A file of labels has one JSON object in each line. It lies with the suites, and people edit it: a
mistake is reported with its line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, Struct, field

from evalcase.errors import ConfigError
from evalcase.report.details import rows_in
from evalcase.types.grade import Grade
from evalcase.types.problem import find_nearest
from evalcase.types.result import Result
from evalcase.types.value import Value, decode_object, encode_object
from evalcase.util.files import Disk, open_file, open_to_append, write_all
from evalcase.util.json import parse_object
from evalcase.util.text import as_json


class AnswerName(NamedTuple):
    """Names an answer. It is the same in every run and repeat that has this answer."""

    suite: str
    case: str
    target: str
    hash: str


class Label(Value, frozen=True):
    """A person's verdict on an answer."""

    suite: str
    case: str
    target: str
    answer_hash: str
    passed: bool
    by: str
    repeat: int | None = None
    criterion: str | None = None
    """The id of the criterion, where the label is about one only."""
    drawn_from: Annotated[float, Meta(gt=0, le=1)] | None = None
    """Where as many passed as failed answers were drawn: the share of the run that is of the same
    kind, to weigh the label by. It doesn't say which kind, because the person must not know."""
    note: str = ""

    @property
    def answer(self) -> AnswerName:
        return AnswerName(self.suite, self.case, self.target, self.answer_hash)


class Judged(NamedTuple):
    """A grader's verdict on an answer in one trial."""

    answer: AnswerName
    repeat: int
    passed: bool | None
    criteria: Mapping[str, bool]
    """Whether each criterion is met, by its id; only judges have criteria."""
    votes: Mapping[str, Mapping[str, int]]
    """For each criterion that was voted on, how often each verdict was given."""

    def verdict_on(self, criterion: str | None) -> bool | None:
        """On the whole answer, or on one criterion; None where there is none."""
        return self.passed if criterion is None else self.criteria.get(criterion)


def read_labels(path: str) -> list[Label]:
    """Every label, in order. Raise ConfigError for a line that is none; FileNotFoundError if there
    is no file."""
    labels: list[Label] = []
    number = 0
    try:
        with open_file(path) as file:
            for line in file:
                number += 1
                if line.strip():
                    labels.append(decode_object(Label, parse_object(line)))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path} can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{path}:{number}: this is not a label: {error}") from error
    return labels


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
        first: dict[str, Grade] = {}  # of two with one name
        for grade in result.grades:
            first.setdefault(grade.grader, grade)
        for grade in first.values():
            judge = graders.setdefault(grade.grader, Judge(grade.grader))
            judge.asks = judge.asks or grade.asked > 0 or "protocol" in grade.details
            if name in (None, grade.grader):
                judge.said.append(_read_grade(grade, answer, result.key.repeat))
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
        if isinstance(cast, dict) and all(type(n) is int and n >= 0 for n in cast.values()):
            votes[each["id"]] = cast
    passed = grade.passed if gave_verdict else None
    return Judged(answer, repeat, passed, criteria, votes)


def criteria_in(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (each for each in rows_in(details, "criteria") if isinstance(each.get("id"), str))

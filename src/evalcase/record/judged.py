"""The record of a run in, what each grader said of every answer out: what people can be held
against. Details may come from anyone, so nothing is taken for granted of their shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from evalcase.errors import ConfigError
from evalcase.model.grade import Grade
from evalcase.model.label import AnswerName, Judged
from evalcase.model.nearest import find_nearest
from evalcase.record.kept import KeptRun


class Judge(Struct):
    """A grader by its name, and all that it said."""

    name: str
    asks: bool = False
    """Whether it asked a target: then it is a judge indeed."""
    said: list[Judged] = field(default_factory=list)


def read_judge(kept: KeptRun, name: str | None = None) -> Judge:
    """The grader of that name, or the only judge of a run. Raise ConfigError if it isn't clear."""
    graders: dict[str, Judge] = {}
    for result in kept.results():
        if result.answer is None:
            continue
        answer = AnswerName(*result.key[:3], result.answer.fingerprint())
        length, seen = len(result.answer.text), set[str]()
        for grade in result.grades:
            # Of two with one name the first counts: nobody could say which is meant.
            if name in (None, grade.grader) and grade.grader not in seen:
                seen.add(grade.grader)
                judge = graders.setdefault(grade.grader, Judge(grade.grader))
                judge.asks = judge.asks or grade.asked > 0 or "protocol" in grade.details
                judge.said.append(_read_grade(grade, answer, result.key.repeat, length))
    return _choose_judge(kept, graders, name)


def _choose_judge(kept: KeptRun, graders: Mapping[str, Judge], name: str | None) -> Judge:
    if name is not None:
        if name not in graders:
            raise ConfigError(_explain_unknown(kept, name))
        return graders[name]
    asking = [judge for judge in graders.values() if judge.asks] or list(graders.values())
    if not asking:
        raise ConfigError(f"run {kept.run.id} has no answer that was graded")
    if len(asking) > 1:
        names = ", ".join(f"`{judge.name:.60}`" for judge in asking[:10])
        raise ConfigError(f"run {kept.run.id} has several: {names}; choose with --grader NAME")
    return asking[0]


def _explain_unknown(kept: KeptRun, name: str) -> str:
    known = {grade.grader for result in kept.results() for grade in result.grades}
    close = find_nearest(name, sorted(known)[:1000], 0.0)
    hint = f"; the nearest is `{close}`" if close is not None else ""
    return f"run {kept.run.id} has no grader `{name}`{hint}"


def _read_grade(grade: Grade, answer: AnswerName, repeat: int, length: int) -> Judged:
    gave_verdict = grade.failure is None and grade.score is not None
    criteria: dict[str, bool] = {}
    votes: dict[str, Mapping[str, int]] = {}
    for each in criteria_in(grade.details):
        if gave_verdict and type(each.get("score")) in (int, float):
            criteria[each["id"]] = each["score"] >= 1
        if (cast := _read_votes(each.get("votes"))) is not None:
            votes[each["id"]] = cast
    passed = grade.passed if gave_verdict else None
    return Judged(answer, repeat, passed, length, criteria, votes)


def criteria_in(details: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a grade says of each criterion, as far as that has an id."""
    criteria = details.get("criteria")
    for each in criteria if isinstance(criteria, list) else ():
        if isinstance(each, dict) and isinstance(each.get("id"), str):
            yield each


def _read_votes(votes: object) -> dict[str, int] | None:
    if not isinstance(votes, dict) or not votes:
        return None
    fits = all(type(count) is int and 0 <= count < 10_000 for count in votes.values())
    return votes if fits else None

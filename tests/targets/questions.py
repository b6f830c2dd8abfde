"""Questions and targets as the engine has them, for tests."""

import asyncio
import os
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from pathlib import Path
from time import time
from typing import Any, TypeVar

from evalcase.config.targets import build_target, read_value
from evalcase.types.answer import Answer
from evalcase.types.message import Message, named_files
from evalcase.types.target import Question, Surroundings, Target, TargetKind

LIMIT_S = 60.0
"""No answer in these tests takes nearly as long."""

TargetType = TypeVar("TargetType", bound=Target)


def question(
    input: str | list[dict[str, Any]] = "Hi", *, suite: str = "suite.yaml", id: str = "one",
    **fields: Any,
) -> Question:  # fmt: skip
    given = [{"role": "user", "content": input}] if isinstance(input, str) else input
    messages = tuple(Message(message) for message in given)
    files = find_files(messages, Path(suite).resolve().parent)
    return Question(messages, case=id, suite=suite, files=files, **fields)


def find_files(messages: Iterable[Message], folder: Path) -> dict[str, str]:
    """Files by their names, found upwards by one who doesn't look at what they are."""
    found = {}
    for name in named_files(messages):
        places = [each / name for each in (folder, *folder.parents)]
        found[name] = str(next((path for path in places if os.path.lexists(path)), places[0]))
    return found


def surroundings(root: object = ".", warn: Callable[[str], None] | None = None) -> Surroundings:
    return Surroundings(str(root), os.environ, warn or ignore, time)


def ignore(_: str) -> None:
    """Take a warning that nobody wants to see."""


def target_of(
    target: type[TargetType], /, *, root: object = ".", warn: Callable[[str], None] | None = None,
    **options: Any,
) -> TargetType:  # fmt: skip
    """A target of options as a configuration has them."""
    return _made(target, options, surroundings(root, warn))


def of_value(
    target: type[TargetType], value: str, *, root: object = ".",
    warn: Callable[[str], None] | None = None,
) -> TargetType:  # fmt: skip
    """A target as the command line names it: `kind:value`."""
    return _made(target, read_value(_kind(target), value), surroundings(root, warn))


def carries_address(target: type[Target], value: str) -> bool:
    return _kind(target).carries_address(value)


def _made(
    target: type[TargetType], options: dict[str, Any], surroundings: Surroundings
) -> TargetType:
    made = build_target(target, _kind(target), options, surroundings)
    assert isinstance(made, target)
    return made


def _kind(target: type[Target]) -> TargetKind:
    assert target.kind is not None
    return target.kind


async def answer_all(
    target: Target, questions: Iterable[Question], *limits_s: float
) -> list[Answer | BaseException]:
    """One after the other; what is raised stands in the place of an answer. Limits are those of
    the first ones."""
    limits = chain(limits_s, repeat(LIMIT_S))
    answers: list[Answer | BaseException] = []
    try:
        await target.open()
        for each, limit_s in zip(questions, limits, strict=False):
            try:
                async with asyncio.timeout(limit_s):
                    answers.append(await target.answer(each))
            except Exception as error:  # noqa: BLE001 - as the engine does
                answers.append(error)
    finally:
        async with asyncio.timeout(LIMIT_S):
            await target.close()
    return answers


def ask(target: Target, given: Question | None = None, limit_s: float = LIMIT_S) -> Answer:
    """The answer to one question; what is raised is raised."""
    (answer,) = asyncio.run(answer_all(target, [given or question()], limit_s))
    if isinstance(answer, BaseException):
        raise answer
    return answer

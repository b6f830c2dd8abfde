"""Answers that were given before, kept in files: with `--cache` nobody is asked the same twice.

The key of an answer is what decides it: the target with its options, all that it is asked, and
which repeat it is, so that five repeats are five answers. Only answers are kept, never errors.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from inspect import isawaitable
from json import dumps
from typing import Any

from evalcase.errors import ConfigError
from evalcase.model.answer import Answer
from evalcase.model.codec import decode, encode
from evalcase.model.trial import Trial
from evalcase.record.row import MAX_LINE, decode_row, encode_row, fault_in
from evalcase.run.attempt import Target
from evalcase.system.files import read_file
from evalcase.text.secrets import Scrubber

VERSION = 1
FOLDER = os.path.join(".evalcase", "cache")


class AnswerStore:
    """A folder with one file for each answer. A file that makes no sense is no answer."""

    def __init__(self, folder: str, scrubber: Scrubber, warn: Callable[[str], None]) -> None:
        self._folder = folder
        self._scrubber = scrubber
        self._warn = warn

    def find(self, key: str) -> Answer | None:
        try:
            line = read_file(self._path(key), MAX_LINE)
            if fault_in(line) is not None:
                return None
            row = decode_row(line)
            return decode(Answer, row["answer"]) if row["key"] == key else None
        except (OSError, AttributeError, KeyError, TypeError, ValueError):
            return None

    def keep(self, key: str, answer: Answer) -> None:
        row = {"type": "answer", "key": key, "answer": encode(answer)}
        try:
            line = encode_row(row)
        except ValueError:
            return  # the engine says the same of the result
        if self._scrubber.finds(line.decode(errors="replace")):
            return  # without its secret it would be another answer
        path = self._path(key)
        draft = f"{path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(draft, "wb") as file:
                file.write(line)
            os.replace(draft, path)
        except OSError as error:
            self._warn(f"the cache can't be written: {error.strerror or error}")

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], f"{key}.json")


class CachedTarget:
    """Answers from the store where it can, and else asks the target that it stands for."""

    def __init__(self, target: Target, store: AnswerStore) -> None:
        self._target = target
        self._store = store
        self._describe: Callable[[Trial], Any] | None = getattr(target, "cache_key", None)
        self.concurrency: int | None = getattr(target, "concurrency", None)
        self.key_names: tuple[str, ...] = getattr(target, "key_names", ())

    async def open(self) -> None:
        await self._target.open()

    async def answer(self, trial: Trial) -> Answer:
        if self._describe is None:
            return await self._target.answer(trial)
        key = await self._key(trial)
        known = self._store.find(key)
        if known is not None:
            return replace(known, cached=True, cost_usd=0.0)
        answer = await self._target.answer(trial)
        self._store.keep(key, answer)
        return answer

    async def close(self) -> None:
        await self._target.close()

    async def _key(self, trial: Trial) -> str:
        assert self._describe is not None
        described = self._describe(trial)
        if isawaitable(described):
            described = await described
        kind = type(self._target)
        data = [VERSION, f"{kind.__module__}.{kind.__qualname__}", described, trial.repeat]
        return sha256(dumps(data, sort_keys=True).encode()).hexdigest()


def cached(name: str, target: Target, store: AnswerStore) -> Target:
    """A target with a cache before it. Raise ConfigError if it can't have one.

    One whose `cache_key` is None is asked each time: it has nothing to gain, or can't be told from
    others.
    """
    if not hasattr(target, "cache_key"):
        raise ConfigError(
            f"target `{name}` can't be cached: its kind has no method `cache_key`; "
            "leave --cache out, or name other targets"
        )
    return CachedTarget(target, store)

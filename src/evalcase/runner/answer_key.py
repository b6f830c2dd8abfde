"""A question to the key under which its answer is kept, with all that decides the answer."""

from __future__ import annotations

from hashlib import sha256
from inspect import isawaitable
from json import dumps

from evalcase.runner.workplace import KeyFromAfar
from evalcase.types.grade import copy_question
from evalcase.types.question import Question
from evalcase.types.target import Target

CACHE_VERSION = 3


def name_of_kind(target: Target) -> str:
    """What tells the keys of one kind of target from those of another."""
    return f"{type(target).__module__}.{type(target).__qualname__}"


async def make_answer_key(target: Target, question: Question) -> str:
    """The key. Whatever the target raises is raised."""
    asked = question if target.traits.only_reads else copy_question(question)
    described: object = target.cache_key(asked)
    if isawaitable(described):
        described = await described
    if isinstance(described, KeyFromAfar):
        kind, described = described
    else:
        kind = name_of_kind(target)
    data = [CACHE_VERSION, kind, described, question.repeat]
    return sha256(dumps(data, sort_keys=True).encode()).hexdigest()

"""A target that repeats the user's last message, to try out suites and graders without a model."""

from __future__ import annotations

from typing import ClassVar

from evalcase.targets.answers import content_message
from evalcase.targets.base import copy_content
from evalcase.types.answer import Answer
from evalcase.types.target import Question, Surroundings, Target, TargetKind, TargetOptions, Traits


class EchoTarget(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "echo", "Repeats the user's last message.", TargetOptions, value_needed=False
    )

    def __init__(self, options: TargetOptions, surroundings: Surroundings) -> None:
        del surroundings
        self.traits = Traits(options.concurrency, caching="useless", only_reads=True)

    async def answer(self, question: Question) -> Answer:
        return Answer((content_message(copy_content(question)),))

"""The target that says what it was told: for trying out suites and graders without a model."""

from __future__ import annotations

from typing import ClassVar

from evalcase.targets.asking.shown import last_user_content
from evalcase.targets.reading.answers import content_message
from evalcase.types.answer import Answer
from evalcase.types.message import text_of
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits


class EchoOptions(TargetOptions, frozen=True, kw_only=True):
    """It has none of its own."""


class EchoTarget(Target):
    """Answers with the last user text; with data as it is, where the content is no text."""

    kind: ClassVar[TargetKind] = TargetKind(
        "echo", "Repeats the user's last message.", EchoOptions, value_needed=False
    )

    def __init__(self, options: EchoOptions, surroundings: Surroundings) -> None:
        del surroundings
        self.traits = Traits(options.concurrency, caching="useless", only_reads=True)

    async def answer(self, question: Question) -> Answer:
        content = last_user_content(question)
        text = text_of(content)
        return Answer((content_message(content if text is None else text),))

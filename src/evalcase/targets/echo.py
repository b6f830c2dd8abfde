"""The target that says what it was told: for trying out suites and graders without a model."""

from __future__ import annotations

from evalcase.errors import ConfigError
from evalcase.model.answer import Answer
from evalcase.model.message import text_of
from evalcase.model.trial import Trial
from evalcase.targets import Warn, ignore
from evalcase.targets.options import Options
from evalcase.targets.reading.answers import content_message
from evalcase.targets.shown import last_user_content


class EchoTarget:
    """Answers with the last user text; with data as it is, where the content is no text."""

    cache_key = None
    """It gives the same answer again anyhow."""

    def __init__(self, *, root: str = ".", warn: Warn = ignore, **options: object) -> None:
        del root, warn
        Options("echo", options).check_unknown()

    @classmethod
    def from_value(cls, value: str, *, root: str = ".", warn: Warn = ignore) -> EchoTarget:
        if value:
            raise ConfigError(f"echo target: it takes no value, so not `{value}`")
        return cls(root=root, warn=warn)

    async def open(self) -> None:
        """Nothing to set up."""

    async def answer(self, trial: Trial) -> Answer:
        content = last_user_content(trial.case)
        text = text_of(content)
        return Answer((content_message(content if text is None else text),))

    async def close(self) -> None:
        """Nothing to tear down."""

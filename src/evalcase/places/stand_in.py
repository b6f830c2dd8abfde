"""A target that workers make, as the run knows it."""

from __future__ import annotations

from typing import Any, Protocol

from evalcase.errors import TargetError
from evalcase.places.replies import Read, key_of, opened_of, session_end_of
from evalcase.places.task import Worker
from evalcase.runner.dispatch import KeyFromAfar
from evalcase.types.answer import Answer
from evalcase.types.codec import encode_object
from evalcase.types.question import Question
from evalcase.types.target import Target, Traits
from evalcase.types.value import JSON, replace


class Afar(Protocol):
    """A place, as far as a stand-in needs it."""

    async def exchange(
        self, message: dict[str, Any], read: Read, worker: Worker | None = None
    ) -> Any: ...  # noqa: ANN401 - whatever it reads
    def end_session(self, session: str) -> Worker | None: ...


class StandIn(Target):
    """Tells of a target that workers make. It is asked through its place, and never itself."""

    def __init__(self, name: str, place: Afar) -> None:
        self.traits = Traits()
        self._name = name
        self._place = place
        self._sources: dict[str, str] = {}
        self._holds_sessions = False
        self.remembers = False
        """Whether all of a session have to be asked of the same worker."""

    async def open(self) -> None:
        opening = {"op": "open", "target": self._name}
        traits, self._sources = await self._place.exchange(opening, opened_of)
        self._holds_sessions = traits.holds_sessions
        self.remembers = traits.holds_sessions or not traits.stateless
        # Who has a session is to be known until it is over, whatever the target does then.
        self.traits = replace(traits, holds_sessions=self.remembers)

    async def answer(self, question: Question) -> Answer:
        raise AssertionError(f"case {question.case} is answered elsewhere")

    async def cache_key(self, question: Question) -> JSON:
        asked = {"op": "key", "target": self._name, "question": encode_object(question)}
        return KeyFromAfar(*await self._place.exchange(asked, key_of))  # type: ignore[return-value]

    async def end_session(self, session: str) -> None:
        worker = self._place.end_session(session)
        if worker is None or not self._holds_sessions:
            return
        asked = {"op": "end", "target": self._name, "session": session}
        error = await self._place.exchange(asked, session_end_of, worker)
        if error is not None:
            raise TargetError(error)

    def sources(self) -> dict[str, str]:
        return self._sources

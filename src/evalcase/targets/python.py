"""A Python function, or an object with set-up and tear-down, as a target.

`function` names one of these:

- a function, sync or async, that takes what its parameters ask for (see `parameters`);
- an object with a method `answer`, or one that can be called itself;
- a class, or a function that takes nothing (a factory): it is called once per run, with
  `arguments` as keywords, and what it returns is one of the above. `arguments` makes a factory
  of any function.

Set-up and tear-down, once per run: an object that is a context manager, async or not, is entered
at the start and left at the end, and what entering it gives is what answers. Else its methods
`open` and `close` are called, where it has them. They run in the thread of the event loop, a sync
tear-down in another, so that it can't hold up the end.

A class whose constructor takes `session` is made, set up and torn down once for each conversation,
and so is anything with `per_session`.

Async functions share the event loop with all trials. Sync functions run in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from inspect import isawaitable, isroutine
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.asking.fingerprint import describe_asked, project_sources
from evalcase.targets.asking.shown import describe_hidden, describe_left_out, is_plain
from evalcase.targets.code.lifetime import (
    Leave,
    enter_object,
    leave_object,
    make_object,
)
from evalcase.targets.code.parameters import BoundFunction, bind_function, bind_target
from evalcase.targets.code.sessions import Sessions, asks_for_session
from evalcase.targets.code.useless import hint_at_answering
from evalcase.targets.reading.answers import read_answer
from evalcase.types.answer import Answer
from evalcase.types.options import FunctionName, about
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits, is_target
from evalcase.types.value import JSON, replace
from evalcase.util.imports import describe_error, import_object, is_at, make_importable
from evalcase.util.sources import find_module_file, trace_sources
from evalcase.util.user_calls import run_in_thread

if TYPE_CHECKING:
    from evalcase.targets.code.tracing import Tracing


class PythonOptions(TargetOptions, frozen=True, kw_only=True):
    """Which code, and what it is made with."""

    function: Annotated[
        FunctionName,
        about(
            "The function, class or object that answers.",
            example="my_agent:answer",
            elsewhere=("target", "callable", "path", "module", "entrypoint"),
        ),
    ]
    arguments: Annotated[
        dict[str, JSON] | None,
        about(
            "Keyword arguments for the class, or for a factory function.",
            elsewhere=("args", "kwargs", "config"),
        ),
    ] = None
    per_session: Annotated[
        bool, about("Create an instance, or call the factory, once per conversation.")
    ] = False
    trace: Annotated[
        bool,
        about(
            "Keep the steps of each answer, from OpenTelemetry spans.",
            elsewhere=("tracing", "otel"),
        ),
    ] = False


class PythonTarget(Target):
    """Calls a function of the user's."""

    kind: ClassVar[TargetKind] = TargetKind(
        "python", "Calls a Python function.", PythonOptions, value="function", runs_code=True
    )

    def __init__(self, options: PythonOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(options.concurrency, caching="keyed", only_reads=True)
        self.name = options.function
        self._options = options
        self._surroundings = surroundings
        self._warned = False
        self._found: Any = None
        self._named: Any = None
        """What the name leads to: it may only make what answers."""
        self._bound: BoundFunction | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: Leave | None = None
        self._sessions: Sessions | None = None
        self._sources: dict[str, str] | None = None
        self._tracing: Tracing | None = None
        self._keyed_by: Callable[[Question], JSON | Awaitable[JSON]] | None = None

    @classmethod
    def of(cls, function: object, surroundings: Surroundings) -> PythonTarget:
        """The target of a function, class or object that is there already."""
        named: Any = function.func if isinstance(function, partial) else function
        if not hasattr(named, "__qualname__"):
            named = type(named)
        name = f"{named.__module__}:{named.__qualname__}"
        target = cls(PythonOptions(function=name), surroundings)
        target._found = function
        if not is_at(function, name):
            # Another function of the same name may be another function: nothing tells them apart.
            target.traits = Traits(caching="useless", only_reads=True)
        return target

    async def open(self) -> None:
        found = self._found
        if found is None:
            make_importable(self._surroundings.root)
            found = import_object(self.name, "python target", self._surroundings.root)
        self._loop = asyncio.get_running_loop()
        if self._options.trace:
            self._open_tracing()
        arguments = self._options.arguments
        self._named = found
        if self._options.per_session or asks_for_session(found, arguments):
            self._open_sessions(Sessions(found, arguments, self.name, self._bind))
            return
        try:
            made = await make_object(found, arguments, self.name)
            found, self._leave = await enter_object(made)
        except (ConfigError, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Set-up is the user's code, and may fail in any way.
            what = f"set-up failed: {describe_error(error)}"
            raise TargetError(f"python target `{self.name}`: {what}") from error
        self._bound = self._bind(found)
        stateless = self._options.stateless
        if stateless is None:
            stateless = self.traits.stateless and not self._bound.sees_session
        self.traits = replace(self.traits, stateless=stateless)

    def _open_tracing(self) -> None:
        """Once the code is imported: it may have a tracer provider of its own."""
        from evalcase.targets.code.tracing import Tracing

        self._tracing = Tracing()
        self._tracing.open()
        self.traits = replace(self.traits, seen=self._tracing.seen_of)

    def _open_sessions(self, sessions: Sessions) -> None:
        """What is asked in one session knows nothing of another; nothing is made before."""
        sessions.check()
        self._sessions = sessions
        is_stateless = self._options.stateless is True
        self.traits = replace(
            self.traits, caching="refused", holds_sessions=True, stateless=is_stateless
        )

    def _bind(self, found: Any) -> BoundFunction:  # noqa: ANN401 - an object of the user's
        if is_target(found):
            if self._sessions is None:
                # What a target says of itself holds, however it is named.
                self.traits = found.traits
                self._keyed_by = found.cache_key
            return bind_target(found.answer)
        function = getattr(found, "answer", found)
        if not callable(function):
            raise ConfigError(f"python target: `{self.name}` {self._describe_useless(found)}")
        return bind_function(function, self.name)

    def _describe_useless(self, found: object) -> str:
        what = f"{type(found).__name__}, which can't be called and has no method `answer`"
        if not isroutine(self._named) or self._named is found:
            return f"is {what}: {hint_at_answering(found)}"
        if self._options.arguments is not None:
            return f"was called with its `arguments` to make the agent, and returned {what}"
        why = "has no parameter for a question, so it was called to make the agent, and returned"
        return f"{why} {what}; to answer itself it needs one, such as `text`"

    async def answer(self, question: Question) -> Answer:
        bound = self._bound
        if self._sessions is not None:
            bound = await self._sessions.find(question.session)
        assert bound is not None, "open() comes first"
        if self._sessions is None and not is_plain(question):
            self._warn_of_hidden(question, bound)
        by_place, by_name = bound.arguments(question)
        if not bound.is_async:
            return await self._answer_in_thread(question, bound, by_place, by_name)
        if self._tracing is None:
            return read_answer(await bound.function(*by_place, **by_name), self._surroundings.warn)
        with self._tracing.call(question) as traced:
            returned = await bound.function(*by_place, **by_name)
        return traced.with_steps(read_answer(returned, self._surroundings.warn))

    async def _answer_in_thread(
        self, question: Question, bound: BoundFunction, by_place: Sequence[object],
        by_name: Mapping[str, object],
    ) -> Answer:  # fmt: skip
        """Call a plain function, and read what it returns there: that may call user code, too."""
        warn = self._warn_from_thread

        def call() -> object:
            if self._tracing is not None:
                traced = self._tracing.run(question, bound.function, *by_place, **by_name)
                return traced.call.with_steps(read_answer(traced.value, warn))
            returned = bound.function(*by_place, **by_name)
            return returned if isawaitable(returned) else read_answer(returned, warn)

        read = await run_in_thread(call)
        if isinstance(read, Answer):
            return read
        while isawaitable(read):
            read = await read
        return read_answer(read, self._surroundings.warn)

    def _warn_from_thread(self, text: str) -> None:
        """Whoever is warned expects it in the thread of the event loop."""
        assert self._loop is not None, "open() comes first"
        self._loop.call_soon_threadsafe(self._surroundings.warn, text)

    async def end_session(self, session: str) -> None:
        if self._sessions is not None:
            await self._sessions.end(session)

    def _warn_of_hidden(self, question: Question, bound: BoundFunction) -> None:
        """Say once what a function doesn't see; but one that knows its session has seen it."""
        if self._warned or not bound.sees_last_only:
            return
        seen, hidden = "the last user message", None
        if not bound.sees_session:
            hidden = describe_hidden(question)
        if hidden is None:
            hidden = describe_left_out(question, bound.sees_files)
            seen = "the text of the last user message"
        if hidden is not None:
            self._warned = True
            hint = "a parameter named `messages`, or annotated as `Question`, would see all"
            self._surroundings.warn(f"`{self.name}` sees {seen} only; {hidden}; {hint}")

    def cache_key(self, question: Question) -> JSON | Awaitable[JSON]:
        """What decides an answer: the function, the project's modules that it brought with it or
        may import later, and what it is asked."""
        assert self._bound is not None, "open() comes first"
        if self._keyed_by is not None:
            return self._keyed_by(question)
        if self._sources is None:
            self._sources = {**project_sources(self._surroundings.root), **self.sources()}
        return {
            "function": self.name,
            "arguments": self._options.arguments,
            **({"trace": True} if self._options.trace else {}),
            "sources": dict(self._sources),
            "asked": describe_asked(question, whole=self._bound.sees_question),
        }

    def sources(self) -> dict[str, str]:
        """The module that is named, and all of the project that it imports."""
        root, module = self._surroundings.root, self.name.partition(":")[0]
        path = find_module_file(module, root)
        return trace_sources([path], root) if path is not None else {}

    async def close(self) -> None:
        leave, self._leave = self._leave, None
        if self._tracing is not None:
            self._tracing.close()
        try:
            if self._sessions is not None:
                await self._sessions.close()
        finally:
            if leave is not None:
                await leave_object(leave)

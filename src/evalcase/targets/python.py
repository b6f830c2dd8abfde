"""A Python function, or an object with set-up and tear-down, as a target. Async functions share the
event loop with all trials; sync functions run in threads."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext, suppress
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.answers import read_answer
from evalcase.targets.base import (
    copy_content,
    key_of_question,
    last_user_content,
    project_sources,
    warn_of_hidden,
)
from evalcase.types.answer import Answer
from evalcase.types.message import copy_of, named_file, part_text, parts_of
from evalcase.types.options import FunctionName, about
from evalcase.types.target import (
    Question,
    Surroundings,
    Target,
    TargetKind,
    Traits,
    Warn,
    WorkspaceOptions,
    is_target,
)
from evalcase.types.value import JSON, copy_value, replace
from evalcase.util.code import (
    describe_error,
    import_object,
    is_at,
    make_importable,
    sources_of_module,
)
from evalcase.util.user_calls import close_all, run_in_thread

if TYPE_CHECKING:
    from evalcase.targets.spans import Tracing


class PythonOptions(WorkspaceOptions, frozen=True, kw_only=True):
    function: Annotated[
        FunctionName,
        about("The function, class or object that answers.", example="my_agent:answer"),
    ]
    arguments: Annotated[
        dict[str, JSON] | None,
        about("Keyword arguments for the class or factory.", elsewhere=("args", "kwargs")),
    ] = None
    trace: Annotated[bool, about("Keep the steps of each answer, from OpenTelemetry spans.")] = (
        False
    )


class PythonTarget(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "python", "Calls a Python function.", PythonOptions, value="function", runs_code=True
    )

    def __init__(self, options: PythonOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(options.concurrency, caching="keyed", workspace=True, only_reads=True)
        self.name = options.function
        self._options = options
        self._surroundings = surroundings
        self._arguments = dict(options.arguments or {})
        self._given: Any = None
        """The object of the name. It may only make the one that answers."""
        self._is_per_session = False
        self._bound: dict[str, BoundFunction] = {}
        """What answers, by the session that it was made for; by "" if it answers all."""
        self._stacks: dict[str, AsyncExitStack] = {}
        """What tears each of them down."""
        self._tracing: Tracing | None = None
        self._sources: dict[str, str] | None = None
        self._keyed_by: Callable[[Question], JSON | Awaitable[JSON]] | None = None

    @classmethod
    def of(cls, function: object, surroundings: Surroundings) -> PythonTarget:
        """The target of a function, class or object."""
        named: Any = function.func if isinstance(function, partial) else function
        if not hasattr(named, "__qualname__"):
            named = type(named)
        name = f"{named.__module__}:{named.__qualname__}"
        target = cls(PythonOptions(function=name), surroundings)
        target._given = function
        if not is_at(function, name):
            # Another function of the same name may be another function: nothing tells them apart.
            target.traits = Traits(caching="useless", workspace=True, only_reads=True)
        return target

    # Set-up and tear-down.

    async def open(self) -> None:
        if self._given is None:
            make_importable(self._surroundings.root)
            self._given = import_object(self.name, "python target", self._surroundings.root)
        if self._options.trace:
            try:
                from evalcase.targets.spans import Tracing
            except ImportError:
                what = '`trace` needs the extra `otel`: pip install "opentelemetry-sdk>=1.30"'
                raise ConfigError(f"python target: {what}") from None
            self._tracing = Tracing()
            self._tracing.open()
            self.traits = replace(self.traits, seen=self._tracing.seen_of)
        given = self._given
        signature = _signature_of(given) if inspect.isclass(given) else None
        parameters = () if signature is None else signature.parameters
        if "session" in parameters and "session" not in self._arguments:
            self._is_per_session = True
            self._check_arguments({"session": "", **self._arguments})
            is_stateless = self._options.stateless is True
            self.traits = replace(
                self.traits, caching="refused", holds_sessions=True, stateless=is_stateless
            )
            return
        if inspect.isroutine(given) and self._options.arguments is None:
            function = BoundFunction(given, self.name)
            if not function.roles <= {"default"}:
                self._bound[""] = function.checked()
        try:
            bound = await self._open_object("")
        except (ConfigError, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Set-up is the user's code, and may fail in any way.
            what = f"set-up failed: {describe_error(error)}"
            raise TargetError(f"python target `{self.name}`: {what}") from error
        stateless = self._options.stateless
        if stateless is None:
            stateless = self.traits.stateless and "session" not in bound.roles
        self.traits = replace(self.traits, stateless=stateless)

    async def _open_object(self, session: str) -> BoundFunction:
        """What answers in a session, made if it is new. It may raise anything."""
        if session not in self._bound:
            made = await self._make_object(session)
            stack = self._stacks[session] = AsyncExitStack()
            self._bound[session] = self._bind(await _enter_object(made, stack))
        return self._bound[session]

    async def _make_object(self, session: str) -> Any:  # noqa: ANN401 - an object of the user's
        """The object that a class or a factory makes; anything else is there already."""
        given = self._given
        if self._is_per_session:
            make = partial(given, session=session, **self._arguments)
            return await _settle(await run_in_thread(make))
        makes = inspect.isclass(given) or inspect.isroutine(given)
        if not makes and self._options.arguments is None:
            return given
        if not callable(given):
            raise ConfigError(f"python target: `{self.name}` is no class, and takes no `arguments`")
        self._check_arguments(self._arguments)
        return await _settle(given(**self._arguments))

    def _check_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Raise ConfigError if a class or a factory can't be called with these."""
        signature = _signature_of(self._given)
        try:
            if signature is not None:
                signature.bind(**arguments)
        except TypeError as error:
            what = f"it can't be made: {error}; `arguments` of the target has what it needs"
            raise ConfigError(f"python target `{self.name}`: {what}") from None

    def _bind(self, found: Any) -> BoundFunction:  # noqa: ANN401 - an object of the user's
        if is_target(found):
            if not self._is_per_session:
                # What a target says of itself holds, however it is named.
                self.traits = found.traits
                self._keyed_by = found.cache_key
            slot = Slot("question", "question", copy_of, by_place=True)
            return BoundFunction(found.answer, self.name, [slot])
        function = getattr(found, "answer", found)
        if callable(function):
            return BoundFunction(function, self.name).checked()
        made = "was called to make the agent, as it takes no question or has `arguments`, and gave"
        how = "is" if self._given is found else made
        what = f"{type(found).__name__}, which can't be called and has no method `answer`"
        hint = hint_at_answering(found)
        raise ConfigError(f"python target: `{self.name}` {how} {what}: {hint}")

    async def end_session(self, session: str) -> None:
        self._bound.pop(session, None)
        stack = self._stacks.pop(session, None)
        if stack is not None:
            await stack.aclose()

    async def close(self) -> None:
        if self._tracing is not None:
            self._tracing.close()
        if self._stacks:
            await close_all(partial(self.end_session, each) for each in [*self._stacks])

    # Answers.

    async def answer(self, question: Question) -> Answer:
        session = question.session if self._is_per_session else ""
        bound = self._bound.get(session) or await self._open_object(session)
        messages, warn = question.messages, self._surroundings.warn
        if bound.sees_last_only:
            is_plain = len(messages) == 1 and isinstance(messages[0].get("content"), str)
            if not is_plain:
                self._warn_of_hidden(question, bound)
        by_place, by_name = bound.arguments(question)
        with _UNTRACED if self._tracing is None else self._tracing.call(question) as traced:
            if bound.is_async:
                answer = await _await_answer(bound.function(*by_place, **by_name), warn)
            else:
                call = partial(bound.function, *by_place, **by_name)
                loop = asyncio.get_running_loop()

                def warn_in_loop(said: str) -> None:
                    loop.call_soon_threadsafe(warn, said)

                returned = await run_in_thread(_call_and_read, call, warn_in_loop)
                is_read = isinstance(returned, Answer)
                answer = returned if is_read else await _await_answer(returned, warn)
        return answer if traced is None else traced.add_to(answer)

    def _warn_of_hidden(self, question: Question, bound: BoundFunction) -> None:
        """Say what a function doesn't see; but one that knows its session has seen it."""
        warn, roles = self._surroundings.warn, bound.roles
        hint = "a parameter named `messages`, or annotated as `Question`, would see all"
        if "session" not in roles:
            warn_of_hidden(warn, question, f"`{self.name}` sees the last user message", hint)
        for part in parts_of(last_user_content(question)):
            if part_text(part) is None and not ("files" in roles and named_file(part)):
                what = f"sees the text of the last user message, and no {part['type']}"
                warn(f"`{self.name}` {what}; {hint}")

    # The code as a part of cache keys and versions.

    def cache_key(self, question: Question) -> JSON | Awaitable[JSON]:
        """The function, the project's modules that it brought with it or may import later, and the
        question."""
        if self._keyed_by is not None:
            return self._keyed_by(question)
        if self._sources is None:
            self._sources = {**project_sources(self._surroundings.root), **self.sources()}
        return {
            "function": self.name,
            "arguments": self._options.arguments,
            **({"trace": True} if self._options.trace else {}),
            "sources": dict(self._sources),
            "asked": key_of_question(question, whole="question" in self._bound[""].roles),
        }

    def sources(self) -> dict[str, str]:
        """The module that is named, and all of the project that it imports."""
        return sources_of_module(self.name.partition(":")[0], self._surroundings.root)


_UNTRACED = nullcontext()


async def _await_answer(returned: Any, warn: Warn) -> Answer:  # noqa: ANN401 - of the user's
    while type(returned) is not str and inspect.isawaitable(returned):
        returned = await returned
    return read_answer(returned, warn)


def _call_and_read(call: Callable[[], object], warn: Warn) -> Any:  # noqa: ANN401 - see above
    """What a function returns, read in its thread: that may call user code. What has to be awaited
    is not read yet."""
    value = call()
    return value if inspect.isawaitable(value) else read_answer(value, warn)


async def _enter_object(found: Any, stack: AsyncExitStack) -> Any:  # noqa: ANN401 - of the user's
    """Set an object up: as a context manager, or by its method `open`. The stack tears it down."""
    for enter, leave in (("__aenter__", "__aexit__"), ("__enter__", "__exit__")):
        if hasattr(found, enter):
            entered = await _settle(getattr(found, enter)())
            stack.push_async_callback(_leave, partial(getattr(found, leave), None, None, None))
            return found if entered is None else entered
    if not inspect.isroutine(found):
        if callable(getattr(found, "open", None)):
            await _settle(found.open())
        if callable(getattr(found, "close", None)):
            stack.push_async_callback(_leave, found.close)
    return found


async def _settle(value: Any) -> Any:  # noqa: ANN401 - of the user's
    return await value if inspect.isawaitable(value) else value


async def _leave(leave: Callable[[], Any]) -> None:
    """Tear an object down; in a thread if it isn't async, so that it can't hold up the end."""
    if _is_async(leave):
        await leave()
    else:
        await run_in_thread(leave)


def _signature_of(found: Callable[..., Any]) -> inspect.Signature | None:
    """None for what is written in C, and doesn't say."""
    for eval_str in (True, False):  # annotations are code of the user's
        with suppress(Exception):
            return inspect.signature(found, eval_str=eval_str)
    return None


def hint_at_answering(found: object) -> str:
    """How to make a target of an object that is none."""
    if inspect.iscoroutine(found):
        found.close()  # or Python would complain that nothing awaited it
    if inspect.isawaitable(found) or inspect.isgenerator(found):
        name = getattr(found, "__name__", "answer")
        return f"`{name}(…)` was called already: give the function itself, `{name}`"
    write = "write a function, `def answer(text): return …`, that asks it and returns its result"
    return f'{write}; a model is named as target="openai:MODEL"'


# How a function is called: decided once, by the names of its parameters and the annotation
# `Question`. What is expected is not for the target, so `case` and the annotation Case are refused.


_BY_NAME: dict[str, Callable[[Question], Any]] = {
    "messages": lambda question: list(copy_of(question.messages)),
    "files": lambda question: list(question.files.values()),
    "metadata": lambda question: copy_value(question.metadata),
    "attempt": lambda question: question.attempt,
    "session": lambda question: question.session,
    "turn": lambda question: question.turn,
    "workspace": lambda question: None if question.workspace is None else question.workspace.path,
}
_NAMES = "`messages`, `files`, `metadata`, `attempt`, `session`, `turn` and `workspace`"
_TEXT_NAMES = frozenset({
    "text", "question", "prompt", "input", "query", "q", "message", "msg", "content", "request",
    "task", "instruction", "utterance",
})  # fmt: skip
"""The last word in the name of a parameter for the user's text: `text`, `user_message`."""


class Slot(NamedTuple):
    """A parameter, with what it is given."""

    name: str
    role: str
    """Its name if it is one of those above, else `question`, `content` or `default`."""
    give: Callable[[Question], Any]
    by_place: bool = False
    """Whether it can't be passed by name."""


class BoundFunction:
    """A function with what each of its parameters is given."""

    def __init__(
        self, function: Callable[..., Any], name: str, slots: Sequence[Slot] | None = None
    ) -> None:
        self.function = function
        self.name = name
        self.is_async = _is_async(function)
        self.slots = _make_slots(function, name) if slots is None else slots
        self.roles = set(map(itemgetter(1), self.slots))
        self.sees_last_only = "content" in self.roles and not self.roles & {"messages", "question"}
        """Whether it sees only the last user message of several messages."""

    def checked(self) -> BoundFunction:
        """The same. Raise ConfigError if it can't be asked a question."""
        texts = [slot.name for slot in self.slots if slot.role == "content"]
        odd = texts[1:2]
        if texts and texts[0].lower().rpartition("_")[2] not in _TEXT_NAMES:
            # Another parameter has the user's text, and the name of this one says it is no text.
            odd = odd or (texts if self.roles & {"messages", "question"} else [])
        if odd or self.roles <= {"default"}:
            why = f": there is nothing to give to `{odd[0]}`" if odd else ""
            hint = (
                f"it takes one parameter for what the user said last, and {_NAMES} by their names"
            )
            what = f"it can't be asked a question{why}; {hint}"
            raise ConfigError(f"python target `{self.name}`: {what}")
        return self

    def arguments(self, question: Question) -> tuple[list[Any], dict[str, Any]]:
        """What the function is called with. It shares nothing that could be changed."""
        by_place, by_name = [], {}
        for slot in self.slots:
            if slot.by_place:
                by_place.append(slot.give(question))
            else:
                by_name[slot.name] = slot.give(question)
        return by_place, by_name


def _is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives something to be awaited, as far as that can be seen."""
    while hasattr(function, "func"):  # a functools.partial
        function = function.func
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _make_slots(function: Callable[..., Any], name: str) -> list[Slot]:
    content = Slot("text", "content", copy_content, by_place=True)
    signature = _signature_of(function)
    if signature is None:
        return [content]
    slots, takes_any = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            takes_any = True
        elif parameter.kind is not parameter.VAR_KEYWORD:
            slots.append(_make_slot(parameter, name))
    if takes_any and all(slot.role == "default" for slot in slots):
        return [*(slot for slot in slots if slot.by_place), content]
    return slots


def _make_slot(parameter: inspect.Parameter, name: str) -> Slot:
    # Those of evalcase's own classes have no module: a class of the user's may be called the same.
    annotation = parameter.annotation
    shown = "" if annotation is parameter.empty else inspect.formatannotation(annotation)
    named = set(re.findall(r"(?<![\w.])(?:evalcase\.(?:types\.\w+\.)?)?(\w+)(?![\w.])", shown))
    by_place = parameter.kind is parameter.POSITIONAL_ONLY
    if parameter.name == "case" or "Case" in named:
        raise ConfigError(
            f"python target `{name}`: its parameter `{parameter.name}` asks for the case, and what "
            f"is expected must not be seen by what is tested: the annotation `Question` gives all "
            f"the rest, and so do {_NAMES}, each a part of it"
        )
    if "Question" in named:
        return Slot(parameter.name, "question", copy_of, by_place)
    if parameter.name in _BY_NAME:
        return Slot(parameter.name, parameter.name, _BY_NAME[parameter.name], by_place)
    if parameter.default is not parameter.empty:
        return Slot(parameter.name, "default", lambda _: parameter.default, by_place)
    return Slot(parameter.name, "content", copy_content, by_place)

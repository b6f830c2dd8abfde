"""Answers from traces that an agent has left, a file of OTLP JSON. The first span of a trace names
its case by `evalcase.case`; a case without a trace, or whose trace failed, is an error of its
trial."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, NamedTuple

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.answers import read_messages
from evalcase.targets.replay import expect_asked, expect_whole
from evalcase.tracing.context import (
    QUESTION_HASH,
    SCRUBBED,
    STEPS_CUT,
    TRUNCATED,
    LabelledTrace,
    TraceLabels,
)
from evalcase.tracing.otlp import BadTraceError, TraceStore, read_trace_file
from evalcase.tracing.trace import Transcript, read_steps, read_transcript
from evalcase.types.answer import Answer, Earlier
from evalcase.types.options import Text, about
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.util.calls import list_steps
from evalcase.util.files import digest_file, open_file
from evalcase.util.text import write_count

_Key = tuple[str, str | None]
"""A case, and perhaps a suite."""
_FIX = "name each by `gen_ai.conversation.id`, or number them by `evalcase.repeat`"


class OtlpOptions(TargetOptions, frozen=True, kw_only=True):
    path: Annotated[
        Text,
        about("The file of traces, as OTLP JSON.", example="traces.jsonl", elsewhere=("file",)),
    ]


class OtlpTarget(Target):
    """Gives the answers in traces."""

    kind: ClassVar[TargetKind] = TargetKind(
        "otlp", "Replays answers from OpenTelemetry traces.", OtlpOptions,
        value="path", value_is_path=True, folder_holds=(),
    )  # fmt: skip

    def __init__(self, options: OtlpOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(options.concurrency, caching="useless", only_reads=True)
        self._options = options
        self._surroundings = surroundings
        self._path = os.path.join(surroundings.root, options.path)
        self._store: TraceStore | None = None
        self._index = TraceIndex(options.path, ())
        self._digest = ""

    async def open(self) -> None:
        self._store, labels = TraceStore(), TraceLabels()
        self._digest = digest_file(self._path)
        try:
            with open_file(self._path) as file:
                self._store.fill(labels.note(read_trace_file(file)))
        except OSError as error:
            what = f"{self._path} can't be read: {error.strerror}"
            raise ConfigError(f"otlp target: {what}") from None
        except BadTraceError as error:
            raise ConfigError(f"otlp target: {self._path}{error}") from None
        self._index = TraceIndex(self._options.path, labels)

    async def answer(self, question: Question) -> Answer:
        assert self._store is not None, "open() comes first"
        trace = self._index.find(question)
        try:
            transcript = read_transcript(self._store.read(trace))
        except BadTraceError as error:
            raise TargetError(f"the trace {trace}: {error}", kind="protocol") from None
        labels = transcript.nodes[0].span.attributes
        expect_asked({"question_hash": labels.get(QUESTION_HASH)}, question, self._options.path)
        expect_whole(labels.get(SCRUBBED) is True, question.case)
        return answer_of(transcript, trace)

    def sources(self) -> dict[str, str]:
        return {self._options.path: self._digest or digest_file(self._path)}

    async def close(self) -> None:
        if self._store is not None:
            self._store.close()
            for left in self._index.describe_unasked():
                self._surroundings.warn(f"otlp target: {left}")


def answer_of(transcript: Transcript, trace: str) -> Answer:
    """The answer in a trace. Raise TargetError where there is none."""
    steps = read_steps(transcript.nodes)
    if transcript.error is not None:
        seen = {"steps": list_steps(steps.steps, steps.cut), "trace": trace}
        raise TargetError(f"the trace {trace}: {transcript.error}", details=seen)
    if not transcript.messages:
        what = f"the trace {trace} doesn't say what was answered"
        hint = "is its instrumentation told to capture content?"
        raise TargetError(f"{what}: {hint}", kind="protocol")
    labels = transcript.nodes[0].span.attributes
    cut = labels.get(STEPS_CUT)
    return Answer(
        read_messages(list(transcript.messages)), transcript.usage, 0.0, model=transcript.model,
        truncated=labels.get(TRUNCATED) is True,
        earlier=Earlier(transcript.duration_s, transcript.cost_usd), steps=steps.steps,
        trace=trace, steps_cut=steps.cut + (cut if isinstance(cut, int) else 0),
    )  # fmt: skip


class _Conversation(NamedTuple):
    """The traces of the turns of one conversation."""

    turns: dict[int, LabelledTrace]
    doubtful_from: int | None
    """The turn from which on its traces may be of an earlier conversation, which had broken off."""

    @property
    def first(self) -> LabelledTrace:
        return next(iter(self.turns.values()))


class _OverlapError(ValueError):
    """Turns of several conversations stand between each other."""


class TraceIndex:
    """Traces by case, suite, repeat and turn. Several of one case are its repeats: by
    `evalcase.repeat`, or the newest first, since files of traces are added to. For that, the newest
    of a repeat counts."""

    def __init__(self, path: str, traces: Iterable[LabelledTrace]) -> None:
        self._path = path
        self._traces: dict[_Key, dict[int | None, list[LabelledTrace]]] = {}
        """By repeat, None if they name none."""
        self._conversations: dict[tuple[_Key, int | None], list[_Conversation]] = {}
        self._asked: dict[_Key, int] = {}
        """The highest repeat that was asked for."""
        for each in traces:
            by_repeat = self._traces.setdefault((each.label.case, each.label.suite), {})
            by_repeat.setdefault(each.label.repeat, []).append(each)

    def find(self, question: Question) -> str:
        """The id of the trace. Raise TargetError, which says what there is instead."""
        key, turn = self._find_key(question), question.turn
        self._asked[key] = max(self._asked.get(key, 0), question.repeat)
        several = self._traces[key].values()
        if not any(trace.label.turn == turn for traces in several for trace in traces):
            raise self._none(question, f"no trace of turn {turn}")
        conversation = self._choose(key, question)
        if turn not in conversation.turns:
            before = "" if turn == 1 else f" that began after its trace of turn {turn - 1}"
            raise self._none(question, f"no trace of turn {turn}{before}")
        doubtful_from = conversation.doubtful_from
        if doubtful_from is not None and turn >= doubtful_from:
            doubt = f"a trace of turn {turn} that may be of either of two conversations"
            raise self._none(question, doubt, f"if they overlap, {_FIX}")
        return conversation.turns[turn].id

    def _find_key(self, question: Question) -> _Key:
        case = question.case
        for suite in (question.suite, None):
            if (case, suite) in self._traces:
                return case, suite
        others = [key for key in self._traces if key[0] == case]
        if len(others) == 1:  # no other could be meant
            return others[0]
        if others:
            raise self._none(question, "traces of several suites, and none of this one")
        hint = "the first span of a trace names its case by `evalcase.case`"
        raise self._none(question, "no trace", hint)

    def _choose(self, key: _Key, question: Question) -> _Conversation:
        by_repeat, repeat = self._traces[key], question.repeat
        is_numbered = None not in by_repeat
        if not is_numbered and len(by_repeat) > 1:
            raise self._none(question, "some with `evalcase.repeat`, and some without")
        if is_numbered and repeat not in by_repeat:
            raise self._none(question, f"no trace of repeat {repeat}")
        number = repeat if is_numbered else None
        if (key, number) not in self._conversations:
            try:
                self._conversations[key, number] = _find_conversations(by_repeat[number])
            except _OverlapError:
                raise self._none(question, "conversations that overlap", _FIX) from None
        found = self._conversations[key, number]
        if is_numbered and len({each.first.target for each in found}) > 1:
            raise self._none(question, f"traces of repeat {repeat} of several targets")
        if is_numbered:
            return found[0]
        if repeat > len(found):
            traces = "one trace" if len(found) == 1 else f"{len(found)} traces"
            raise self._none(question, f"{traces}, and this is repeat {repeat}")
        return found[repeat - 1]

    def describe_unasked(self) -> Iterator[str]:
        """Warnings about traces that were not graded, of cases that were."""
        left: dict[str, int] = {}
        older: dict[str, tuple[int, int]] = {}
        for (key, repeat), found in self._conversations.items():
            if repeat is None and self._asked[key] < len(found):
                left[key[0]] = len(found)
            if repeat is not None and len(found) > 1:
                older[key[0]] = repeat, len(found)
        for key, asked in self._asked.items():
            most = max(filter(None, self._traces[key]), default=0)
            if asked < most:
                left[key[0]] = most
        for case, number in [*left.items()][:1]:
            yield (
                f"{self._path} has {number} traces of case `{case}`, and not all were graded "
                f"({write_count(len(left), 'such case')}): --repeat {max(left.values())} takes all"
            )
        for case, (repeat, number) in [*older.items()][:1]:
            yield (
                f"{self._path} has {number} traces of repeat {repeat} of case `{case}`, and the "
                f"newest was graded ({write_count(len(older), 'such case')}): did several runs "
                "write to one file?"
            )

    def _none(self, question: Question, what: str, hint: str = "") -> TargetError:
        told = f"{self._path} has {what} for case `{question.case}`"
        return TargetError(f"{told}: {hint}" if hint else told, kind="protocol")


def _find_conversations(traces: Sequence[LabelledTrace]) -> list[_Conversation]:
    """The conversations, newest first: by `gen_ai.conversation.id`; else traces that follow each
    other in time. Raise _OverlapError where they can't be told apart."""
    by_id: dict[str | None, list[LabelledTrace]] = {}
    are_named = all(each.conversation is not None for each in traces)
    for each in traces:
        by_id.setdefault(each.conversation if are_named else None, []).append(each)
    found = [each for several in by_id.values() for each in _follow_traces(several)]
    return sorted(found, key=lambda each: (each.first.start_ns, each.first.id), reverse=True)


def _follow_traces(traces: Iterable[LabelledTrace]) -> list[_Conversation]:
    """Traces that follow each other: a first turn begins another conversation."""
    found: list[_Conversation] = []
    shortest: int | None = None
    for trace in sorted(traces, key=lambda each: (each.start_ns, each.label.turn, each.id)):
        turn, last = trace.label.turn, max(found[-1].turns) if found else 0
        if found and turn > last:
            found[-1].turns[turn] = trace
        elif turn == 1 or not found:
            if found:
                shortest = min(last, shortest or last)
            found.append(_Conversation({turn: trace}, shortest and shortest + 1))
        else:
            raise _OverlapError
    return found

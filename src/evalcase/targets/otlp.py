"""Answers from traces that an agent has left, a file of OTLP JSON. The first span of a trace names
its case by `evalcase.case`; a case without a trace, or whose trace failed, is an error of its
trial."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, ClassVar

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
from evalcase.types.target import Question, Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.util.calls import list_steps
from evalcase.util.files import digest_file, open_file
from evalcase.util.text import write_count

_Key = tuple[str, str | None]
"""A case, and perhaps a suite."""
_Conversation = dict[int, LabelledTrace]
"""The traces of its turns, by their numbers."""
_UNNAMED = "turns of which conversation is not clear: name each by `gen_ai.conversation.id`"


class OtlpOptions(TargetOptions, frozen=True, kw_only=True):
    path: Annotated[
        Text,
        about("The file of traces, as OTLP JSON.", example="traces.jsonl", elsewhere=("file",)),
    ]


class OtlpTarget(Target):
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
            raise ConfigError(f"otlp target: {self._path}: {error.strerror}") from None
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
    steps, cut = read_steps(transcript.nodes)
    if transcript.error is not None:
        seen = {"steps": list_steps(steps, cut), "trace": trace}
        raise TargetError(f"the trace {trace}: {transcript.error}", details=seen)
    if not transcript.messages:
        what = "has no answer: is its instrumentation told to capture content?"
        raise TargetError(f"the trace {trace} {what}", kind="protocol")
    labels = transcript.nodes[0].span.attributes
    before = labels.get(STEPS_CUT)
    return Answer(
        read_messages(list(transcript.messages)), transcript.usage, 0.0, model=transcript.model,
        truncated=labels.get(TRUNCATED) is True,
        earlier=Earlier(transcript.duration_s, transcript.cost_usd), steps=steps,
        trace=trace, steps_cut=cut + (before if isinstance(before, int) else 0),
    )  # fmt: skip


class TraceIndex:
    """Traces by case, suite, repeat and turn. Several conversations of one case are its repeats: by
    `evalcase.repeat`, or the newest first, since files of traces are added to. For that, the newest
    of a repeat counts."""

    def __init__(self, path: str, traces: Iterable[LabelledTrace]) -> None:
        self._path = path
        self._traces: dict[_Key, list[LabelledTrace]] = {}
        self._repeats: dict[_Key, dict[int, list[_Conversation]]] = {}
        """The conversations of each repeat, the newest first."""
        self._graded: set[tuple[_Key, int]] = set()
        for each in traces:
            self._traces.setdefault((each.label.case, each.label.suite), []).append(each)

    def find(self, question: Question) -> str:
        """The id of the trace. Raise TargetError, which says what there is instead."""
        key, turn, repeat = self._find_key(question), question.turn, question.repeat
        try:
            if key not in self._repeats:
                self._repeats[key] = _number_repeats(self._traces[key])
        except ValueError as error:
            raise self._none(question, str(error)) from None
        found = self._repeats[key].get(repeat, [])
        if not found:
            raise self._none(question, f"no trace of repeat {repeat}")
        if len({_first(each).target for each in found}) > 1:
            raise self._none(question, f"traces of repeat {repeat} of several targets")
        self._graded.add((key, repeat))
        if turn not in found[0]:
            raise self._none(question, f"no trace of turn {turn} of the newest conversation")
        return found[0][turn].id

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
        raise self._none(question, f"no trace, and {hint}")

    def describe_unasked(self) -> Iterator[str]:
        """A warning about traces that were not graded, of cases that were."""
        graded = Counter(key for key, _ in self._graded)
        found = {key: sum(map(len, each.values())) for key, each in self._repeats.items()}
        left = {key[0]: number for key, number in found.items() if number > graded[key]}
        for case, number in [*left.items()][:1]:
            yield (
                f"{self._path} has {number} traces of case `{case}`, and not all were graded "
                f"({write_count(len(left), 'such case')}): --repeat {number} grades more, and of "
                "one `evalcase.repeat` the newest counts"
            )

    def _none(self, question: Question, what: str) -> TargetError:
        return TargetError(f"{self._path}: case `{question.case}` has {what}", kind="protocol")


def _first(conversation: _Conversation) -> LabelledTrace:
    return next(iter(conversation.values()))


def _number_repeats(traces: list[LabelledTrace]) -> dict[int, list[_Conversation]]:
    """The conversations of each repeat, the newest first. Raise ValueError if they can't be told
    apart."""
    found: dict[object, _Conversation] = {}
    for each in sorted(traces, key=lambda each: (each.start_ns, each.label.turn, each.id)):
        turn = each.label.turn
        name = each.conversation or (None if turn > 1 else each.id)
        turns = found.setdefault((each.label.repeat, name), {})
        if name is None or turn in turns:
            raise ValueError(_UNNAMED)
        turns[turn] = each
    newest = sorted(found.values(), key=lambda each: _first(each).start_ns, reverse=True)
    repeats: dict[int, list[_Conversation]] = {}
    for at, turns in enumerate(newest, 1):
        repeats.setdefault(_first(turns).label.repeat or at, []).append(turns)
    if len({each.label.repeat is None for each in traces}) > 1:
        raise ValueError("some traces with `evalcase.repeat`, and some without")
    return repeats

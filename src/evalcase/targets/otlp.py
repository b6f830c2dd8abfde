"""Answers out of traces that an agent has left: a file of OTLP JSON, an export on each line or one
for the whole file. No dependency is needed to read them.

A trace is of the case that its first span names by `evalcase.case`. What models said, which tools
were called and what all of it took is read from the spans; how long it took is how long the first
span did. A case without a trace is an error of its trial, and so is a trace that failed.
"""

from __future__ import annotations

import os
from typing import Annotated, ClassVar

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.reading.answer_messages import read_messages
from evalcase.targets.stored.traced import TraceIndex
from evalcase.targets.stored.turns import expect_asked, expect_whole
from evalcase.tracing.context import QUESTION_HASH, SCRUBBED, STEPS_CUT, TRUNCATED, TraceLabels
from evalcase.tracing.otlp import BadTraceError, TraceStore, read_trace_file
from evalcase.tracing.trace import Transcript, read_steps, read_transcript
from evalcase.types.answer import Answer, Earlier
from evalcase.types.options import Text, about
from evalcase.types.question import Question
from evalcase.types.target import Surroundings, Target, TargetKind, TargetOptions, Traits
from evalcase.util.calls import list_steps
from evalcase.util.files import digest_file, open_file


class OtlpOptions(TargetOptions, frozen=True, kw_only=True):
    """Where the traces are."""

    path: Annotated[
        Text,
        about("The file of traces, as OTLP JSON.", example="traces.jsonl", elsewhere=("file",)),
    ]


class OtlpTarget(Target):
    """Gives the answers that traces tell of."""

    kind: ClassVar[TargetKind] = TargetKind(
        "otlp", "Replays answers from OpenTelemetry traces.", OtlpOptions,
        value="path", value_is_path=True, folder_holds=(),
    )  # fmt: skip

    def __init__(self, options: OtlpOptions, surroundings: Surroundings) -> None:
        self.traits = Traits(options.concurrency, caching="useless", only_reads=True)
        self._options = options
        self._surroundings = surroundings
        self._store: TraceStore | None = None
        self._index = TraceIndex(options.path, ())
        self._digest = ""

    async def open(self) -> None:
        path = os.path.join(self._surroundings.root, self._options.path)
        self._store, labels = TraceStore(), TraceLabels()
        self._digest = digest_file(path)
        try:
            with open_file(path) as file:
                self._store.fill(labels.note(read_trace_file(file)))
        except OSError as error:
            raise ConfigError(f"otlp target: {path} can't be read: {error.strerror}") from None
        except BadTraceError as error:
            raise ConfigError(f"otlp target: {path}{error}") from None
        self._index = TraceIndex(self._options.path, labels)

    async def answer(self, question: Question) -> Answer:
        assert self._store is not None, "open() comes first"
        trace = self._index.find(question)
        try:
            told = read_transcript(self._store.read(trace))
        except BadTraceError as error:
            raise TargetError(f"the trace {trace}: {error}", kind="protocol") from None
        about = told.nodes[0].span.attributes
        expect_asked({"question_hash": about.get(QUESTION_HASH)}, question, self._options.path)
        expect_whole(about.get(SCRUBBED) is True, question.case)
        return answer_of(told, trace)

    def sources(self) -> dict[str, str]:
        path = os.path.join(self._surroundings.root, self._options.path)
        return {self._options.path: self._digest or digest_file(path)}

    async def close(self) -> None:
        if self._store is None:
            return
        self._store.close()
        for left in self._index.unasked():
            self._surroundings.warn(f"otlp target: {left}")


def answer_of(told: Transcript, trace: str) -> Answer:
    """The answer that a trace tells of. Raise TargetError where there is none."""
    kept = read_steps(told.nodes)
    if told.error is not None:
        seen = {"steps": list_steps(kept.steps, kept.cut), "trace": trace}
        raise TargetError(f"the trace {trace}: {told.error}", details=seen)
    if not told.messages:
        what = f"the trace {trace} doesn't say what was answered"
        hint = "is its instrumentation told to capture content?"
        raise TargetError(f"{what}: {hint}", kind="protocol")
    about = told.nodes[0].span.attributes
    elsewhere = about.get(STEPS_CUT)
    return Answer(
        read_messages(list(told.messages)), told.usage, 0.0, model=told.model,
        truncated=about.get(TRUNCATED) is True, earlier=Earlier(told.duration_s, told.cost_usd),
        steps=kept.steps, trace=trace,
        steps_cut=kept.cut + (elsewhere if isinstance(elsewhere, int) else 0),
    )  # fmt: skip

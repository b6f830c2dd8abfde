"""A file of traces to the draft of a suite, for a person to finish.

traces →choose→ some →merge near-duplicates→ distinct →draw→ a sample →draft→ cases →write→ text
"""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.suite import resolve_suite
from evalcase.format.writer import keep_literal
from evalcase.importers.draft import number_id, slug_of, write_suite
from evalcase.tracing.context import TraceLabels
from evalcase.tracing.dialects import MessageDict
from evalcase.tracing.otlp import BadTraceError, TraceStore, read_trace_file
from evalcase.tracing.trace import Transcript, read_transcript
from evalcase.types.problem import CODES
from evalcase.types.value import JSON, copy_value
from evalcase.util.files import open_file
from evalcase.util.json import whole_text
from evalcase.util.secrets import Finder, Redactor, Scrubber
from evalcase.util.text import as_json, call_lines, list_some, write_count

_SLOWEST = 0.1
"""The share of traces that count as slow."""
_PUNCTUATION = re.compile(r"(?:(?<=\w)[.,;:?\u2026]+|(?<=[^\W\d_]{2})!+)(?=\s|$)")
"""Of words: `5!` and `a ? b` are something else than `5` and `a b`."""
_NUMBER = re.compile(r"\d+")
_UNANSWERED = "nothing was answered when it was traced: say what is expected, and take this out"
_DRAFT = "draft: what was answered when it was traced; make it what should be"
_DESCRIBE = "draft: describe what a good answer says, in place of this one"


class HarvestOptions(NamedTuple):
    path: str
    only: tuple[str, ...] = ()
    """`errored`, `slow` or KEY=VALUE; all must hold."""
    sample: int | None = None
    seed: int = 0
    criteria: bool = False
    keep_system: bool = False
    finders: tuple[Finder, ...] = ()


class Harvested(NamedTuple):
    text: str
    cases: int
    traces: int
    chosen: int
    """How many traces `--only` has chosen."""
    merged: int
    """How many of those ask nearly the same as another."""
    left_out: list[str]
    """Why some could not be made cases, a line for each."""
    replaced: dict[str, int]


class CaseDraft(NamedTuple):
    fields: dict[str, Any]
    notes: list[str]
    """Comments above the case."""


class _Seen(NamedTuple):
    """What is needed of a trace to choose it, and to find those that ask the same."""

    trace: str
    question: bytes
    """A hash; empty where nothing was asked."""
    has_failed: bool
    duration_s: float | None


def harvest_file(options: HarvestOptions, scrubber: Scrubber) -> Harvested:
    """Raise OSError or BadTraceError for a file that can't be read."""
    labels = TraceLabels()
    with closing(TraceStore()) as store:
        with open_file(options.path) as file:
            store.fill(labels.note(read_trace_file(file)))
        names = {each.id: each.label.case for each in labels}
        left_out: dict[str, str] = {}
        chosen = _choose(store, options.only, left_out)
        asked: dict[bytes, list[_Seen]] = {}
        for seen in chosen:
            asked.setdefault(seen.question, []).append(seen)
        for seen in asked.pop(b"", ()):
            left_out[seen.trace] = "it doesn't say what was asked"
        groups = list(asked.values())
        drawn = [*range(len(groups))]
        if options.sample is not None and options.sample < len(groups):
            random = Random(options.seed)  # noqa: S311 - which cases are drawn is no secret
            drawn = sorted(random.sample(drawn, options.sample))
        replacing = Redactor(options.finders)
        drafts = []
        for first, *others in [groups[each] for each in drawn]:
            told = read_transcript(store.read(first.trace))
            draft = draft_case(told, first.trace, names.get(first.trace), options)
            failed = [each.trace for each in others if each.has_failed]
            for several, more in ([each.trace for each in others], ""), (failed, ", and failed"):
                if several:
                    what = f"{write_count(len(several), 'more trace')} asked nearly the same{more}"
                    draft.notes.append(f"{what}: {list_some(several[:3], len(several))}")
            drafts.append(_clean(draft, replacing, scrubber))
        taken: dict[str, int] = {}
        for each in drafts:  # an id that another case has gets a number
            each.fields["id"] = number_id(str(each.fields["id"]), taken)
        valid = _valid_drafts(drafts, left_out)
        lines = [f"{trace}: {why}" for trace, why in left_out.items()]
        return Harvested(
            _write_suite(valid, options), len(valid), len(store),
            len(chosen) if options.only else len(store), sum(len(each) - 1 for each in groups),
            [replacing.text(scrubber.text(each)) for each in lines], dict(replacing.counts),
        )  # fmt: skip


def _choose(store: TraceStore, only: tuple[str, ...], left_out: dict[str, str]) -> list[_Seen]:
    durations: list[float] = []
    chosen: list[_Seen] = []
    for trace in store:
        try:
            transcript = read_transcript(store.read(trace))
        except BadTraceError as error:
            left_out[trace] = str(error)
            continue
        text, took_s = question_text(transcript), transcript.duration_s
        durations += [] if took_s is None else [took_s]
        if all(_is_wanted(transcript, each) for each in only if each != "slow"):
            even = even_question(text).encode("utf-8", "replace")
            question = sha256(even).digest() if text.strip() else b""
            chosen.append(_Seen(trace, question, _is_wanted(transcript, "errored"), took_s))
    if "slow" not in only:
        return chosen
    slowest = sorted(durations, reverse=True)[: max(1, round(len(durations) * _SLOWEST))]
    return [
        each for each in chosen if each.duration_s is not None and each.duration_s >= slowest[-1]
    ]


def _is_wanted(transcript: Transcript, only: str) -> bool:
    spans = (node.span for node in transcript.nodes)
    if only == "errored":
        return any(span.error is not None for span in spans)
    key, _, wanted = only.partition("=")
    values = (span.attributes[key] for span in spans if key in span.attributes)
    return any((each if isinstance(each, str) else as_json(each)) == wanted for each in values)


def even_question(text: str) -> str:
    """The same text for questions that differ only by case, by numbers, by white space, and by
    punctuation after words."""
    return " ".join(_NUMBER.sub("0", _PUNCTUATION.sub("", text.casefold())).split())


def question_text(transcript: Transcript) -> str:
    """The question as one text, without system messages."""
    asked = [each for each in transcript.asked if each["role"] not in ("system", "developer")]
    return "\n".join(_text_of(each.get("content")) for each in asked)


def draft_case(
    transcript: Transcript, trace: str, id: str | None, options: HarvestOptions
) -> CaseDraft:
    """An id that the trace doesn't name is made later, of text without personal data."""
    asked = [
        _strip_message(each) for each in transcript.asked
        if options.keep_system or each["role"] not in ("system", "developer")
    ]  # fmt: skip
    fields: dict[str, Any] = {"id": id or "", "input": asked}
    notes = [transcript.error] if transcript.error else []
    answer = _find_answer(transcript)
    if not answer:
        fields["skip"] = _UNANSWERED
        notes = notes or ["it has no answer"]
    elif options.criteria:
        called = [line for message in answer for line in call_lines(message)]
        text = _text_of(answer[-1].get("content"))
        said = [f"Calls {', then '.join(called)}."] if called else []
        said += [f"Says what this answer says: {text}"] if text else []
        fields["criteria"] = " ".join(said)
        notes.append(_DESCRIBE)
    else:
        fields["expected_output"] = answer
        notes.append(_DRAFT)
    fields["metadata"] = {"trace": trace}
    return CaseDraft(fields, notes)


def _find_answer(transcript: Transcript) -> list[MessageDict]:
    """The calls since the last question, and the last text."""
    calls_before = (call for each in transcript.asked for call in each.get("tool_calls", ()))
    known = {call.get("id") for call in calls_before} - {None}
    found: list[MessageDict] = []
    for message in transcript.messages:
        new = [each for each in message.get("tool_calls", ()) if each.get("id") not in known]
        if new:
            found.append({"role": "assistant", "tool_calls": [_strip_call(each) for each in new]})
    last = transcript.messages[-1].get("content") if transcript.messages else None
    if last not in (None, ""):
        found.append(_strip_message({"role": "assistant", "content": last}))
    return found


def _strip_call(call: dict[str, Any]) -> dict[str, Any]:
    return {key: call[key] for key in ("tool", "input") if key in call}


def _strip_message(message: MessageDict) -> MessageDict:
    """A message with the fields of a suite; pictures and files are named in their place."""
    kept: MessageDict = {"role": message["role"]}
    content, calls = message.get("content"), message.get("tool_calls")
    if content is not None or not calls:
        is_parts = isinstance(content, list) and any(map(_type_of, content))
        kept["content"] = "" if content is None else _text_of(content) if is_parts else content
    if calls:
        kept["tool_calls"] = [_strip_call(each) for each in calls]
    return kept


def _type_of(part: JSON) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else None


def _text_of(content: JSON) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else as_json(content)
    return "".join(
        str(each["text"]) if isinstance(each, dict) and "text" in each
        else f"[{_type_of(each) or 'data'}]"
        for each in content
    )  # fmt: skip


def _clean(draft: CaseDraft, replacing: Redactor, scrubber: Scrubber) -> CaseDraft:
    """The same without secrets, personal data and lone surrogates."""
    fields = {
        name: json.loads(
            whole_text(json.dumps(replacing.data(scrubber.data(value)), ensure_ascii=False))
        )
        for name, value in draft.fields.items()
    }
    asked = fields["input"]  # an id from the first words of the last message
    words = _text_of(asked[-1].get("content")) if asked else ""
    fields["id"] = fields["id"] or slug_of(words) or "case"
    notes = [whole_text(replacing.text(scrubber.text(note))) for note in draft.notes]
    return CaseDraft(fields, notes)


def _valid_drafts(drafts: list[CaseDraft], left_out: dict[str, str]) -> list[CaseDraft]:
    """The drafts in which `check` finds no error."""
    findings = Findings(Catalogue(needs_graders=True), unusual=True)
    resolve_suite(copy_value({"cases": [each.fields for each in drafts]}), "harvested", findings)
    wrong: dict[int, str] = {}
    for each in findings.found:
        if len(each.path) > 1 and CODES[each.code].severity == "error":
            wrong[int(each.path[1])] = each.message
        if len(each.path) > 2:
            keep_literal(drafts[int(each.path[1])].fields, each, str(each.path[2]))
    for number, message in wrong.items():
        left_out[drafts[number].fields["metadata"]["trace"]] = message
    return [each for number, each in enumerate(drafts) if number not in wrong]


def _write_suite(drafts: list[CaseDraft], options: HarvestOptions) -> str:
    if not drafts:
        return ""
    name = os.path.basename(options.path)
    lines = [f"Harvested from {name}: drafts of cases, for a person to finish."]
    if not options.keep_system:
        lines.append("What the agent was told of itself (system messages) is left out.")
    notes = {number: draft.notes for number, draft in enumerate(drafts)}
    return write_suite({}, [draft.fields for draft in drafts], notes, lines)

"""A file of traces in, the text of a suite out, and what is to be told of it.

traces →choose→ some →fold→ distinct →draw→ a sample →draft→ cases →replace→ text
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from evalcase.config.catalogue import Catalogue
from evalcase.format.document import Findings
from evalcase.format.suite import resolve_suite
from evalcase.format.writer import keep_literal, shorten, suite_lines
from evalcase.harvesting.choose import draw_items, has_attribute, is_errored, slow_from
from evalcase.harvesting.draft_case import (
    DraftedCase,
    HowDrafted,
    draft_case,
    name_case,
    question_text,
)
from evalcase.harvesting.fold import NearFolding
from evalcase.tracing.context import TraceLabels
from evalcase.tracing.otlp import BadTraceError, TraceStore, read_trace_file
from evalcase.tracing.trace import Transcript, read_transcript
from evalcase.types.problem import CODES
from evalcase.types.value import JSON, copy_value
from evalcase.util.files import open_file
from evalcase.util.json import whole_text
from evalcase.util.secrets import Finder, Replacing, Scrubber
from evalcase.util.text import write_count


class Harvest(NamedTuple):
    """What was asked for."""

    path: str
    only: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    how: HowDrafted = HowDrafted()
    finders: tuple[Finder, ...] = ()


class Harvested(NamedTuple):
    """What came of a file."""

    text: str
    cases: int
    traces: int
    chosen: int
    """How many traces are as `--only` says."""
    folded: int
    """How many of those ask nearly what another does."""
    left_out: list[str]
    """Why some could not be made cases, one line for each."""
    replaced: dict[str, int]


class _Kept(NamedTuple):
    trace: str
    others: list[str]
    """Traces that it stands for, too."""
    failed: list[str]
    """Those of them in which something failed."""


def harvest_file(asked: Harvest, scrubber: Scrubber) -> Harvested:
    """Raise OSError or BadTraceError for a file that can't be read."""
    labels = TraceLabels()
    with closing(TraceStore()) as store:
        with open_file(asked.path) as file:
            store.fill(labels.note(read_trace_file(file)))
        names = {each.id: each.label.case for each in labels}
        harvesting = _Harvesting(store, names)
        chosen = harvesting.choose(asked.only)
        kept = harvesting.fold(chosen)
        drawn = draw_items(kept, asked.sample, asked.seed)
        drafts = [harvesting.draft(each, asked.how) for each in drawn]
        replacing = Replacing(asked.finders)
        clean = _with_own_ids([_clean_draft(each, replacing, scrubber) for each in drafts])
        clean = [*_valid_ones(clean, harvesting.left_out)]
        folded = sum(len(each.others) for each in kept)
        text = "".join(_write_suite(clean, asked)) if clean else ""
        return Harvested(
            text, len(clean), len(store), len(chosen), folded,
            [replacing.text(scrubber.text(each)) for each in harvesting.left_out],
            dict(replacing.counts),
        )  # fmt: skip


class _Harvesting:
    """Goes through the traces of a store; those that can't be read are left out, and told."""

    def __init__(self, store: TraceStore, names: dict[str, str]) -> None:
        self._store = store
        self._names = names
        self.left_out: list[str] = []

    def choose(self, only: tuple[str, ...]) -> list[str]:
        """The traces that are as all of `only` say."""
        if not only:
            return list(self._store)
        durations: dict[str, float | None] = {}
        fitting: list[str] = []
        for trace, told in self._tell(self._store, aloud=True):
            durations[trace] = told.duration_s
            if all(_is_wanted(told, each) for each in only if each != "slow"):
                fitting.append(trace)
        if "slow" not in only:
            return fitting
        least = slow_from(durations.values())
        return [
            each for each in fitting
            if least is not None and (took_s := durations[each]) is not None and took_s >= least
        ]  # fmt: skip

    def fold(self, traces: Iterable[str]) -> list[_Kept]:
        """Those that ask something of their own, each with those that ask nearly the same."""
        folding, kept = NearFolding(), dict[int, _Kept]()
        for number, (trace, told) in enumerate(self._tell(traces, aloud=not self.left_out)):
            text = question_text(told)
            if not text.strip():
                self.left_out.append(f"{trace}: it doesn't say what was asked")
                continue
            same = folding.find(text, number)
            if same is None:
                kept[number] = _Kept(trace, [], [])
                continue
            kept[same].others.append(trace)
            if is_errored(told):
                kept[same].failed.append(trace)
        return list(kept.values())

    def draft(self, kept: _Kept, how: HowDrafted) -> DraftedCase:
        told = read_transcript(self._store.read(kept.trace))
        drafted = draft_case(told, kept.trace, self._names.get(kept.trace), how)
        if not kept.others:
            return drafted
        several = write_count(len(kept.others), "more trace")
        said = [
            drafted.notes.get((), ""),
            f"{several} asked nearly the same: {_list_first(kept.others)}",
        ]
        if kept.failed:
            said.append(
                f"something failed in {len(kept.failed)} of them: {_list_first(kept.failed)}"
            )
        notes = {**drafted.notes, (): "\n".join(filter(None, said))}
        return drafted._replace(notes=notes)

    def _tell(self, traces: Iterable[str], *, aloud: bool) -> Iterator[tuple[str, Transcript]]:
        for trace in traces:
            try:
                yield trace, read_transcript(self._store.read(trace))
            except BadTraceError as error:
                if aloud:
                    self.left_out.append(f"{trace}: {error}")


def _list_first(traces: list[str]) -> str:
    return ", ".join([*traces[:3], *(["…"] if len(traces) > 3 else [])])


def _is_wanted(told: Transcript, only: str) -> bool:
    if only == "errored":
        return is_errored(told)
    key, _, value = only.partition("=")
    return has_attribute((node.span for node in told.nodes), key, value)


def _clean_draft(drafted: DraftedCase, replacing: Replacing, scrubber: Scrubber) -> DraftedCase:
    """The same without secrets and personal data, and with nothing that is no Unicode."""
    fields = {
        name: _make_valid(replacing.data(scrubber.data(value)))
        for name, value in drafted.fields.items()
    }
    fields["id"] = fields["id"] or name_case(fields["input"])
    notes = {
        where: str(_make_valid(replacing.text(scrubber.text(note))))
        for where, note in drafted.notes.items()
    }
    return DraftedCase(fields, notes)


def _make_valid(value: JSON) -> JSON:
    if isinstance(value, str):
        return whole_text(value)
    if isinstance(value, list):
        return [_make_valid(each) for each in value]
    if isinstance(value, dict):
        return {str(_make_valid(key)): _make_valid(each) for key, each in value.items()}
    return value


def _with_own_ids(drafts: list[DraftedCase]) -> list[DraftedCase]:
    """An id that is taken gets a number."""
    taken: set[str] = set()
    last: Counter[str] = Counter()
    found = []
    for drafted in drafts:
        id = base = str(drafted.fields["id"])
        while id in taken:
            last[base] += 1
            id = f"{base}-{last[base] + 1}"
        taken.add(id)
        found.append(drafted._replace(fields={**drafted.fields, "id": id}))
    return found


def _valid_ones(drafts: list[DraftedCase], left_out: list[str]) -> Iterator[DraftedCase]:
    """Those that `check` has nothing against."""
    findings = Findings(Catalogue(needs_graders=True), unusual=True)
    resolve_suite(copy_value({"cases": [each.fields for each in drafts]}), "harvested", findings)
    wrong = {
        each.path[1]: each.message
        for each in findings.found
        if CODES[each.code].severity == "error" and len(each.path) > 1
    }
    for each in findings.found:
        if len(each.path) > 2:
            keep_literal(drafts[int(each.path[1])].fields, each, str(each.path[2]))
    for number, drafted in enumerate(drafts):
        if number in wrong:
            left_out.append(f"{drafted.fields['metadata']['trace']}: {wrong[number]}")
        else:
            yield drafted


def _write_suite(drafts: list[DraftedCase], asked: Harvest) -> Iterator[str]:
    name = os.path.basename(asked.path)
    lines = [f"Harvested from {name}: drafts of cases, for a person to finish."]
    if not asked.how.keep_system:
        lines.append("What the agent was told of itself (system messages) is left out.")
    comments: dict[tuple[str | int, ...], str] = {(): "\n".join(lines)}
    for number, drafted in enumerate(drafts):
        for where, note in drafted.notes.items():
            comments["cases", number, *where] = note
    known = Catalogue(needs_graders=True)
    written: dict[str, Any] = {"cases": [shorten(each.fields, known) for each in drafts]}
    return suite_lines(written, comments)

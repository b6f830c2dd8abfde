"""JUnit XML as Jenkins' schema (junit-10.xsd) has it and GitLab reads it.

A suite at a target is a testsuite, a case of it a testcase; repeats are folded, so that no name
comes twice. The number of tests comes before them in the file: they wait in a temporary
file meanwhile.
"""

from __future__ import annotations

import re
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import IO
from xml.sax.saxutils import escape

from msgspec import Struct, field

from evalcase.report.details import UNFINISHED, detail_lines, passed_of, reason_of
from evalcase.report.evaluated import CaseTrials, Evaluated, fold_trials, max_errors_of, note_run
from evalcase.report.formats import LineFinder, Reported
from evalcase.report.terminal import Screen
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.util.environment import this_environment
from evalcase.util.text import flatten_text, write_count

_FOREIGN = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Characters outside of XML 1.0, and those that steer a terminal or the direction of text."""


def _clean(text: str) -> str:
    return _FOREIGN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_ENTITIES = {'"': "&quot;", "\n": "&#10;", "\t": "&#09;"}


def _start(name: str, attributes: Mapping[str, object]) -> str:
    """The tag that begins an element."""
    values = {key: escape(_clean(str(value)), _ENTITIES) for key, value in attributes.items()}
    told = (f' {key}="{value}"' for key, value in values.items())
    return f"<{name}{''.join(told)}>"


def _element(name: str, attributes: Mapping[str, object], *content: str) -> str:
    """An element with its content, which is XML."""
    start, inner = _start(name, attributes), "".join(content)
    return f"{start}{inner}</{name}>" if inner else f"{start[:-1]} />"


_MOST_BYTES = 10_000
"""Of the body of a failure."""
_LONGEST_MESSAGE = 500
_SCREEN = Screen(100)

Locate = Callable[[str, str], str]
"""Where a case of a suite stands: `file:line`, or the file alone."""


class _TestGroup(Struct):
    counts: Counter[str] = field(default_factory=Counter)
    total: int = 0
    time_s: float = 0.0
    places: array[int] = field(default_factory=lambda: array("Q"))
    """Where its test cases begin in the temporary file, and how long they are."""

    def add(self, element: str, seconds: float, at: int, size: int) -> None:
        self.total += 1
        self.time_s += seconds
        self.counts[element] += 1
        self.places.extend((at, size))


def write_junit(reported: Reported) -> Iterator[str]:
    stored, evaluated = reported.stored, reported.evaluated()
    finder = LineFinder(reported, this_environment().state)
    groups: dict[tuple[str, str], _TestGroup] = {}
    total = hidden = hidden_in = 0  # trials that errored, and those of cases that did not
    with tempfile.TemporaryFile() as spool:
        for each in fold_trials(reported.results(), stored):
            suite = finder.see(each.suite)
            case = stored.find_case(each.suite, each.case)
            data, at = _test_case(each, case, suite, finder.locate).encode(), spool.tell()
            spool.write(data)
            group = groups.setdefault((suite, each.target), _TestGroup())
            group.add(_ELEMENTS[each.verdict], each.duration_s, at, len(data))
            errored = sum(trial.verdict == "errored" for trial in each.trials)
            total += errored
            if errored and each.verdict != "errored":
                hidden, hidden_in = hidden + errored, hidden_in + 1
        told = ""
        if hidden and total > max_errors_of(evaluated):
            trials, cases = write_count(hidden, "trial"), write_count(hidden_in, "case")
            told = f"{trials} errored in {cases} that got another verdict anyway"
        yield from _write_document(groups, spool, evaluated, told)


_ELEMENTS = {
    "passed": "", "failed": "failure", "ungraded": "failure", "errored": "error",
    "skipped": "skipped", UNFINISHED: "skipped",
}  # fmt: skip


def _write_document(
    groups: dict[tuple[str, str], _TestGroup], spool: IO[bytes], evaluated: Evaluated, hidden: str
) -> Iterator[str]:
    notes = note_run(evaluated)
    broken = bool(notes["missing"]) + bool(hidden)
    counts: Counter[str] = Counter()
    for group in groups.values():
        counts.update(group.counts)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield _start("testsuites", {
        "name": "evalcase",
        "tests": sum(each.total for each in groups.values()) + broken + bool(notes["decided"]),
        "failures": counts["failure"], "errors": counts["error"] + broken,
        "time": f"{sum(group.time_s for group in groups.values()):.3f}",
    }) + "\n"  # fmt: skip
    for (suite, target), group in groups.items():
        yield _suite_tag(suite, target, group, evaluated)
        for at, size in zip(group.places[::2], group.places[1::2], strict=True):
            spool.seek(at)
            yield spool.read(size).decode()
        yield "</testsuite>\n"
    if notes["missing"]:
        yield _whole_test("the run is complete", "error", notes["missing"])
    if notes["decided"]:
        yield _whole_test("the rest was run", "skipped", notes["decided"])
    if hidden:
        yield _whole_test("no trial errored", "error", hidden, kind="errored")
    yield "</testsuites>\n"


def _suite_tag(suite: str, target: str, group: _TestGroup, evaluated: Evaluated) -> str:
    notes, counts = note_run(evaluated), group.counts
    told = {"run": evaluated.run.id, "target": target}
    told |= {topic: notes[topic] for topic in ("mixed", "grading") if notes[topic]}
    properties = (_element("property", {"name": k, "value": v}) for k, v in told.items())
    start = _start("testsuite", {
        "name": f"{suite} [{target}]", "tests": group.total, "failures": counts["failure"],
        "errors": counts["error"], "skipped": counts["skipped"], "time": f"{group.time_s:.3f}",
        "timestamp": evaluated.run.created_at[:19], "file": suite,
    })  # fmt: skip
    return f"{start}\n{_element('properties', {}, *properties)}\n"


def _whole_test(name: str, element: str, message: str, kind: str = "incomplete") -> str:
    """A test of its own for what is missing: else what was never run would look like a pass."""
    said = {"message": message} | ({"type": kind} if element == "error" else {})
    about = {
        "name": "evalcase", "tests": 1, "failures": 0, "errors": int(element == "error"),
        "skipped": int(element == "skipped"), "time": "0.000",
    }  # fmt: skip
    case = {"classname": "evalcase", "name": name, "time": "0.000"}
    inner = _element("testcase", case, _element(element, said))
    return _element("testsuite", about, inner) + "\n"


def _test_case(each: CaseTrials, case: Case | None, suite: str, locate: Locate) -> str:
    name, told = _ELEMENTS[each.verdict], list[str]()
    if each.verdict == "passed":
        for trial in each.trials:
            if trial.verdict != "passed":
                name = "flakyError" if trial.verdict == "errored" else "flakyFailure"
                told.append(_explain(name, trial, case, reason_of(trial), locate))
    elif name == "skipped":
        why = each.telling.reason if each.verdict == "skipped" else passed_of(each.outcome)
        told.append(_element(name, {"message": flatten_text(why, _LONGEST_MESSAGE)}))
    else:
        told.append(_explain(name, each.telling, case, each.why, locate))
    about = {
        "classname": suite, "name": f"{each.case} [{each.target}]", "time": f"{each.duration_s:.3f}"
    }  # fmt: skip
    return _element("testcase", about, *told) + "\n"


def _explain(name: str, trial: Result, case: Case | None, why: str, locate: Locate) -> str:
    """Why a trial is not passed: where its case stands first, then all that a summary shows."""
    message = flatten_text(why, _LONGEST_MESSAGE)
    kind = trial.failure.kind if trial.failure is not None else trial.verdict
    lines = [f"{locate(trial.key.suite, trial.key.case)}: {message}"]
    lines += detail_lines(trial, case, _SCREEN)
    return _element(name, {"message": message, "type": kind}, _cap_lines(lines))


def _cap_lines(lines: Iterable[str]) -> str:
    fitting, size = [], 0
    for line in lines:
        fitting.append(escape(_clean(line)))
        size += len(fitting[-1].encode()) + 1
        if size > _MOST_BYTES:
            return "\n".join([*fitting[:-1], "… (the rest is in the record)"])
    return "\n".join(fitting)

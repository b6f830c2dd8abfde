"""What is valid and may still not be meant: a case that can't pass, what is not compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalcase.model.case import Case
from evalcase.model.finding import At, KeyPath
from evalcase.model.message import is_message, said_text
from evalcase.resolve.fields import PRIVATE_PREFIX
from evalcase.resolve.findings import Findings

if TYPE_CHECKING:
    from evalcase.model.grader import Half

ADVICE = ("nothing-to-grade", "not-compared")
GRADED = ("expected_output", "criteria", "rubrics", "graders")
"""What says what a good answer is."""

_OF_MESSAGES = frozenset({"role", "content", "tool_calls", "id", "name"})
_OF_CALLS = frozenset({"tool", "input", "id", "type", "function"})
"""What is compared, or only says which one is meant."""
_ARGUMENTS = frozenset({"args", "arguments", "parameters", "params"})
_IN_CODE = "a grader of your own that reads what is expected may compare more"


class WrittenExpected(NamedTuple):
    """An expected output as it stands in the file, and where."""

    value: Any
    path: KeyPath

    def place(self, index: int, below: KeyPath) -> KeyPath:
        """Where something below a message of the canonical form is written."""
        if type(self.value) is dict:
            return self.path + below
        if any(map(is_message, self.value)):
            return (*self.path, index, *below)
        return self.path + below[1:]  # its content alone


def advise_case(
    data: dict[str, Any], path: KeyPath, written: WrittenExpected, findings: Findings
) -> None:
    """Look over a case that has no errors; `written` is its expected output."""
    if "criteria" in data or "rubrics" in data:
        return
    expected, graders = data.get("expected_output"), data.get("graders", ())
    if expected is None:
        if not graders and "skip" not in data:
            message = "this case has nothing to grade, so it can never pass"
            findings.add("nothing-to-grade", path, message, _what_to_add(data.get("metadata", {})))
        elif "skip" not in data:
            advise_reference(graders, path, findings)
        return
    if is_compared_whole(expected):
        return
    compared = [each for grader in graders for each in _find_compared(grader, findings)]
    if not any(compared):
        _advise_comparison(expected, written, None in compared, "skip" in data, findings)


def is_compared_whole(expected: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there is nothing to be said of messages, as of most: calls, and text or
    data at the end."""
    last = expected[-1]
    if last.get("content") is None and "tool_calls" not in last:
        return False
    for message in expected:
        content = message.get("content")
        if message["role"] != "assistant" or not _OF_MESSAGES.issuperset(message):
            return False
        if content is not None and (message is not last or type(content) is list):
            return False
        for call in message.get("tool_calls") or ():
            if not _OF_CALLS.issuperset(call):
                return False
    return True


def _what_to_add(metadata: Mapping[str, Any]) -> str:
    inside = next((name for name in GRADED if name in metadata), None)
    if inside is not None:
        return f"`{inside}` is inside `metadata`, where it is only data: move it next to `metadata`"
    return "add `expected_output`, `criteria`, `rubrics` or `graders`"


def advise_reference(
    graders: Sequence[Mapping[str, Any]], path: KeyPath, findings: Findings
) -> None:
    """A grader that compares with `expected_output` has nothing to compare where there is none."""
    for each in graders:
        # What a judge can't do without is said of it.
        if any(_find_compared(each, findings, judges=False)):
            what = f"the grader `{each['type']}` compares with `expected_output`, which is absent"
            findings.add("nothing-to-grade", path, what, "add `expected_output`")
            return


def check_weights(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Object to graders none of which counts, so that there can't be a weighted mean."""
    graders = data["graders"]
    if any(each.get("weight", 1) for each in graders) or "criteria" in data or "rubrics" in data:
        return
    if "expected_output" not in data or not is_added(data["expected_output"], graders, findings):
        message = "the weights of its graders are all 0, so none of them counts"
        findings.add("bad-value", path, message, "leave `weight` out")


def check_material(
    case: Case, graders: Iterable[Mapping[str, Any]], path: KeyPath, findings: Findings
) -> None:
    """Object to graders that can't grade this case, since it hasn't got what they look at."""
    for grader in graders:
        declared = findings.declared(grader["type"])
        if declared is None:
            continue
        missing = declared.missing_in(grader, case)
        if missing is not None:
            what = f"the grader `{grader.get('name', grader['type'])}` needs {missing}"
            findings.add("missing-material", path, f"{what}, which this case doesn't have")
        for name in declared.lists:
            check_material(case, grader.get(name, ()), path, findings)


def check_judges(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Warn of a judge that is the model it judges."""
    if findings.known is None or "skip" in data:
        return
    judges = dict(_judges_in(data.get("graders", ()), findings))
    if ("criteria" in data or "rubrics" in data) and True not in judges.values():
        judges[None] = True  # the configured one judges what nobody else does
    for judge in judges:
        for target in data.get("targets", (None,)):
            same = findings.known.describe_same_model(judge, target)
            if same is not None:
                place = findings.find_target(target or "", path)
                place = place or findings.find_target(judge or "", path)
                findings.say_once("same-model", place or path, same, "ask another model to judge")


def _judges_in(
    graders: Iterable[Mapping[str, Any]], findings: Findings
) -> Iterator[tuple[str | None, bool]]:
    """The judges that graders ask, None for the configured one; and whether each reads what the
    case says."""
    for grader in graders:
        declared = findings.declared(grader["type"])
        if declared is None:
            continue
        if declared.kind.judges:
            reads_case = declared.judges_case(grader)
            named = [name for _, name in declared.named_targets(grader)]
            yield from [(name, reads_case) for name in named or (None,)]
        for name in declared.lists:
            yield from _judges_in(grader.get(name, ()), findings)


def advise_comparing(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Say that what is expected can make no answer fail, if only graders compare with it that pass
    at any score, or count for nothing."""
    comparing = [each for each in data["graders"] if any(_find_compared(each, findings))]
    if not comparing or "criteria" in data or "rubrics" in data:
        return
    if all(_lets_all_pass(each, "threshold" in data) for each in comparing):
        names = " and ".join(f"`{each.get('name', each['type'])}`" for each in comparing)
        why = "counts for nothing" if "threshold" in data else "passes at any score"
        message = f"`expected_output` can make no answer fail: {names} compares with it, and {why}"
        hint = "give it a `weight`" if "threshold" in data else "give it a `threshold` over 0"
        findings.add("not-compared", path, message, hint)


def advise_passing(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Say that no answer can fail a case, if it passes at any score; or if nothing but graders
    judge it, each of which does."""
    graders = data.get("graders", ())
    if "skip" in data:
        return
    if data.get("threshold") == 0:
        if any(each.get("required") for each in graders):
            return
        why, hint = "its `threshold` is 0", "give it a `threshold` over 0"
    elif data.get("repeat", {}).get("pass_rate") == 0:
        why, hint = "its `pass_rate` is 0", "give it a `pass_rate` over 0"
    elif (
        graders and not any(name in data for name in ("expected_output", "criteria", "rubrics"))
        and "threshold" not in data and all(_lets_all_pass(each, False) for each in graders)
    ):  # fmt: skip
        why, hint = "a `threshold` of 0 passes at any score", "give a `threshold` over 0"
    else:
        return
    findings.add("nothing-to-grade", path, f"no answer can fail this case: {why}", hint)


def _lets_all_pass(grader: Mapping[str, Any], by_mean: bool) -> bool:
    passes = grader.get("threshold") == 0 and not grader.get("not")
    if not by_mean:
        return passes
    return grader.get("weight") == 0 and (passes or not grader.get("required"))


def is_added(
    expected: Sequence[Mapping[str, Any]], graders: Iterable[Mapping[str, Any]], findings: Findings
) -> bool:
    """Whether the built-in comparison is added beside graders."""
    compared = {
        half
        for grader in graders
        for halves in _find_compared(grader, findings)
        for half in halves or ()
    }
    if not compared:
        return True
    from evalcase.text.answer_value import expected_halves  # few cases need what it brings along

    return not expected_halves(expected) <= compared


def _find_compared(
    grader: Mapping[str, Any], findings: Findings, judges: bool = True
) -> Iterator[frozenset[Half] | None]:
    """What of `expected_output` it, and each inside of it, compares with, in place of the built-in
    comparison; None where only its code says so. Without `judges`, of those that aren't."""
    declared = findings.declared(grader["type"])
    if declared is not None:
        if judges or not declared.kind.judges:
            yield declared.compared(grader)
        for name in declared.lists:
            for each in grader.get(name, ()):
                yield from _find_compared(each, findings, judges)


def _advise_comparison(
    expected: Sequence[Mapping[str, Any]], written: WrittenExpected, has_code: bool, skipped: bool,
    findings: Findings,
) -> None:  # fmt: skip
    """Say what the built-in comparison makes of an expected output, if that may surprise; with
    `has_code`, a function or a program may compare it, too."""
    from evalcase.text.answer_value import is_comparable  # few cases need what it brings along

    last = _last_content(expected)
    has_calls = any(each["role"] == "assistant" and "tool_calls" in each for each in expected)
    if not has_calls and (last is None or not is_comparable(expected[last]["content"])):
        if not skipped and not has_code:
            message = "there is nothing here to compare an answer with, so no answer can pass"
            hint = "it takes tool calls, or content that is text or data, of the assistant"
            findings.add("nothing-to-grade", written.path, message, hint)
        return
    for index, each in enumerate(expected):
        for below, reason in _left_out(each, index == last):
            # One tells the reader; the same for every message and call tells no more.
            at: At = "key" if below and isinstance(below[-1], str) else "value"
            more = _IN_CODE if has_code else None
            findings.add("not-compared", written.place(index, below), reason, more, at)
            return


def _last_content(expected: Sequence[Mapping[str, Any]]) -> int | None:
    """The message whose content is compared."""
    for index in range(len(expected) - 1, -1, -1):
        if expected[index]["role"] == "assistant" and expected[index].get("content") is not None:
            return index
    return None


def _left_out(message: Mapping[str, Any], is_last: bool) -> Iterator[tuple[KeyPath, str]]:
    """The parts of an expected message that are not compared, each with why."""
    from evalcase.text.answer_value import text_parts

    content = message.get("content")
    if message["role"] != "assistant":
        yield (), f"messages of the role `{message['role']}` are context and are not compared"
        return
    if content is not None and not is_last:
        yield (), "only the last assistant content is compared; this one is context"
    yield from _odd_keys(message, _OF_MESSAGES, ())
    for number, call in enumerate(message.get("tool_calls") or ()):
        yield from _odd_keys(call, _OF_CALLS, ("tool_calls", number))
    parts = text_parts(content)
    if any(said_text(part) is not None for part in parts):
        for number, part in enumerate(parts):
            if said_text(part) is None:
                yield ("content", number), "only the text of content parts is compared"


def _odd_keys(
    value: Mapping[str, Any], compared: frozenset[str], below: KeyPath
) -> Iterator[tuple[KeyPath, str]]:
    for key, said in value.items():
        if said is not None and key not in compared and not key.startswith(PRIVATE_PREFIX):
            instead = ": arguments are written as `input`" if key in _ARGUMENTS else ""
            yield (*below, key), f"`{key}` is kept, and is not compared{instead}"

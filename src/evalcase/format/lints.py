"""Advice on cases that have no errors, but may not mean what their author thinks: nothing to grade,
an expectation that is not compared, a judge that judges itself, texts that look like tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalcase.format.document import Findings
from evalcase.format.fields import PRIVATE_PREFIX, Named
from evalcase.graders.base import DeclaredGrader, Half, expected_halves
from evalcase.types.case import Case, needs_judge
from evalcase.types.message import is_message, said_text
from evalcase.types.problem import QUOTE_IT, At, Fix, KeyPath, hint_at
from evalcase.util.answers import is_comparable, text_parts
from evalcase.util.text import nearest_field

ADVICE = ("nothing-to-grade", "not-compared")
"""The codes of advice that is wrong if part of a case could not be read."""
_COMPARED_IN_MESSAGES = frozenset({"role", "content", "tool_calls", "id", "name"})
_COMPARED_IN_CALLS = frozenset({"tool", "input", "id", "type", "function"})
"""The keys that are compared, or only name a message or a call."""
_ARGUMENTS = ("input", "args", "arguments", "parameters", "params", "kwargs")

Messages = list[dict[str, Any]]
Graders = Sequence[Mapping[str, Any]]


def advise_case(case: Case, written: Named, turns: Sequence[Named], findings: Findings) -> None:
    """Look over a case without errors, of a suite whose graders have none."""
    data = case._data
    if "skip" in data:
        return
    _advise_part(case, written, findings)
    for turn, named in zip(case.turns, turns, strict=True) if turns else ():
        _advise_part(turn, named, findings)
    if "threshold" in data or "repeat" in data:
        _advise_passing(data, written.path, findings)
    if "solution" in data.get("workspace", ()):
        _advise_solution(data, written, findings)
    if "expected_output" not in data and not any(map(_is_graded, (data, *data.get("turns", ())))):
        ways = "`criteria`, `rubrics` or `graders`"
        message, hint = "this case has nothing to grade", f"add `expected_output`, {ways}"
        if case.is_conversation:
            message, hint = message.replace("case", "conversation"), f"add {ways}"
        findings.add("nothing-to-grade", written.path, f"{message}, so it can never pass", hint)


def _advise_part(part: Case, written: Named, findings: Findings) -> None:
    """Look over a case or a turn."""
    data = part._data
    if "expected_output" in data:
        _advise_expected(data, written, findings)
    if "graders" in data or part.needs_judge:
        _advise_graders(part, written, findings)


def _advise_solution(data: Mapping[str, Any], written: Named, findings: Findings) -> None:
    """Warn of a solution that `run --oracle` has nothing to check by."""
    graders = _each_grader(data.get("graders", ()), findings)
    if any(declared.kind.workspace != "none" for _, declared in graders):
        return
    is_own = "workspace" in written.values and "solution" in written.values["workspace"]
    path = (*written.at("workspace"), "solution") if is_own else written.path
    message = "nothing checks the `solution`: no grader of this case looks at its workspace"
    findings.add_once("nothing-to-grade", path, message, "add `run`, `files` or `diff`")


def _is_graded(part: dict[str, Any]) -> bool:
    """Whether anything decides a verdict: indicators don't, nor criteria that no judge reads."""
    if "expected_output" in part or needs_judge(part):
        return True
    return any(not each.get("indicator") for each in part.get("graders", ()))


def _advise_graders(part: Case, written: Named, findings: Findings) -> None:
    """Look over how a case or a turn is graded."""
    data, path, graders = part._data, written.path, part._data.get("graders", ())
    has_expected = "expected_output" in data
    if graders and "turns" not in data:
        _check_weights(data, path, findings)
    if not (has_expected or part.needs_judge):
        _advise_absent(graders, path, findings)
    _check_material(part, graders, path, findings)
    if findings.known is not None:
        _check_judges(data, path, findings)
        if has_expected and part.needs_judge:
            _advise_replaced(data, written.at("expected_output"), findings)


def _advise_passing(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Warn of a case that no answer can fail."""
    if data.get("repeat", {}).get("pass_rate") == 0:
        name = "pass_rate"
    elif data.get("threshold") == 0 and not any(
        each.get("required") for each in data.get("graders", ())
    ):
        name = "threshold"
    else:
        return
    message = f"no answer can fail this case: its `{name}` is 0"
    findings.add("nothing-to-grade", path, message, f"give it a `{name}` over 0")


def _check_weights(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Refuse graders whose weights are all 0: they have no weighted mean."""
    graders = data["graders"]
    if any(each.get("weight", 1) for each in graders) or needs_judge(data):
        return
    if "expected_output" not in data or not _is_added(data["expected_output"], graders, findings):
        message = "the weights of its graders are all 0, so none of them counts"
        findings.add("bad-value", path, message, "leave `weight` out")


def _each_grader(
    graders: Graders, findings: Findings
) -> Iterator[tuple[Mapping[str, Any], DeclaredGrader]]:
    """The graders of known kinds, each followed by those inside of it."""
    for grader in graders:
        declared = findings.declared(grader["type"])
        if declared is not None:
            yield grader, declared
            for name in declared.naming("graders"):
                yield from _each_grader(grader.get(name, ()), findings)


def _check_material(case: Case, graders: Graders, path: KeyPath, findings: Findings) -> None:
    """Refuse graders that look at something which this case doesn't have."""
    for grader, declared in _each_grader(graders, findings):
        missing = declared.missing_in(grader, case)
        if missing is not None:
            name = grader.get("name", grader["type"])
            what = f"the grader `{name}` needs {missing}"
            # A judge says in its message where it looks.
            hint = "add `workspace: {template: FOLDER}`" if "`workspace`" in missing else None
            findings.add("missing-material", path, f"{what}, which this case doesn't have", hint)


def _check_judges(data: Mapping[str, Any], path: KeyPath, findings: Findings) -> None:
    """Warn of a judge that is the model it judges."""
    assert findings.known is not None
    judges: dict[str | None, bool] = {}
    """None is the configured judge. The values say whether it reads `criteria` and `rubrics`."""
    for grader, declared in _each_grader(data.get("graders", ()), findings):
        if declared.kind.judges:
            named = [name for _, name in declared.named_targets(grader)]
            judges |= dict.fromkeys(named or (None,), declared.judges_case(grader))
    if needs_judge(data) and True not in judges.values():
        judges[None] = True  # the configured judge reads what no grader reads
    for judge in judges:
        for target in data.get("targets", (None,)):
            same = findings.known.describe_same_model(judge, target)
            if same is not None:
                findings.add_once("same-model", path, same, "ask another model to judge")


def _find_compared(graders: Graders, findings: Findings) -> Iterator[frozenset[Half] | None]:
    """What each grader, and each inside of it, compares with `expected_output` in place of the
    built-in comparison; None where only its code knows."""
    for grader, declared in _each_grader(graders, findings):
        yield declared.compared(grader)


def _is_added(expected: Messages, graders: Graders, findings: Findings) -> bool:
    """Whether the built-in comparison is added beside graders."""
    compared = frozenset[Half]().union(*filter(None, _find_compared(graders, findings)))
    return not compared or not expected_halves(expected) <= compared


def _advise_absent(graders: Graders, path: KeyPath, findings: Findings) -> None:
    """Warn of a grader that compares with `expected_output` where there is none. What a judge
    needs is checked elsewhere."""
    for each in graders:
        inside = _each_grader([each], findings)
        if any(kind.compared(grader) for grader, kind in inside if not kind.kind.judges):
            what = f"the grader `{each['type']}` compares with `expected_output`, which is absent"
            findings.add("nothing-to-grade", path, what, "add `expected_output`")
            return


def _advise_replaced(data: Mapping[str, Any], expected_at: KeyPath, findings: Findings) -> None:
    """Say once in a file that a judge has `expected_output` as its reference. Without a judge
    there is a warning already."""
    assert findings.known is not None
    name = "criteria" if "criteria" in data else "rubrics"
    is_judged = findings.known.object_to("judge", name) is None
    if is_judged and _is_added(data["expected_output"], data.get("graders", ()), findings):
        message = f"with `{name}`, `expected_output` is shown to the judge, and not compared"
        hint = "add `expected` to `graders` to have it compared, too"
        findings.add_once("not-compared", expected_at, message, hint, "key")


def _advise_expected(data: Mapping[str, Any], written: Named, findings: Findings) -> None:
    """Say which part of an expected output the built-in comparison leaves out."""
    expected, value = data["expected_output"], written.values["expected_output"]
    if type(value) is not list and expected[0].get("content") is value:
        return  # text and data are compared whole
    if _warn_of_misnamed(expected, written, findings):
        return
    last, has_calls = None, False
    for index, message in enumerate(expected):
        if message["role"] == "assistant":
            last = index if message.get("content") is not None else last
            has_calls = has_calls or "tool_calls" in message
    is_compared = has_calls or (last is not None and is_comparable(expected[last]["content"]))
    # One note is enough for all messages and calls.
    left_out = _find_left_out(expected, last)
    if (is_compared and left_out is None) or needs_judge(data):
        return
    compared = [*_find_compared(data.get("graders", ()), findings)]
    if any(compared):
        return
    has_code = None in compared
    if left_out is not None and is_compared:
        below, reason = left_out
        at: At = "key" if isinstance(below[-1], str) else "value"
        hint = "a grader of your own that reads what is expected may compare more"
        place = _place_expected(written, below)
        findings.add("not-compared", place, reason, hint if has_code else None, at)
    elif not has_code:
        message = "there is nothing here to compare an answer with, so no answer can pass"
        hint = "it takes tool calls, or content that is text or data, of the assistant"
        findings.add("nothing-to-grade", written.at("expected_output"), message, hint)


def _warn_of_misnamed(expected: Messages, written: Named, findings: Findings) -> bool:
    """Warn of each expected call whose arguments have another name, so that it expects none."""
    before = len(findings.found)
    for index, message in enumerate(expected):
        for number, call in enumerate(message.get("tool_calls") or ()):
            path: KeyPath = (index, "tool_calls", number)
            given, name = call, "input"
            if "tool" not in call:
                given, path, name = call["function"], (*path, "function"), "arguments"
            if given.get(name) is not None:
                continue
            elsewhere = dict.fromkeys(_ARGUMENTS, name)
            for key, value in given.items():
                if value is None or key.startswith(PRIVATE_PREFIX):
                    continue
                if nearest_field(key, [name], elsewhere=elsewhere) is not None:
                    what = f"`{key}` is not compared, and the call has no `{name}`"
                    place, fix = _place_expected(written, (*path, key)), Fix(name, of_name=True)
                    findings.add("misnamed-input", place, what, hint_at(name), "key", fix)
                    break
    return len(findings.found) > before


def _find_left_out(expected: Messages, last: int | None) -> tuple[KeyPath, str] | None:
    """The first thing in expected messages that is not compared, and the reason; `last` is the
    message whose content is compared."""
    for index, message in enumerate(expected):
        content, role = message.get("content"), message["role"]
        if role != "assistant":
            return (index,), f"messages of the role `{role}` are context and are not compared"
        if content is not None and index != last:
            return (index,), "only the last assistant content is compared; this one is context"
        key = _find_odd_key(message, _COMPARED_IN_MESSAGES)
        if key is not None:
            return (index, key), f"`{key}` is kept, and is not compared"
        for number, call in enumerate(message.get("tool_calls") or ()):
            key = _find_odd_key(call, _COMPARED_IN_CALLS)
            if key is not None:
                reason = f"`{key}` is kept, and is not compared"
                return (index, "tool_calls", number, key), reason
        if type(content) is list:
            has_text = [said_text(part) is not None for part in text_parts(content)]
            if any(has_text) and not all(has_text):
                at = has_text.index(False)
                return (index, "content", at), "only the text of content parts is compared"
    return None


def _find_odd_key(value: Mapping[str, Any], compared: frozenset[str]) -> str | None:
    if compared.issuperset(value):
        return None
    odd = (key for key in value if key not in compared and value[key] is not None)
    return next((key for key in odd if not key.startswith(PRIVATE_PREFIX)), None)


def _place_expected(written: Named, place: KeyPath) -> KeyPath:
    """Where something in the messages of the canonical form is written."""
    value, path = written.values["expected_output"], written.at("expected_output")
    if type(value) is dict:
        return path + place[1:]
    if any(map(is_message, value)):
        return path + place
    return path + place[2:]  # only its content is written


def check_spelling(written: Named, turns: Sequence[Named], findings: Findings) -> None:
    """Look for expected numbers in a file that has some in another spelling than ours."""
    for part in (written, *turns):
        expected = part.values.get("expected_output")
        _check_spelling(expected, part.at("expected_output"), findings)


def _check_spelling(value: Any, path: KeyPath, findings: Findings) -> None:
    """Find expected numbers: versions and codes are easily taken for numbers."""
    if type(value) is list:
        for index, item in enumerate(value):
            if is_message(item):
                _check_spelling(item, (*path, index), findings)
    elif is_message(value):
        _check_spelling(value.get("content"), (*path, "content"), findings)
    elif type(value) in (int, float):
        message = f"this is read as the number {value!r}, so the way it is written is lost"
        findings.add("lost-spelling", path, message, QUOTE_IT)

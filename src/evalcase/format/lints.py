"""Advice on cases that have no errors, but may not mean what their author thinks: nothing to grade,
an expectation that is not compared, a judge that judges itself, a number in another spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalcase.format.document import Findings
from evalcase.format.fields import PRIVATE_PREFIX, Named
from evalcase.graders.base import Grader, Half, expected_halves
from evalcase.types.case import Case, needs_judge
from evalcase.types.message import is_message
from evalcase.types.problem import QUOTE_IT, Fix, KeyPath, hint_at
from evalcase.util.answers import is_comparable
from evalcase.util.text import nearest_field

_ARGUMENTS = ("input", "args", "arguments", "parameters", "params", "kwargs")

Messages = list[dict[str, Any]]
Graders = Sequence[Mapping[str, Any]]


def advise_case(case: Case, written: Named, findings: Findings) -> None:
    """Look over a case without errors, of a suite whose graders have none."""
    data = case._data
    is_graded = _advise_part(case, written, findings)
    if "turns" in data:
        for turn, named in zip(case.turns, written.values["turns"], strict=True):
            is_graded = _advise_part(turn, named, findings) or is_graded
    if not is_graded:
        what, ways = "case", "`expected_output`, `criteria`, `rubrics` or `graders`"
        if case.is_conversation:
            what, ways = "conversation", ways.removeprefix("`expected_output`, ")
        message = f"this {what} has nothing to grade, so it can never pass"
        findings.add("nothing-to-grade", written.path, message, f"add {ways}")
    if "repeat" in data and data["repeat"].get("pass_rate") == 0:
        _warn_of_zero("pass_rate", written, findings)
    elif data.get("threshold") == 0 and not any(
        each.get("required") for each in data.get("graders", ())
    ):
        _warn_of_zero("threshold", written, findings)
    if "workspace" in data and "solution" in data["workspace"]:
        _advise_solution(data, written, findings)


def _warn_of_zero(name: str, written: Named, findings: Findings) -> None:
    message = f"no answer can fail this case: its `{name}` is 0"
    findings.add("nothing-to-grade", written.path, message, f"give it a `{name}` over 0")


def _advise_solution(data: Mapping[str, Any], written: Named, findings: Findings) -> None:
    """Warn of a solution that `run --oracle` has nothing to check by."""
    graders = _each_grader(data.get("graders", ()), findings)
    if not any(grader.workspace != "none" for _, grader in graders):
        is_own = "workspace" in written.values and "solution" in written.values["workspace"]
        path = (*written.at("workspace"), "solution") if is_own else written.path
        message = "nothing checks the `solution`: no grader of this case looks at its workspace"
        findings.add_once("nothing-to-grade", path, message, "add `run`, `files` or `diff`")


def _advise_part(part: Case, written: Named, findings: Findings) -> bool:
    """Look over a case or a turn. Whether anything in it decides a verdict."""
    data, is_judged = part._data, needs_judge(part._data)
    if "expected_output" in data:
        _advise_expected(data, is_judged, written, findings)
    if is_judged or "graders" in data:
        _advise_graders(part, is_judged, written, findings)
    if "expected_output" in data or is_judged:
        return True
    return not all(each.get("indicator") for each in data.get("graders", ()))


def _each_grader(
    graders: Graders, findings: Findings
) -> Iterator[tuple[Mapping[str, Any], Grader]]:
    """The graders of known kinds, each followed by those inside of it."""
    for spec in graders:
        declared = findings.declared(spec["type"])
        if declared is not None:
            yield spec, declared.make(spec)
            for name in declared.naming("graders"):
                yield from _each_grader(spec.get(name, ()), findings)


# Graders and judges


def _advise_graders(part: Case, is_judged: bool, written: Named, findings: Findings) -> None:
    """Look over how a case or a turn is graded."""
    data, path, expected = part._data, written.path, part._data.get("expected_output")
    graders = list(_each_grader(data.get("graders", ()), findings))
    halves = frozenset[Half]().union(*(grader.compares() for _, grader in graders))
    is_compared = expected is not None and halves and expected_halves(expected) <= halves
    is_unweighted = {spec.get("weight") for spec in data.get("graders", ())} == {0}
    if is_judged:
        name = "criteria" if "criteria" in data else "rubrics"
        known = findings.known
        # Without a judge there is a warning already.
        if expected and not is_compared and known and known.object_to("judge", name) is None:
            message = f"with `{name}`, `expected_output` is shown to the judge, and not compared"
            hint = "add `expected` to `graders` to have it compared, too"
            at = written.at("expected_output")
            findings.add_once("not-compared", at, message, hint, "key")
    elif (expected is None or is_compared) and is_unweighted and "turns" not in data:
        message = "the weights of its graders are all 0, so none of them counts"
        findings.add("bad-value", path, message, "leave `weight` out")
    if expected is None and not is_judged:
        needing = [each.name for _, each in graders if each.compares() and not each.judges]
        if needing:
            what = f"the grader `{needing[0]}` compares with `expected_output`, which is absent"
            findings.add("nothing-to-grade", path, what, "add `expected_output`")
    for spec, grader in graders:
        missing = grader.missing_in(part)
        if missing is not None:
            name = spec.get("name", spec["type"])
            what = f"the grader `{name}` needs {missing}, which this case doesn't have"
            # A judge says in its message where it looks.
            space = "add `workspace: {template: FOLDER}`" if "`workspace`" in missing else None
            findings.add("missing-material", path, what, space)
    _check_judges(data, graders, path, findings)


def _check_judges(
    data: Mapping[str, Any],
    graders: Sequence[tuple[Mapping[str, Any], Grader]],
    path: KeyPath,
    findings: Findings,
) -> None:
    """Warn of a judge that is the model it judges."""
    if findings.known is None:
        return
    judges: dict[str | None, bool] = {}
    """None is the configured judge. The values say whether it reads `criteria` and `rubrics`."""
    for _, grader in graders:
        if grader.judges:
            judges |= dict.fromkeys(grader.asks() or (None,), grader.judges_case())
    if needs_judge(data) and True not in judges.values():
        judges[None] = True  # the configured judge reads what no grader reads
    for judge in judges:
        for target in data.get("targets", (None,)):
            same = findings.known.describe_same_model(judge, target)
            if same is not None:
                findings.add_once("same-model", path, same, "ask another model to judge")


# What is expected


def _advise_expected(
    data: Mapping[str, Any], is_judged: bool, written: Named, findings: Findings
) -> None:
    """Say which messages of an expected output the built-in comparison leaves out."""
    expected, value = data["expected_output"], written.values["expected_output"]
    is_list = type(value) is list
    if not is_list and value is expected[0].get("content"):
        return  # text and data are compared whole
    path = written.at("expected_output")
    context: list[int] = []
    last, has_calls, is_misnamed = None, False, False
    for index, message in enumerate(expected):
        if message["role"] != "assistant":
            context.append(index)
            continue
        if message.get("content") is not None:
            context += [] if last is None else [last]
            last = index
        for number, call in enumerate(message.get("tool_calls") or ()):
            has_calls = True
            at = (*path, index) if is_list else path
            is_misnamed |= _is_misnamed(call, (*at, "tool_calls", number), findings)
    is_compared = has_calls or (last is not None and is_comparable(expected[last]["content"]))
    if is_misnamed or is_judged or (is_compared and not context):
        return
    graders = [grader for _, grader in _each_grader(data.get("graders", ()), findings)]
    is_replaced = any(grader.compares() for grader in graders)
    if is_compared and not is_replaced:
        first = min(context)
        reason = "only the last assistant content is compared; this one is context"
        if expected[first]["role"] != "assistant":
            role = expected[first]["role"]
            reason = f"messages of the role `{role}` are context and are not compared"
        findings.add("not-compared", (*path, first), reason)
    elif not is_replaced and not any(grader.runs_code for grader in graders):
        # The code of a grader may compare anything.
        message = "there is nothing here to compare an answer with, so no answer can pass"
        hint = "it takes tool calls, or content that is text or data, of the assistant"
        findings.add("nothing-to-grade", path, message, hint)


def _is_misnamed(call: Mapping[str, Any], path: KeyPath, findings: Findings) -> bool:
    """Whether the arguments of an expected call have another name, so that it expects none; then
    there is a warning."""
    name = "input"
    if "tool" not in call:
        call, path, name = call["function"], (*path, "function"), "arguments"
    if call.get(name) is not None:
        return False
    elsewhere = dict.fromkeys(_ARGUMENTS, name)
    for key, value in call.items():
        is_data = value is not None and not key.startswith(PRIVATE_PREFIX)
        if is_data and nearest_field(key, [name], elsewhere=elsewhere) is not None:
            what = f"`{key}` is not compared, and the call has no `{name}`"
            fix = Fix(name, of_name=True)
            findings.add("misnamed-input", (*path, key), what, hint_at(name), "key", fix)
            return True
    return False


def check_spelling(written: Named, findings: Findings) -> None:
    """Look for expected numbers in a file that has some in another spelling than ours: versions and
    codes are easily taken for numbers."""
    for part in (written, *written.values.get("turns", ())):
        value, path = part.values.get("expected_output"), part.at("expected_output")
        numbered = enumerate(value) if type(value) is list else ()
        contents = [((*path, at, "content"), each) for at, each in numbered if is_message(each)]
        if is_message(value):
            contents = [((*path, "content"), value)]
        placed = [(at, message.get("content")) for at, message in contents] or [(path, value)]
        for at, each in placed:
            if type(each) in (int, float):
                message = f"this is read as the number {each!r}, so the way it is written is lost"
                findings.add("lost-spelling", at, message, QUOTE_IT)

"""Graders as people write them, to one exact form: `{type: name, …}`.

A grader has four short forms, and some have names of other tools, too. Its options, and those of
the graders inside of it, are checked by what their kinds declare.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from evalcase.format.document import Findings
from evalcase.graders.base import SHARED, DeclaredGrader, What, names_file
from evalcase.types.problem import At, Finding, KeyPath
from evalcase.types.value import JSON, describe_kind
from evalcase.util.project import find_script

SHORT_FORMS = "write a name, {name: argument}, {name: {options}} or {type: name, …}"

MAPPING_ARGUMENTS = frozenset({"equals", "json_schema", "json_equals", "fields"})
"""Graders that take a mapping as their argument, also if no catalogue of graders is at hand."""


class Spelling(NamedTuple):
    """Another tool's name of a grader: the name here, and how its options differ."""

    name: str
    adds: Mapping[str, JSON] = MappingProxyType({})
    """Options that the other name implies."""
    renames: Mapping[str, str] = MappingProxyType({})

    def told(self, after_name: str = "") -> str:
        """The grader here, for a sentence: `contains` with `ignore_case: true`."""
        more = [f"`{name}: {json.dumps(value)}`" for name, value in self.adds.items()]
        more += [f"`{new}` for `{old}`" for old, new in self.renames.items()]
        return f"`{self.name}`{after_name}" + (f" with {', '.join(more)}" if more else "")


_ANY_CASE: Mapping[str, JSON] = {"ignore_case": True}
_ANY = {"value": "any"}
# `all` takes only lists: other tools take a text with commas for a list.
_ALL = {"value": "all"}
_SCRIPT = Spelling("script", renames={"script": "value", "command": "value"})
SCRIPT_NAMES = ("code_judge", "code-judge", "code_grader", "code-grader", "script-grader")

OTHER_NAMES: Mapping[str, Spelling] = {
    "contains-all": Spelling("contains", renames=_ALL),
    "contains-any": Spelling("contains", renames=_ANY),
    "icontains": Spelling("contains", _ANY_CASE),
    "icontains-all": Spelling("contains", _ANY_CASE, _ALL),
    "icontains-any": Spelling("contains", _ANY_CASE, _ANY),
    "starts-with": Spelling("starts_with"),
    "ends-with": Spelling("ends_with"),
    "is-json": Spelling("json", {"strict": True}),
    **dict.fromkeys(
        ("llm-rubric", "model-graded-closedqa", "llm_judge", "llm-judge", "llm_grader",
         "llm-grader", "rubric"), Spelling("judge"),
    ),
    **dict.fromkeys(SCRIPT_NAMES, _SCRIPT),
    "assert-set": Spelling("all", renames={"assert": "value"}),
}  # fmt: skip
"""The names that AgentV and promptfoo have for graders of ours."""

NEGATED = "not-"
"""What AgentV and promptfoo write before a name for `not: true`."""
_SAME_NAMES = {name: Spelling(name) for name in ("equals", "contains", "regex", "python")}
"""Graders with the same name in all three tools."""

SPELLINGS: Mapping[str, Spelling] = {
    **OTHER_NAMES,
    **{
        f"{NEGATED}{name}": spelling._replace(adds={**spelling.adds, "not": True})
        for name, spelling in {**_SAME_NAMES, **OTHER_NAMES}.items()
    },
}
"""Every name of another tool, those with `not-` included."""


class _Written(NamedTuple):
    """A grader in any form: its name, its options, and where they are written."""

    name: str
    options: dict[str, Any]
    name_path: KeyPath
    name_at: At
    options_path: KeyPath
    argument: str | None = None
    """The option that stands at the place of the name, as its argument or within it."""
    argument_at: At = "value"
    written_as: Mapping[str, str] = MappingProxyType({})
    """Options by the names under which they are written."""

    def place(self, path: KeyPath) -> KeyPath:
        """Where an option, or a part of it, is written."""
        if not path:
            return self.options_path
        if path[0] == self.argument:
            return (*self.name_path, *path[1:])
        return (*self.options_path, self.written_as.get(str(path[0]), path[0]), *path[1:])


def read_grader_list(
    value: Any, path: KeyPath, findings: Findings, within: DeclaredGrader | None = None
) -> list[dict[str, Any]] | None:
    """Each grader as `{type: name, …}`, without those that have errors. They may be the graders
    `within` another."""
    if type(value) is list:
        read = [_read_grader(each, (*path, at), findings, within) for at, each in enumerate(value)]
        return [grader for grader in read if grader is not None]
    hint = "put `- ` before each grader" if type(value) is dict else SHORT_FORMS
    if type(value) is str and value.isprintable():
        hint = f"write [{value:.80}]"
    message = f"`{path[-1]}` is a list, not {describe_kind(value)}"
    findings.add("wrong-type", path, message, hint)
    return None


def _read_grader(
    item: Any, path: KeyPath, findings: Findings, within: DeclaredGrader | None
) -> dict[str, Any] | None:
    before = findings.errors
    written = _read_form(item, path, findings)
    if written is None:
        return None
    written = _convert_evaluator(written, findings)
    spelling = _find_spelling(written.name, findings)
    if spelling is not None:
        written = _rename(written, spelling, findings)
    declared = findings.declared(written.name)
    if declared is None:
        findings.mention("grader", written.name, written.name_path, written.name_at)
        for name, value in written.options.items():
            if name in SHARED and value is not None:
                for fault in SHARED[name].problems_in(value):
                    _report(fault, written, None, findings)
    else:
        for name in declared.naming("graders"):
            inner = written.options.get(name)
            if type(inner) is list and inner:
                read = read_grader_list(inner, written.place((name,)), findings, declared)
                # A list that only has mistakes is not an empty one.
                written.options[name] = read or inner
        _mention_names(written, declared, findings)
        _check_options(written, declared, within, findings)
    return {"type": written.name, **written.options} if findings.errors == before else None


def _read_form(item: Any, path: KeyPath, findings: Findings) -> _Written | None:
    """The name and the options of a grader, whichever form it has."""
    if type(item) is str and item:
        return _split_name(_Written(item, {}, path, "value", path), findings)
    if type(item) is not dict or not item:
        what = describe_kind(item).replace("a ", "an empty " if item in ("", [], {}) else "a ")
        message = f"a grader is a name or a mapping, not {what}"
        findings.add("bad-grader", path, message, SHORT_FORMS)
        return None
    is_typed = "type" in item
    name = item["type"] if is_typed else next(iter(item))
    at = (*path, "type" if is_typed else name)
    if type(name) is not str or not name:
        message = "the name of a grader is a string"
        findings.add("bad-grader", at if is_typed else path, message, SHORT_FORMS)
        return None
    if is_typed:
        options = {key: value for key, value in item.items() if key != "type"}
        return _split_name(_Written(name, options, at, "value", path), findings)
    if len(item) > 1 or name in SHARED:
        message = "a grader with options says its name in `type`"
        named = [key for key in item if findings.declared(key) is not None]
        hint = "put `- ` before each grader" if named else "write {type: NAME, value: …}"
        if len(named) == 1:
            others = "".join(f", {key}: …" for key in item if key not in named)
            hint = f"write {{type: {named[0]}, value: …{others}}}"
        findings.add("bad-grader", path, message, hint)
        return None
    argument, spelling = item[name], _find_spelling(name, findings)
    own = name if spelling is None else spelling.name
    declared = findings.declared(own)
    takes_mapping = own in MAPPING_ARGUMENTS if declared is None else declared.takes_mapping
    is_absent = argument is None and (declared is not None or ":" in name)
    if is_absent or (type(argument) is dict and not takes_mapping):
        return _split_name(_Written(name, dict(argument or {}), at, "key", at), findings)
    option = (declared and declared.kind.argument) or "value"
    return _Written(name, {option: argument}, at, "key", at, option)


def _split_name(written: _Written, findings: Findings) -> _Written:
    """`python:module:function` is the grader `python` with its argument."""
    name, colon, value = written.name.partition(":")
    declared = findings.declared(name) if colon else None
    option = declared.in_name if declared is not None else None
    if option is None or option in written.options or findings.declared(written.name) is not None:
        return written
    options = {option: value, **written.options}
    return written._replace(
        name=name, options=options, argument=option, argument_at=written.name_at
    )


def _find_spelling(name: str, findings: Findings) -> Spelling | None:
    """What another tool's name stands for, unless a plug-in brings a grader of that name."""
    spelling = SPELLINGS.get(name)
    if spelling is None or findings.declared(name) is not None:
        return None
    is_here = findings.known is None or findings.declared(spelling.name) is not None
    return spelling if is_here else None


def _rename(written: _Written, spelling: Spelling, findings: Findings) -> _Written:
    """The grader under our names, with a warning."""
    name = written.name
    message = f"`{name}` is called {spelling.told(' here')}"
    hint = "`evalcase migrate` renames it"
    findings.add("deprecated-name", written.name_path, message, hint, written.name_at)
    options: dict[str, Any] = dict(spelling.adds)
    written_as: dict[str, str] = {}
    for old, value in written.options.items():
        new = spelling.renames.get(old, old)
        if options.get(new) is None:
            options[new], written_as[new] = value, old
        elif value is not None:
            message = f"`{old}` is already set by `{written_as.get(new, name)}`"
            at = written.place((old,))
            findings.add("conflicting-fields", at, message, "keep one of the two", "key")
    argument = written.argument and spelling.renames.get(written.argument, written.argument)
    return written._replace(
        name=spelling.name, options=options, argument=argument, written_as=written_as
    )


# Evaluators of AgentV that are other graders here

_PASSES_AT = 0.8
"""The score at which an evaluator passed there."""
_DATE_PARTS = {"YYYY": "%Y", "YY": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "DD": "%d",
               "HH": "%H", "mm": "%M", "ss": "%S"}  # fmt: skip


def _convert_evaluator(written: _Written, findings: Findings) -> _Written:
    """An evaluator of AgentV under our names; any other grader as it is."""
    convert = _EVALUATORS.get(written.name)
    if convert is None or findings.declared(written.name) is not None:
        return written
    own = {name: value for name, value in written.options.items() if name in SHARED}
    others = {name: value for name, value in written.options.items() if name not in SHARED}
    made = convert(own, others, findings)
    if made is None:
        return written
    name, options, differs = made
    if name != written.name:
        message = f"`{written.name}` of AgentV is read as `{name}`"
        findings.add("deprecated-name", written.name_path, message, differs, written.name_at)
    written_as = {new: old for old, new in _RENAMED_OPTIONS.items() if old in written.options}
    return written._replace(name=name, options=options, written_as=written_as)


_RENAMED_OPTIONS = {
    **dict.fromkeys(("script", "command", "fields", "evaluators", "expected"), "value"),
    "minimums": "needed", "mode": "order", "target": "max_calls",
}  # fmt: skip
Options = dict[str, Any]
Converted = tuple[str, Options, str]
"""The name of a grader here, its options, and what is different."""


def _convert_script(own: Options, others: Options, findings: Findings) -> Converted | None:
    """A script there runs in the folder of its suite, and any other key is its configuration."""
    argv = others.pop("script", others.pop("command", None))
    if argv is None:
        return None
    folder = "." if findings.files is None else findings.files.from_root
    cwd = others.pop("cwd", None)
    folder = os.path.normpath(os.path.join(folder, cwd)) if type(cwd) is str else folder
    threshold = own.pop("threshold", None)
    options = {"value": argv, **own, **({"cwd": folder} if folder != "." else {})}
    target = others.pop("target", None)
    if target:
        calls = target.get("max_calls") if type(target) is dict else None
        options["max_calls"] = 50 if calls is None else calls
    for name in ("mode", "memory_mb", "of", "max_calls"):
        if name in others:
            options[name] = others.pop(name)
    config = others.pop("config", None)
    others |= {} if threshold is None else {"threshold": threshold}
    if config is not None or others:
        options["config"] = {**(config if type(config) is dict else {}), **others}
    return "script", options, "it runs in the folder of the suite, as `cwd` says here"


def _convert_judge(own: Options, others: Options, findings: Findings) -> Converted | None:
    prompt = others.get("prompt")
    if type(prompt) is not str:
        return None
    if names_file(prompt) and findings.files is not None:
        prompt = findings.files.name_from_root(prompt)
    differs = "the judge says whether the prompt is met, in place of a score"
    return "judge", {**own, **others, "prompt": prompt}, differs


def _convert_trajectory(own: Options, others: Options, _: Findings) -> Converted | None:
    mode, expected = others.get("mode"), others.get("expected")
    if mode == "any_order" and expected is None:
        needed = others.get("minimums")
        return "tool_calls", {**own, "needed": needed}, "all minimums must be met"
    if type(expected) is not list:
        return None
    calls = []
    for call in expected:
        rest = dict(call) if type(call) is dict else call
        given = rest.pop("args", "any") if type(rest) is dict else None
        calls.append({**rest, "input": given} if type(given) is dict else rest)
    return "trajectory", {**own, "value": calls, "order": mode}, "arguments in `input` count"


def _convert_fields(own: Options, others: Options, _: Findings) -> Converted | None:
    fields = others.get("fields")
    if type(fields) is not list or not all(type(each) is dict for each in fields):
        return None
    kinds = {"numeric_tolerance": "number", "date": "date"}
    value: dict[str, Any] = {}
    for each in fields:
        matcher: dict[str, Any] = {"expected": kinds.get(str(each.get("match")), "equals")}
        if each.get("tolerance"):
            factor, name = (100, "within_percent") if each.get("relative") else (1, "within")
            matcher[name] = each["tolerance"] * factor
        if type(each.get("formats")) is list:
            matcher["formats"] = [_convert_format(str(one)) for one in each["formats"]]
        matcher |= {"weight": each["weight"]} if "weight" in each else {}
        value[str(each.get("path"))] = matcher
    if others.get("aggregation", "weighted_average") == "weighted_average":
        own.setdefault("threshold", _PASSES_AT)
    return "fields", {**own, "value": value}, "a field that is missing in the answer fails"


def _convert_format(written: str) -> str:
    for part, directive in _DATE_PARTS.items():
        written = re.sub(rf"(?<![%A-Za-z]){part}(?![A-Za-z])", directive, written)
    return written


def _convert_composite(own: Options, others: Options, findings: Findings) -> Converted | None:
    members, how = others.get("evaluators"), others.get("aggregator")
    if type(members) is not list or type(how) is not dict:
        return None
    if how.get("type") == "code_judge" and type(how.get("path")) is str:
        given = {"script": shlex.split(how["path"]), "of": members}
        return _convert_script(own, given, findings)
    if how.get("type") == "llm_judge":
        judge = {"type": "llm_judge", "name": "aggregator", "prompt": how.get("prompt")}
        differs = "every evaluator must pass, and so must the judge, which sees only the answer"
        return "all", {**own, "value": [*members, judge]}, differs
    weights = how["weights"] if type(how.get("weights")) is dict else {}
    weighed = [
        {**each, "weight": weights[each["name"]]}
        if type(each) is dict and each.get("name") in weights
        else each
        for each in members
    ]
    own.setdefault("threshold", _PASSES_AT)
    return "weighted", {**own, "value": weighed}, f"it passes at {_PASSES_AT}, as there"


def _convert_tokens(own: Options, others: Options, _: Findings) -> Converted | None:
    names = {"max_total": "value", "max_input": "input", "max_output": "output"}
    if names.keys().isdisjoint(others):
        return None
    return "tokens", {**own, **{names.get(k, k): v for k, v in others.items()}}, ""


_EVALUATORS: Mapping[str, Callable[[Options, Options, Findings], Converted | None]] = {
    **dict.fromkeys(SCRIPT_NAMES, _convert_script),
    **dict.fromkeys(("llm_judge", "llm-judge", "llm_grader", "llm-grader"), _convert_judge),
    "tool_trajectory": _convert_trajectory, "field_accuracy": _convert_fields,
    "composite": _convert_composite, "token_usage": _convert_tokens,
}  # fmt: skip


def find_named_code(
    declared: DeclaredGrader, values: Mapping[str, Any]
) -> Iterator[tuple[What, str, KeyPath]]:
    """The functions, programs and scripts that options name, with the path of each seen from the
    grader. A wrong value names nothing."""
    for name in declared.naming("function"):
        value = values.get(name)
        if type(value) is str and not declared.options[name].problems_in(value):
            yield "code", value, (name,)
    for name in declared.naming("program"):
        argv = values.get(name)
        if isinstance(argv, list | tuple) and argv and type(argv[0]) is str and argv[0]:
            cwd = values.get("cwd")
            folder = cwd if type(cwd) is str else ""
            is_path = bool(os.path.dirname(argv[0]))
            yield "program", os.path.join(folder, argv[0]) if is_path else argv[0], (name, 0)
            script = find_script(argv)
            if script is not None:
                yield "script", os.path.normpath(os.path.join(folder, script)), (name, 1)


def _mention_names(written: _Written, declared: DeclaredGrader, findings: Findings) -> None:
    """Note the targets, files, functions and programs that a grader names."""
    options = written.options
    targets = declared.named_targets(options)
    for path, name in targets:
        findings.mention("asked", name, written.place(path))
    if declared.kind.judges and not targets:
        findings.mention("judge", written.name, written.name_path, written.name_at)
    for option in (*declared.naming("file"), *declared.naming("prompt")):
        value, holds = options.get(option), declared.options[option].takes.kind.holds
        if type(value) is str and (option in declared.naming("file") or names_file(value)):
            findings.add_file(value, written.place((option,)), from_root=True, holds=holds)
    for what, name, path in find_named_code(declared, options):
        place = written.place(path)
        findings.mention(what, name, place)
        if what == "code" and name.startswith("./") and ".py:" in name:
            findings.add_file(name.rpartition(":")[0], place, from_root=True)


def _check_options(
    written: _Written, declared: DeclaredGrader, within: DeclaredGrader | None, findings: Findings
) -> None:
    faults = list(declared.faults(written.options))
    # An argument that the grader doesn't take is probably the option that is missing.
    unknown = [fault.path for fault in faults if fault.code == "unknown-option"]
    for fault in faults:
        if fault.code != "missing-option" or (written.argument,) not in unknown:
            _report(fault, written, declared, findings)
    has_no_mean = within is not None and within.kind.threshold == "none"
    if not faults and has_no_mean and written.options.get("weight") is not None:
        message = "`weight` has no effect here, where only the number of those that pass counts"
        hint = "leave it out, or use `weighted`, which takes their mean"
        findings.add("conflicting-fields", written.place(("weight",)), message, hint, "key")


def _report(
    fault: Finding, written: _Written, declared: DeclaredGrader | None, findings: Findings
) -> None:
    """Report a fault in the words of the grader that has it, at its place."""
    message, hint, at = fault.message, fault.hint, fault.at
    kind = None if declared is None else declared.kind
    example = f"for example: {kind.example}" if kind and kind.example else None
    name = str(fault.path[0]) if fault.path else ""
    if name and name == written.argument:
        message = message.replace(f"`{name}`", f"the argument of `{written.name}`", 1)
        at = written.argument_at if len(fault.path) == 1 else at
        if len(fault.path) == 1 and fault.code == "unknown-option":
            given = describe_kind(written.options[name])
            message, hint = f"the grader `{written.name}` takes options, not {given}", example
    elif name in written.written_as:
        message = message.replace(f"`{name}`", f"`{written.written_as[name]}`", 1)
    if fault.code == "missing-option" and kind and example:
        hint = example
    place = written.place(fault.path)
    findings.add_finding(fault._replace(path=place, message=message, hint=hint, at=at))

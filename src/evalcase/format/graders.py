"""Graders as people write them, to one exact form: `{type: name, …}`.

A grader has four short forms, and some have names of other tools, too. Its options, and those of
the graders inside of it, are checked by what their kinds declare.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from evalcase.format.document import Findings
from evalcase.graders.base import SHARED, DeclaredGrader, Grader, What, names_file
from evalcase.types.problem import At, Finding, KeyPath
from evalcase.types.read_options import problems_of
from evalcase.types.value import JSON, describe_kind
from evalcase.util.project import find_script

SHORT_FORMS = "write a name, {name: argument}, {name: {options}} or {type: name, …}"


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
    **dict.fromkeys(
        SCRIPT_NAMES, Spelling("script", renames={"script": "value", "command": "value"})
    ),
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
    value: Any, path: KeyPath, findings: Findings, counted: bool = False
) -> list[dict[str, Any]] | None:
    """Each grader as `{type: name, …}`, without those that have errors. Where they are counted,
    they have no weight."""
    if type(value) is list:
        read = [_read_grader(each, (*path, at), findings, counted) for at, each in enumerate(value)]
        return [grader for grader in read if grader is not None]
    hint = "put `- ` before each grader" if type(value) is dict else SHORT_FORMS
    if type(value) is str and value.isprintable():
        hint = f"write [{value:.80}]"
    message = f"`{path[-1]}` is a list, not {describe_kind(value)}"
    findings.add("wrong-type", path, message, hint)
    return None


def _read_grader(
    item: Any, path: KeyPath, findings: Findings, counted: bool
) -> dict[str, Any] | None:
    before = findings.errors
    written = _read_form(item, path, findings)
    if written is None:
        return None
    declared = findings.declared(written.name)
    if declared is None:  # a plug-in may bring a grader of another tool's name
        written = _rename(_convert_evaluator(written, findings), findings)
        declared = findings.declared(written.name)
    if declared is None:
        findings.mention("grader", written.name, written.name_path, written.name_at)
        for name in SHARED.keys() & written.options.keys():
            if (value := written.options[name]) is not None:
                _report(problems_of(SHARED[name], value, (name,)), written, None, findings)
    else:
        for name in declared.naming("graders"):
            inner = written.options.get(name)
            if type(inner) is list and inner:
                counts = declared.kind.threshold == "none"
                read = read_grader_list(inner, written.place((name,)), findings, counts)
                # A list that only has mistakes is not an empty one.
                written.options[name] = read or inner
        _mention_names(written, declared, findings)
        _report(declared.faults(written.options), written, declared.kind, findings)
    if counted and written.options.get("weight") is not None and findings.errors == before:
        message = "`weight` has no effect here, where only the number of those that pass counts"
        hint = "leave it out, or use `weighted`, which takes their mean"
        findings.add("conflicting-fields", written.place(("weight",)), message, hint, "key")
    return {"type": written.name, **written.options} if findings.errors == before else None


def _read_form(item: Any, path: KeyPath, findings: Findings) -> _Written | None:
    """The name and the options of a grader, whichever form it has."""
    if type(item) is str and item:
        return _split_name(_Written(item, {}, path, "value", path), findings)
    if type(item) is not dict or not item:
        what = describe_kind(item).replace("a ", "an empty " if item in ("", {}) else "a ")
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
        named = [key for key in item if findings.declared(key) is not None]
        hint = "put `- ` before each grader" if named else "write {type: NAME, value: …}"
        if len(named) == 1:
            others = "".join(f", {key}: …" for key in item if key not in named)
            hint = f"write {{type: {named[0]}, value: …{others}}}"
        negated = item.get("not")
        if type(negated) is dict and len(negated) == 1:
            hint = f"write {{type: {next(iter(negated))}, value: …, not: true}}"
        message = "a grader with options says its name in `type`"
        findings.add("bad-grader", path, message, hint)
        return None
    argument, ours = item[name], SPELLINGS.get(name, Spelling(name)).name
    declared = findings.declared(name) or findings.declared(ours)
    is_absent = argument is None and (declared is not None or ":" in name)
    takes_mapping = declared is not None and declared.takes_mapping
    if is_absent or (type(argument) is dict and not takes_mapping):
        return _split_name(_Written(name, dict(argument or {}), at, "key", at), findings)
    option = (declared and declared.kind.argument) or "value"
    return _Written(name, {option: argument}, at, "key", at, option)


def _split_name(written: _Written, findings: Findings) -> _Written:
    """`python:module:function` is the grader `python` with its argument."""
    name, colon, value = written.name.partition(":")
    declared = findings.declared(name) if colon else None
    option = declared and declared.in_name
    if not option or option in written.options or findings.declared(written.name) is not None:
        return written
    options = {option: value, **written.options}
    return written._replace(
        name=name, options=options, argument=option, argument_at=written.name_at
    )


def _rename(written: _Written, findings: Findings) -> _Written:
    """A grader with another tool's name under ours, with a warning."""
    name = written.name
    spelling = SPELLINGS.get(name)
    if spelling is None:
        return written
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


def find_named_code(
    declared: DeclaredGrader, values: Mapping[str, Any]
) -> Iterator[tuple[What, str, KeyPath]]:
    """The functions, programs and scripts that options name, with the path of each seen from the
    grader. A wrong value names nothing."""
    for name in declared.naming("function"):
        value = values.get(name)
        if type(value) is str and not problems_of(declared.options[name], value, (name,)):
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
        value, holds = options.get(option), declared.options[option].holds
        if type(value) is str and (option in declared.naming("file") or names_file(value)):
            findings.add_file(value, written.place((option,)), from_root=True, holds=holds)
    for what, name, path in find_named_code(declared, options):
        place = written.place(path)
        findings.mention(what, name, place)
        if what == "code" and name.startswith("./") and ".py:" in name:
            findings.add_file(name.rpartition(":")[0], place, from_root=True)


def _report(
    faults: Iterable[Finding], written: _Written, kind: type[Grader] | None, findings: Findings
) -> None:
    """Report the faults of options by the names and at the places where they are written."""
    faults = list(faults)
    example = f"for example: {kind.example}" if kind and kind.example else None
    # An argument that the grader doesn't take is probably the option that is missing.
    is_misplaced = any(
        fault.code == "unknown-option" and fault.path == (written.argument,) for fault in faults
    )
    for fault in faults:
        if fault.code == "missing-option" and is_misplaced:
            continue
        message, hint, at = fault.message, fault.hint, fault.at
        name = str(fault.path[0]) if fault.path else ""
        if fault.code == "missing-option":
            hint = example or hint
        if name and name == written.argument:
            message = message.replace(f"`{name}`", f"the argument of `{written.name}`", 1)
            if len(fault.path) == 1:
                at = written.argument_at
                if fault.code == "unknown-option":
                    given = describe_kind(written.options[name])
                    message = f"the grader `{written.name}` takes options, not {given}"
                    hint = example
        elif name in written.written_as:
            message = message.replace(f"`{name}`", f"`{written.written_as[name]}`", 1)
        place = written.place(fault.path)
        findings.add_finding(fault._replace(path=place, message=message, hint=hint, at=at))


# Evaluators of AgentV that are other graders here, as it had them in January 2026

Options = dict[str, Any]
Converted = tuple[str, str]
"""The name of a grader here, and what is different."""
_PASSES_AT = 0.8
"""The score at which an evaluator passed there."""
_OF_SCRIPT = {*SHARED, "mode", "memory_mb", "of", "max_calls"} - {"threshold"}
_MATCHES = {"numeric_tolerance": "number", "date": "date"}
_DATE_PARTS = {"YYYY": "%Y", "YY": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "DD": "%d",
               "HH": "%H", "mm": "%M", "ss": "%S"}  # fmt: skip
_WRITTEN_AS = {
    **dict.fromkeys(("script", "command", "fields", "evaluators", "expected"), "value"),
    "minimums": "needed", "mode": "order", "target": "max_calls",
}  # fmt: skip


def _convert_evaluator(written: _Written, findings: Findings) -> _Written:
    """An evaluator of AgentV under our names; any other grader as it is."""
    convert, options = _EVALUATORS.get(written.name), dict(written.options)
    converted = None if convert is None else convert(options, findings)
    if converted is None:
        return written
    name, differs = converted
    message = f"`{written.name}` of AgentV is read as `{name}`"
    findings.add("deprecated-name", written.name_path, message, differs, written.name_at)
    written_as = {new: old for old, new in _WRITTEN_AS.items() if old in written.options}
    if "of" in options and "evaluators" in written.options:  # a script that aggregates
        written_as |= {"of": "evaluators", "value": "aggregator"}
    return written._replace(name=name, options=options, written_as=written_as)


# Each changes the options, or returns None for an evaluator that lacks what it needs.


def _convert_script(options: Options, findings: Findings) -> Converted | None:
    """A script there runs in the folder of its suite, and any other key is its configuration."""
    argv = options.pop("script", options.pop("command", None))
    if argv is None:
        return None
    cwd, target, config = (options.pop(name, None) for name in ("cwd", "target", "config"))
    others = {name: options.pop(name) for name in [*options] if name not in _OF_SCRIPT}
    options["value"] = argv
    folder = "." if findings.files is None else findings.files.from_root
    folder = os.path.normpath(os.path.join(folder, str(cwd or ".")))
    if folder != ".":
        options["cwd"] = folder
    if target:
        options["max_calls"] = target.get("max_calls", 50) if type(target) is dict else 50
    if config or others:
        options["config"] = {**config, **others} if type(config) is dict else config or others
    return "script", "it runs in the folder of the suite, as `cwd` says here"


def _convert_judge(options: Options, findings: Findings) -> Converted | None:
    prompt = options.get("prompt")
    if type(prompt) is not str:
        return None
    if names_file(prompt) and findings.files is not None:
        options["prompt"] = findings.files.name_from_root(prompt)
    return "judge", "the judge says whether the prompt is met, in place of a score"


def _convert_trajectory(options: Options, _: Findings) -> Converted | None:
    mode, expected = options.pop("mode", None), options.pop("expected", None)
    if mode == "any_order" and expected is None:
        options["needed"] = options.pop("minimums", None)
        return "tool_calls", "all minimums must be met"
    if type(expected) is not list:
        return None
    options |= {"order": mode, "value": []}
    for call in expected:
        rest = dict(call) if type(call) is dict else {"tool": call}
        given = rest.pop("args", "any")
        options["value"].append({**rest, "input": given} if type(given) is dict else rest)
    return "trajectory", "arguments in `input` count"


def _convert_fields(options: Options, _: Findings) -> Converted | None:
    fields = options.pop("fields", None)
    if type(fields) is not list or not all(type(each) is dict for each in fields):
        return None
    options["value"] = {str(each.get("path")): _convert_field(each) for each in fields}
    if options.pop("aggregation", "weighted_average") == "weighted_average":
        options.setdefault("threshold", _PASSES_AT)
    return "fields", "a field that is missing in the answer fails"


def _convert_field(field: dict[str, Any]) -> dict[str, Any]:
    matcher: dict[str, Any] = {"expected": _MATCHES.get(str(field.get("match")), "equals")}
    if field.get("tolerance"):
        factor, name = (100, "within_percent") if field.get("relative") else (1, "within")
        matcher[name] = field["tolerance"] * factor
    if type(field.get("formats")) is list:
        matcher["formats"] = [
            re.sub("[A-Za-z]+", lambda found: _DATE_PARTS.get(found[0], found[0]), str(each))
            for each in field["formats"]
        ]
    return matcher | ({"weight": field["weight"]} if "weight" in field else {})


def _convert_composite(options: Options, findings: Findings) -> Converted | None:
    members, how = options.pop("evaluators", None), options.pop("aggregator", None)
    if type(members) is not list or type(how) is not dict:
        return None
    if how.get("type") == "code_judge":
        options |= {"script": shlex.split(str(how.get("path"))), "of": members}
        return _convert_script(options, findings)
    if how.get("type") == "llm_judge":
        judge = {"name": "aggregator", "prompt": how.get("prompt")}
        _convert_judge(judge, findings)
        options["value"] = [*members, {"type": "judge", **judge}]
        differs = "every evaluator must pass, and so must the judge, which sees only the answer"
        return "all", differs
    weights = how["weights"] if type(how.get("weights")) is dict else {}
    named = [each if type(each) is dict else {"type": each} for each in members]
    options["value"] = [
        {**each, "weight": weights[each["name"]]} if each.get("name") in weights else each
        for each in named
    ]
    options.setdefault("threshold", _PASSES_AT)
    return "weighted", f"it passes at {_PASSES_AT}, as there"


_EVALUATORS: Mapping[str, Callable[[Options, Findings], Converted | None]] = {
    **dict.fromkeys(SCRIPT_NAMES, _convert_script),
    **dict.fromkeys(("llm_judge", "llm-judge", "llm_grader", "llm-grader"), _convert_judge),
    "tool_trajectory": _convert_trajectory, "field_accuracy": _convert_fields,
    "composite": _convert_composite,
}  # fmt: skip

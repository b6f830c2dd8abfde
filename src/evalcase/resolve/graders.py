"""The four spellings of a grader to one, by what is declared of each kind, to any depth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalcase.model.finding import At, KeyPath, Unfit
from evalcase.model.json_value import describe_kind
from evalcase.resolve.findings import Findings
from evalcase.resolve.grader_faults import report_fault
from evalcase.resolve.grader_mentions import mention_files, mention_targets
from evalcase.resolve.grader_names import Spelling, spelling_of
from evalcase.resolve.idle_options import advise_patterns, check_weight
from evalcase.resolve.written_grader import WrittenGrader

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.shape import OptionFault

SPELLINGS = "write a name, {name: argument}, {name: {options}} or {type: name, …}"

SHARED_NAMES = frozenset({"name", "weight", "required", "threshold", "timeout_s", "not", "path"})
"""The options of all graders, which are never the name of one."""

MAPPING_ARGUMENTS = frozenset({"equals", "json_schema", "json_equals", "fields"})
"""Graders that take a mapping as their argument, also where nothing is known of them."""


def read_grader_list(
    value: Any, path: KeyPath, findings: Findings, within: DeclaredGrader | None = None
) -> list[dict[str, Any]] | None:
    """Each grader as `{type: name, …}`; an argument is the option that it gives. They may be those
    `within` another."""
    if type(value) is not list:
        hint = _hint_for_one(value, findings)
        message = f"`{path[-1]}` is a list, not {describe_kind(value)}"
        findings.add("wrong-type", path, message, hint)
        return None
    graders = [
        _read_grader(item, (*path, index), findings, within) for index, item in enumerate(value)
    ]
    return [grader for grader in graders if grader is not None]


def _hint_for_one(value: Any, findings: Findings) -> str:
    """What to write for one grader in place of a list: what is right as an item of one."""
    if type(value) is dict:
        return "put `- ` before each grader"
    if type(value) is not str or not value.isprintable() or not value:
        return SPELLINGS
    name = value.partition(":")[0] if " " not in value else value
    if findings.known is None or findings.declared(name) or _other_name(name, findings):
        return f"write [{value:.80}]"
    unfit = findings.known.object_to("grader", value)
    hint = (unfit and unfit.hint) or SPELLINGS
    return f"in a list, {hint}"


def _read_grader(
    item: Any, path: KeyPath, findings: Findings, within: DeclaredGrader | None
) -> dict[str, Any] | None:
    written = _read_spelling(item, path, findings)
    if written is None:
        return None
    before = findings.errors
    spelling = _other_name(written.name, findings)
    if spelling is not None:
        written = _in_own_words(written, spelling, findings)
    declared = findings.declared(written.name)
    if declared is None:
        _report_unknown(written, findings)
        _check_shared(written, findings)
    else:
        written = _with_inner(written, declared, findings)
        mention_targets(written, declared, findings)
        mention_files(written, declared, findings)
        faults = list(declared.faults(written.options))
        # What stands in a place of its own is not missing, too.
        is_odd = any(_is_no_argument(fault, written) for fault in faults)
        for fault in faults:
            if not (is_odd and fault.code == "missing-option"):
                report_fault(fault, written, declared, findings)
        if not faults:
            check_weight(written, within, findings)
            advise_patterns(written, findings)
    return {"type": written.name, **written.options} if findings.errors == before else None


def _read_spelling(item: Any, path: KeyPath, findings: Findings) -> WrittenGrader | None:
    if type(item) is str and item:
        return _with_value(WrittenGrader(item, {}, path, ()), findings)
    if type(item) is not dict or not item:
        what = (
            describe_kind(item)
            if item not in ("", [], {})
            else describe_kind(item).replace("a ", "an empty ")
        )
        findings.add("bad-grader", path, f"a grader is a name or a mapping, not {what}", SPELLINGS)
        return None
    if "type" in item:
        name = item["type"]
        if type(name) is not str or not name:
            _report_nameless((*path, "type"), findings)
            return None
        options = {key: value for key, value in item.items() if key != "type"}
        return _with_value(WrittenGrader(name, options, path, (), name_at=("type",)), findings)
    if len(item) > 1 or not SHARED_NAMES.isdisjoint(item):
        hint = _hint_for_options(item, findings)
        findings.add("bad-grader", path, "a grader with options says its name in `type`", hint)
        _check_options(item, path, findings)
        return None
    ((name, argument),) = item.items()
    if not name:
        _report_nameless(path, findings)
        return None
    return _read_named(name, argument, path, findings)


def _read_named(name: str, argument: Any, path: KeyPath, findings: Findings) -> WrittenGrader:
    """`{name: argument}` or `{name: {options}}`: the kind says which of the two a mapping is."""
    spelling = _other_name(name, findings)
    own = name if spelling is None else spelling.name
    declared = findings.declared(own)
    takes_mapping = own in MAPPING_ARGUMENTS if declared is None else declared.kind.takes_mapping
    if type(argument) is dict and not takes_mapping:
        return _with_value(WrittenGrader(name, argument, path, (name,), name_at=(name,)), findings)
    if argument is None and (declared is not None or ":" in name):
        return _with_value(WrittenGrader(name, {}, path, (name,), name_at=(name,)), findings)
    option = (declared.kind.argument if declared is not None else None) or "value"
    return WrittenGrader(name, {option: argument}, path, (name,), option, (name,))


def _with_value(written: WrittenGrader, findings: Findings) -> WrittenGrader:
    """`python:module:function` is the kind `python` with its argument."""
    name, colon, value = written.name.partition(":")
    if not colon or findings.declared(written.name) is not None:
        return written
    declared = findings.declared(name)
    option = declared.in_name if declared is not None else None
    if option is None or option in written.options:
        return written
    options = {option: value, **written.options}
    at: At = "key" if written.below else "value"
    return written._replace(name=name, options=options, argument=option, argument_at=at)


def _other_name(name: str, findings: Findings) -> Spelling | None:
    """What another tool's name stands for. Whoever brings a grader of that name goes before it."""
    spelling = spelling_of(name)
    if spelling is None or findings.declared(name) is not None:
        return None
    if findings.known is not None and findings.declared(spelling.name) is None:
        return None
    return spelling


def _in_own_words(written: WrittenGrader, spelling: Spelling, findings: Findings) -> WrittenGrader:
    """The same under our names, with a word about it."""
    path, at = written.finding_at()
    message = f"`{written.name}` is called {spelling.told(' here')}"
    findings.add("deprecated-name", path, message, "`evalcase migrate` renames it", at)
    options: dict[str, Any] = dict(spelling.adds)
    written_as: dict[str, str] = {}
    for old, value in written.options.items():
        new = spelling.renames.get(old, old)
        rival = written_as[new] if options.get(new) is not None and new in written_as else None
        clash = _find_clash(written.name, old, spelling, rival)
        if clash is None:
            options[new] = value
            written_as[new] = old
        elif value is not None:
            findings.add(clash.code, written.place((old,)), clash.message, clash.hint, "key")
    argument = written.argument and spelling.renames.get(written.argument, written.argument)
    return written._replace(
        name=spelling.name, options=options, argument=argument, written_as=written_as
    )


def _find_clash(name: str, option: str, spelling: Spelling, rival: str | None) -> Unfit | None:
    """Why an option can't stand beside another tool's name of a grader."""
    if option in spelling.refuses:
        message = f"`{name}` with `{option}` is not one of our graders"
        return Unfit("unknown-option", message, spelling.refuses[option])
    if spelling.renames.get(option, option) in spelling.adds:
        return Unfit("conflicting-fields", f"`{option}` is already set by `{name}`", "remove it")
    if rival is not None:
        message = f"`{rival}` and `{option}` are two names of one option"
        return Unfit("conflicting-fields", message, "keep one of them")
    return None


def _with_inner(
    written: WrittenGrader, declared: DeclaredGrader, findings: Findings
) -> WrittenGrader:
    """The same with the graders inside of it in one spelling, too."""
    options = dict(written.options)
    for name in declared.lists:
        if type(options.get(name)) is list and options[name]:
            path = written.place((name,))
            inner = read_grader_list(options[name], path, findings, declared)
            # What is left of a list with mistakes is never used, but it is not an empty one.
            options[name] = inner or options[name]
    return written._replace(options=options)


def _is_no_argument(fault: OptionFault, written: WrittenGrader) -> bool:
    """Whether it is about an argument of a grader that takes none."""
    return fault.code == "unknown-option" and fault.path == (written.argument,)


def _report_unknown(written: WrittenGrader, findings: Findings) -> None:
    findings.mention("grader", written.name, *written.finding_at())


def _check_shared(written: WrittenGrader, findings: Findings) -> None:
    """Of a grader that nobody knows, the options can be checked that all have."""
    if SHARED_NAMES.isdisjoint(written.options) or written.argument is not None:
        return
    from evalcase.model.grader_options import SHARED

    for name in written.options:
        if name in SHARED and written.options[name] is not None:
            for fault in SHARED[name].shape.faults(written.options[name], (name,)):
                report_fault(fault, written, None, findings)


def _report_nameless(path: KeyPath, findings: Findings) -> None:
    findings.add("bad-grader", path, "the name of a grader is a string", SPELLINGS)


def _check_options(item: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """What is wrong with options that stand beside the one name of a grader."""
    kinds = [each for each in item if findings.declared(each) is not None]
    declared = findings.declared(kinds[0]) if len(kinds) == 1 else None
    if declared is None:
        return
    (name,), argument = kinds, declared.kind.argument or "value"
    options = {argument: item[name], **{each: item[each] for each in item if each != name}}
    has_more = type(item[name]) is dict and not declared.kind.takes_mapping
    written = WrittenGrader(name, options, path, (), argument, (name,))
    for fault in declared.faults(options):
        # Of options in two places, only those beside the name are looked at.
        if not has_more or (fault.path and fault.path[0] in item):
            report_fault(fault, written, declared, findings)


def _hint_for_options(item: Mapping[str, Any], findings: Findings) -> str:
    name = item.get("name")
    names = [each for each in item if each not in SHARED_NAMES]
    kinds = [each for each in names if findings.declared(each) is not None]
    if type(name) is str and name and (findings.declared(name) is not None or not kinds):
        return f"did you mean {{type: {name:.40}, …}}? `name` is what results call it"
    if len(kinds) > 1:
        items = " and ".join(f"`- {kind}: …`" for kind in kinds)
        return f"each grader is an item of its own: {items}"
    named = (*kinds, *names, "name")[0]
    return f"write {{type: {named:.40}, value: …}} with the options beside them"

"""Field names as written to primary names: aliases, precedence and unknown fields."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from evalcase.model.finding import Fix, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.nearest import plain_name
from evalcase.model.simulated_user import USER_FIELDS
from evalcase.resolve.fields import (
    CASE_ALIASES,
    CASE_FIELDS,
    EXECUTION,
    EXECUTION_FIELDS,
    PRIVATE_PREFIX,
    SUITE_ALIASES,
    SUITE_FIELDS,
    TURN_FIELDS,
)
from evalcase.resolve.findings import Findings
from evalcase.text.suggest import describe_foreign_letter, nearest_field, suggest_field


class Vocabulary(NamedTuple):
    """The names that one kind of mapping may have."""

    what: str
    fields: tuple[str, ...]
    aliases: dict[str, str]
    groups: bool = True
    """Whether it may have the deprecated grouping."""


CASE = Vocabulary("a case", CASE_FIELDS, CASE_ALIASES)
SUITE = Vocabulary("a suite", SUITE_FIELDS, SUITE_ALIASES)
LONE_CASE = Vocabulary("a case", (*CASE_FIELDS, "$schema"), CASE_ALIASES)
"""A file that is itself one case may name its schema for the editor."""
TURN = Vocabulary("a turn", TURN_FIELDS, CASE_ALIASES, groups=False)
USER = Vocabulary("a user", USER_FIELDS, {}, groups=False)


class Named(NamedTuple):
    """Values by primary name, nulls left out, and where each of them was written."""

    values: dict[str, Any]
    where: dict[str, KeyPath]
    """Only what is not written under its own name."""

    def path(self, base: KeyPath, name: str) -> KeyPath:
        return base + self.where.get(name, (name,))


NOWHERE_ELSE: dict[str, KeyPath] = {}
"""Every field is written under its own name."""


def settle_names(
    raw: dict[str, Any], base: KeyPath, vocabulary: Vocabulary, findings: Findings
) -> Named:
    """Find out which primary field each name stands for."""
    fields, aliases = vocabulary.fields, vocabulary.aliases
    named = Named({}, {})
    for name, value in raw.items():
        if name in fields:
            if value is not None:
                named.values[name] = value
        elif name not in aliases and (name != EXECUTION or not vocabulary.groups):
            _check_foreign(name, raw, base, vocabulary, findings)
    for name in raw:
        if name in aliases:
            _settle_alias(raw, name, aliases[name], base, named, findings)
    if EXECUTION in raw and vocabulary.groups:
        in_case = vocabulary is not SUITE
        _settle_execution(raw[EXECUTION], (*base, EXECUTION), named, in_case, findings)
        if in_case and named.where.get("graders", ())[:1] == (EXECUTION,):
            # Where they come from, a case's own ones took the place of the suite's.
            named.values.setdefault("suite_graders", False)
    return named


def _check_foreign(
    name: str, raw: dict[str, Any], base: KeyPath, vocabulary: Vocabulary, findings: Findings
) -> None:
    if name.startswith(PRIVATE_PREFIX):
        return
    path = (*base, name)
    if name and name[0].isspace():
        message = (
            f"the character U+{ord(name[0]):04X} before this name looks like a space but is not one"
        )
        plain = "".join(" " if char.isspace() else char for char in name)
        findings.add("unknown-field", path, message, "indent with plain spaces", "key", Fix(plain))
        return
    guess = _guess_field(name, vocabulary.what)
    hint = guess and f"did you mean `{guess}`?"
    if vocabulary is SUITE and (name in CASE_FIELDS or name in CASE_ALIASES):
        hint = "it belongs to a case, one level below"
    if vocabulary is not SUITE:
        if SUITE_ALIASES.get(name, name) == "cases":
            hint = "a case holds no cases; a file with `cases` is a suite"
        elif name in SUITE_FIELDS or name in SUITE_ALIASES:
            hint = hint or "it belongs to the suite, beside `cases`"
    within = {TURN.what: "turns", USER.what: "user"}.get(vocabulary.what)
    if within is not None and (name in CASE_FIELDS or name == EXECUTION):
        hint = f"it belongs to the case, beside `{within}`"
    if vocabulary is TURN and name == "user":
        hint = "what the user says in a turn is its `input`"
    hint = _hint_in_milliseconds(name, raw[name]) or _in_other_words(name, vocabulary) or hint
    hint = hint or _ELSEWHERE
    message = f"`{name}` is not a field of {vocabulary.what}{describe_foreign_letter(name)}"
    taken = guess is None or guess in raw or findings.suggested(guess, base)
    fix = None if taken or f"`{guess}`" not in hint else Fix(guess or "", of_name=True)
    findings.add("unknown-field", path, message, hint, "key", fix)


_ELSEWHERE = (
    "data for graders and results goes in `metadata`; "
    f"a field that starts with `{PRIVATE_PREFIX}` is ignored"
)


_SKIP = "a case with `skip`, a reason or true, is left out"
_ONLY = "`evalcase run --case ID` runs only that case; one with `skip` is left out"
_CALLS = "write `expected_output: {role: assistant, tool_calls: […]}`, or the grader `trajectory`"
_IN_OTHER_WORDS = {
    "pass_rate": "write `repeat: {times: 5, pass_rate: 0.8}`",
    "disabled": _SKIP, "disable": _SKIP, "enabled": _SKIP, "ignore": _SKIP, "skipped": _SKIP,
    "only": _ONLY, "focus": _ONLY,
    "expected_tool_calls": _CALLS, "expected_tools": _CALLS, "expected_trajectory": _CALLS,
    "tools_called": _CALLS, "expected_calls": _CALLS,
}  # fmt: skip
"""What to write for fields of other tools that no single field of ours stands for."""


def _in_other_words(name: str, vocabulary: Vocabulary) -> str | None:
    of_suite = vocabulary is SUITE and name != "pass_rate"
    return None if of_suite else _IN_OTHER_WORDS.get(plain_name(name))


def _hint_in_milliseconds(name: str, value: Any) -> str | None:
    if name not in ("timeout_ms", "timeoutMs"):
        return None
    if type(value) not in (int, float) or value <= 0:
        return "write `timeout_s`, in seconds"
    return f"write `timeout_s: {value / 1000:g}`: it counts seconds, not milliseconds"


_BY_WHAT = {each.what: each for each in (CASE, SUITE, TURN, USER)}


@lru_cache(1000)
def _guess_field(name: str, what: str) -> str | None:
    """Remembered, because one mistake is often made in every case of a file."""
    vocabulary = _BY_WHAT[what]
    return nearest_field(name, vocabulary.fields, vocabulary.aliases)


def _settle_alias(
    raw: dict[str, Any], name: str, primary: str, base: KeyPath, named: Named, findings: Findings
) -> None:
    path = (*base, name)
    if raw.get(primary) is not None and primary != "cases":
        message = f"`{name}` is ignored, because `{primary}` is there too"
        findings.add("ignored-alias", path, message, f"remove `{name}`", "key")
        return
    if raw[name] is not None and primary in named.values:
        other = named.path(base, primary)
        message = f"`{name}` and `{other[-1]}` are two names of one field"
        findings.add("conflicting-fields", path, message, f"keep one, as `{primary}`", "key")
        return
    owner = "promptfoo's " if name == "assert" else ""
    message = f"{owner}`{name}` is called `{primary}` here"
    hint = "`evalcase migrate` renames it"
    if primary in named.values:
        hint = f"remove it: it is null, and `{primary}` is there"
    elif primary in raw:
        hint = f"remove the `{primary}` beside it, which is null, and rename it"
    findings.add("deprecated-name", path, message, hint, "key")
    if raw[name] is not None:
        named.values[primary] = raw[name]
        named.where[primary] = (name,)


def _settle_execution(
    value: Any, path: KeyPath, named: Named, in_case: bool, findings: Findings
) -> None:
    """Read the deprecated grouping as the fields that took its place."""
    message = "`execution` is no longer used: write its fields directly"
    findings.add("deprecated-name", path, message, _in_its_place(value, in_case), "key")
    if value is None:
        return
    if type(value) is not dict:
        findings.add("wrong-type", path, f"`execution` is a mapping, not {describe_kind(value)}")
        return
    for name, item in value.items():
        if name not in EXECUTION_FIELDS:
            message = f"`execution` has no `{name}`"
            guess = suggest_field(name, EXECUTION_FIELDS)
            findings.add("unknown-field", (*path, name), message, guess, "key")
        elif item is not None:
            _settle_executed(name, EXECUTION_FIELDS[name], item, path, named, findings)


def _in_its_place(value: Any, in_case: bool) -> str:
    """What to write for it, which means the same: the evaluators of a case were its only ones."""
    held = value if type(value) is dict else {}
    fields = [new for old, new in EXECUTION_FIELDS.items() if held.get(old) is not None]
    if not fields:
        return "remove it" if value is None or held else "write `target` and `graders` in its place"
    if in_case and "graders" in fields:
        fields.append("suite_graders: false")
    *first, last = [f"`{each}`" for each in fields]
    return f"write {', '.join(first)}{' and ' if first else ''}{last} in its place"


def _settle_executed(
    name: str, primary: str, item: Any, path: KeyPath, named: Named, findings: Findings
) -> None:
    rivals = ("target", "targets") if primary == "target" else (primary,)
    rival = next((each for each in rivals if each in named.values), None)
    if rival is None:
        named.values[primary] = item
        named.where[primary] = (path[-1], name)
    elif rival in named.where:
        other = ".".join(map(str, named.where[rival]))
        message = f"`execution.{name}` and `{other}` are two names of one field"
        findings.add(
            "conflicting-fields", (*path, name), message, f"keep one, as `{primary}`", "key"
        )
    else:
        message = f"`execution.{name}` is ignored, because `{rival}` is there too"
        findings.add("ignored-alias", (*path, name), message, "remove it", "key")

"""The user of a conversation as written, whom a target plays, to its canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalcase.model.case import Case
from evalcase.model.finding import QUOTE_IT, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.simulated_user import USER_FIELDS, USER_NEEDS
from evalcase.resolve.findings import Findings
from evalcase.resolve.messages import read_input
from evalcase.resolve.names import USER, Named, settle_names
from evalcase.resolve.values import Reader, read_name, read_text, read_times

_EXAMPLE = "write {goal: …, target: …, max_turns: 10}"
_ABSENT = {
    "goal": "say what the user wants",
    "target": "name the target that plays the user",
    "max_turns": "say how often the user may speak, such as `max_turns: 10`",
}


def read_user_of(named: Named, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    """The `user` of a case; None, with findings, where it has errors. What can't stand beside it
    is found, too."""
    values = named.values
    if values.get("expected_output") is not None:
        message = (
            "`expected_output` can't be used with `user`: nobody knows the last answer beforehand"
        )
        hint = "say in `criteria`, `rubrics` or `graders` what a good conversation is"
        at = named.path(path, "expected_output")
        findings.add("conflicting-fields", at, message, hint, "key")
    if values.get("turns") is not None:
        message = "`user` can't be used with `turns`, which say what the user says"
        findings.add("conflicting-fields", (*path, "user"), message, "keep one of them", "key")
    return _read_user(values["user"], (*path, "user"), findings)


def _read_user(raw: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    if type(raw) is not dict:
        findings.add("wrong-type", path, f"`user` is a mapping, not {describe_kind(raw)}", _EXAMPLE)
        return None
    before = findings.errors
    written = settle_names(raw, path, USER, findings).values
    data: dict[str, Any] = {}
    for name in USER_FIELDS:
        if name in written:
            data[name] = _READERS[name](written[name], (*path, name), findings)
        elif name in USER_NEEDS and not findings.suggested(name, path):
            findings.add("missing-option", path, f"the user has no `{name}`", _ABSENT[name])
    return data if findings.errors == before else None


def _read_target(value: Any, path: KeyPath, findings: Findings) -> str | None:
    name = read_name(value, path, findings)
    if name is not None:
        findings.mention("asked", name, path)
    return name


def _read_said(value: Any, path: KeyPath, findings: Findings) -> str | None:
    """A text that says something."""
    if type(value) is str and not value.strip():
        what = "blank" if value else "empty"
        hint = "leave it out, or fill it" if path[-1] not in USER_NEEDS else "fill it"
        findings.add("bad-value", path, f"`{path[-1]}` is {what}", hint)
        return None
    return read_text(value, path, findings)


def _read_facts(value: Any, path: KeyPath, findings: Findings) -> object:
    """Sentences, of which one may stand alone; or values by name, which are kept as they are."""
    if type(value) is dict and value:
        return value
    if type(value) is str:
        said = _read_said(value, path, findings)
        return None if said is None else [said]
    if type(value) is not list:
        what = "an empty mapping" if value == {} else describe_kind(value)
        message = f"`facts` is text, a list of texts or a mapping, not {what}"
        hint = "leave it out" if value == {} else None
        findings.add("wrong-type" if value != {} else "bad-value", path, message, hint)
        return None
    if not value:
        findings.add("empty-list", path, "`facts` is an empty list", "leave it out")
    for index, item in enumerate(value):
        if type(item) is not str:
            hint = QUOTE_IT if type(item) in (int, float, bool) else "write what is known as text"
            message = f"`facts` holds texts, but this is {describe_kind(item)}"
            findings.add("wrong-type", (*path, index), message, hint)
    return value


_READERS: dict[str, Reader] = {
    "goal": _read_said,
    "target": _read_target,
    "max_turns": read_times,
    "persona": _read_said,
    "facts": _read_facts,
    "first": read_input,
}


def user_messages(user: dict[str, Any]) -> list[dict[str, Any]]:
    """What an id is made of, as messages: what is said first, and all that decides what follows."""
    about = {name: user[name] for name in ("persona", "facts") if name in user}
    return [*user.get("first", ()), {"role": "user", "content": user["goal"], "user": about}]


def advise_user(case: Case, path: KeyPath, findings: Findings) -> None:
    """Look over a case that has no errors: a user who talks to themselves tests nobody."""
    if findings.known is None or case.user is None or "skip" in case._data:
        return
    targets: Sequence[str | None] = case.targets or (None,)
    for target in targets:
        same = findings.known.describe_same_user(case.user.target, target)
        if same is not None:
            at = (*path, "user", "target")
            findings.say_once("same-model", at, same, "have another target play the user")

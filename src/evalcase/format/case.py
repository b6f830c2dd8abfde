"""One eval case as it is written, to its canonical form: messages in all their short forms, other
fields, turns or a user, the id, and what the suite adds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from evalcase.format.document import Findings
from evalcase.format.fields import (
    CASE,
    EXCLUSIVE,
    FILE_SCHEME,
    GRADED,
    PRIVATE_PREFIX,
    TURN,
    CaseFile,
    Named,
    Vocabulary,
    WrittenRubric,
    WrittenUser,
    all_names,
    settle_names,
)
from evalcase.format.graders import read_grader_list
from evalcase.format.lints import advise_case, check_spelling
from evalcase.format.workspace import (
    check_workspace,
    drop_nulls,
    merge_workspaces,
    read_workspace,
)
from evalcase.types.case import FIELDS, Case, canonical_case, needs_judge
from evalcase.types.message import (
    OTHER_ROLES,
    ROLES,
    is_lone_part,
    is_message,
    is_part,
    named_file,
    names_tool,
    said_text,
    text_of,
)
from evalcase.types.problem import QUOTE_IT, Fix, KeyPath, hint_at
from evalcase.types.read_options import fields_of
from evalcase.types.value import describe_kind
from evalcase.util.text import nearest_field

if TYPE_CHECKING:
    from evalcase.format.variables import SuiteVariables  # which resolves cases

Messages = list[dict[str, Any]]
UsualRole = Literal["user", "assistant"]
"""The role that a message has where only its content is written: `user` in an input."""

_AS_DATA = (
    "or, if this mapping is data and not a message, write it as the content of one: "
    "{{role: {}, content: {{role: …}}}}"
)
_OF_CASES = frozenset(all_names(*GRADED))
"""What a case says of a good answer: in a message, the target would see it."""


# Messages


def read_input(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    if type(value) is list or type(value) is dict:
        return _read_messages(value, "user", path, findings)
    if type(value) is str:
        if not value or value.isspace():
            findings.add("empty-input", path, "the input is blank")
        return _make_message(value, "user", path, findings)
    wanted = "a string, a message, a list of messages or a mapping"
    message = f"`input` is {wanted}, not {describe_kind(value)}"
    findings.add("wrong-type", path, message, QUOTE_IT)
    return None


def read_expected_output(value: Any, path: KeyPath, findings: Findings) -> Messages | None:
    if type(value) is dict or (type(value) is list and (not value or any(map(is_message, value)))):
        return _read_messages(value, "assistant", path, findings)
    return _make_message(value, "assistant", path, findings)


def _make_message(content: Any, role: UsualRole, path: KeyPath, findings: Findings) -> Messages:
    """The message of which only the content is written."""
    if type(content) is str:
        if content.startswith(FILE_SCHEME):
            warn_of_file(content, path, findings)
    else:
        _check_content(content, role, path, findings)
    return [{"role": role, "content": content}]


def warn_of_file(text: Any, path: KeyPath, findings: Findings, variable: str = "text") -> None:
    """Warn of a text that is the address of a file; one from the root is a link, and may be meant.
    A `variable` could have what is in the file."""
    if type(text) is not str or not text.startswith(FILE_SCHEME) or len(text.split()) > 1:
        return
    name = text.removeprefix(FILE_SCHEME)
    if not name.startswith("/"):
        message = f"this is the text `{text}`, and not what is in that file"
        hint = f"`var_files: {{{variable}: {name}}}` makes {{{{{variable}}}}} the text of the file"
        findings.add("file-as-text", path, message, hint)


def _read_messages(
    value: Any, usual: UsualRole, path: KeyPath, findings: Findings
) -> Messages | None:
    """A list of messages, one message, or data."""
    before = findings.errors
    if type(value) is dict:
        if not _check_message(value, usual, path, findings):
            return _make_message(value, usual, path, findings)
        return [value] if findings.errors == before else None
    if not value:
        hint = "leave it out, or write the full message: [{role: assistant, content: []}]"
        message = f"`{path[-1]}` is an empty list"
        findings.add("empty-list", path, message, hint if usual == "assistant" else None)
    for index, item in enumerate(value):
        at = (*path, index)
        if not _check_message(item, usual, at, findings):
            what = "a mapping that is not one" if type(item) is dict else describe_kind(item)
            hint = f"write {{role: {usual}, content: …}}"
            findings.add("wrong-type", at, f"this list holds messages, not {what}", hint)
    return value if findings.errors == before else None


def _check_message(message: Any, usual: UsualRole, path: KeyPath, findings: Findings) -> bool:
    """Whether a value is meant as a message. What is wrong with the message is added."""
    if type(message) is not dict or "role" not in message:
        return False
    if message["role"] not in ROLES:
        if not is_message(message):
            return False
        _report_role(message["role"], usual, (*path, "role"), findings)
    content = message.get("content")
    if "tool_calls" in message and message["tool_calls"] is not None:
        _check_tool_calls(message["tool_calls"], (*path, "tool_calls"), findings)
    elif content is None and "content" not in message:
        known = ("content", "tool_calls")
        near = (nearest_field(key, known, elsewhere={}) for key in message if key != "role")
        hint = hint_at(next(filter(None, near), None)) or f"add `content`; {_AS_DATA.format(usual)}"
        what = "this message has neither `content` nor `tool_calls`"
        findings.add("empty-message", path, what, hint)
    if type(content) is list or type(content) is dict:
        _check_content(content, usual, (*path, "content"), findings)
    if usual == "user" and not _OF_CASES.isdisjoint(message):
        for key in _OF_CASES.intersection(message):
            what = f"`{key}` is inside a message, where the target sees it"
            findings.add("misplaced-field", (*path, key), what, "move it out, to the case", "key")
    return True


def _report_role(role: Any, usual: UsualRole, path: KeyPath, findings: Findings) -> None:
    is_text = type(role) is str
    meant = nearest_field(role, ROLES, elsewhere=OTHER_ROLES) if is_text else None
    what = f"`{role}` is not a role" if is_text else f"a role is no {describe_kind(role)}"
    hint = hint_at(meant) or f"the roles are {', '.join(ROLES)}; {_AS_DATA.format(usual)}"
    fix = None if meant is None else Fix(meant, of_name=True)
    findings.add("unknown-role", path, what, hint, fix=fix)


def _check_tool_calls(calls: Any, path: KeyPath, findings: Findings) -> None:
    if type(calls) is not list:
        findings.add("wrong-type", path, f"`tool_calls` is a list, not {describe_kind(calls)}")
    elif not calls:
        findings.add("empty-list", path, "`tool_calls` is an empty list", "leave it out")
    else:
        for index, call in enumerate(calls):
            is_named = names_tool(call)
            if is_named:
                is_named = bool(call["tool"] if "tool" in call else call["function"]["name"])
            if not is_named:
                message = "a tool call must name its tool"
                hint = "write {tool: name, input: …}, or {function: {name: …, arguments: …}}"
                findings.add("bad-tool-call", (*path, index), message, hint)


_PART_KEYS = {
    "text": "text", "output_text": "text", "refusal": "refusal", "file": "path", "image": "path",
}  # fmt: skip
"""The types of parts that mean something here, each with the key that it needs. Parts of other
types are kept as they are."""
_IMAGE_KEYS = frozenset((
    "path", "url", "data", "value", "image", "image_url", "source", "file_id", "bytes",
    "inline_data", "inlineData", "file_data", "fileData",
))  # fmt: skip
"""Keys of an image, ours and those of providers."""


def _check_content(content: Any, usual: UsualRole, path: KeyPath, findings: Findings) -> None:
    """Check content parts: those in a list, and a file or an image that a target is given, which
    needs no list around it. Other content is data."""
    if type(content) is not list:
        if usual == "user" and is_lone_part(content):
            _check_part(content, path, findings)
        return
    parts = [is_part(item) for item in content]
    if all(parts):
        for index, part in enumerate(content):
            _check_part(part, (*path, index), findings)
    elif any(is_part(item) and item["type"] in _PART_KEYS for item in content):
        message = "this is not a content part, so the whole list is plain data"
        hint = "give it a type: {type: text, text: …}"
        findings.add("odd-part", (*path, parts.index(False)), message, hint)


def _check_part(part: dict[str, Any], path: KeyPath, findings: Findings) -> None:
    """Note the file that a part names; warn of a part that has neither a file nor a text."""
    kind, name = part["type"], named_file(part)
    key = _PART_KEYS.get(kind)
    if name is not None:
        findings.add_file(name, (*path, "path" if part.get("path") == name else "value"))
    elif key and said_text(part) is None and (kind != "image" or _IMAGE_KEYS.isdisjoint(part)):
        message = f"a part of the type `{kind}` needs `{key}`"
        findings.add("odd-part", path, message, f"write {{type: {kind}, {key}: …}}")


# Ids

_MAX_SLUG = 40
_DIGITS = 6


class Ids(Struct):
    """The ids of a suite so far: only hashes, because there may be a million cases."""

    _taken: set[int] = set()
    _inputs: set[bytes] = set()
    _copies: dict[str, int] = {}

    def claim(self, id: str) -> bool:
        """Take an id for a case; False if another case has it."""
        number = hash(id)
        if number in self._taken:
            return False
        self._taken.add(number)
        return True

    def make(self, messages: Messages) -> str:
        """An id that depends on the case's own input only; copies of a case are numbered."""
        canonical = json.dumps(messages, sort_keys=True, separators=(",", ":"))
        digest = sha256(canonical.encode()).hexdigest()
        slug, known = _make_slug(messages), digest[:16].encode()
        if known not in self._inputs:
            self._inputs.add(known)
            for length in range(_DIGITS, len(digest), 2):  # more digits where inputs share some
                if self.claim(id := f"{slug}-{digest[:length]}"):
                    return id
        id = f"{slug}-{digest[:_DIGITS]}"
        while True:
            self._copies[id] = self._copies.get(id, 1) + 1
            if self.claim(numbered := f"{id}-{self._copies[id]}"):
                return numbered


def _make_slug(messages: Messages) -> str:
    texts = (text_of(message.get("content")) for message in messages if message["role"] == "user")
    text = next((text for text in texts if text), "")
    words = re.sub(r"[\W_]+", "-", text[:400].lower()).strip("-")
    return words[:_MAX_SLUG].strip("-") or "case"


def known_by(fields: dict[str, Any]) -> Messages:
    """The messages that an id is made of: the input, what is said in turns, what makes the user."""
    said: Messages = [*fields.get("input", ())]
    for turn in fields.get("turns", ()):
        said += turn.get("input", ())
    if "user" in fields:
        user = fields["user"]
        about = {name: user[name] for name in ("persona", "facts") if name in user}
        goal = {"role": "user", "content": user["goal"], "user": about}
        said += [*user.get("first", ()), goal]
    return said


# What a suite adds


class Shared(NamedTuple):
    """What a suite adds to each of its cases."""

    messages: Messages
    """Put before the case's own input."""
    graders: list[dict[str, Any]]
    """Put before the case's own graders."""
    tags: list[str]
    defaults: dict[str, Any]
    """Fields of cases that don't have them."""
    variables: SuiteVariables | None = None
    lacks_graders: bool = False
    """Whether graders with errors are missing here, so that cases can't be advised of any."""
    are_evaluators: bool = False
    """Whether the graders are written as AgentV's `evaluators`."""

    def complete(self, fields: dict[str, Any], with_graders: bool) -> dict[str, Any]:
        """The canonical form of a case, in order, with what the suite adds to its fields."""
        if self.messages:
            fields["input"] = [*self.messages, *fields.get("input", ())]
        if self.graders and with_graders:
            fields["graders"] = [*self.graders, *fields.get("graders", ())]
        if self.tags:
            fields["tags"] = list(dict.fromkeys((*self.tags, *fields.get("tags", ()))))
        if "workspace" in self.defaults and isinstance(own := fields.get("workspace"), dict):
            fields["workspace"] = merge_workspaces(self.defaults["workspace"], own)
        fields = {**self.defaults, **fields}
        return {name: fields[name] for name in FIELDS if name in fields}


ADDS_NO_JUDGE = "adds no judge"
NOTHING_SHARED = Shared([], [], [], {})


# Fields

_FIELDS = fields_of(CaseFile)


def _name_turns(raw: Any, path: KeyPath, findings: Findings) -> list[Named]:
    """The turns that are no mistakes. They are like small cases; a text alone is the input."""
    turns: list[Named] = []
    if type(raw) is not list:
        message = f"`turns` is a list, not {describe_kind(raw)}"
        findings.add("wrong-type", path, message, "put `- ` before each turn")
        return turns
    if not raw:
        findings.add("empty-list", path, "`turns` is an empty list", "write what is said first")
    for index, item in enumerate(raw):
        at = (*path, index)
        if type(item) is str:
            turns.append(Named({"input": item}, at, {"input": ()}))
        elif type(item) is dict and not is_message(item):
            named = settle_names(item, at, TURN, findings)
            if "input" not in named.values and not findings.suggested("input", at):
                findings.add("missing-input", at, "the turn has no `input`", "add `input: …`")
            turns.append(named)
        else:
            what = "a message" if type(item) is dict else describe_kind(item)
            hint = "write {input: …}, and what is expected of the answer beside it"
            findings.add("wrong-type", at, f"a turn is a mapping, not {what}", hint)
    return turns


def _read_turns(turns: list[Named], _: KeyPath, findings: Findings) -> list[dict[str, Any]]:
    return [read_fields(turn, findings) for turn in turns]


def _read_user(raw: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    if type(raw) is dict:
        written = drop_nulls(raw)
        raw = {name: each for name, each in written.items() if name[:2] != PRIVATE_PREFIX}
    if not findings.accepts(_FIELDS["user"], raw, path, lacking="missing-option"):
        return None
    before = findings.errors
    user = {name: raw[name] for name in fields_of(WrittenUser) if name in raw}
    if "first" in user:
        user["first"] = read_input(user["first"], (*path, "first"), findings)
    findings.mention("asked", user["target"], (*path, "target"))
    if type(user.get("facts")) is str:
        user["facts"] = [user["facts"]]
    return user if findings.errors == before else None


def _read_tags(value: Any, path: KeyPath, findings: Findings) -> list[str] | None:
    # Many cases have some, and what is declared is read more slowly.
    if type(value) is not list or {*map(type, value)} - {str}:
        findings.accepts(_FIELDS["tags"], value, path)
        return None
    tags: list[str] = value
    if len({*tags}) == len(tags):
        return tags
    for tag in [each for each, number in Counter(tags).items() if number > 1]:
        second = tags.index(tag, tags.index(tag) + 1)
        message, hint = f"the tag `{tag}` appears twice", "keep each tag once"
        findings.add("duplicate-tag", (*path, second), message, hint)
    return [*dict.fromkeys(tags)]


def _read_data(value: Any, path: KeyPath, findings: Findings) -> dict[str, Any] | None:
    return value if type(value) is dict else _read_declared("metadata", value, path, findings)


def _canonical_rubric(item: str | dict[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {"text": item} if isinstance(item, str) else drop_nulls(item)
    given.setdefault("text", given.pop("description", None))
    return {name: given[name] for name in fields_of(WrittenRubric) if name in given}


_CANONICAL: dict[str, Callable[[Any], Any]] = {
    "skip": lambda reason: reason or None,
    "rubrics": lambda items: [*map(_canonical_rubric, items)],
    "target": lambda name: [name],
    "repeat": lambda value: {"times": value} if type(value) is int else drop_nulls(value),
    "rendered": lambda flag: flag or None,
    "stop_on_failure": lambda flag: flag or None,
    "suite_graders": lambda _: None,
    "criteria_judge": lambda flag: None if flag else False,
    "$schema": lambda _: None,
}
"""The canonical values of fields that are written in another way, or not kept."""


def _read_declared(name: str, value: Any, path: KeyPath, findings: Findings) -> Any:
    if not findings.accepts(_FIELDS[name], value, path):
        return None
    if name == "target":
        findings.mention("target", value, path)
    elif name == "targets":
        for index, each in enumerate(value):
            findings.mention("target", each, (*path, index))
    return _CANONICAL[name](value) if name in _CANONICAL else value


Reader = Callable[[Any, KeyPath, Findings], Any]
"""Returns the canonical value; None, with findings, if it has errors."""
_OWN_READERS: dict[str, Reader] = {
    "input": read_input,
    "expected_output": read_expected_output,
    "turns": _read_turns,
    "user": _read_user,
    "graders": read_grader_list,
    "tags": _read_tags,
    "metadata": _read_data,
    "workspace": read_workspace,
}
_READERS: dict[str, Reader] = {
    name: _OWN_READERS.get(name) or partial(_read_declared, name)
    for name in _FIELDS
    if name not in ("id", "var_files", "matrix", "rows")
}
"""The readers of fields, in the order of the canonical form. It has a `target` as `targets`."""


@lru_cache(1000)
def _plan_reading(
    names: tuple[str, ...],
) -> tuple[list[tuple[str, str, tuple[str], Reader]], list[tuple[str, str, str]]]:
    """The readers of some fields, each with the name that its field has as it is written and in the
    canonical form, and its path; and which of the fields exclude one another. Cached, because the
    cases of a file have the same few sets of fields."""
    readers = [
        (name, "targets" if name == "target" else name, (name,), read)
        for name, read in _READERS.items()
        if name in names
    ]
    return readers, [each for each in EXCLUSIVE if each[0] in names and each[1] in names]


def read_fields(
    named: Named, findings: Findings, found: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The canonical values of the fields of a suite, a case or a turn, after those that are known;
    those with errors are left out."""
    found = {} if found is None else found
    values, path, where = named.values, named.path, named.where
    readers, exclusive = _plan_reading(tuple(values))
    for name, canonical, step, read in readers:
        at = path + where[name] if name in where else path + step
        result = read(values[name], at, findings)
        if result is not None:
            found[canonical] = result
    for first, second, hint in exclusive:
        message = f"`{second}` can't be used with `{first}`"
        findings.add("conflicting-fields", named.at(second), message, hint, "key")
    return found


# Cases

_ASKING = frozenset({"input", "turns", "user", "stop_on_failure"})
"""One of these a case can't do without; the last is reported if it stands alone."""
_JUDGED = frozenset({"criteria", "rubrics", "turns"})


def resolve_case(
    raw: Any,
    path: KeyPath,
    findings: Findings,
    ids: Ids,
    shared: Shared = NOTHING_SHARED,
    vocabulary: Vocabulary = CASE,
) -> Case | None:
    """The case that `raw` stands for; None, with findings, where it has errors."""
    before, start = findings.errors, (len(findings.found), len(findings.references))
    if type(raw) is not dict:
        findings.case = None
        findings.add("wrong-type", path, f"a case is a mapping, not {describe_kind(raw)}")
        return None
    written = raw.get("id")
    id = written if type(written) is str and written and not written.isspace() else None
    findings.case = id
    if id is not None and not ids.claim(id):
        findings.add("duplicate-id", (*path, "id"), f"the id `{id}` is taken")
    named = settle_names(raw, path, vocabulary, findings)
    values = named.values
    if "criteria" in named.where:
        _settle_outcome(named, shared, findings)
    if _ASKING.isdisjoint(values) and not findings.suggested("input", path):
        findings.add("missing-input", path, "the case has no `input`", "add `input: …`")
    if "turns" in values:
        turns = _name_turns(values["turns"], named.at("turns"), findings)
        named = replace(named, values={**values, "turns": turns})
    elif "stop_on_failure" in values:
        message = "`stop_on_failure` says what happens after a turn, and there are no `turns`"
        findings.add("bad-value", (*path, "stop_on_failure"), message, "remove it", "key")
    data = read_fields(named, findings, {"id": id})
    if id is None:
        if written is not None and findings.accepts(_FIELDS["id"], written, (*path, "id")):
            findings.add("bad-value", (*path, "id"), "the id is blank", "leave it out, or fill it")
        elif written is None and (messages := known_by(data)):
            data["id"] = ids.make(messages)
            findings.name_case(data["id"], *start)
    if not _JUDGED.isdisjoint(data) and "skip" not in data:
        _mention_judges(data, named, findings)
    if shared is not NOTHING_SHARED:
        data = shared.complete(data, values.get("suite_graders") is not False)
    if "workspace" in data:
        if data["workspace"] is False:
            del data["workspace"]
        else:
            data["workspace"] = merge_workspaces({}, data["workspace"])
            check_workspace(data["workspace"], named, findings)
    if findings.unusual:
        check_spelling(named, findings)
    if findings.errors > before:
        return None
    case = canonical_case(data)
    if not shared.lacks_graders and "skip" not in data:
        advise_case(case, named, findings)
    return case if findings.errors == before else None


def _settle_outcome(named: Named, shared: Shared, findings: Findings) -> None:
    """Beside `evaluators`, an `expected_outcome` adds no judge, as in AgentV."""
    of_suite = shared.are_evaluators and named.values.get("suite_graders") is not False
    of_case = named.at("graders")[-1] == "evaluators" and bool(named.values.get("graders"))
    if (of_case or of_suite) and "criteria_judge" not in named.values:
        named.values["criteria_judge"] = False
        message = f"beside `evaluators`, `{named.at('criteria')[-1]}` {ADDS_NO_JUDGE}"
        hint = "judges see it; under our names that is `criteria_judge: false`"
        findings.add("deprecated-name", named.at("criteria"), message, hint, "key")


def _mention_judges(data: dict[str, Any], named: Named, findings: Findings) -> None:
    """Look for the judge that a case or one of its turns needs."""
    if needs_judge(data):
        name = "criteria" if "criteria" in data else "rubrics"
        findings.mention("judge", name, named.at(name), "key")
    if "turns" in data:
        for turn, written in zip(data["turns"], named.values["turns"], strict=True):
            _mention_judges(turn, written, findings)

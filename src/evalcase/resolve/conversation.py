"""A conversation as written to its canonical form: its turns, each of which is like a small case
and looked over like one; or the user whom a target plays."""

from __future__ import annotations

from typing import Any, NamedTuple

from evalcase.model.case import Case, canonical_case
from evalcase.model.finding import NO_DOUBTS, KeyPath
from evalcase.model.json_value import describe_kind
from evalcase.model.message import is_message
from evalcase.resolve.advice import (
    GRADED,
    WrittenExpected,
    advise_case,
    advise_comparing,
    advise_passing,
    advise_reference,
    check_judges,
    check_material,
    check_weights,
)
from evalcase.resolve.case import make_id, read_the_rest
from evalcase.resolve.doubts import look_into
from evalcase.resolve.fields import TURN_FIELDS
from evalcase.resolve.findings import Findings
from evalcase.resolve.ids import Ids
from evalcase.resolve.messages import read_expected_output, read_input
from evalcase.resolve.names import TURN, Named, settle_names
from evalcase.resolve.plain_texts import warn_of_file_texts, warn_of_texts
from evalcase.resolve.replaced import advise_replaced
from evalcase.resolve.simulated_user import advise_user, read_user_of, user_messages
from evalcase.resolve.suite_fields import NOTHING_SHARED, Shared
from evalcase.resolve.values import READERS, read_flag


class WrittenTurn(NamedTuple):
    """A turn in canonical form, and how it is written."""

    data: dict[str, Any]
    path: KeyPath
    named: Named

    @property
    def expected(self) -> WrittenExpected:
        """What it expects, as it stands in the file."""
        value = self.named.values.get("expected_output")
        return WrittenExpected(value, self.named.path(self.path, "expected_output"))


def resolve_conversation(
    named: Named, path: KeyPath, findings: Findings, ids: Ids, shared: Shared
) -> Case | None:
    """The case that fields stand for; None, with findings, where it has errors."""
    values, errors = named.values, findings.errors
    history = values.get("input")
    if history is not None:
        history = read_input(history, named.path(path, "input"), findings)
    fields, turns = _read_talk(named, path, findings)
    said = [*(history or ()), *talk_known_by(fields)]
    id = findings.case or make_id(values.get("id"), path, said or None, ids, findings)
    if id is not None and id == values.get("id") and not ids.claim(id):
        findings.add("duplicate-id", (*path, "id"), f"the id `{id}` is taken")
    data = {"id": id, "input": history or [], **fields}
    read_the_rest(values, named.where, path, data, findings)
    if shared is not NOTHING_SHARED:
        shared.add_to(data, own_graders_only=values.get("suite_graders") is False)
    if not data["input"]:
        del data["input"]
    if findings.doubts is not NO_DOUBTS:
        for turn in turns:
            look_into(data, turn.expected.value, path, turn.expected.path, findings)
        warn_of_texts(named, path, findings)
        for turn in turns:
            warn_of_file_texts(turn.named, turn.path, findings)
    if findings.errors > errors:
        return None
    case = canonical_case(data)
    if shared.is_whole_for(values):
        _advise_turns(case, turns, path, findings)
    return case if findings.errors == errors else None


def _advise_turns(case: Case, turns: list[WrittenTurn], path: KeyPath, findings: Findings) -> None:
    """Look over a case that has no errors, turn by turn and as a whole."""
    for turn, written in zip(case.turns, turns, strict=True):
        _look_over(turn, written.path, findings)
        if "expected_output" in turn._data:
            advise_case(turn._data, written.path, written.expected, findings)
            if "skip" not in case._data:
                advise_replaced(turn._data, written.expected.path, findings)
    _look_over(case, path, findings)
    advise_user(case, path, findings)
    if "skip" in case._data:
        return
    advise_reference(case._data.get("graders", ()), path, findings)
    if not any(name in part._data for part in case.graded_parts for name in GRADED):
        message = "this conversation has nothing to grade, so it can never pass"
        hint = "give a turn its `expected_output`, or the whole `criteria`, `rubrics` or `graders`"
        if case.user is not None:
            hint = "say in `criteria`, `rubrics` or `graders` what a good conversation is"
        findings.add("nothing-to-grade", path, message, hint)


def _look_over(part: Case, path: KeyPath, findings: Findings) -> None:
    data = part._data
    graders = data.get("graders")
    if "turns" not in data:
        advise_passing(data, path, findings)
    if graders:
        if "turns" not in data:
            check_weights(data, path, findings)
        if "expected_output" in data:
            advise_comparing(data, path, findings)
        if "skip" not in data:
            check_material(part, graders, path, findings)
    if graders or part.needs_judge:
        check_judges(data, path, findings)


def _read_talk(
    named: Named, path: KeyPath, findings: Findings
) -> tuple[dict[str, Any], list[WrittenTurn]]:
    """What a case says of its conversation, in canonical form; and its turns, if it has any."""
    if named.values.get("user") is None:
        return _read_turns_of(named, path, findings)
    user = read_user_of(named, path, findings)
    if named.values.get("stop_on_failure") is not None:
        _refuse_stopping(path, findings)
    return {} if user is None else {"user": user}, []


def talk_known_by(fields: dict[str, Any]) -> list[dict[str, Any]]:
    """What a conversation is known by before it is had."""
    if "user" in fields:
        return user_messages(fields["user"])
    return [message for turn in fields.get("turns", ()) for message in turn["input"] or ()]


def _refuse_stopping(path: KeyPath, findings: Findings) -> None:
    message = "`stop_on_failure` says what happens after a turn, and there are no `turns`"
    findings.add("bad-value", (*path, "stop_on_failure"), message, "remove it", "key")


def _read_turns_of(
    named: Named, path: KeyPath, findings: Findings
) -> tuple[dict[str, Any], list[WrittenTurn]]:
    """The turns of a case, and its fields about them in canonical form."""
    values = named.values
    raw, stops = values.get("turns"), values.get("stop_on_failure")
    if raw is None:
        _refuse_stopping(path, findings)
        return {}, []
    if values.get("expected_output") is not None:
        message = "`expected_output` can't be used with `turns`"
        hint = "give it to the turn whose answer it is"
        at = named.path(path, "expected_output")
        findings.add("conflicting-fields", at, message, hint, "key")
    turns = _read_turns(raw, (*path, "turns"), findings)
    if not values.get("skip"):
        _mention_judges(turns, findings)
    fields: dict[str, Any] = {"turns": [turn.data for turn in turns]}
    if stops is not None and read_flag(stops, (*path, "stop_on_failure"), findings):
        fields["stop_on_failure"] = True
    return fields, turns


def _read_turns(raw: Any, path: KeyPath, findings: Findings) -> list[WrittenTurn]:
    if type(raw) is not list:
        message = f"`turns` is a list, not {describe_kind(raw)}"
        findings.add("wrong-type", path, message, "put `- ` before each turn")
        return []
    if not raw:
        findings.add("empty-list", path, "`turns` is an empty list", "write what is said first")
    turns = [_read_turn(item, (*path, index), findings) for index, item in enumerate(raw)]
    return [turn for turn in turns if turn is not None]


def _read_turn(item: Any, path: KeyPath, findings: Findings) -> WrittenTurn | None:
    """One turn; a text alone is what is said in it."""
    if type(item) is str:
        named = Named({"input": item}, {"input": ()})
        return WrittenTurn({"input": read_input(item, path, findings)}, path, named)
    if type(item) is not dict or is_message(item):
        what = "a message" if type(item) is dict else describe_kind(item)
        hint = "write {input: …}, and what is expected of the answer beside it"
        findings.add("wrong-type", path, f"a turn is a mapping, not {what}", hint)
        return None
    before = findings.errors
    named = settle_names(item, path, TURN, findings)
    data: dict[str, Any] = {}
    for name in TURN_FIELDS:
        value = named.values.get(name)
        if value is not None:
            data[name] = _read_field(name, value, named.path(path, name), findings)
    if "input" not in data and not findings.suggested("input", path):
        findings.add("missing-input", path, "the turn has no `input`", "add `input: …`")
    return WrittenTurn(data, path, named) if findings.errors == before else None


def _read_field(name: str, value: Any, path: KeyPath, findings: Findings) -> Any:
    if name == "input":
        return read_input(value, path, findings)
    if name == "expected_output":
        return read_expected_output(value, path, findings)
    return READERS[name][1](value, path, findings)


def _mention_judges(turns: list[WrittenTurn], findings: Findings) -> None:
    for turn in turns:
        name = next((each for each in ("criteria", "rubrics") if each in turn.data), None)
        if name is not None:
            findings.mention("judge", name, turn.named.path(turn.path, name), "key")

"""A case at a target in, what is shown when it is opened out."""

from __future__ import annotations

from evalcase.report.case_facts import case_facts, user_facts
from evalcase.report.page.messages import Told, tell_messages
from evalcase.report.page.subject import CaseRow
from evalcase.report.page.trials import tell_trial
from evalcase.types.case import Case
from evalcase.types.message import text_of
from evalcase.util.text import content_text

_OTHERS = ("threshold", "repeat", "timeout_s", "conversation_id", "metadata")
"""Fields that are shown beside what a case is about and graded by."""


def tell_case(row: CaseRow) -> Told:
    """All of it."""
    told: Told = {"suite": row.suite, "case": row.case, "target": row.target}
    if row.known is not None:
        told |= _tell_known(row.known)
        if not any(result.turns for result in row.results):
            # Where nobody had the conversation, it is as it was to be.
            told["input"] = tell_messages(row.known.written_messages)
    if row.outcome is not None:
        told["repeats"], told["needed"] = row.outcome.repeats, row.outcome.pass_rate
    as_data = row.known is not None and _expects_data(row.known)
    told["trials"] = [
        tell_trial(result, row.regradings.get(result.key.repeat, ()), as_data=as_data)
        for result in row.results
    ]
    if row.base is not None and row.base.results:
        told["base"] = [tell_trial(result, as_data=as_data) for result in row.base.results]
    return told


def _expects_data(case: Case) -> bool:
    expected = case._data.get("expected_output") or [{}]
    content = expected[-1].get("content")
    return content is not None and text_of(content) is None


def _tell_known(case: Case) -> Told:
    told: Told = {
        "input": tell_messages(case._data.get("input", ())),
        "facts": [[label, text] for label, text in case_facts(case, _OTHERS, indent=2)],
    }
    if case.user is not None:
        told["user"] = [[label, text] for label, text in user_facts(case.user)]
    if case.turns:
        told["script"] = [_tell_turn(turn) for turn in case.turns]
    expected = case._data.get("expected_output")
    if expected:
        told["expected"] = tell_messages(expected)
        reference = _find_reference(expected)
        if reference is not None:
            told["reference"] = reference
    return told


def _tell_turn(turn: Case) -> Told:
    """What is expected of the answer to a turn."""
    told: Told = {"facts": [[label, text] for label, text in case_facts(turn, (), indent=2)]}
    expected = turn._data.get("expected_output")
    return {**told, "expected": tell_messages(expected)} if expected else told


def _find_reference(expected: list[Told]) -> str | None:
    """The text that an answer is held against: that of the last message which has any."""
    for message in reversed(expected):
        if message["role"] == "assistant" and message.get("content") is not None:
            return content_text(message["content"])
    return None

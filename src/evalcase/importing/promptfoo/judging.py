"""Assertions that a model decides: each is put to the judge as a statement."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.importing.promptfoo.assertions import Assertion
from evalcase.importing.promptfoo.unmapped import NoCounterpartError
from evalcase.importing.source import Item
from evalcase.types.value import JSON

_TOLD = ("provider", "rubricPrompt", "threshold")
JUDGED: dict[str, tuple[str, ...]] = {
    "llm-rubric": _TOLD,
    "model-graded-closedqa": _TOLD,
    "factuality": _TOLD,
    "model-graded-factuality": _TOLD,
    "g-eval": _TOLD,
}
"""By type, with the fields that are told of and do no harm."""
_WHY = {
    "provider": "`provider` of a judge: [judge] of the configuration says who judges",
    "rubricPrompt": "`rubricPrompt`: evalcase asks a judge in words of its own",
    "threshold": "`threshold` of a judge, who says yes or no",
}


def map_judged(assertion: Assertion, notes: list[tuple[Item, str]]) -> JSON:
    """A `judge` with the statement; what is lost of it goes to the notes."""
    text = assertion.value
    several = text if isinstance(text, list) and len(text) > 1 else [text]
    if not all(isinstance(each, str) and each.strip() for each in several):
        raise NoCounterpartError(f"`{assertion.name}` without a text to judge by")
    if any(str(each).startswith("file://") for each in several):
        raise NoCounterpartError(f"`{assertion.name}`, whose text is in a file")
    if len(several) > 1 and assertion.is_negated:
        raise NoCounterpartError(f"`{assertion.name}` with several criteria")
    for name in _TOLD:
        if name in assertion.fields:
            notes.append((assertion.field(name), _WHY[name]))
    if assertion.type == "g-eval" and "threshold" not in assertion.fields:
        notes.append((assertion.item, "the score of `g-eval`: a judge says yes or no"))
    statements: list[JSON] = [_write_statement(str(each).strip(), assertion) for each in several]
    return {"judge": {"rubrics": statements} if len(statements) > 1 else statements[0]}


def _write_statement(text: str, assertion: Assertion) -> str:
    if assertion.type.endswith("factuality"):
        return f"Agrees with the facts of this reference, and contradicts none of them: {text}"
    return text


def judges_of(assertion: Assertion) -> Iterator[Item]:
    """Those who are named to judge it, or something in it."""
    if assertion.type in JUDGED and assertion.fields.get("provider") is not None:
        yield assertion.field("provider")
    for each in assertion.inner:
        yield from judges_of(each)


def without_judge(assertion: Assertion, judge: JSON) -> Assertion:
    """The same, but for what names the one who judges everything."""
    inner = tuple(without_judge(each, judge) for each in assertion.inner)
    fields = assertion.fields
    if assertion.type in JUDGED and fields.get("provider") == judge:
        fields = {name: each for name, each in fields.items() if name != "provider"}
    return assertion._replace(fields=fields, inner=inner)


def asks_judge(grader: JSON) -> bool:
    """Whether a judge is in it, however deep."""
    if isinstance(grader, dict):
        return "judge" in grader or any(asks_judge(each) for each in grader.values())
    return isinstance(grader, list) and any(asks_judge(each) for each in grader)


def plain_statement(grader: JSON) -> str | None:
    """The statement of a judge that is given nothing else: it may be one of the rubrics."""
    held = grader.get("judge") if isinstance(grader, dict) and len(grader) == 1 else None
    return held if isinstance(held, str) else None

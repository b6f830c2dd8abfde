"""What a case expects, for graders that compare with it where they are given nothing else."""

from __future__ import annotations

from evalcase.errors import EvalcaseError
from evalcase.types.case import Case
from evalcase.types.grade import Score
from evalcase.types.value import JSON, describe_kind
from evalcase.util.answers import parse_answer, text_of_content
from evalcase.util.json import BadJsonError

NO_REFERENCE = Score(None, "there is nothing to compare: the case has no `expected_output`")


_NO_CONTENT = Score(None, "there is nothing to compare: `expected_output` has no text or data")


def nothing_to_compare(case: Case) -> Score:
    """What comes of a comparison with a text or data that a case doesn't expect."""
    return _NO_CONTENT if case.expects_output else NO_REFERENCE


def expected_content(case: Case) -> JSON:
    """The last content of the assistant that is expected; None if there is none."""
    for message in reversed(case.expected_output):
        if message.role == "assistant" and message.content is not None:
            return message.content
    return None


def expected_value(case: Case) -> JSON:
    """The same as JSON. Raise EvalcaseError where it is text that is none."""
    content = expected_content(case)
    text = text_of_content(content)
    if text is None:
        return content
    try:
        return parse_answer(text)
    except BadJsonError as error:
        raise EvalcaseError(f"`expected_output` is not JSON: {error}") from None


def expected_text(case: Case) -> str | None:
    """The same as text; None if nothing is expected. Raise EvalcaseError where it is none."""
    content = expected_content(case)
    text = text_of_content(content)
    if text is None and content is not None:
        raise EvalcaseError(f"`expected_output` is {describe_kind(content)}, not text")
    return text

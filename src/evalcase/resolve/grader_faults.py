"""What is wrong with the options of a grader, in the words of who wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalcase.model.json_value import describe_kind
from evalcase.resolve.findings import Findings
from evalcase.resolve.written_grader import WrittenGrader

if TYPE_CHECKING:
    from evalcase.model.grader_options import DeclaredGrader
    from evalcase.model.shape import OptionFault

_CALLS = (
    "calls that have to be made go in `trajectory`: - trajectory: [{tool: search}]; "
    "`tool_calls` counts them: - tool_calls: {max: 5, forbidden: [delete]}"
)
_NO_ARGUMENT = {
    "expected": "what is expected goes in `expected_output`; to compare with a text given here, "
    "write {equals: …}"
}
"""What to write in place of an argument, where it is not an option."""


def report_fault(
    fault: OptionFault, written: WrittenGrader, declared: DeclaredGrader | None, findings: Findings
) -> None:
    """Report a fault in the words of the grader it is in, at its place."""
    message, hint, at = fault.message, fault.hint, fault.at
    if written.argument is not None and fault.path[:1] == (written.argument,):
        is_itself = len(fault.path) == 1
        at = written.argument_at if is_itself else at
        message = message.replace(f"`{written.argument}`", f"the argument of `{written.name}`", 1)
        if is_itself and fault.code == "unknown-option":
            message, hint = _describe_no_argument(written, declared)
    name = str(fault.path[0]) if fault.path else ""
    message = message.replace(f"`{name}`", f"`{written.written_as.get(name, name)}`", 1)
    if fault.code == "missing-option" and declared is not None and declared.kind.example:
        hint = f"for example: {declared.kind.example}"
        needs = declared.kind.argument
        if needs is not None and needs not in written.options and "threshold" in written.options:
            about = declared.options[needs].about.rstrip(".")
            about = about[:1].lower() + about[1:]
            hint = f"`threshold` is a score; its limit is `{needs}`: {about}; {hint}"
    place = written.place(fault.path)
    findings.add_fault(fault._replace(path=place, message=message, hint=hint, at=at))


def _describe_no_argument(
    written: WrittenGrader, declared: DeclaredGrader | None
) -> tuple[str, str | None]:
    """What is said of an argument of a grader that takes none, and what to write in its place."""
    assert written.argument is not None
    given = written.options[written.argument]
    message = f"the grader `{written.name}` takes options, not {describe_kind(given)}"
    if written.name == "tool_calls" and type(given) is list:
        return message, _CALLS
    example = declared.kind.example if declared is not None else ""
    hint = f"for example: {example}" if example else None
    return message, _NO_ARGUMENT.get(written.name, hint)

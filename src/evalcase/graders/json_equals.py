"""The JSON of the answer equals a value, but for what doesn't matter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.content import lay_out, tell_difference
from evalcase.graders.compare.json_difference import list_differences
from evalcase.graders.compare.lenience import Lenience, Way
from evalcase.graders.compare.lenient_json import find_lenient_differences
from evalcase.graders.compare.reference import expected_content, expected_value, nothing_to_compare
from evalcase.graders.compare.subject import graded_value, is_large
from evalcase.graders.compare.text_difference import first_difference
from evalcase.model.conflict import conflict
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON
from evalcase.model.option import UNSAID, Unsaid, option
from evalcase.model.path_steps import path_steps
from evalcase.model.shape import Anything, Choice, Flag, ListOf, Number, OptionFault
from evalcase.model.shape_names import PathText
from evalcase.model.shape_one_of import OneOf

_PATHS = ListOf(PathText(), "a list of paths")


@dataclass(frozen=True, slots=True)
class JsonEqualsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json_equals", "The answer, as JSON, equals a value, or `expected_output`.", "value",
        takes_mapping=True, reads="value", half="content",
        example="- {type: json_equals, value: {total: 10, id: 1}, ignore: [id], within: 0.01}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: JSON | Unsaid = option(
        Anything(), "The value it must equal; by default, `expected_output`.", default=UNSAID
    )
    ignore: tuple[str, ...] = option(
        _PATHS, "Paths to leave out of the comparison.",
        default=(), example=["id", "items.*.created"],
        elsewhere=("exclude", "ignore_paths"),
    )  # fmt: skip
    unordered: bool | tuple[str, ...] = option(
        OneOf((Flag(), _PATHS)), "Ignore the order of lists: of all, or of those at these paths.",
        default=False, example=["tags"], elsewhere=("ignore_order",),
    )  # fmt: skip
    extra: str = option(
        Choice(("forbid", "allow")), "Whether mappings may have unexpected keys.",
        default="forbid", elsewhere=("extra_keys", "allow_extra"),
    )  # fmt: skip
    within: float = option(
        Number(0), "How far apart numbers may be.", default=0.0, example=0.01,
        elsewhere=("tolerance", "epsilon", "delta"),
    )  # fmt: skip

    @conflict
    def _ignores_everything(self) -> Iterator[OptionFault]:
        for number, path in enumerate(self.ignore):
            if tuple(path_steps(path)) in ((), ("*",)):
                what = f"`ignore` leaves nothing to compare: `{path}` is everywhere"
                yield OptionFault(("ignore", number), what, "name what doesn't matter")

    def compares_expected(self) -> bool:
        return self.value is UNSAID

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        if isinstance(self.value, Unsaid):
            if expected_content(context.case) is None:
                return nothing_to_compare(context.case)
            expected = expected_value(context.case)
        else:
            expected = self.value
        got = graded_value(context)
        if self.unordered and is_large(got):
            return self._grade_aside(expected, got)
        return self._compare(expected, got, self._lenience())

    async def _grade_aside(self, expected: JSON, got: JSON) -> Score:
        from evalcase.system.aside import run_aside  # slow to import, and seldom needed

        return await run_aside(
            lambda is_given_up: self._compare(expected, got, self._lenience(is_given_up))
        )

    def _compare(self, expected: JSON, got: JSON, lenience: Lenience) -> Score:
        listed = list_differences(find_lenient_differences(expected, got, lenience))
        if not listed.text:
            return Score(1.0, f"the JSON value is equal{self._but()}")
        # What is allowed beyond what is expected is no difference, and not shown as one.
        is_pruned = self.extra == "allow" and not self.unordered
        shown = _without_extra(expected, got) if is_pruned else got
        left, right = lay_out(expected), lay_out(shown)
        at = first_difference(left, right)
        compared = tell_difference(listed.text, left, right, at, listed.paths)
        return Score(0.0, compared.reason, dict(compared.details))

    def _lenience(self, is_given_up: Callable[[], bool] = lambda: False) -> Lenience:
        unordered = self.unordered
        loose = unordered if isinstance(unordered, bool) else _read_ways(unordered)
        allows_extra = self.extra == "allow"
        return Lenience(_read_ways(self.ignore), loose, allows_extra, self.within, is_given_up)

    def _but(self) -> str:
        told = [f"{', '.join(self.ignore)} ignored"] if self.ignore else []
        told += ["lists in any order"] if self.unordered else []
        told += ["extra keys allowed"] if self.extra == "allow" else []
        told += [f"numbers within {self.within:g}"] if self.within else []
        return f" ({'; '.join(told)})" if told else ""


def _without_extra(expected: JSON, got: JSON) -> JSON:
    """A value without the keys of mappings that are not expected there."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return {key: _without_extra(expected[key], got[key]) for key in got if key in expected}
    if isinstance(expected, list) and isinstance(got, list):
        both = zip(expected, got, strict=False)
        return [*[_without_extra(*pair) for pair in both], *got[len(expected) :]]
    return got


def _read_ways(paths: tuple[str, ...]) -> tuple[Way, ...]:
    return tuple(tuple(path_steps(path)) for path in paths)

"""The JSON of the answer equals a value, but for what doesn't matter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, UnsetType

from evalcase.graders.compare.content import lay_out, tell_difference
from evalcase.graders.compare.json_difference import list_differences
from evalcase.graders.compare.lenience import Lenience, Way
from evalcase.graders.compare.lenient_json import find_lenient_differences
from evalcase.graders.compare.reference import expected_content, expected_value, nothing_to_compare
from evalcase.graders.compare.subject import graded_value, is_large
from evalcase.graders.compare.text_difference import first_difference
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import Amount, JsonPaths, OptionFault, about, path_steps
from evalcase.types.value import JSON
from evalcase.util.user_calls import run_aside


class JsonEqualsGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json_equals", "The answer, as JSON, equals a value, or `expected_output`.", "value",
        takes_mapping=True, reads="value", half="content",
        example="- {type: json_equals, value: {total: 10, id: 1}, ignore: [id], within: 0.01}",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        JSON | UnsetType, about("The value it must equal; by default, `expected_output`.")
    ] = UNSET
    ignore: Annotated[
        JsonPaths,
        about(
            "Paths to leave out of the comparison.",
            example=["id", "items.*.created"],
            elsewhere=("exclude", "ignore_paths"),
        ),
    ] = ()
    unordered: Annotated[
        bool | JsonPaths,
        about(
            "Ignore the order of lists: of all, or of those at these paths.",
            example=["tags"],
            elsewhere=("ignore_order",),
        ),
    ] = False
    extra: Annotated[
        Literal["forbid", "allow"],
        about(
            "Whether mappings may have unexpected keys.", elsewhere=("extra_keys", "allow_extra")
        ),
    ] = "forbid"
    within: Annotated[
        Amount,
        about(
            "How far apart numbers may be.",
            example=0.01,
            elsewhere=("tolerance", "epsilon", "delta"),
        ),
    ] = 0.0

    def conflicts(self) -> Iterator[OptionFault]:
        for number, path in enumerate(self.ignore):
            if tuple(path_steps(path)) in ((), ("*",)):
                what = f"`ignore` leaves nothing to compare: `{path}` is everywhere"
                yield OptionFault(("ignore", number), what, "name what doesn't matter")

    def compares_expected(self) -> bool:
        return self.value is UNSET

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        if isinstance(self.value, UnsetType):
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

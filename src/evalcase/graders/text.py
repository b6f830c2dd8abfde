"""Graders of the answer's text: `equals`, `contains`, `starts_with`, `ends_with`, `regex`,
`one_of`, `length` and `similarity`; and the search for patterns within a time limit."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import lru_cache
from math import fsum, hypot
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from msgspec import Meta

from evalcase.errors import EvalcaseError, GraderError, TargetError
from evalcase.graders.base import CONTENT, NEITHER, Context, Grader, Half, object_to_count
from evalcase.graders.differences import (
    NOTHING,
    compare_texts,
    compare_values,
    excerpt_text,
    expected_text,
    first_difference,
    quote_value,
    trim_text,
    unseen,
)
from evalcase.types.grade import Score
from evalcase.types.options import Pattern, Seconds, TargetName, Text, Texts, Whole, about
from evalcase.types.problem import Finding
from evalcase.types.target import vector_of
from evalcase.types.value import JSON, replace
from evalcase.util.answers import describe_missing_text, has_text, value_of_answer
from evalcase.util.text import edit_distance, list_some, write_count, write_score

if TYPE_CHECKING:
    import regex

# Patterns. A search that is over in a few milliseconds happens in the event loop. Anything slower
# happens in a thread: `regex` releases the interpreter while it searches, so no other trial waits.

LIMIT_S = 2.0
"""How long one search may take, unless a grader has a `timeout_s`."""
_LOOP_S = 0.005
"""How long the searches of one grading may block the event loop."""
_SHORT_PATTERN, _SHORT_TEXT = 500, 20_000
"""`regex` looks at its time limit every so many steps. With long patterns or texts, those steps may
take much longer than the limit, so such searches never happen in the event loop."""

T = TypeVar("T")


class TakesLongError(Exception):
    """A search is too slow for the event loop."""


class Searcher:
    def __init__(
        self, limit_s: float | None = None, is_given_up: Callable[[], bool] = lambda: False
    ) -> None:
        """Without a limit, it is called in the event loop, and raises TakesLongError."""
        self._limit_s = limit_s
        self.is_given_up = is_given_up

    def find(
        self, pattern: str, text: str, *, full: bool = False, ignore_case: bool = False
    ) -> regex.Match[str] | None:
        """Where a text matches, or None. Raise EvalcaseError if that takes too long."""
        in_loop = self._limit_s is None
        if in_loop and (len(pattern) > _SHORT_PATTERN or len(text) > _SHORT_TEXT):
            raise TakesLongError
        compiled = _compile(pattern, ignore_case)
        search = compiled.fullmatch if full else compiled.search
        try:
            return search(text, timeout=_LOOP_S if in_loop else self._limit_s)
        except TimeoutError:
            if in_loop:
                raise TakesLongError from None
            shown = pattern if len(pattern) <= 60 else f"{pattern[:60]}…"
            where = f"a text of {len(text):,} characters"
            what = f"to look for `{shown}` in {where} took longer than {self._limit_s:g} s"
            raise EvalcaseError(what) from None


def settle(
    judge: Callable[[Searcher], T], limit_s: float = LIMIT_S, *, takes_long: bool = False
) -> T | Awaitable[T]:
    """Judge by patterns: here if all searches are quick, else once more in a thread."""
    if not takes_long:
        try:
            return judge(Searcher())
        except TakesLongError:
            pass
    from evalcase.util.user_calls import run_in_background  # with asyncio, which `check` needs not

    return run_in_background(lambda is_given_up: judge(Searcher(limit_s, is_given_up)))


@lru_cache(maxsize=512)
def _compile(pattern: str, ignore_case: bool) -> regex.Pattern[str]:
    import regex  # heavy, and few graders search by patterns

    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError) as error:
        raise EvalcaseError(f"`{pattern:.60}` is not a pattern: {error}") from None


# The graders


class TextGrader(Grader, kw_only=True):
    argument: ClassVar[str | None] = "value"
    reads: ClassVar[Literal["text", "either"]] = "text"

    ignore_case: Annotated[bool, about("Ignore case.", elsewhere=("case_insensitive",))] = False
    ignore_space: Annotated[bool, about("Ignore extra white space.", elsewhere=("strip",))] = False

    def with_even_space(self, text: str) -> str:
        return " ".join(text.split()) if self.ignore_space else text

    def even(self, text: str) -> str:
        """A text as it is compared: what is ignored is the same in all of them."""
        text = self.with_even_space(text)
        return text.casefold() if self.ignore_case else text

    def trimmed(self, text: str) -> str:
        """The same without outer white space, and with one sort of line ends."""
        return self.even(trim_text(text))

    def object_to_blank(self, name: str, *texts: str) -> Iterator[Finding]:
        """Object to texts that any answer has, as only ignored white space is in them."""
        if not all(map(self.even, texts)):
            what = f"`{name}` has only white space in it, which doesn't count"
            yield Finding((name,), what, "any answer has it; `regex` can tell white space")

    def ignoring(self) -> str:
        ignored = ["case"] if self.ignore_case else []
        ignored += ["white space"] if self.ignore_space else []
        return f" ({' and '.join(ignored)} ignored)" if ignored else ""


class EqualsGrader(TextGrader):
    name = "equals"
    description = "The answer equals a text or a JSON value."
    reads = "either"
    example = "- equals: Paris"

    value: Annotated[JSON, about("The text or value.", example="Paris", words="a text or a value")]

    def grade(self, context: Context) -> Score:
        part = context.part
        if not isinstance(self.value, str):
            got = value_of_answer(context.answer) if part is None else part.value
            return compare_values(self.value, got)
        if part is not None and not isinstance(part.value, str):
            compared = compare_values(self.value, part.value)
            return replace(compared, reason=compared.reason + self.ignoring())
        got = context.text.strip()
        last = context.answer.last if part is None else ({"role": "assistant", "content": got},)
        silence = "" if got else describe_missing_text(last, context.text)
        compared = compare_texts(self.value, context.text, self.even, silence=silence)
        compared = replace(compared, reason=compared.reason + self.ignoring())
        is_seen = compared.value or (has_text(context.answer) if part is None else got)
        return compared if is_seen else unseen(compared)


class ContainsGrader(TextGrader):
    name = "contains"
    description = "The answer contains a text, or all of several."
    needs = ("value", "any", "all")
    example = "- contains: [Paris, France]"

    value: Annotated[
        Text | Texts | None, about("The text to find, or all of several.", example="Paris")
    ] = None
    any: Annotated[Texts | None, about("Texts, at least one of which must be found.")] = None
    all: Annotated[Texts | None, about("Texts that must all be found.")] = None

    def conflicts(self) -> Iterator[Finding]:
        yield from super().conflicts()
        given = [name for name in self.needs if getattr(self, name) is not None]
        if len(given) > 1:
            what = f"`{given[1]}` replaces `{given[0]}`: use only one of them"
            yield Finding((given[1],), what)
        for name in given:
            texts = getattr(self, name)
            yield from self.object_to_blank(name, *([texts] if isinstance(texts, str) else texts))

    def grade(self, context: Context) -> Score:
        text = self.even(context.text)
        texts = self.any or self.all or self.value or ()
        texts = (texts,) if isinstance(texts, str) else texts
        found = [each for each in texts if self.even(each) in text]
        missing = [each for each in texts if each not in found]
        within = f"found in {quote_value(context.text)}{self.ignoring()}"
        if not missing or (found and self.any is not None):
            return Score(1.0, f"found {_list(found)}{self.ignoring()}")
        if self.any is not None:
            return Score(0.0, f"none of {_list(texts)} {within}")
        share = f"{len(found)} of {len(texts)} found: " if len(texts) > 1 else ""
        return Score(len(found) / len(texts), f"{share}{_list(missing)} not {within}")


def _list(texts: Sequence[str], most: int = 5) -> str:
    return list_some(map(quote_value, texts[:most]), len(texts))


class _EdgeGrader(TextGrader):
    value: Annotated[Text, about("The text to find there.", example="Dear")]

    def conflicts(self) -> Iterator[Finding]:
        yield from self.object_to_blank("value", self.value.strip())

    def grade(self, context: Context) -> Score:
        text, shown = trim_text(context.text), max(40, len(self.value))
        if self.name == "starts_with":
            passed = self.even(text).startswith(self.even(self.value.lstrip()))
            how, got = "starts", text[:shown]
        else:
            passed = self.even(text).endswith(self.even(self.value.rstrip()))
            how, got = "ends", text[-shown:]
        wanted = quote_value(self.value)
        told = f"with {wanted}" if passed else f"with {quote_value(got)}, not with {wanted}"
        return Score(float(passed), f"it {how} {told}{self.ignoring()}")


class StartsWithGrader(_EdgeGrader):
    name = "starts_with"
    description = "The answer starts with a text, ignoring outer white space."
    example = "- starts_with: Dear"


class EndsWithGrader(_EdgeGrader):
    name = "ends_with"
    description = "The answer ends with a text, ignoring outer white space."
    example = '- ends_with: "."'


class RegexGrader(TextGrader):
    name = "regex"
    description = "The answer contains a match for a Python regular expression."
    example = r"- regex: '\d{4}-\d{2}-\d{2}'"

    value: Annotated[Pattern, about("The pattern to search for.", example="\\d+ items?")]
    full: Annotated[bool, about("Whether the whole answer must match.")] = False
    timeout_s: Annotated[Seconds, about("Time limit of the search.", elsewhere=("timeout",))] = (
        LIMIT_S
    )

    def accepts_silence(self) -> bool:
        """Whether the pattern matches an empty text, as `^$` does, and not any text."""
        return re.search(self.value, "") is not None and re.search(self.value, "x") is None

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        text = self.with_even_space(context.text)

        def judge(searcher: Searcher) -> Score:
            found = searcher.find(self.value, text, full=self.full, ignore_case=self.ignore_case)
            what = "matched" if self.full else "found"
            if found is None:
                where = f" in {quote_value(text)}{self.ignoring()}"
                return Score(0.0, f"`{self.value}` not {what}{where}")
            where = "" if self.full else f" at character {found.start() + 1:,}"
            return Score(1.0, f"{what} {quote_value(found[0])}{where}{self.ignoring()}")

        return settle(judge, self.timeout_s)


class OneOfGrader(TextGrader):
    name = "one_of"
    description = "The answer is one of several texts, ignoring outer white space."
    example = "- {type: one_of, value: [yes, no, maybe], ignore_case: true}"

    value: Annotated[
        Annotated[tuple[str, ...], Meta(min_length=1)],
        about("The accepted texts.", example=["yes", "no"], words="a list of texts"),
    ]

    def accepts_silence(self) -> bool:
        return any(not each.strip() for each in self.value)

    def grade(self, context: Context) -> Score:
        text = trim_text(context.text)
        if self.even(text) in [self.trimmed(each) for each in self.value]:
            return Score(1.0, f"it is {quote_value(text)}{self.ignoring()}")
        choices = _list(self.value, 10)
        return Score(0.0, f"expected one of {choices}; got {quote_value(text)}{self.ignoring()}")


class LengthGrader(TextGrader):
    name = "length"
    description = "Limits the length of the answer, in characters, words or lines."
    argument = None
    needs = ("min", "max")
    example = "- length: {max: 50, unit: words}"

    min: Annotated[Whole | None, about("The shortest length allowed.", example=1)] = None
    max: Annotated[Whole | None, about("The greatest length allowed.", example=100)] = None
    unit: Annotated[Literal["characters", "words", "lines"], about("What to count.")] = "characters"

    def accepts_silence(self) -> bool:
        return self.max == 0

    def grade(self, context: Context) -> Score:
        text = self.with_even_space(context.text)
        parts = {"characters": text, "words": text.split(), "lines": text.splitlines()}
        found = len(parts[self.unit])
        said = write_count(found, self.unit.removesuffix("s"))
        fault = object_to_count(found, said, self.min, self.max)
        return Score(float(fault is None), fault or said)


_QUICK_CHARACTERS = 4_000_000
"""How many pairs of characters take a few milliseconds; with more, a thread does the work."""


class SimilarityGrader(TextGrader):
    name = "similarity"
    description = "The answer is similar enough to a text, or to `expected_output`."
    threshold = "needed"
    example = "- {type: similarity, value: The capital of Peru is Lima., threshold: 0.8}"

    value: Annotated[str | None, about("The text; by default, `expected_output`.")] = None
    embedding: Annotated[
        TargetName | None, about("A target that embeds texts, to compare by the cosine.")
    ] = None

    def compares(self) -> frozenset[Half]:
        return CONTENT if self.value is None else NEITHER

    def accepts_silence(self) -> bool:
        return self.value is not None and not self.value.strip()

    def asks(self) -> tuple[str, ...]:
        return () if self.embedding is None else (self.embedding,)

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        wanted = expected_text(context.case) if self.value is None else self.value
        if wanted is None:
            return NOTHING
        left, right = self.trimmed(wanted), self.trimmed(context.text)
        if self.embedding is not None:
            return self._compare_embeddings(self.embedding, left, right, context)
        at = first_difference(left, right)
        left_rest, right_rest = left[at:], right[at:]

        def judge(searcher: Searcher) -> Score:
            distance = edit_distance(left_rest, right_rest, searcher.is_given_up)
            if not distance:
                return Score(1.0, f"the text is equal{self.ignoring()}")
            longer = max(len(left), len(right))
            share = round(1 - distance / longer, 9)
            differ = f"{write_count(distance, 'character')} of {longer:,} differ"
            told = f"{differ}, similarity {write_score(share)}{self.ignoring()}"
            sides = {"expected": excerpt_text(left, at), "got": excerpt_text(right, at)}
            return Score(share, told, sides)

        takes_long = len(left_rest) * len(right_rest) > _QUICK_CHARACTERS
        return settle(judge, takes_long=takes_long)

    async def _compare_embeddings(
        self, target: str, wanted: str, got: str, context: Context
    ) -> Score:
        try:
            left, right = [
                vector_of(await context.ask(target, [{"role": "user", "content": text}]))
                for text in (wanted, got)
            ]
        except TargetError as error:
            message = f"`{target}` gave no embedding: {error}"
            raise GraderError("grader", message, error.details) from None
        sizes = hypot(*left) * hypot(*right)
        if len(left) != len(right) or not sizes:
            what = "embeddings of different lengths" if sizes else "an embedding of zeros"
            raise GraderError("grader", f"`{target}` gave {what}")
        cosine = fsum(a * b for a, b in zip(left, right, strict=True)) / sizes
        score = round(min(max(cosine, 0.0), 1.0), 9)
        told = write_score(score) if cosine >= 0 else f"{cosine:.3g}, which counts as 0,"
        details = {"expected": excerpt_text(wanted), "got": excerpt_text(got), "cosine": cosine}
        return Score(score, f"cosine {told} by `{target}`{self.ignoring()}", details)

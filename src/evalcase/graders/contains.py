"""The answer has a text in it, or all of some, or one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_options import TextGrader
from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.grade import Score
from evalcase.model.grader import Context, GraderKind
from evalcase.model.option import option
from evalcase.model.shape import ListOf, OptionFault, Text
from evalcase.model.shape_one_of import OneOf
from evalcase.text.counted import list_some

_TEXTS = ListOf(Text(), "a list of texts")
_LISTED = 5


@dataclass(frozen=True, slots=True)
class ContainsGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "contains", "The answer contains a text, or all of several.", "value", reads="text",
        example="- contains: [Paris, France]",
        only_reads=True, light=True,
    )  # fmt: skip

    value: str | tuple[str, ...] | None = option(
        OneOf((Text(), _TEXTS)), "The text to find, or a list of texts that must all be found.",
        default=None, example="Paris",
    )  # fmt: skip
    any: tuple[str, ...] | None = option(
        _TEXTS, "Texts of which at least one must be found, instead of `value`.",
        default=None, example=["Paris", "Lutetia"],
    )  # fmt: skip
    all: tuple[str, ...] | None = option(
        _TEXTS, "Texts that must all be found, instead of `value`.",
        default=None, example=["Paris", "Seine"],
    )  # fmt: skip

    @conflict
    def _is_one_of_three(self) -> Iterator[OptionFault]:
        lists = {"value": self.value, "any": self.any, "all": self.all}
        given = [name for name, each in lists.items() if each is not None]
        if not given:
            needs = "the grader `contains` needs a text, or a list of texts"
            yield OptionFault((), needs, code="missing-option")
        if len(given) > 1:
            what = f"`{given[1]}` replaces `{given[0]}`: use only one of them"
            yield OptionFault((given[1],), what)

    @conflict
    def _value_is_blank(self) -> Iterator[OptionFault]:
        yield from self.object_to_blank(*_place_texts("value", self.value))

    @conflict
    def _any_is_blank(self) -> Iterator[OptionFault]:
        yield from self.object_to_blank(*_place_texts("any", self.any))

    @conflict
    def _all_is_blank(self) -> Iterator[OptionFault]:
        yield from self.object_to_blank(*_place_texts("all", self.all))

    def grade(self, context: Context) -> Score:
        text = self.even(context.text)
        texts = self._texts()
        found = [each for each in texts if self.even(each) in text]
        score = float(bool(found)) if self.any is not None else len(found) / len(texts)
        return Score(score, self._reason(texts, found, context) + self.forgiving())

    def _texts(self) -> tuple[str, ...]:
        texts = self.any or self.all or self.value or ()
        return (texts,) if isinstance(texts, str) else texts

    def _reason(self, texts: tuple[str, ...], found: list[str], context: Context) -> str:
        if self.any is not None:
            if found:
                return f"found {quote_value(found[0])}"
            return f"none of {_list_texts(texts)} found in {quote_value(context.text)}"
        missing = [each for each in texts if each not in found]
        if not missing:
            return f"found {_list_texts(texts)}"
        lacks = f"{_list_texts(missing)} not found in {quote_value(context.text)}"
        return lacks if len(texts) == 1 else f"{len(found)} of {len(texts)} found: {lacks}"


def _place_texts(name: str, texts: str | tuple[str, ...] | None) -> Iterator[tuple[KeyPath, str]]:
    """Each text with the path of its option."""
    if isinstance(texts, str):
        yield (name,), texts
    for number, each in enumerate(texts or () if not isinstance(texts, str) else ()):
        yield (name, number), each


def _list_texts(texts: tuple[str, ...] | list[str]) -> str:
    return list_some(map(quote_value, texts[:_LISTED]), len(texts))

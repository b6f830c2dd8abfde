"""The answer has a text in it, or all of some, or one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from evalcase.graders.compare.excerpt import quote_value
from evalcase.graders.compare.text_options import TextGrader
from evalcase.types.grade import Score
from evalcase.types.grader import Context, GraderKind
from evalcase.types.options import OptionFault, Text, Texts, about
from evalcase.types.problem import KeyPath
from evalcase.util.text import list_some

_LISTED = 5


class ContainsGrader(TextGrader):
    kind: ClassVar[GraderKind] = GraderKind(
        "contains", "The answer contains a text, or all of several.", "value", reads="text",
        example="- contains: [Paris, France]",
        only_reads=True, light=True,
    )  # fmt: skip

    value: Annotated[
        Text | Texts | None,
        about("The text to find, or a list of texts that must all be found.", example="Paris"),
    ] = None
    any: Annotated[
        Texts | None,
        about(
            "Texts of which at least one must be found, instead of `value`.",
            example=["Paris", "Lutetia"],
        ),
    ] = None
    all: Annotated[
        Texts | None,
        about("Texts that must all be found, instead of `value`.", example=["Paris", "Seine"]),
    ] = None

    def conflicts(self) -> Iterator[OptionFault]:
        lists = {"value": self.value, "any": self.any, "all": self.all}
        given = [name for name, each in lists.items() if each is not None]
        if not given:
            needs = "the grader `contains` needs a text, or a list of texts"
            yield OptionFault((), needs, code="missing-option")
        if len(given) > 1:
            what = f"`{given[1]}` replaces `{given[0]}`: use only one of them"
            yield OptionFault((given[1],), what)
        yield from self.object_to_blank(*_place_texts("value", self.value))
        yield from self.object_to_blank(*_place_texts("any", self.any))
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

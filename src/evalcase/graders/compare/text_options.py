"""What all graders of text share: which differences between texts they don't mind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from evalcase.graders.compare.text_difference import trim_text
from evalcase.types.grader import Grader
from evalcase.types.options import OptionFault, about
from evalcase.types.problem import KeyPath


class TextGrader(Grader, kw_only=True):
    """A grader that looks at texts."""

    ignore_case: Annotated[
        bool, about("Ignore upper and lower case.", elsewhere=("case_insensitive", "ignorecase"))
    ] = False
    ignore_space: Annotated[
        bool,
        about(
            "Treat any run of white space as one space, and ignore it at both ends.",
            elsewhere=("ignore_whitespace", "strip"),
        ),
    ] = False

    def with_even_space(self, text: str) -> str:
        """A text with the white space that counts."""
        return " ".join(text.split()) if self.ignore_space else text

    def even(self, text: str) -> str:
        """A text as it is compared: what doesn't count is the same in all of them."""
        text = self.with_even_space(text)
        return text.casefold() if self.ignore_case else text

    def trimmed(self, text: str) -> str:
        """The same without outer white space, and with one sort of line ends."""
        return self.even(trim_text(text))

    def object_to_blank(self, *texts: tuple[KeyPath, str]) -> Iterator[OptionFault]:
        """Object to texts of which nothing is left to compare: every answer has that."""
        for path, text in texts:
            if not self.even(text):
                *_, name = [each for each in path if isinstance(each, str)]
                item = f"item {path[-1] + 1} of " if isinstance(path[-1], int) else ""
                what = f"{item}`{name}` is only white space, which doesn't count"
                yield OptionFault(path, what, "any answer has it; `regex` can tell white space")

    def forgiving(self) -> str:
        """What a reason says of differences that don't count."""
        ignored = ["case"] if self.ignore_case else []
        ignored += ["white space"] if self.ignore_space else []
        return f" ({' and '.join(ignored)} ignored)" if ignored else ""

from typing import ClassVar

from evalcase import (
    Answer,
    Context,
    Grader,
    GraderKind,
    Question,
    Score,
    Surroundings,
    Target,
    TargetKind,
    TargetOptions,
    option,
    shapes,
    with_options,
)


@with_options
class CloseTo(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "close_to",
        "The answer is a number, and close to another.",
        "value",
        example="- close_to: 42",
    )

    value: float = option(shapes.Number(), "The number that is expected.", example=42)
    within: float = option(
        shapes.Number(0), "How far off it may be.", default=0.5, elsewhere=("tolerance",)
    )

    def grade(self, context: Context) -> Score:
        try:
            off = abs(float(context.answer.text) - self.value)
        except ValueError:
            return Score(0.0, "it is not a number")
        return Score(float(off <= self.within), f"{off:g} off")


@with_options(kw_only=True)
class ShopOptions(TargetOptions):
    greeting: str = option(shapes.Text(), "What every answer begins with.", default="")


class Shop(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "shop", "Asks the shop's agent.", ShopOptions, value="greeting", value_needed=False
    )

    def __init__(self, options: ShopOptions, surroundings: Surroundings) -> None:
        self.options, self.surroundings = options, surroundings

    async def answer(self, question: Question) -> Answer:
        return Answer.of_text(f"{self.options.greeting}{len(question.text)}")

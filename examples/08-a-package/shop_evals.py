from typing import Annotated, ClassVar

from evalcase import (
    Answer,
    Context,
    Grader,
    Question,
    Score,
    Surroundings,
    Target,
    TargetKind,
    TargetOptions,
    options,
)


class CloseTo(Grader):
    name = "close_to"
    description = "The answer is a number, and close to another."
    argument = "value"
    example = "- close_to: 42"

    value: Annotated[float, options.about("The number that is expected.", example=42)]
    within: Annotated[
        options.Amount, options.about("How far off it may be.", elsewhere=("tolerance",))
    ] = 0.5

    def grade(self, context: Context) -> Score:
        try:
            off = abs(float(context.answer.text) - self.value)
        except ValueError:
            return Score(0.0, "it is not a number")
        return Score(float(off <= self.within), f"{off:g} off")


class ShopOptions(TargetOptions, frozen=True, kw_only=True):
    greeting: Annotated[str, options.about("What every answer begins with.")] = ""


class Shop(Target):
    kind: ClassVar[TargetKind] = TargetKind(
        "shop", "Asks the shop's agent.", ShopOptions, value="greeting", value_needed=False
    )

    def __init__(self, options: ShopOptions, surroundings: Surroundings) -> None:
        self.options, self.surroundings = options, surroundings

    async def answer(self, question: Question) -> Answer:
        return Answer.of_text(f"{self.options.greeting}{len(question.text)}")

"""Functions that grade: it leaves a trace if it is imported, and has no others than these."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

late: Callable[[str], bool]

Path(__file__).with_suffix(".sang").touch()


def is_polite(answer: str) -> bool:
    return "please" in answer


def set_up() -> None:
    global late  # noqa: PLW0603 - this is what is looked at
    late = is_polite


class Polite:
    @staticmethod
    def check(answers: list[str]) -> bool:
        return all(map(is_polite, answers))


set_up()

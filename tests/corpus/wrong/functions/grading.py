"""Functions that grade: it leaves a trace if it is imported, and has no others than these."""

from pathlib import Path

Path(__file__).with_suffix(".sang").touch()


def is_polite(answer: str) -> bool:
    return "please" in answer

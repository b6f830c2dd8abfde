from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["evalcase"]):
    from invariants import SEEDS, check_text, text_of


def test_one(data: bytes) -> None:
    check_text(text_of(data), "yaml")


if __name__ == "__main__":
    atheris.Setup([*sys.argv, *map(str, SEEDS)], test_one)
    atheris.Fuzz()

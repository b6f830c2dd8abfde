"""A Python whose system calls go wrong: the command runs in it as it does in any other."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sabotaged(folder: Path, code: str) -> dict[str, str]:
    """The environment of a Python that runs this code before anything else."""
    place = folder / "sabotage"
    place.mkdir()
    (place / "sitecustomize.py").write_text(code, encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join([str(place), str(ROOT / "src")])}

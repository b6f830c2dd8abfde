"""`python -m tests.frameworks.record [FOLDER]` makes the recorded files anew, with the packages and
programs of `.venv-frameworks`; by default in `tests/answers`."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

from tests.frameworks import programs, recipes
from tests.frameworks.servers import ANSWERS, serving
from tests.frameworks.settled import settle


def main(folder: Path) -> None:
    logging.disable()
    for recipe in [*recipes.RECIPES, *programs.RECIPES]:
        with serving(*recipe.sent) as service:
            value = settle(recipe.make(service.url))
        path = folder / recipe.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_write(value, path.suffix), "utf-8")


def _write(value: Any, ending: str) -> str:
    if ending == ".sse":
        return str(value)
    if ending == ".jsonl":
        lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in value]
        return "\n".join(lines) + "\n"
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS)

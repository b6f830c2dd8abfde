"""`evaluate` and `evaluate_async` as one, and a suite for them."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evalcase
from evalcase import Evaluated

Evaluate = Callable[..., Evaluated]


def run_async(*arguments: Any, **options: Any) -> Evaluated:
    return asyncio.run(evalcase.evaluate_async(*arguments, **options))


def suite(folder: Path, *cases: dict[str, Any]) -> None:
    (folder / "s.eval.yaml").write_text(json.dumps({"cases": cases}))

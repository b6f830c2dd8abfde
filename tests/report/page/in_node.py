"""Scripts of the page, run by node: what they make of a value."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from docs.regenerate import ROOT
from evalcase import report

NODES = [str(ROOT / ".venv-servers" / "bin" / "node"), "node"]


def find_node() -> str:
    found = next((node for node in NODES if shutil.which(node)), None)
    if found is None:
        pytest.skip("no node: `make test` brings one")
    return found


def run_script(names: Sequence[str], then: str, value: object) -> Any:
    """What `then` prints as JSON, which reads the value from standard input."""
    folder = Path(report.__path__[0]) / "html"
    script = "".join((folder / name).read_text(encoding="utf-8") for name in names)
    done = subprocess.run(
        [find_node(), "-e", script + then], input=json.dumps(value).encode(),
        capture_output=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout)

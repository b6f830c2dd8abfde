"""Every form of a report of one kept run, to the byte. `python -m tests.cli.reports.test_golden`
writes what they are now, to be looked at before it is committed."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import gettempdir

import pytest

from tests.cli.in_process import run_in_process

GOLDEN = Path(__file__).parent / "golden"
RUN = "20261116-171129-8357c9"
ENDINGS = {
    "text": "txt", "json": "json", "jsonl": "jsonl", "markdown": "md", "junit": "xml",
    "github": "github.txt", "csv": "csv",
}  # fmt: skip
_PATH = re.compile(r'(?<="path": ")[^"]*/')


def render(form: str, cwd: Path) -> bytes:
    """What the command prints; the folder of the record differs from machine to machine."""
    done = run_in_process(["report", str(GOLDEN / RUN), "--format", form], cwd=cwd, env={})
    assert done.code == 0, done
    out = done.stdout.decode().replace(str(GOLDEN), "golden")
    return _PATH.sub("golden/", out).encode()


@pytest.mark.parametrize("form", ENDINGS)
def test_a_form_is_what_it_was(form: str, tmp_path: Path) -> None:
    assert render(form, tmp_path) == (GOLDEN / f"report.{ENDINGS[form]}").read_bytes()


if __name__ == "__main__":
    for name, ending in ENDINGS.items():
        (GOLDEN / f"report.{ending}").write_bytes(render(name, Path(gettempdir())))

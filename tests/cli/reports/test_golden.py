"""Every form of a report of one kept run, and of its comparison with another, to the byte.
`python -m tests.cli.reports.test_golden` writes what they are now, to be looked at before it is
committed."""

import io
import json
import re
from pathlib import Path
from tempfile import gettempdir

import pytest
from pyarrow import parquet

from tests.cli.in_process import run_in_process

GOLDEN = Path(__file__).parent / "golden"
RUN, OTHER = "20261116-171129-8357c9", "20261116-184916-06e390"
REPORTS = {
    "text": "txt", "json": "json", "jsonl": "jsonl", "markdown": "md", "junit": "xml",
    "github": "github.txt", "csv": "csv", "parquet": "parquet.json", "otlp": "otlp.json",
}  # fmt: skip
COMPARISONS = {"text": "txt", "json": "json", "markdown": "md"}
FILES = {
    **{f"report.{ending}": ("report", RUN, form) for form, ending in REPORTS.items()},
    **{f"compare.{ending}": ("compare", OTHER, form) for form, ending in COMPARISONS.items()},
}
_PATH = re.compile(r'(?<="path": ")[^"]*/')


def render(file: str, cwd: Path) -> bytes:
    """What the command prints; the folder of the record differs from machine to machine."""
    command, run, form = FILES[file]
    runs = [RUN, OTHER] if command == "compare" else [run]
    arguments = [command, *(str(GOLDEN / each) for each in runs), "--format", form]
    done = run_in_process(arguments, cwd=cwd, env={})
    assert done.code == 0, done
    if form == "parquet":
        rows = parquet.read_table(io.BytesIO(done.stdout)).to_pylist()
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    out = done.stdout.decode().replace(str(GOLDEN), "golden")
    return _PATH.sub("golden/", out).encode()


@pytest.mark.parametrize("file", FILES)
def test_a_form_is_what_it_was(file: str, tmp_path: Path) -> None:
    assert render(file, tmp_path) == (GOLDEN / file).read_bytes()


if __name__ == "__main__":
    for name in FILES:
        (GOLDEN / name).write_bytes(render(name, Path(gettempdir())))

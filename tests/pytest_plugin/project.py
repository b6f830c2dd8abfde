"""Files of a project for pytest to run, and what is kept of its runs."""

from pathlib import Path

import pytest

from evalcase.report.evaluated import Evaluated, read_evaluated
from evalcase.store.folder import read_run
from evalcase.store.stored import StoredRun


def write(pytester: pytest.Pytester, name: str, text: str) -> Path:
    path = pytester.path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def records(pytester: pytest.Pytester) -> list[Evaluated]:
    """What came of each run that was kept, in their order."""
    folders = (pytester.path / ".evalcase" / "runs").glob("2*")
    # Their names tell seconds.
    ordered = sorted(folders, key=lambda folder: (folder / "run.json").stat().st_mtime_ns)
    return [read_evaluated(StoredRun(read_run(str(folder)))) for folder in ordered]


def verdicts(run: Evaluated) -> dict[str, str | None]:
    """By case and target."""
    return {f"{each.case} {each.target}": each.verdict for each in run.cases}

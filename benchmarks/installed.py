"""What a user gets from `pip install`: its size, its packages, and how fast the command starts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.generate import write
from benchmarks.measure import median_cpus
from benchmarks.sums import write_project

PROJECT = Path(__file__).parent.parent
ROUNDS = 21


def installed_figures(folder: Path) -> Iterator[Figure]:
    """Install into a fresh environment, so that nothing of ours is counted or helps."""
    environment = folder / "installed"
    site = _make(environment)
    empty = _size(site)
    _install(environment)
    yield Figure("installed size beyond pip", (_size(site) - empty) / 1e6, "MB", 70)
    packages = _packages(site)
    yield Figure("packages installed", len(packages), "", 25, " ".join(packages))
    yield from _start_up(environment / "bin", write(folder, 10, ".yaml"))
    shutil.rmtree(environment)


def _start_up(programs: Path, suite: Path) -> Iterator[Figure]:
    python, command = str(programs / "python"), str(programs / "evalcase")
    project = write_project(suite.parent / "starting", 3)
    here = ["--runs-dir", str(project / "runs")]
    run = [command, "run", str(project), "--target", "echo", "--json", "--fail-under", "0", *here]
    commands = [
        [python, "-c", "pass"], [command, "--version"], [command, "check", str(suite)], run,
        [command, "list", *here],
    ]  # fmt: skip
    bare, *others = median_cpus(commands, ROUNDS)
    names = {"--version": 5, "check, 10 cases": 16, "run, 3 cases": 24, "list": 14}
    for (name, bar), cpu in zip(names.items(), others, strict=True):
        detail = f"{cpu * 1000:.0f} ms / {bare * 1000:.0f} ms"
        yield Figure(f"evalcase {name} ÷ python -c pass", cpu / bare, "×", bar, detail)


def _make(environment: Path) -> Path:
    venv.create(environment, clear=True, with_pip=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment / "lib" / version / "site-packages"


def _install(environment: Path) -> None:
    pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", str(PROJECT)], check=True)


def _size(site: Path) -> int:
    return sum(file.stat().st_size for file in site.rglob("*") if file.is_file())


def _packages(site: Path) -> list[str]:
    names = sorted(path.name.split("-")[0] for path in site.glob("*.dist-info"))
    return [name for name in names if name not in ("pip", "setuptools")]

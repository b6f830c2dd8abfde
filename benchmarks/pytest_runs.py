"""What the plug-in costs who doesn't use it, and how long cases that wait take in pytest."""

from __future__ import annotations

import shutil
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.figures import Figure
from benchmarks.measure import median_cpus

PROJECT = Path(__file__).parent.parent
ROUNDS = 41
CASES, WAIT_S = 60, 0.2
METADATA = "lib/*/site-packages/evalcase-*.dist-info"
AGENT = f"""
import asyncio

async def answer(question):
    await asyncio.sleep({WAIT_S})
    return question
"""


def pytest_figures(folder: Path) -> Iterator[Figure]:
    """A package that is installed as users have it, in an environment of its own."""
    environment, place = folder / "pytest", folder / "pytest-project"
    venv.create(environment, clear=True, with_pip=True)
    python = str(environment / "bin" / "python")
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, f"{PROJECT}[pytest]"], check=True)
    _write_project(place)
    yield from _plain(environment, place)
    yield _at_once(python, place)
    shutil.rmtree(environment)
    shutil.rmtree(place)


def _write_project(place: Path) -> None:
    (place / "evals").mkdir(parents=True, exist_ok=True)
    (place / "agent.py").write_text(AGENT)
    (place / "test_own.py").write_text("def test_own():\n    pass\n")
    (place / "evalcase.toml").write_text('target = "python:agent:answer"\n')
    cases = [f"- {{id: c{n}, input: q{n}, expected_output: q{n}}}\n" for n in range(CASES)]
    (place / "evals" / "many.eval.yaml").write_text("".join(cases))


def _plain(environment: Path, place: Path) -> Iterator[Figure]:
    """CPU of a plain run, beside the same where nothing says that there is a plug-in, and beside
    one where the package has next to no files: pytest goes through the list of them."""
    without, short = (environment.with_name(f"pytest-{name}") for name in ("without", "short"))
    for copy in (without, short):
        shutil.copytree(environment, copy, symlinks=True)
    (told,) = without.glob(f"{METADATA}/entry_points.txt")
    told.write_text(told.read_text().partition("[pytest11]")[0])
    (listed,) = short.glob(f"{METADATA}/RECORD")
    files = listed.read_text().splitlines(keepends=True)
    listed.write_text("".join(line for line in files if line.startswith("evalcase/__init__.py")))
    test = ["-m", "pytest", "-q", "-p", "no:cacheprovider", str(place / "test_own.py")]
    commands = [[str(each / "bin" / "python"), *test] for each in (environment, without, short)]
    plugged, bare, own = (seconds * 1000 for seconds in median_cpus(commands, ROUNDS))
    for copy in (without, short):
        shutil.rmtree(copy)
    detail = f"{plugged:.0f} ms / {bare:.0f} ms; {len(files):,} files"
    yield Figure("plug-in, in a plain pytest run", plugged - bare, "ms", 5, detail)
    yield Figure("the same, if the package had one file", own - bare, "ms")


def _at_once(python: str, place: Path) -> Figure:
    """Wall time of the whole command; the best of three."""
    command = [python, "-m", "pytest", "-q", "--evals", "evals"]
    took = []
    for _ in range(3):
        begun = perf_counter()
        subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL)
        took.append(perf_counter() - begun)
    name = f"pytest --evals, {CASES} cases of {WAIT_S} s"
    return Figure(name, min(took), "s", 3, f"one by one: {CASES * WAIT_S:g} s at least")

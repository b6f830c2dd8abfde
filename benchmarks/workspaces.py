"""What a workspace costs: a fresh copy beside `cp -a`, and a snapshot of many files."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure, ratio
from evalcase import Case
from evalcase.config.config import Config
from evalcase.runner.workspaces import Workspaces
from evalcase.types.workspace import Space
from evalcase.util.environment import this_environment
from evalcase.util.secrets import Scrubber

_ROUNDS = 5
_REFLINK = ["--reflink=auto"] if sys.platform == "linux" else []


def workspace_figures(folder: Path) -> Iterator[Figure]:
    small, large = _make(folder / "small", 1_000), _make(folder / "large", 20_000)
    work_s, copy_s = asyncio.run(_time_trials(small, folder))
    name = "a workspace of 1,000 files, made, compared and removed ÷ `cp -a`"
    yield ratio(name, work_s, copy_s, 2)
    snapshot_s = asyncio.run(_time_snapshot(large, folder))
    yield Figure("the changes among 20,000 files, 5 of them changed", snapshot_s, "s", 1)


def _make(root: Path, count: int) -> Path:
    """A project with a template of so many small files."""
    if not (root / "template").exists():
        for number in range(count):
            path = root / "template" / f"d{number % 100}" / f"f{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"x = {number}\n" * 20)
        (root / "evalcase.toml").touch()
    return root


def _open(root: Path, folder: Path) -> tuple[Workspaces, Callable[[], Space]]:
    environment = this_environment()
    environment.variables["XDG_CACHE_HOME"] = str(folder / "cache")
    workspaces = Workspaces(
        str(folder / "record"), Config(str(root)), environment, Scrubber({}), print
    )
    case = Case(input="?", workspace={"template": "template"})
    return workspaces, lambda: workspaces.reserve(case, str(root / "s.eval.yaml"))


def _change(space: Space, count: int) -> None:
    for number in range(count):
        Path(space.path, f"d{number}", f"f{number}.py").write_text("changed\n")


def _time_copy(template: Path, copy: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["cp", "-a", *_REFLINK, template, copy], check=True)
    took_s = time.perf_counter() - began
    shutil.rmtree(copy)
    return took_s


async def _time_trials(root: Path, folder: Path) -> tuple[float, float]:
    """The best of several rounds, in turns, without the making of the base."""
    workspaces, reserve = _open(root, folder)
    first = reserve()
    await workspaces.make(first)
    works, copies = [], []
    for number in range(_ROUNDS):
        began = time.perf_counter()
        space = reserve()
        await workspaces.make(space)
        _change(space, 1)
        await workspaces.take(space, str(number))
        await workspaces.remove(space)
        works.append(time.perf_counter() - began)
        copies.append(_time_copy(root / "template", folder / "copy"))
    await workspaces.close()
    return min(works), min(copies)


async def _time_snapshot(root: Path, folder: Path) -> float:
    workspaces, reserve = _open(root, folder)
    times = []
    for number in range(3):
        space = reserve()
        await workspaces.make(space)
        _change(space, 5)
        began = time.perf_counter()
        await workspaces.take(space, str(number))
        times.append(time.perf_counter() - began)
        await workspaces.remove(space)
    await workspaces.close()
    return min(times)

"""The HTML report of large runs: what writing it takes, how large it is, and how soon a person can
use it. Trials have some 2 kB, of words that don't repeat as those of a generator would."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import Figure

AGENT = """
import json
import random
from pathlib import Path

WORDS = json.loads(Path(__file__).with_name("words.json").read_text())


def talk(text):
    chance = random.Random(text)
    if chance.random() < 0.8:
        return " ".join(chance.choices(WORDS, k=150)) + " yes"
    return " ".join(chance.choices(WORDS, k=170))
"""
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


class Wrote(NamedTuple):
    cpu_s: float
    peak_bytes: int


def page_figures(folder: Path) -> Iterator[Figure]:
    """Of 10,000 and of 100,000 cases."""
    for count in (10_000, 100_000):
        project = folder / "page"
        try:
            yield from _figures(project, count)
        finally:
            shutil.rmtree(project, ignore_errors=True)


def _figures(project: Path, count: int) -> Iterator[Figure]:
    _make_run(project, count)
    page = project / "page.html"
    wrote = _write(project, page)
    size = page.stat().st_size
    yield Figure(f"page: write {count:,} cases, CPU", wrote.cpu_s, "s")
    yield Figure(f"page: write {count:,} cases, resident", wrote.peak_bytes / 1e6, "MB")
    yield Figure(
        f"page: bytes per case of {count:,}", size / count, "bytes", detail=f"{size:,} in all"
    )
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is not None:
        yield from _use(page, program, count)


def _make_run(project: Path, count: int) -> None:
    project.mkdir(parents=True)
    chance = random.Random(1)
    letters = "etaoinshrdlucmfwyp"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 11))) for _ in range(5000)]
    (project / "words.json").write_text(json.dumps(words))
    (project / "agent.py").write_text(AGENT)
    with (project / "many.eval.jsonl").open("w") as file:
        for number in range(count):
            asked = f"{number} " + " ".join(chance.choices(words, k=40))
            tags = [f"tag{number % 7}"]
            case = {"id": f"case-{number}", "input": asked, "tags": tags,
                    "graders": [{"ends_with": "yes"}]}  # fmt: skip
            file.write(json.dumps(case) + "\n")
    run = [sys.executable, "-m", "evalcase", "run", "--quiet", "--target", "python:agent:talk"]
    subprocess.run(run, cwd=project, check=False, stdout=subprocess.DEVNULL)


def _write(project: Path, page: Path) -> Wrote:
    command = [sys.executable, "-m", "evalcase", "report", "--format", "html", "-o", str(page)]
    process = subprocess.Popen([*command, "--max-size", "1GB"], cwd=project)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Wrote(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def _use(page: Path, program: str, count: int) -> Iterator[Figure]:
    """From opening the file to the first row; to an open case; to all text searched."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_QUIET)
        tab = browser.new_page()
        tab.set_default_timeout(120_000)
        started = time.perf_counter()
        tab.goto(f"file://{page}")
        tab.locator("body.ready").wait_for()
        yield Figure(f"page: until {count:,} cases can be used", _since(started), "s")
        started = time.perf_counter()
        tab.keyboard.press("Enter")
        tab.locator(".panel .body").wait_for()
        yield Figure(f"page: open one of {count:,}", _since(started), "s")
        started = time.perf_counter()
        tab.get_by_role("searchbox").fill("no such words")
        tab.get_by_text("No case fits").wait_for()
        yield Figure(f"page: search all text of {count:,}", _since(started), "s")
        browser.close()


def _since(started: float) -> float:
    return time.perf_counter() - started

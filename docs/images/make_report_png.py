#!/usr/bin/env python3
"""Makes `report.png`: runs a made-up travel desk, and opens the page of that run in a browser.

    python -m docs.images.make_report_png

It needs chromium. The picture shows the same each time, but for how long things took.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.images.travel_desk import FARES

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "report.png"
_QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
_RULES = "You are the travel desk of a small agency. Be brief and exact."
_CONFIG = """
[targets.desk-large]
kind = "python"
function = "travel_desk:large_desk"

[targets.desk-small]
kind = "python"
function = "travel_desk:small_desk"
"""


def _cases() -> Iterator[dict[str, Any]]:
    for place, fare in FARES.items():
        for number in range(6):
            yield _fare_case(place, fare + 10 * number, number)
        for number in range(4):
            yield _refund_case(place, fare + 10 * number, number)
        for number in range(3):
            said = f"For {place} you need a passport that is valid for six more months."
            asked = f"What papers do I need to enter, for {place}?"
            yield _case(f"entry-{place}-{number}", asked, said, [], ["papers"])


def _fare_case(place: str, eur: int, number: int) -> dict[str, Any]:
    calls = [{"tool": "search_flights", "input": {"to": place, "month": "May"}}]
    said = f"A return flight to {place} in May is {eur} euros, hand luggage included."
    asked = f"What is a return flight to {place} in May?"
    return _case(f"fare-{place}-{number}", asked, said, calls, ["fares"])


def _refund_case(place: str, eur: int, number: int) -> dict[str, Any]:
    calls = [
        {"tool": "find_booking", "input": {"place": place}},
        {"tool": "check_policy", "input": {"fare": "flex"}},
        {"tool": "refund", "input": {"eur": eur}},
    ]
    said = f"I have cancelled your trip to {place}; {eur} euros will be back on your card within"
    asked = f"I can't go to {place}. May I have my money back?"
    case = _case(f"refund-{place}-{number}", asked, f"{said} five days.", calls, ["refunds"])
    return {**case, "repeat": {"times": 3, "pass_rate": 0.6}}


def _case(id: str, asked: str, said: str, calls: list[Any], tags: list[str]) -> dict[str, Any]:
    return {
        "id": id,
        "input": [{"role": "system", "content": _RULES}, {"role": "user", "content": asked}],
        "expected_output": said,
        "tags": tags,
        "graders": ["expected", *([{"trajectory": calls}] if calls else [])],
    }


def make_run(folder: Path) -> None:
    """A project with one run of both desks."""
    shutil.copy(HERE / "travel_desk.py", folder)
    (folder / "evalcase.toml").write_text(_CONFIG)
    (folder / "desk.eval.json").write_text(json.dumps({"cases": list(_cases())}, indent=1))
    run = [sys.executable, "-m", "evalcase", "run", "--quiet", "--concurrency", "40"]
    targets = ["--target", "desk-large", "--target", "desk-small"]
    subprocess.run([*run, *targets], cwd=folder, check=False)  # noqa: S603 - our own


def take_picture(report: Path) -> None:
    """The page as a person sees it who opens it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=_QUIET)
        tab = browser.new_page(viewport={"width": 1200, "height": 780}, device_scale_factor=1.25)
        tab.goto(f"file://{report}")
        tab.locator("body.ready").wait_for()
        tab.screenshot(path=PICTURE)
        browser.close()


def main() -> None:
    """Make the picture anew."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder)
        report = folder / "report.html"
        command = [sys.executable, "-m", "evalcase", "report", "--format", "html"]
        subprocess.run([*command, "-o", report], cwd=folder, check=True)  # noqa: S603 - our own
        take_picture(report)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs what the documentation shows, and writes the real output back into the pages.

    python docs/regenerate.py [PAGE…]

The fenced blocks of a page are run from top to bottom, in a folder of the page's own:

    yaml good       an eval file without problems (json, jsonl too); `file=NAME` names it
    yaml bad        an eval file that has exactly the problem that the page is about
    yaml valid      an eval file without errors
    … file=NAME     any file that later blocks need
    yaml show       what `evalcase show` makes of the eval file before it
    console         commands after `$ `, and what they print; may be marked good or bad too;
                    `cd` holds for the rest of the page
    python          Python, in one namespace for the whole page; with `file=NAME`, a file
    text output     what the block before it prints

Blocks of other languages are left alone. The tests run the same pages and compare.

What differs from run to run is made the same: run ids and times get fixed values, latency and
progress (standard error of `run` and `resume`) are left out, and paths start at
the page's folder.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent
_FENCE = re.compile(r"```(\w*)(?: (.*))?")
_CODE = re.compile(r"(?:error|warning|note)\[([a-z-]+)\]")
_SHELL = re.compile(r"[|;<>&$*`]")
_QUOTED = re.compile(r"'[^']*'")
_RUNS = re.compile(r"\bevalcase (?:run|resume)\b(?!.* --help)")
_RUN_ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b")
_TIMES = (
    (re.compile(r"(?<=, )\d+\.\d s$", re.MULTILINE), "0.1 s"),
    (re.compile(r"(?<=, )\d+\.\d\d s\b"), "0.01 s"),
    (re.compile(r"(?<= in )\d+\.\d\ds(?: \([\d:]+\))?"), "0.12s"),
    (re.compile(r'(?<="duration_s": )[\d.e-]+'), "0.1"),
    (re.compile(r"^(?:latency  median ).*\n(?: {9}.*\n)*", re.MULTILINE), ""),
    (re.compile(r", [<\d.,]+ m?s in total"), ""),
    (re.compile(r'(?<= time=")[\d.]+(?=")'), "0.001"),
    (re.compile(r'(?<= timestamp=")[^"]+(?=")'), "2026-03-01T09:00:00"),
)
_SUITES = ("yaml", "json", "jsonl")
_MARKS = ("good", "bad", "valid")


class Block(NamedTuple):
    """A fenced block: its language and marks, and where its lines start."""

    language: str
    marks: tuple[str, ...]
    start: int
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def file(self) -> str | None:
        names = [mark.removeprefix("file=") for mark in self.marks if mark.startswith("file=")]
        return names[0] if names else None

    @property
    def verdict(self) -> str | None:
        return next((mark for mark in self.marks if mark in _MARKS), None)


class Verdict(NamedTuple):
    """What a page claims about a block, and the codes that were really found in it."""

    line: int
    claim: str
    codes: list[str]


class Ran(NamedTuple):
    """A page with its real outputs, and what became of its claims."""

    text: str
    verdicts: list[Verdict]


def pages() -> list[Path]:
    """Every Markdown page that is kept true."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    for folder in ("docs", "examples"):
        found += sorted((ROOT / folder).rglob("*.md"))
    return found


def blocks_of(text: str) -> Iterator[Block]:
    """The fenced blocks of a page that start at the margin."""
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        opening = _FENCE.fullmatch(lines[number])
        number += 1
        if opening is None:
            continue
        start = number
        while lines[number] != "```":
            number += 1
        marks = tuple((opening[2] or "").split())
        yield Block(opening[1], marks, start, lines[start:number])
        number += 1


def run_page(path: Path) -> Ran:
    """Run a page in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="evalcase-docs-") as folder, _quiet_terminal():
        _furnish(Path(folder), path)
        with contextlib.chdir(folder), _own_modules(os.path.realpath(folder)):
            return _Run(path).run()


def _furnish(folder: Path, page: Path) -> None:
    """Put there what the page finds around it; the empty file makes it a project."""
    if page == ROOT / "README.md":
        shutil.copytree(ROOT / "examples", folder / "examples")
    elif page == ROOT / "docs" / "calibration.md":
        shutil.copytree(ROOT / "examples" / "11-a-judge", folder, dirs_exist_ok=True)
    elif page.parent.parent == ROOT / "examples":
        shutil.copytree(page.parent, folder, dirs_exist_ok=True)
    (folder / "evalcase.toml").touch()


@contextlib.contextmanager
def _quiet_terminal() -> Iterator[None]:
    before = dict(os.environ)
    bin_folder = str(Path(sys.executable).parent)
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)  # what pytest prints depends on them
    os.environ.update(
        COLUMNS="80",
        NO_COLOR="1",
        PATH=f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        # A second to import, and nothing to a page.
        PYTEST_ADDOPTS="-p no:hypothesispytest -p no:anyio",
        PYTHONPATH=str(ROOT / "src"),
    )
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _own_modules(folder: str) -> Iterator[None]:
    """Let a page import its own files, as a script there would, and forget them afterwards: another
    page has others of the same names, and so may whoever was here before."""
    from tests.cli.in_process import take_out_strangers

    others = take_out_strangers()
    before, known = list(sys.path), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = before
        for name in sys.modules.keys() - known:
            place = getattr(sys.modules[name], "__file__", None) or ""
            if os.path.realpath(place).startswith(folder + os.sep):
                del sys.modules[name]
        sys.modules.update(others)


class _Run:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.suite = ""
        self.printed = ""
        self.status = 0
        self.verdicts: list[Verdict] = []
        self.run_ids: dict[str, str] = {}

    def run(self) -> Ran:
        text = self.path.read_text(encoding="utf-8")
        lines = text.split("\n")
        shift = 0
        for block in blocks_of(text):
            fresh = self.run_block(block)
            if fresh is not None:
                start = block.start + shift
                lines[start : start + len(block.lines)] = fresh
                shift += len(fresh) - len(block.lines)
        return Ran("\n".join(lines), self.verdicts)

    def run_block(self, block: Block) -> list[str] | None:
        """Do what a block says; return the lines it should have, where they are output."""
        if block.language == "console":
            return self.run_console(block)
        if block.language == "text" and "output" in block.marks:
            return _lines(self.printed)
        if block.language == "yaml" and "show" in block.marks:
            return _lines(self.command(f"evalcase show {self.suite} --format yaml"))
        if block.language == "python" and not block.file:
            self.printed = self.run_python(block)
        elif block.verdict or block.file:
            self.write(block)
        return None

    def write(self, block: Block) -> None:
        name = block.file or f"example.eval.{block.language}"
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        if block.language in _SUITES:
            self.suite = name
        if block.verdict:
            self.printed = self.command(f"evalcase check {name}")
            self.judge(block, self.printed)

    def judge(self, block: Block, output: str) -> None:
        self.verdicts.append(Verdict(block.start, block.verdict or "", _CODE.findall(output)))

    def run_console(self, block: Block) -> list[str]:
        fresh: list[str] = []
        for line in block.lines:
            if line.startswith("$ "):
                fresh += [line, *_lines(self.command(line[2:]))]
        if block.verdict:
            self.judge(block, "\n".join(fresh))
        return fresh

    def command(self, command: str) -> str:
        """What a command prints: in this process where it needs no shell."""
        runs = _RUNS.search(command) is not None
        words = [] if _SHELL.search(_QUOTED.sub("", command)) else shlex.split(command)
        if words[:1] == ["cd"]:
            os.chdir(words[1])
            return ""
        if words[:1] == ["evalcase"]:
            run = self.run_cases if runs else self.run_here
            return self.steady(run(words[1:]))
        done = subprocess.run(  # noqa: S603 - the commands of our own pages
            ["bash", "-c", f"(exit {self.status}); {command}"],  # noqa: S607 - from the PATH
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if runs else subprocess.STDOUT,
            check=False,
        )
        self.status = done.returncode
        return self.steady((done.stdout or done.stderr or b"").decode())

    def steady(self, output: str) -> str:
        """An output without what differs each time."""
        here = os.path.realpath(".") + os.sep
        # What a program is given as an absolute path is shown as one.
        output = output.replace(f'"path": "{here}', '"path": "…/').replace(here, "")
        for pattern, steady in _TIMES:
            output = pattern.sub(steady, output)
        return _RUN_ID.sub(self.steady_id, output)

    def steady_id(self, found: re.Match[str]) -> str:
        number = len(self.run_ids)
        return self.run_ids.setdefault(
            found[0], f"20260301-0900{number:02}-{0xA1B2C3 + number:06x}"
        )

    def run_cases(self, arguments: list[str]) -> str:
        """What is said of a run, without its progress; as of a process that is there for it alone,
        with its own imports, signals and streams."""
        from tests.cli.in_process import run_in_process

        ended = run_in_process(arguments, cwd=None, env=dict(os.environ))
        self.status = ended.code
        return (ended.stdout or ended.stderr).decode()

    def run_here(self, arguments: list[str]) -> str:
        from evalcase.cli import runs as list_command
        from evalcase.cli.app import run_command

        # A page may take more than a minute on a busy machine: its runs are always new.
        with (
            _captured() as written,
            mock.patch.object(list_command, "_write_age", return_value="now"),
        ):
            self.status = run_command(arguments)
        return written.getvalue().decode()

    def run_python(self, block: Block) -> str:
        # Blank lines before the code make tracebacks point into the page.
        text = "\n" * block.start + block.text
        code = compile(text, str(self.path), "exec", dont_inherit=True)
        with _captured() as written:
            exec(code, self.namespace)  # noqa: S102 - the code of our own pages
        return written.getvalue().decode()


@contextlib.contextmanager
def _captured() -> Iterator[io.BytesIO]:
    """Everything that is printed, errors too, in the order in which it is printed."""
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        yield written
    stream.detach()


def _lines(output: str) -> list[str]:
    return output.removesuffix("\n").split("\n") if output else []


def main() -> None:
    """Rewrite the pages that are named, or all of them and the pictures."""
    sys.path.insert(0, str(ROOT))
    asked = [Path(name).resolve() for name in sys.argv[1:]] or pages()
    for path in asked:
        before = path.read_text(encoding="utf-8")
        after = run_page(path).text
        if after != before:
            path.write_text(after, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}: brought up to date\n")
    if not sys.argv[1:]:
        from docs.images import make_check_svg, make_run_svg

        make_check_svg.main()
        make_run_svg.main()


if __name__ == "__main__":
    main()

"""Every page does what it shows: its blocks are run, and its outputs are what was printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.images import make_run_svg
from docs.images.make_check_svg import COMMAND, FOLDER, PICTURE, draw, terminal_output
from docs.regenerate import ROOT, Ran, blocks_of, pages, run_page
from tests.for_each import for_each

OUTDATED = "run `python docs/regenerate.py` and read the diff"
NOT_RUN = {"sh", "text"}
RUN = {"console", "python", "yaml", "json", "jsonl", "toml"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module", params=pages(), ids=name)
def page(request: pytest.FixtureRequest) -> tuple[Path, Ran]:
    return request.param, run_page(request.param)


def test_shown_outputs_are_real(page: tuple[Path, Ran]) -> None:
    path, ran = page
    assert path.read_text(encoding="utf-8") == ran.text, OUTDATED


def test_eval_files_are_as_good_as_their_marks_say(page: tuple[Path, Ran]) -> None:
    from evalcase.types.problem import CODES

    path, ran = page
    for line, claim, codes in ran.verdicts:
        where = f"{name(path)}:{line}"
        if claim == "good":
            assert codes == [], where
        elif claim == "valid":
            assert not [code for code in codes if CODES[code].severity == "error"], where
        else:
            assert set(codes) == {path.stem}, where


@for_each("path", pages(), ids=name)
def test_every_block_is_either_run_or_known_not_to_be(path: Path) -> None:
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{name(path)}:{block.start}"
        assert block.language in RUN | NOT_RUN, where
        if block.language in ("yaml", "json", "jsonl", "toml"):
            assert block.verdict or block.file or "show" in block.marks, where
        if block.language == "sh" and not block.file:  # a file is run by a command beside it
            assert "evalcase " not in block.text.replace("/evalcase ", ""), where


@for_each("path", pages(), ids=name)
def test_a_page_can_be_followed_in_one_shell(path: Path) -> None:
    """Each command begins where the page is run: one that goes elsewhere on its own comes back."""
    for block in blocks_of(path.read_text(encoding="utf-8")):
        if block.language == "console":
            gone = re.findall(r"^\$ cd .*&&.*", block.text, re.MULTILINE)
            assert not gone, f"{name(path)}:{block.start}"


def test_the_verbs_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    for path in pages():
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^)make (?:[A-Z]+=\S+ )?([a-z]+)", text, re.MULTILINE))
        assert named <= verbs, name(path)
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {verb for verb in verbs if f"`make {verb}`" in contributing} == verbs - {"help"}


def test_the_picture_shows_what_the_command_prints() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(terminal_output(COMMAND, FOLDER)), OUTDATED


def test_the_picture_of_a_run_shows_what_it_prints() -> None:
    assert make_run_svg.PICTURE.read_text(encoding="utf-8") == make_run_svg.picture(), OUTDATED

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalcase.report import html
from evalcase.report.html.shell import (
    RUNS_SCRIPTS,
    SERVED_SCRIPTS,
    read_script,
)
from tests.report.page.in_node import run_script

FOLDER = Path(html.__path__[0])


@pytest.mark.parametrize("scripts", [SERVED_SCRIPTS, RUNS_SCRIPTS])
def test_what_is_squeezed_is_script(scripts: tuple[str, ...]) -> None:
    then = "new Function(JSON.parse(require('fs').readFileSync(0, 'utf8'))); console.log(1);"
    assert run_script([], then, read_script(scripts)) == 1


@pytest.mark.parametrize("scripts", [SERVED_SCRIPTS, RUNS_SCRIPTS])
def test_no_sentence_is_squeezed(scripts: tuple[str, ...]) -> None:
    source = "".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in scripts)
    sentences = re.findall(r"'[A-Z][^'\n]* [^'\n]*'", source)
    assert len(sentences) > 5
    squeezed = read_script(scripts)
    assert [said for said in sentences if said not in squeezed] == []

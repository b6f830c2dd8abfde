import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from evalcase import report
from evalcase.report.page import RUNS_SCRIPTS, SCRIPTS, SERVED_SCRIPTS, build_shell, read_script

FOLDER = Path(report.__path__[0]) / "html"


def test_every_file_of_script_is_part_of_the_page() -> None:
    assert {path.stem for path in FOLDER.glob("*.js")} == {*SERVED_SCRIPTS, *RUNS_SCRIPTS}


@pytest.mark.parametrize("scripts", [SCRIPTS, SERVED_SCRIPTS, RUNS_SCRIPTS])
def test_the_policy_allows_this_script_and_this_style_and_nothing_else(
    scripts: tuple[str, ...],
) -> None:
    shell = build_shell(scripts)
    text = (shell.head + shell.tail).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for element in ("script", "style"):
        inside = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert len(inside) == 1
        known = b64encode(sha256(inside[0].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{known}'" in policy[1]
    for rule in (
        "default-src 'none'", "base-uri 'none'", "form-action 'none'",
        "require-trusted-types-for 'script'", "trusted-types 'none'",
    ):  # fmt: skip
        assert rule in policy[1]
    assert "unsafe" not in policy[1]
    assert ("connect-src 'self'" in policy[1]) == (scripts != SCRIPTS)


def test_nothing_is_loaded_from_anywhere() -> None:
    shell = build_shell()
    text = (shell.head + shell.tail).decode().replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"https?://|//\w+\.\w|@import|url\(|\bfetch\(|XMLHttpRequest", text)


def test_no_markup_is_ever_parsed() -> None:
    script = read_script(SERVED_SCRIPTS) + read_script(RUNS_SCRIPTS)
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)

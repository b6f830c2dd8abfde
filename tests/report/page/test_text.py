"""What the page shows of a text: its script is run by node."""

from __future__ import annotations

from tests.report.page.in_node import run_script

TRY = """
const h = (tag, ...rest) => [tag, ...rest.slice(-1)];
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => drawText(text))));
"""


def test_white_space_alone_is_never_called_empty() -> None:
    assert run_script(["text.js"], TRY, ["", " \n", " a"]) == [
        ["p.nothing", ["(empty)"]],
        ["p.nothing", ["(only white space)"]],
        ["div.text", [" a"]],
    ]

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalcase.report import html
from evalcase.report.html.shell import (
    RUNS_SCRIPTS,
    SERVED_SCRIPTS,
    read_script,
    squeeze_script,
    squeeze_style,
)
from tests.for_each import for_each
from tests.report.page.in_node import run_script

FOLDER = Path(html.__path__[0])


@for_each(
    ("written", "kept"),
    [
        ("const a = 1;\nlet b = a;", "const a=1;let b=a;"),
        ("if (a) {\n  go();\n} else {\n  stay();\n}", "if(a){go()}else{stay()}"),
        ("// why\ngo(); // and why\nstay();", "go();stay();"),
        ("return typeof a in b;", "return typeof a in b;"),
        ("for (const a of b) go(a);", "for(const a of b)go(a);"),
        ("a + +b - -c + d - e;", "a + +b - -c+d-e;"),
        ("say('a  =  b // c; }');", "say('a  =  b // c; }');"),
        (r"say('it\'s  (so)');", r"say('it\'s  (so)');"),
        ("say(`a ( ${b ? `c , ${d}` : ''} )  e`) ;", "say(`a ( ${b ? `c , ${d}` : ''} )  e`);"),
        (
            r"say(`${a || 'it\'s  {'} , ${ {b: 1}.b } ) `) ;",
            r"say(`${a || 'it\'s  {'} , ${ {b: 1}.b } ) `);",
        ),
        (r"a.match(/[ /'] {2} \/ ;/g) ;", r"a.match(/[ /'] {2} \/ ;/g);"),
        ("a / b / (c / d) / e;", "a/b/(c/d)/e;"),
        ("go(\n  a,\n  b,\n);", "go(a,b,);"),
    ],
)
def test_script_loses_comments_and_blanks_that_mean_nothing(written: str, kept: str) -> None:
    assert squeeze_script(written) == kept


@for_each(
    ("written", "kept"),
    [
        ("/* why */\n.a, .b > c {\n  color: red;\n  top: 0;\n}\n", ".a,.b>c{color:red;top:0}"),
        (".a :is(.b, .c) d { margin: 0 2px; }", ".a :is(.b,.c) d{margin:0 2px}"),
        (".a + .b { height: calc(1px + 2px); }", ".a + .b{height:calc(1px + 2px)}"),
        ("@media (max-width: 9px) {\n  a { top: 0; }\n}", "@media (max-width:9px){a{top:0}}"),
    ],
)
def test_style_loses_comments_and_blanks_that_mean_nothing(written: str, kept: str) -> None:
    assert squeeze_style(written) == kept


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

"""Hints that are one exact edit are done, and nothing else of a file is changed."""

from pathlib import Path

import pytest

import evalcase
from evalcase.config.catalogue import Catalogue
from evalcase.format.migrate import fix_file
from tests.for_each import for_each

CORPUS = Path(__file__).parent.parent / "corpus"

FIXES = {
    "a misspelt field": ("imput: q\n", "input: q\n"),
    "in quotes": ("'imput': q\n", "'input': q\n"),
    "a number as an id": ("id: 7 # seven\ninput: q\n", 'id: "7" # seven\ninput: q\n'),
    "a lost spelling": ("expected_output:  3.10\ninput: q", 'expected_output:  "3.10"\ninput: q'),
    "a word for false": ("input: q\nskip: no\n", "input: q\nskip: false\n"),
    "a percentage": ("input: q\nthreshold: 80%\n", "input: q\nthreshold: 0.8\n"),
    "a time with its unit": ("input: q\ntimeout_s: 30 s\n", "input: q\ntimeout_s: 30\n"),
    "one tag": ("input: q\ntags: smoke\n", "input: q\ntags: [smoke]\n"),
    "a role": ("input: [{role: usr, content: q}]\n", "input: [{role: user, content: q}]\n"),
    "no space after a colon": ("input:q\nexpected_output: x\n", "input: q\nexpected_output: x\n"),
    "a space that is none": ("input: q\n\u00a0id: a\n", "input: q\nid: a\n"),
    "line ends": ("input: q\r\nskip: no\r\n\r\n", "input: q\r\nskip: false\r\n\r\n"),
    "a mark": ("\ufeffinput: q\nskip: no\n", "\ufeffinput: q\nskip: false\n"),
    "two rounds": ("input:q\nskip: off\n", "input: q\nskip: false\n"),
    # What is no exact edit is left.
    "the name is taken": ("input: q\nimput: r\n", None),
    "two for one name": ("imput: q\ninptu: r\n", "input: q\ninptu: r\n"),
    "a time nobody knows": ("input: q\ntimeout_s: soon\n", None),
    "old names": ("input_messages: q\n", None),
    "through an alias": ("x-a: &a {imput: q}\ncases: [{<<: *a}, {<<: *a, id: b}]\n", None),
}


@pytest.mark.parametrize(("before", "after"), FIXES.values(), ids=FIXES)
def test_one_exact_edit_is_made_and_no_more(tmp_path: Path, before: str, after: str | None) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(before.encode())
    fixed = fix_file(str(path), Catalogue(needs_graders=True))
    assert fixed.after.decode() == (after if after is not None else before) or not fixed.changes
    assert bool(fixed.changes) == (after is not None)
    assert path.read_bytes() == before.encode()  # a plan writes nothing


@for_each(
    ("name", "before", "after"),
    [
        ("a.json", '[{"input": "q",\n  "skip": "no"},]\n', '[{"input": "q",\n  "skip": false}]\n'),
        ("a.jsonl", '{"imput": "q"}\r\n{"input": "r",}\n', '{"input": "q"}\r\n{"input": "r"}\n'),
        ("a.jsonl", '{"input": "q", "threshold": "80%"}', '{"input": "q", "threshold": 0.8}'),
        ("a.jsonl", '{"input":\r"q"}\n{"imput": "r"}\n', '{"input":\r"q"}\n{"input": "r"}\n'),
    ],
)
def test_json_is_mended_as_well(tmp_path: Path, name: str, before: str, after: str) -> None:
    path = tmp_path / name
    path.write_bytes(before.encode())
    assert fix_file(str(path), Catalogue(needs_graders=True)).after.decode() == after


def errors_of(path: Path) -> list[str]:
    problems = evalcase.check([path], root=path.parent)
    return [problem.code for problem in problems if problem.severity == "error"]


SUITES = [path for path in sorted((CORPUS / "invalid").iterdir()) if ".expect" not in path.name]


@for_each("path", SUITES, ids=lambda path: path.name)
def test_what_was_mended_needs_no_mending_and_is_better(tmp_path: Path, path: Path) -> None:
    copy = tmp_path / path.name
    copy.write_bytes(path.read_bytes())
    fixed = fix_file(str(copy), Catalogue(needs_graders=True))
    if not fixed.changes:
        return
    assert fixed.before == path.read_bytes()
    before = errors_of(copy)
    copy.write_bytes(fixed.after)
    assert "syntax" in before or len(errors_of(copy)) < len(before) or not before
    assert fix_file(str(copy), Catalogue(needs_graders=True)).changes == []

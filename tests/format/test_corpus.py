"""Every document of the corpus: exactly the problems it announces, and its canonical form."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import evalcase
from tests.for_each import for_each

CORPUS = Path(__file__).parent.parent / "corpus"
GOLDEN = CORPUS / "canonical.json"
ANNOUNCED = re.compile(rb"# (expect|warn): (\S+) (\d+):(\d+)")

Found = tuple[str, int | None, int | None]


def documents(folder: str) -> list[Any]:
    paths = sorted((CORPUS / folder).iterdir())
    suffixes = (".yaml", ".json", ".jsonl")
    suites = [each for each in paths if each.suffix in suffixes and ".suite." not in each.name]
    assert suites
    return [pytest.param(path, id=path.name) for path in suites]


def announced(path: Path, kind: str) -> list[Found]:
    expectations = path.with_suffix(".expect")
    data = (expectations if expectations.exists() else path).read_bytes()
    sidecar = path.with_suffix(".suite.yaml")
    data += sidecar.read_bytes() if sidecar.exists() else b""
    return sorted(
        (match[2].decode(), int(match[3]), int(match[4]))
        for match in ANNOUNCED.finditer(data)
        if match[1].decode() == kind
    )


def found(path: Path, *severities: str) -> list[Found]:
    problems = evalcase.check([path], root=CORPUS)
    return sorted((p.code, p.line, p.column) for p in problems if p.severity in severities)


@for_each("path", documents("invalid"))
def test_every_error_of_an_invalid_document_is_found_at_its_place(path: Path) -> None:
    errors = found(path, "error")
    assert errors
    assert errors == announced(path, "expect")
    # Which graders are installed is no matter of a file: it can be read without them.
    if {code for code, _, _ in errors} != {"unknown-grader"}:
        with pytest.raises(evalcase.SuiteError):
            evalcase.load(path)


@for_each("path", documents("valid"))
def test_a_valid_document_has_only_the_warnings_it_announces(path: Path) -> None:
    assert found(path, "error") == []
    assert found(path, "warning", "note") == announced(path, "warn")


@for_each("path", documents("valid"))
def test_a_valid_document_has_the_canonical_form_on_record(path: Path) -> None:
    """After a change that is meant, write the record anew: `python tests/format/record.py`."""
    assert evalcase.load(path).to_dict() == json.loads(GOLDEN.read_text("utf-8"))[path.name]


def test_nothing_is_on_record_that_is_not_in_the_corpus() -> None:
    names = {path.id for path in documents("valid")}
    assert set(json.loads(GOLDEN.read_text("utf-8"))) == names

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import yaml
from jsonschema import Draft202012Validator

from tests.cli.command import evalcase, shell


def test_the_schema_is_a_json_schema() -> None:
    result = evalcase("schema")
    assert (result.code, result.err) == (0, "")
    schema = json.loads(result.stdout)
    assert jsonschema_rs.meta.is_valid(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_schema_judges_like_the_reader() -> None:
    validator = Draft202012Validator(json.loads(evalcase("schema").stdout))
    good = yaml.safe_load("cases: [{id: sum, input: 'What is 2+2?', expected_output: '4'}]")
    assert validator.is_valid(good)
    assert validator.is_valid([{"input": [{"role": "user", "content": "hi"}]}])
    assert not validator.is_valid({"cases": [{"input": "hi", "expcted_output": "x"}]})
    assert not validator.is_valid({"cases": [{"input": 5}]})
    assert not validator.is_valid({"cases": []})


def test_every_field_is_explained_in_the_editor() -> None:
    schema = json.loads(evalcase("schema").stdout)
    fields = [
        (name, field)
        for part in schema["$defs"].values()
        for name, field in part.get("properties", {}).items()
        if name in ("input", "expected_output", "criteria", "graders", "rubrics")
    ]
    assert fields
    for name, field in fields:
        text = json.dumps(field)
        assert "description" in text or "$ref" in text, name


def test_the_example_of_its_help_works(tmp_path: Path) -> None:
    assert shell("$EVALCASE schema > evalcase.schema.json", cwd=tmp_path).code == 0
    json.loads((tmp_path / "evalcase.schema.json").read_bytes())
    line = re.search(r"# yaml-language-server: .*", evalcase("schema", "--help").out)
    assert line is not None
    (tmp_path / "x.eval.yaml").write_text(f"{line[0]}\n- input: hi\n  expected_output: x\n")
    assert evalcase("check", cwd=tmp_path).code == 0


def test_the_schema_of_the_configuration() -> None:
    result = evalcase("schema", "--config")
    assert (result.code, result.err) == (0, "")
    schema = json.loads(result.stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"target": "echo", "targets": {"a": {"kind": "echo"}}})
    assert not validator.is_valid({"tagret": "echo"})
    assert not validator.is_valid({"targets": {"a": {"kind": "echo", "delay": 3}}})


def test_the_schema_of_the_file_beside_jsonl() -> None:
    result = evalcase("schema", "--sidecar")
    assert (result.code, result.err) == (0, "")
    validator = Draft202012Validator(json.loads(result.stdout))
    assert validator.is_valid({"name": "big", "input": "Be brief.", "graders": ["expected"]})
    assert not validator.is_valid({"cases": [{"input": "hi"}]})
    assert not validator.is_valid({"nam": "big"})

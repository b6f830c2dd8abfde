"""Names to targets: what a configuration, a suite and the command line may say, and all faults."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from evalcase.config.config import Config
from evalcase.config.registry import find_target_kind, list_names
from evalcase.config.targets import key_names, make_target
from evalcase.errors import ConfigError
from evalcase.types.target import Surroundings
from tests.for_each import for_each

MODELS = ("openai", "anthropic")


def around(environment: dict[str, str]) -> Surroundings:
    return Surroundings(".", environment, print, lambda: 0.0)


def make(name: str, root: object = "/p", targets: dict[str, Any] | None = None, **how: Any) -> Any:
    config = Config(str(root), targets=targets or {})
    return make_target(name, config, around(how.pop("environment", {})), **how)


def refusal(name: str, **how: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        make(name, **how)
    return str(caught.value)


def of_options(kind: str, **options: Any) -> str:
    return refusal("t", targets={"t": {"kind": kind, **options}})


@for_each(
    ("name", "kind"),
    [
        ("echo", "EchoTarget"), ("python:a:b", "PythonTarget"), ("command:ls -l", "CommandTarget"),
        ("http:http://x", "HttpTarget"), ("http://x/y", "HttpTarget"),
        ("https://x", "HttpTarget"), ("openai:m", "OpenAITarget"),
        ("anthropic:m", "AnthropicTarget"), ("replay:a.jsonl", "ReplayTarget"),
    ],
)  # fmt: skip
def test_every_kind_has_a_short_spelling(name: str, kind: str) -> None:
    assert type(make(name)).__name__ == kind


@for_each(
    "kind",
    [
        each
        for each in list_names("targets")
        if find_target_kind(each).value_needed and each != "echo"
    ],
)
def test_a_kind_without_its_value_is_no_target(kind: str) -> None:
    for name in (kind, f"{kind}:"):
        value = find_target_kind(kind).value or ""
        said = f"the target `{name}` needs a value: write {kind}:{value.upper()}"
        assert refusal(name).startswith(said)


def test_names_that_nobody_knows() -> None:
    known = {"agent": {"kind": "echo"}, "other": {"kind": "echo"}}
    config = Config("/p", "/p/evalcase.toml", targets=known)
    with pytest.raises(ConfigError, match=r"no target `agnt` in the config.*did you mean `agent`"):
        make_target("agnt", config, around({}))
    assert "no configuration says what the target `agnt` is" in refusal("agnt")
    assert refusal("pyhton:a:b") == "there is no target kind `pyhton`: did you mean `python:a:b`?"
    assert "no target kind `smal`" in refusal("t", targets={"t": {"kind": "smal"}})
    assert refusal("echo:x") == "echo target: it takes no value, so not `x`"


def test_all_faults_of_a_target_are_told_at_once() -> None:
    said = of_options("http", url="ftp://x", api_key="k", concurrency="ten", headers={"a": 1})
    assert said == (
        "[targets.t]: `url` is an address such as https://example.com/answer, not 'ftp://x'; "
        "a target of kind `http` has no option `api_key`: did you mean `key_env`? "
        "It takes the name of an environment variable, and never a key itself; "
        "`concurrency` is a whole number of 1 or more, not 'ten'; "
        "`headers.a` is text, not 1: quote it"
    )


@for_each("kind", MODELS)
@for_each(
    ("written", "meant"),
    [
        ("apiKey", "key_env"), ("parameters", "params"), ("api_base", "base_url"),
        ("modle", "model"), ("concurency", "concurrency"), ("temperature", "params"),
    ],
)  # fmt: skip
def test_names_of_other_tools_lead_to_ours(kind: str, written: str, meant: str) -> None:
    value = {} if written == "parameters" else "x"
    assert f"no option `{written}`: did you mean `{meant}`?" in of_options(
        kind, **{"model": "m", written: value}
    )


@for_each(
    ("value", "said"),
    [
        ({"day": date(2026, 1, 1)}, "date is not a JSON value"),
        ({"n": float("nan")}, "JSON has no nan"),
        ({"n": 10**5000}, "an integer has more than 4,300 digits"),
    ],
)
def test_what_toml_has_and_json_has_not_is_a_fault(value: Any, said: str) -> None:
    assert f"`params` can't be written as JSON: {said}" in of_options(
        "openai", model="m", params=value
    )


def test_names_of_keys_come_from_traits_and_configuration() -> None:
    targets = {"a": {"kind": "http", "url": "http://x", "header_env": {"X-Key": "A"}}}
    config = Config(
        "/p", targets={**targets, "b": {"kind": "openai", "key_env": "B"}}, secrets=("C",)
    )
    assert key_names(config, [make("a", targets=targets), make("openai:m")]) == {
        "A", "B", "C", "OPENAI_API_KEY",
    }  # fmt: skip


# What a suite may not say, and what may not be run.


@for_each(
    "name",
    ["http:http://x", "https://x/y", "openai:m@https://x/v1", "anthropic:m@http://x", "http:x"],
)
def test_a_suite_can_not_name_an_address(name: str) -> None:
    assert "the target of a suite carries an address" in refusal(name, of_suite=True)
    if name != "http:x":
        assert make(name) is not None


@for_each("name", ["openai:m", "anthropic:m-2024", "command:curl http://x", "echo"])
def test_a_suite_can_name_what_has_no_address(name: str) -> None:
    assert make(name, of_suite=True) is not None


def test_a_suite_can_not_lead_out_of_the_project(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "answers.jsonl").write_text("")
    (root / "link.jsonl").symlink_to(tmp_path / "answers.jsonl")
    (root / "answers.jsonl").write_text("")
    for path in ("../answers.jsonl", str(tmp_path / "answers.jsonl"), "link.jsonl"):
        said = refusal(f"replay:{path}", root=root, of_suite=True)
        assert "is outside the project" in said
        assert make(f"replay:{path}", root=root) is not None
    assert make("replay:answers.jsonl", root=root, of_suite=True) is not None


def test_code_is_not_run_where_that_is_forbidden() -> None:
    targets = {"t": {"kind": "python", "function": "a:b"}}
    for name in ("python:a:b", "command:ls", "t"):
        assert "would run code, and --no-exec" in refusal(name, targets=targets, no_exec=True)
    assert make("openai:m", no_exec=True) is not None


# Addresses after a model.


@for_each("kind", MODELS)
@for_each(
    "place", ["127.0.0.1:8911/v1", "localhost:11434/v1", "gpu-box:8000", "api.example.com/v1"]
)
def test_an_at_without_a_whole_address_is_an_error(kind: str, place: str) -> None:
    assert refusal(f"{kind}:org/m@v2@{place}") == (
        f"{kind} target: `org/m@v2@{place}` has an @ without a whole address: write "
        f"{kind}:MODEL@http://HOST, also if the @ is a part of the name of the model"
    )


@for_each("kind", MODELS)
@for_each(
    "model",
    ["m@v2", "m@", "a@b@c", "m@http", "workers-ai/@cf/meta/llama-3.1-8b", "m@evil.com.",
     "m@http\n//x"],
)  # fmt: skip
def test_a_model_with_an_at_in_its_name_is_never_asked_at_the_providers_own(
    kind: str, model: str
) -> None:
    target = make(f"{kind}:{model}@http://host/v1")
    assert (target._options.model, target._options.base_url) == (model, "http://host/v1")
    assert "has an @ without a whole address" in refusal(f"{kind}:{model}")
    assert "carries an address" in refusal(f"{kind}:{model}", of_suite=True)
    table: dict[str, Any] = {"kind": kind, "model": model}
    assert "`model` has an address in it" in refusal("t", targets={"t": table})
    there = {**table, "base_url": "http://host/v1"}
    assert make("t", targets={"t": there})._options.model == model


@pytest.mark.parametrize("kind", MODELS)
def test_an_address_of_another_kind_is_an_error(kind: str) -> None:
    assert "without a whole address" in refusal(f"{kind}:m@ftp://x/v1")
    for value in ("@http://x", "@localhost:80", "http://localhost:80"):
        assert "it needs a model" in refusal(f"{kind}:{value}")


@pytest.mark.parametrize("kind", MODELS)
def test_the_model_of_a_table_has_no_address_in_it_unless_another_is_given(kind: str) -> None:
    table: dict[str, Any] = {"kind": kind, "model": "m@localhost:80"}
    said = "`model` has an address in it: that is `base_url`"
    assert said in refusal("t", targets={"t": table})
    elsewhere = {**table, "base_url": "http://127.0.0.1:1"}
    assert make("t", targets={"t": elsewhere})._options.model == "m@localhost:80"

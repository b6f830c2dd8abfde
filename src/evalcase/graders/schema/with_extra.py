"""The same by the package jsonschema-rs, for schemas with keywords that only it knows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from evalcase.graders.compare.json_difference import Difference, step_text
from evalcase.types.value import JSON


def is_installed() -> bool:
    return find_spec("jsonschema_rs") is not None


def find_errors(schema: JSON, value: JSON) -> Iterator[Difference]:
    """Every error, with its place in the value. Raise ValueError where the schema is invalid."""
    rust: Any = import_module("jsonschema_rs")
    validator = rust.Draft202012Validator(schema, validate_formats=True, retriever=_refuse_address)
    for error in validator.iter_errors(value):
        steps = [f"[{each}]" if isinstance(each, int) else step_text(each)
                 for each in error.instance_path]  # fmt: skip
        yield Difference("".join(["$", *steps]), error.message)


def object_to_schema(schema: JSON) -> str | None:
    """Why a schema can't be used; None if it can."""
    try:
        next(find_errors(schema, None), None)
    except ValueError as error:
        return str(error).partition("\n")[0]
    return None


def _refuse_address(address: str) -> NoReturn:
    raise ValueError(f"nothing is fetched, also not {address}")

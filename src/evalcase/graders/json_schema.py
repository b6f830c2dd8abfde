"""The JSON of the answer is valid by a JSON Schema."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from evalcase.errors import ConfigError
from evalcase.graders.compare.json_difference import Difference, list_differences
from evalcase.graders.compare.subject import graded_value, is_large
from evalcase.graders.schema import with_extra
from evalcase.graders.schema.schema_faults import needs_extra, schema_faults
from evalcase.graders.schema.validate import MOST_ERRORS, Validator
from evalcase.model.conflict import conflict
from evalcase.model.finding import KeyPath
from evalcase.model.grade import Score
from evalcase.model.grader import Context, Grader, GraderKind
from evalcase.model.json_value import JSON, describe_kind
from evalcase.model.option import option
from evalcase.model.shape import OptionFault, Plain
from evalcase.model.shape_names import FileName
from evalcase.model.target import Surroundings
from evalcase.system.digests import digest_file
from evalcase.system.files import read_file
from evalcase.system.patterns.searches import Searches, end_searches, settle_aside, settle_searches
from evalcase.text.counted import write_count
from evalcase.text.strict_json import BadJsonError, parse_json

_LARGEST_FILE = 10_000_000
_MOST_TOLD = 100


class _SchemaShape(Plain, frozen=True):
    """A JSON Schema that can be used."""

    @property
    def words(self) -> str:
        return "a JSON Schema"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, dict | bool):
            what = f"`{path[-1]}` is a JSON Schema, not {describe_kind(value)}"
            is_file = isinstance(value, str) and value.lower().endswith(".json")
            hint = f"write {{type: json_schema, file: {value:.80}}}" if is_file else None
            yield OptionFault(path, what, hint, code="wrong-type", unlike=True)
            return
        has_extra = needs_extra(value) and with_extra.is_installed()
        faults = list(schema_faults(value, path, has_extra))
        yield from faults
        why = with_extra.object_to_schema(value) if has_extra and not faults else None
        if why is not None:
            yield OptionFault(path, f"`{path[-1]}` is not a JSON Schema: {why}")

    def schema(self) -> dict[str, JSON]:
        return {"type": ["object", "boolean"]}


@dataclass(slots=True)
class JsonSchemaGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json_schema", "The answer, as JSON, is valid against a JSON Schema (2020-12).", "value",
        takes_mapping=True, reads="value",
        example="- json_schema: {type: object, required: [riskLevel]}",
        only_reads=True,
    )  # fmt: skip

    value: JSON = option(
        _SchemaShape(), "The schema.", default=None, example={"type": "object"},
        elsewhere=("schema",),
    )  # fmt: skip
    file: str | None = option(
        FileName(holds=_SchemaShape()),
        "A file in the project with the schema as JSON, instead of `value`.",
        default=None, example="schemas/answer.json",
    )  # fmt: skip

    read: JSON = None
    """The schema of the file, once it is read."""
    path: str = ""

    @conflict
    def _needs_a_schema(self) -> Iterator[OptionFault]:
        if self.value is None and self.file is None:
            needs = "the grader `json_schema` needs a schema, or a `file` with one"
            yield OptionFault((), needs, code="missing-option")

    @conflict
    def _has_two_schemas(self) -> Iterator[OptionFault]:
        if self.value is not None and self.file is not None:
            yield OptionFault(("file",), "`file` replaces `value`: use only one of them")

    def load(self, surroundings: Surroundings) -> None:
        """Read the file now. Raise ConfigError where it has no schema that can be used."""
        if self.file is not None:
            self.path = os.path.join(surroundings.root, self.file)
            self.read = _read_schema(self.file, self.path, surroundings.root)

    def sources(self) -> dict[str, str]:
        return {self.file: digest_file(self.path)} if self.file and self.path else {}

    def grade(self, context: Context) -> Score | Awaitable[Score]:
        schema = self.value if self.file is None else self.read
        value = graded_value(context)
        if needs_extra(schema):
            return _judge_errors(list(with_extra.find_errors(schema, value)))
        if is_large(value):
            return settle_aside(partial(_validate_value, schema, value))
        return settle_searches(
            lambda searches: _validate_value(schema, value, searches, lambda: False)
        )

    async def close(self) -> None:
        end_searches()


def _read_schema(name: str, path: str, root: str) -> JSON:
    try:
        schema = parse_json(read_file(path, _LARGEST_FILE, inside=root))
    except OSError as error:
        raise ConfigError(f"grader `json_schema`: {name}: {error.strerror}") from None
    except BadJsonError as error:
        raise ConfigError(f"grader `json_schema`: {name} is not JSON: {error}") from None
    faults = [
        f"{name}: {'.'.join(map(str, each.path[1:])) or 'the top'}: {each.message}"
        for each in _SchemaShape().faults(schema, ("schema",))
    ]
    if faults:
        raise ConfigError(f"grader `json_schema`: {'; '.join(faults)}")
    return schema


def _validate_value(
    schema: JSON, value: JSON, searches: Searches, is_given_up: Callable[[], bool]
) -> Score:
    return _judge_errors(Validator(schema, searches, is_given_up).errors(value))


def _judge_errors(errors: Sequence[Difference]) -> Score:
    if not errors:
        return Score(1.0, "it matches the schema")
    told: list[JSON] = [{"path": each.path, "error": each.what} for each in errors[:_MOST_TOLD]]
    more = " or more" if len(errors) >= MOST_ERRORS else ""
    counted = f"{write_count(len(errors), 'schema error')}{more}"
    reason = f"{counted}: {list_differences(errors).text}"
    return Score(0.0, reason, {"errors": told})

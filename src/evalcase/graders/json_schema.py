"""The JSON of the answer is valid by a JSON Schema."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Iterator, Sequence
from typing import Annotated, ClassVar

from evalcase.errors import ConfigError
from evalcase.graders.compare.json_difference import Difference, list_differences
from evalcase.graders.compare.patterns import settle
from evalcase.graders.compare.subject import graded_value, is_large
from evalcase.graders.schema import with_extra
from evalcase.graders.schema.schema_faults import needs_extra, schema_faults
from evalcase.graders.schema.validate import MOST_ERRORS, Validator
from evalcase.types.grade import Score
from evalcase.types.grader import Context, Grader, GraderKind
from evalcase.types.options import OptionFault, Place, Text, about, of_kind
from evalcase.types.target import Surroundings
from evalcase.types.value import JSON, describe_kind
from evalcase.util.files import digest_file, read_file
from evalcase.util.json import BadJsonError, parse_json
from evalcase.util.text import write_count

_LARGEST_FILE = 10_000_000
_MOST_TOLD = 100


def _check_schema(value: JSON, place: Place) -> Iterator[OptionFault]:
    """What is wrong with a JSON Schema, in an option or in a file."""
    if not isinstance(value, dict | bool):
        is_file = isinstance(value, str) and value.lower().endswith(".json")
        hint = f"write {{type: json_schema, file: {value:.80}}}" if is_file else None
        fault = place.fault(f"is a JSON Schema, not {describe_kind(value)}", hint)
        yield fault._replace(code="wrong-type")
        return
    has_extra = needs_extra(value) and with_extra.is_installed()
    faults = list(schema_faults(value, place.path, has_extra))
    yield from faults
    why = with_extra.object_to_schema(value) if has_extra and not faults else None
    if why is not None:
        yield place.fault(f"is not a JSON Schema: {why}")


JsonSchema = Annotated[
    JSON,
    of_kind("a JSON Schema", check=_check_schema, schema={"type": ["object", "boolean"]}),
]
SchemaFile = Annotated[Text, of_kind("the path of a file", names="file", holds=_check_schema)]


class JsonSchemaGrader(Grader):
    kind: ClassVar[GraderKind] = GraderKind(
        "json_schema", "The answer, as JSON, is valid against a JSON Schema (2020-12).", "value",
        takes_mapping=True, reads="value",
        example="- json_schema: {type: object, required: [riskLevel]}",
        only_reads=True,
    )  # fmt: skip

    value: Annotated[
        JsonSchema | None,
        about("The schema.", example={"type": "object"}, elsewhere=("schema",)),
    ] = None
    file: Annotated[
        SchemaFile | None,
        about(
            "A file in the project with the schema as JSON, instead of `value`.",
            example="schemas/answer.json",
        ),
    ] = None

    read: JSON = None
    """The schema of the file, once it is read."""
    path: str = ""

    def conflicts(self) -> Iterator[OptionFault]:
        if self.value is None and self.file is None:
            needs = "the grader `json_schema` needs a schema, or a `file` with one"
            yield OptionFault((), needs, code="missing-option")
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
        return settle(
            lambda searcher: _judge_errors(Validator(schema, searcher).errors(value)),
            takes_long=is_large(value),
        )


def _read_schema(name: str, path: str, root: str) -> JSON:
    try:
        schema = parse_json(read_file(path, _LARGEST_FILE, inside=root))
    except OSError as error:
        raise ConfigError(f"grader `json_schema`: {name}: {error.strerror}") from None
    except BadJsonError as error:
        raise ConfigError(f"grader `json_schema`: {name} is not JSON: {error}") from None
    faults = [
        f"{name}: {'.'.join(map(str, each.path[1:])) or 'the top'}: {each.message}"
        for each in _check_schema(schema, Place(("schema",)))
    ]
    if faults:
        raise ConfigError(f"grader `json_schema`: {'; '.join(faults)}")
    return schema


def _judge_errors(errors: Sequence[Difference]) -> Score:
    if not errors:
        return Score(1.0, "it matches the schema")
    told: list[JSON] = [{"path": each.path, "error": each.what} for each in errors[:_MOST_TOLD]]
    more = " or more" if len(errors) >= MOST_ERRORS else ""
    counted = f"{write_count(len(errors), 'schema error')}{more}"
    reason = f"{counted}: {list_differences(errors).text}"
    return Score(0.0, reason, {"errors": told})

"""`vars` and what else makes texts be rendered, in the JSON Schema."""

from __future__ import annotations

from evalcase.resolve.schema.words import SuiteSchema, describe_optional

_NAMES: SuiteSchema = {"pattern": r"^[^\s\d.{}()\[\]|-][^\s.{}()\[\]|]*$"}
"""Letters of all languages are more than a pattern of a schema knows: this refuses the rest."""


def variable_fields() -> dict[str, SuiteSchema]:
    """Those of suites and cases alike, where the case's own one wins."""
    return {
        "vars": describe_optional(
            "object",
            "Values by their names: `{{name}}` in what is asked, expected or graded becomes the "
            "value.",
            propertyNames=_NAMES,
        ),
        "var_files": describe_optional(
            "object",
            "Names of text files in the project, whose text is the value of a variable.",
            propertyNames=_NAMES,
            additionalProperties={
                "type": "string",
                "minLength": 1,
                "description": "A text file, located like files in content.",
            },
        ),
        "matrix": describe_optional(
            "object",
            "Variables with several values each: every combination of them is a case.",
            propertyNames=_NAMES,
            additionalProperties={
                "type": ["array", "object"],
                "minItems": 1,
                "minProperties": 1,
                "description": "A list of values, or labels and their values.",
            },
        ),
        "rows": describe_optional(
            "string",
            "A table, as .csv or .jsonl: every row is a case, and its columns are variables.",
            pattern=r"\.([cC][sS][vV]|[tT][sS][vV]|[jJ][sS][oO][nN][lL])$",
            examples=["questions.csv"],
        ),
    }

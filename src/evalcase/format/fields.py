"""The fields of suites, cases, turns and simulated users, as people write them.

Each field is declared once, with its type, its sentence and its older names. The reader, its
suggestions, `migrate`, the JSON Schema and the hover of editors all take them from here. A field
that is null counts as absent. `settle_names` finds the field that each name in a mapping stands
for.
"""

# msgspec compiles annotations that are text: here they are not.

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from evalcase.format.document import Findings
from evalcase.types.grade import Levels
from evalcase.types.options import (
    Amount,
    Count,
    Place,
    Seconds,
    Share,
    Text,
    about,
    of_kind,
)
from evalcase.types.problem import Finding, Fix, KeyPath, hint_at
from evalcase.types.read_options import fields_of
from evalcase.types.result import MOST_REPEATS
from evalcase.types.value import describe_kind
from evalcase.types.workspace import Workspace
from evalcase.util.text import nearest_field

ABSENT: Any = None
"""The default of every field that may be left out."""
FILE_SCHEME = "file://"
NOT_SKIPPED = ("no", "No", "NO", "n", "N", "off", "Off", "OFF", "false", "False", "FALSE", "0")
"""Texts that are `false` in YAML 1.1, and so can't be a reason to skip a case."""


def _older(*names: str) -> Meta:
    """The deprecated names of a field."""
    return Meta(extra={"older": names})


def _part(name: str) -> Meta:
    """The part of the schema that describes a value with short forms."""
    return of_kind(schema={"$ref": f"#/$defs/{name}"})


def _check_prose(value: str, place: Place, code: str = "bad-value") -> Iterator[Finding]:
    if not value.strip():
        yield place.fault("is blank", "fill it, or leave it out", code=code)


def _check_skip(value: str | bool, place: Place) -> Iterator[Finding]:
    if value == "":
        yield place.fault("is true, or the reason as text")._replace(code="wrong-type")
    elif value in NOT_SKIPPED:
        message = f"`{value}` is text here, not a reason to skip a case"
        yield Finding(place.path, message, "write `false`", fix=Fix("false"))


def _check_rows(value: str, place: Place) -> Iterator[Finding]:
    if value.startswith(FILE_SCHEME) or not value.lower().endswith((".csv", ".tsv", ".jsonl")):
        yield place.fault("is the path of a file that ends in .csv, .tsv or .jsonl")


# Fields that several mappings have.

Prose = Annotated[str, Meta(pattern=r"\S"), of_kind(check=_check_prose)]
Point = Annotated[str, Meta(pattern=r"\S"), of_kind(check=partial(_check_prose, code="wrong-type"))]
Times = Annotated[int, Meta(ge=1, le=MOST_REPEATS)]
Filled = Annotated[dict[str, Any], Meta(min_length=1)]
VariableName = Annotated[str, Meta(pattern=r"^[^\s\d.{}()\[\]|-][^\s.{}()\[\]|]*$")]
"""Letters of all languages are more than a pattern of a schema knows: this refuses the rest."""
Messages = Annotated[Any, _part("input"), _older("input_messages")]
Expected = Annotated[Any, _part("expectedOutput"), _older("expected_messages")]
Graders = Annotated[Any, _part("graders"), _older("evaluators", "assertions", "assert")]
Criteria = Annotated[
    str,
    about("What a good answer does, in prose, for a judge."),
    Meta(pattern=r"\S"),
    of_kind(check=_check_prose),
    _older("expected_outcome", "outcome"),
]
Target = Annotated[
    Text,
    about(
        "What answers the input: a target named in the configuration, or `kind:value`.",
        example="python:my_agent:answer",
    ),
    of_kind("the name of a target"),
]
Targets = Annotated[
    list[Annotated[Text, about("A target, written as in `target`.")]],
    about("Several targets, each of which gets every input."),
    Meta(min_length=1),
]
Threshold = Annotated[
    Share,
    about(
        "The weighted mean of the grades needed to pass; by default, every grader must pass.",
        example=0.8,
    ),
]
Timeout = Annotated[Seconds, about("The time limit of one attempt, in seconds.", example=60)]
Tags = Annotated[
    list[Annotated[str, about("One tag.")]],
    about("Words to select cases by.", example=["smoke"]),
    of_kind("a list of texts"),
]
Data = Annotated[dict[str, Any], about("Anything you like; graders and results get it untouched.")]
WorkspaceField = Annotated[
    Workspace | Annotated[bool, of_kind(schema={"type": "boolean", "enum": [False]})],
    about("Where a coding agent works: a fresh copy of a folder for each attempt."),
    of_kind("a mapping, or false"),
]
Vars = Annotated[
    dict[VariableName, Any],
    about(
        "Values by their names: `{{name}}` in what is asked, expected or graded becomes the value."
    ),
]
VarFiles = Annotated[
    dict[VariableName, Annotated[Point, about("A text file, located like files in content.")]],
    about("Names of text files in the project, whose text is the value of a variable."),
]
Matrix = Annotated[
    dict[
        VariableName,
        Annotated[
            Annotated[list[Any], Meta(min_length=1)] | Filled,
            about("A list of values, or labels and their values."),
            of_kind("a list of values or a mapping of labels to values"),
        ],
    ],
    about("Variables with several values each: every combination of them is a case."),
]
Rows = Annotated[
    str,
    about(
        "A table, as .csv or .jsonl: every row is a case, and its columns are variables.",
        example="questions.csv",
    ),
    Meta(pattern=r"\.([cC][sS][vV]|[tT][sS][vV]|[jJ][sS][oO][nN][lL])$"),
    of_kind("the path of a file that ends in .csv, .tsv or .jsonl", check=_check_rows),
]
SchemaLocation = Annotated[str, about("The location of the schema, for editors.")]


class WrittenRepeat(Struct, frozen=True, kw_only=True):
    """How many trials a case has; a number alone is its `times`."""

    times: Annotated[Times, about("How many trials each case has.", example=5)]
    pass_rate: Annotated[
        Share,
        about("The share of trials that must pass; by default, all of them.", example=0.8),
    ] = ABSENT


Repeat = Annotated[
    Times | WrittenRepeat,
    about("How many trials each case has, and what share of them must pass.", example=5),
]


class WrittenRubric(Struct, frozen=True, kw_only=True):
    """One point that a judge checks; a text alone is its `text`."""

    text: Annotated[Point, about("What a good answer does.")] | None = None
    id: Annotated[Text, about("A name for this point in reports.")] = ABSENT
    weight: Annotated[Amount, about("How much this counts in the weighted mean.", example=2)] = (
        ABSENT
    )
    required: Annotated[bool, about("Whether this must pass, regardless of the weighted mean.")] = (
        ABSENT
    )
    levels: Annotated[
        Levels, about("What an answer of each level is like, from 0 to the best.")
    ] = ABSENT
    description: Annotated[Point, about("Another name for `text`.")] | None = None

    def conflicts(self) -> Iterator[Finding]:
        if self.text is not None and self.description is not None:
            message = "`text` and `description` say the same thing"
            yield Finding(("description",), message, "keep `text`", "key", "conflicting-fields")
        elif self.text is None and self.description is None:
            message = "a rubric needs `text`: what a good answer does"
            yield Finding((), message, code="missing-option")


def _check_rubrics(rubrics: list[str | WrittenRubric], place: Place) -> Iterator[Finding]:
    if all(isinstance(each, WrittenRubric) and each.weight == 0 for each in rubrics):
        yield place.fault("has only weights of 0, so there is no score", "leave `weight` out")
    seen = set[str]()
    for index, each in enumerate(rubrics):
        if isinstance(each, WrittenRubric) and each.id is not None:
            if each.id in seen:
                yield Finding((*place.path, index, "id"), f"two rubrics have the id `{each.id}`")
            seen.add(each.id)


Rubrics = Annotated[
    list[Annotated[Point | WrittenRubric, _part("rubric")]],
    about("What a judge checks, point by point."),
    Meta(min_length=1),
    of_kind("a list of texts or mappings", check=_check_rubrics),
]


class WrittenTurn(Struct, frozen=True, kw_only=True):
    """One turn of a conversation."""

    input: Annotated[Messages, about("What is said to the target in this turn.")] = ABSENT
    expected_output: Annotated[Expected, about("What the answer of this turn should be.")] = ABSENT
    criteria: Criteria = ABSENT
    rubrics: Rubrics = ABSENT
    graders: Annotated[Graders, about("What decides whether the answer is good.")] = ABSENT


class WrittenUser(Struct, frozen=True, kw_only=True):
    """A user whom a target plays."""

    goal: Annotated[
        Prose,
        about(
            "What the user wants. The target that is tested is not told.",
            elsewhere=("instructions", "scenario", "task"),
        ),
    ]
    target: Annotated[
        Text, about("What plays the user: a target named in the configuration, or `kind:value`.")
    ]
    max_turns: Annotated[
        Count, about("How often the user may speak.", example=10, elsewhere=("max_steps",))
    ]
    persona: Annotated[
        Prose,
        about("Who the user is, and how they talk.", elsewhere=("user_description",)),
    ] = ABSENT
    facts: Annotated[
        Prose | Annotated[list[str], Meta(min_length=1)] | Filled,
        about("What the user knows and tells if asked: sentences, or values by name."),
    ] = ABSENT
    first: Annotated[
        Any,
        _part("input"),
        about(
            "What the user says first; by default, the one who plays them decides.",
            elsewhere=("initial_message", "first_message"),
        ),
    ] = ABSENT


class WrittenCase(Struct, frozen=True, kw_only=True):
    """A case."""

    id: Annotated[
        Text,
        about("A name that is unique in the suite; by default, one is made from the input."),
        Meta(pattern=r"\S"),
    ] = ABSENT
    input: Annotated[
        Messages,
        about(
            "What the target is given: text, messages, or a mapping of data.",
            example="What is 2 + 2?",
        ),
    ] = ABSENT
    expected_output: Annotated[
        Expected,
        about(
            "What is expected: text, a value, or messages with tool calls.",
            example="The answer is 4",
        ),
    ] = ABSENT
    turns: Annotated[
        list[Annotated[Any, _part("turn")]],
        about(
            "A conversation: what is said in each turn, after the `input`, and what is expected."
        ),
        Meta(min_length=1),
    ] = ABSENT
    stop_on_failure: Annotated[bool, about("Whether to skip the turns after one that failed.")] = (
        ABSENT
    )
    user: Annotated[
        WrittenUser,
        about("A conversation in which another target plays the user."),
        of_kind("a mapping", hint=lambda _: "write {goal: …, target: …, max_turns: 10}"),
    ] = ABSENT
    description: Annotated[str, about("What the case is about, for readers.")] = ABSENT
    tags: Tags = ABSENT
    metadata: Data = ABSENT
    skip: Annotated[
        bool | str,
        about("A reason to leave the case out, or `true`."),
        of_kind(
            "true, or the reason as text",
            check=_check_skip,
            schema={
                "type": ["boolean", "string"],
                "minLength": 1,
                "if": {"enum": [*NOT_SKIPPED]},
                "then": {"type": "boolean"},
            },
        ),
    ] = ABSENT
    conversation_id: Annotated[str, about("The conversation that the case is part of.")] = ABSENT
    criteria: Criteria = ABSENT
    criteria_judge: Annotated[
        bool, about("Whether a judge grades the `criteria`; by default, it does.")
    ] = ABSENT
    rubrics: Rubrics = ABSENT
    graders: Annotated[Graders, about("What decides whether the answer is good.")] = ABSENT
    suite_graders: Annotated[
        bool, about("Whether the graders of the suite apply too; by default, they do.")
    ] = ABSENT
    target: Target = ABSENT
    targets: Targets = ABSENT
    repeat: Repeat = ABSENT
    threshold: Threshold = ABSENT
    timeout_s: Timeout = ABSENT
    workspace: WorkspaceField = ABSENT
    vars: Vars = ABSENT
    var_files: VarFiles = ABSENT
    matrix: Matrix = ABSENT
    rows: Rows = ABSENT
    rendered: Annotated[
        bool,
        about(
            "Whether variables are already replaced by their values, as `evalcase show` prints it."
        ),
    ] = ABSENT


class CaseFile(WrittenCase, frozen=True, kw_only=True):
    """A file that is itself one case."""

    schema: SchemaLocation = field(name="$schema", default=ABSENT)


class WrittenSuite(Struct, frozen=True, kw_only=True):
    """A suite without its cases, as it stands beside a JSONL file."""

    schema: SchemaLocation = field(name="$schema", default=ABSENT)
    name: Annotated[
        Text, about("The name of the suite; by default, that of the file."), _older("dataset")
    ] = ABSENT
    description: Annotated[str, about("What the suite is about, for readers.")] = ABSENT
    input: Annotated[Messages, about("Messages to put before those of every case.")] = ABSENT
    graders: Annotated[Graders, about("Graders for every case, before its own.")] = ABSENT
    target: Target = ABSENT
    targets: Targets = ABSENT
    threshold: Threshold = ABSENT
    repeat: Repeat = ABSENT
    timeout_s: Timeout = ABSENT
    tags: Tags = ABSENT
    metadata: Data = ABSENT
    workspace: WorkspaceField = ABSENT
    vars: Vars = ABSENT
    var_files: VarFiles = ABSENT
    matrix: Matrix = ABSENT
    rows: Rows = ABSENT


class SuiteFile(WrittenSuite, frozen=True, kw_only=True):
    """A suite with its cases."""

    cases: Annotated[
        Any,
        about("The eval cases. Ids, if given, must be unique."),
        _older("evalcases", "eval_cases", "tests"),
        _part("caseList"),
    ] = ABSENT


# Names.


def field_names(declared: type[Struct]) -> tuple[str, ...]:
    return tuple(fields_of(declared))


def _older_names(declared: type[Struct]) -> dict[str, str]:
    """The deprecated names of fields, each with the field that it stands for."""
    return {
        old: name
        for name, option in fields_of(declared).items()
        for old in option.extra.get("older", ())
    }


CASE_FIELDS = field_names(WrittenCase)
SUITE_FIELDS = field_names(SuiteFile)
CASE_ALIASES = _older_names(WrittenCase)
SUITE_ALIASES = _older_names(SuiteFile)
CASE_CONTAINERS = ("cases", *(old for old, new in SUITE_ALIASES.items() if new == "cases"))
"""The names that the list of cases may have."""
EXECUTION = "execution"
"""A deprecated mapping, and the fields that it holds under their older names."""
EXECUTION_FIELDS = {"target": "target", "evaluators": "graders"}
PRIVATE_PREFIX = "x-"
GRADED = ("expected_output", "criteria", "rubrics", "graders")
"""The fields that say what a good answer is."""


def all_names(*fields: str) -> tuple[str, ...]:
    """Some fields of a case, under all their names."""
    return (*fields, *(old for old, new in CASE_ALIASES.items() if new in fields))


EXCLUSIVE = (
    ("targets", "target", "keep `targets`"),
    ("turns", "user", "keep one of them"),
    ("turns", "expected_output", "give it to the turn whose answer it is"),
    ("user", "expected_output",
     "say in `criteria`, `rubrics` or `graders` what a good conversation is"),
)  # fmt: skip
"""Pairs of fields: beside the first, the second can't be used; and what to do."""
_ANYWHERE = (
    "data for graders and results goes in `metadata`; "
    f"a field that starts with `{PRIVATE_PREFIX}` is ignored"
)


class Vocabulary(Struct, frozen=True, eq=False):
    """The names that one kind of mapping may have."""

    what: str
    fields: frozenset[str]
    aliases: dict[str, str]
    has_execution: bool = True


CASE = Vocabulary("a case", frozenset(CASE_FIELDS), CASE_ALIASES)
LONE_CASE = Vocabulary("a case", frozenset(field_names(CaseFile)), CASE_ALIASES)
SUITE = Vocabulary("a suite", frozenset(SUITE_FIELDS), SUITE_ALIASES)
TURN = Vocabulary("a turn", frozenset(field_names(WrittenTurn)), CASE_ALIASES, has_execution=False)


class Named(Struct):
    """A mapping as it is written: its values by primary name, nulls left out."""

    values: dict[str, Any]
    path: KeyPath
    where: dict[str, KeyPath]
    """Where fields stand that are not written under their own name, seen from `path`."""

    def at(self, name: str) -> KeyPath:
        """The path of a field."""
        return self.path + self.where.get(name, (name,))


def settle_names(
    raw: dict[str, Any], base: KeyPath, vocabulary: Vocabulary, findings: Findings
) -> Named:
    """Find out which primary field each name stands for."""
    fields, aliases = vocabulary.fields, vocabulary.aliases
    if fields.issuperset(raw) and None not in raw.values():
        return Named(raw, base, {})
    values = {name: value for name, value in raw.items() if name in fields and value is not None}
    named = Named(values, base, {})
    for name, value in raw.items():
        if name in aliases:
            _take_older((name,), aliases[name], value, named, findings)
        elif name == EXECUTION and vocabulary.has_execution:
            message = "`execution` is no longer used: write its fields directly"
            hint = (
                "write `target` and `graders`; a case with `evaluators` adds `suite_graders: false`"
            )
            findings.add("deprecated-name", (*base, name), message, hint, "key")
        elif name not in fields and not name.startswith(PRIVATE_PREFIX):
            _report_unknown(name, raw, base, vocabulary, findings)
    if raw.get(EXECUTION) is not None and vocabulary.has_execution:
        _take_execution(raw[EXECUTION], named, findings)
        if vocabulary is not SUITE and named.where.get("graders", ())[:1] == (EXECUTION,):
            # The evaluators of a case replaced those of the suite.
            values.setdefault("suite_graders", False)
    return named


def _take_older(
    written: tuple[str, ...], primary: str, value: Any, named: Named, findings: Findings
) -> None:
    """Take the value of an older name for its field, unless the field is written otherwise, too."""
    values, where = named.values, named.where
    path, name = named.path + written, ".".join(written)
    rival = "targets" if primary == "target" and "targets" in values else primary
    is_taken = rival in values
    if is_taken and rival not in where and primary != "cases":
        message = f"`{name}` is ignored, because `{rival}` is there too"
        findings.add("ignored-alias", path, message, f"remove `{name}`", "key")
    elif is_taken and value is not None:
        other = ".".join(map(str, where.get(rival, (rival,))))
        message = f"`{name}` and `{other}` are two names of one field"
        findings.add("conflicting-fields", path, message, f"keep one, as `{primary}`", "key")
    else:
        if value is not None:
            values[primary], where[primary] = value, written
        if len(written) == 1:  # `execution` has one warning for all that it holds
            message, hint = f"`{name}` is called `{primary}` here", "`evalcase migrate` renames it"
            findings.add("deprecated-name", path, message, hint, "key")


def _take_execution(value: Any, named: Named, findings: Findings) -> None:
    """Read the deprecated mapping as the fields that replace it."""
    path = (*named.path, EXECUTION)
    if type(value) is not dict:
        findings.add("wrong-type", path, f"`execution` is a mapping, not {describe_kind(value)}")
        return
    for name, item in value.items():
        if name not in EXECUTION_FIELDS:
            message = f"`execution` has no `{name}`"
            findings.add("unknown-field", (*path, name), message, None, "key")
        elif item is not None:
            _take_older((EXECUTION, name), EXECUTION_FIELDS[name], item, named, findings)


def _report_unknown(
    name: str, raw: dict[str, Any], base: KeyPath, vocabulary: Vocabulary, findings: Findings
) -> None:
    guess, fix = _guess_field(name, vocabulary), None
    if name in CASE_CONTAINERS:
        hint = "it belongs to a suite, which has `cases`"
    elif name in (*CASE_FIELDS, *CASE_ALIASES, EXECUTION):
        hint = "it belongs to a case"
    else:
        hint = hint_at(guess) or _ANYWHERE
        if guess and guess not in raw and not findings.suggested(guess, base):
            fix = Fix(guess, of_name=True)
    message = f"`{name}` is not a field of {vocabulary.what}"
    findings.add("unknown-field", (*base, name), message, hint, "key", fix)


@lru_cache(1000)
def _guess_field(name: str, vocabulary: Vocabulary) -> str | None:
    """Cached, because one mistake is often made in every case of a file."""
    return nearest_field(name, sorted(vocabulary.fields), vocabulary.aliases)

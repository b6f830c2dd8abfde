"""An eval case in its canonical form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, get_args, overload

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from evalcase.types.answer import SimulatedUser
from evalcase.types.message import Message
from evalcase.types.problem import Problem, Span, unknown_case
from evalcase.types.value import JSON, Value, are_same, copy_value, decode_object, expect
from evalcase.types.workspace import Workspace

FIELDS = (
    "id input expected_output turns stop_on_failure user description tags metadata skip "
    "conversation_id criteria criteria_judge rubrics graders targets repeat threshold timeout_s "
    "workspace vars rendered"
).split()
"""The fields of a case in the order of the canonical form."""
_OF_ALL_TURNS = ("id", "tags", "metadata", "skip", "conversation_id", "vars", "rendered")
_OF_PARTS = frozenset((list, dict))
T = TypeVar("T")


class _Field(Generic[T]):
    """A field of a case, declared as `_Field[TYPE](DEFAULT)`. Users get fresh objects."""

    def __init__(self, default: object = None) -> None:
        self._default = default

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @property
    def holds(self) -> Any:  # noqa: ANN401 - any type
        return get_args(vars(self)["__orig_class__"])[0]

    def __get__(self, case: Case, _: type) -> T:
        data = copy_value(case._data.get(self._name, self._default))
        value: T = decode_object(self.holds, data)
        return value


class Case:
    """The input, the expected output and how to grade: the canonical JSON object, with typed
    access. It includes what the suite says for every case."""

    __slots__ = ("_data",)

    _data: dict[str, Any]
    """The canonical JSON object. evalcase reads it and never changes it; users get copies."""

    def __init__(self, data: Mapping[str, Any] | None = None, /, **fields: Any) -> None:  # noqa: ANN401 - a field may have any value
        """A case of fields as a file has them: `Case(input="2+2?", expected_output="4")`, or one
        mapping of all fields. Raise SuiteError with all problems."""
        # The one import that points up: `format` stands on this module.
        from evalcase.config.catalogue import read_fields

        if data is not None and (fields or not isinstance(data, Mapping)):
            raise TypeError(f"a case is made of its fields, or one mapping, not of {data!r:.60}")
        object.__setattr__(self, "_data", read_fields(fields if data is None else {**data}))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Case can't be changed; make another of what to_dict() returns")

    def to_dict(self) -> dict[str, Any]:
        """The canonical JSON object, as fresh objects. Absent fields are left out."""
        return {name: copy_value(value) for name, value in self._data.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and are_same(self._data, other._data)

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        return canonical_case, (self._data,)

    def __repr__(self) -> str:
        return f"Case({self._data!r})"

    id = _Field[str]()
    input = _Field[tuple[Message, ...]](())
    """The messages for the target; of a conversation, those before its turns."""
    expected_output = _Field[tuple[Message, ...]](())
    user = _Field[SimulatedUser | None]()
    description = _Field[str | None]()
    tags = _Field[tuple[str, ...]](())
    metadata = _Field[dict[str, JSON]]({})
    skip = _Field[str | bool](False)
    """The reason why the case is skipped, True where none is given, else False."""
    conversation_id = _Field[str | None]()
    criteria = _Field[str | None]()
    rubrics = _Field[tuple[dict[str, JSON], ...]](())
    """Each `{text, id?, weight?, required?}`."""
    graders = _Field[tuple[dict[str, JSON], ...]](())
    """Each `{type, …}`, the suite's before the case's own."""
    targets = _Field[tuple[str, ...]](())
    vars = _Field[dict[str, JSON]]({})
    """The variables that its texts were made with."""
    threshold = _Field[Annotated[float, Meta(ge=0, le=1)] | None]()
    timeout_s = _Field[Annotated[float, Meta(ge=0)] | None]()
    workspace = _Field[Workspace | None]()

    @property
    def expects_output(self) -> bool:
        return bool(self._data.get("expected_output"))

    @property
    def needs_judge(self) -> bool:
        return needs_judge(self._data)

    @property
    def has_parts(self) -> bool:
        """Whether some content is more than text, and so may name files."""
        return not _OF_PARTS.isdisjoint([type(each.get("content")) for each in self._written()])

    @property
    def written_messages(self) -> list[dict[str, Any]]:
        """Every message for a target, with those of turns and of the user, as fresh data."""
        return list(map(copy_value, self._written()))

    def _written(self) -> list[dict[str, Any]]:
        data = self._data
        written: list[dict[str, Any]] = data.get("input", [])
        if "turns" in data or "user" in data:
            written = [*written]
            for turn in data.get("turns", ()):
                written += turn["input"]
            written += data.get("user", {}).get("first", ())
        return written

    @property
    def is_conversation(self) -> bool:
        """Whether a trial asks the target more than once."""
        return "turns" in self._data or "user" in self._data

    @property
    def turns(self) -> tuple[Case, ...]:
        """Each turn as a case of its own; empty where there are none."""
        if "turns" not in self._data:
            return ()
        of_all = {name: self._data[name] for name in _OF_ALL_TURNS if name in self._data}
        return tuple(canonical_case({**of_all, **turn}) for turn in self._data["turns"])

    @property
    def has_workspace(self) -> bool:
        return "workspace" in self._data

    @property
    def stops_on_failure(self) -> bool:
        return "stop_on_failure" in self._data

    @property
    def graded_parts(self) -> tuple[Case, ...]:
        return (self, *self.turns) if "turns" in self._data else (self,)

    @property
    def repeat(self) -> int:
        return int(self._data.get("repeat", {}).get("times", 1))

    @property
    def pass_rate(self) -> float:
        return float(self._data.get("repeat", {}).get("pass_rate", 1.0))


def needs_judge(data: Mapping[str, Any]) -> bool:
    """Whether a case has `criteria` or `rubrics` that only a judge can grade. With
    `criteria_judge: false`, criteria are only shown to judges that it has."""
    return "rubrics" in data or ("criteria" in data and data.get("criteria_judge") is not False)


def canonical_case(data: dict[str, Any]) -> Case:
    """The case of canonical data, which it keeps as it is."""
    case = _new_object(Case)
    _set_data(case, data)
    return case


_new_object = object.__new__
_set_data: Callable[[Case, dict[str, Any]], None] = Case._data.__set__  # type: ignore[misc, attr-defined]
"""The descriptor of the slot: a case refuses other ways to set it, and there may be a million."""


class RepeatFields(Value, frozen=True):
    times: Annotated[int, Meta(ge=1)] = 1
    pass_rate: Annotated[float, Meta(ge=0, le=1)] = 1.0


@cache
def field_types() -> dict[str, Any]:
    """What fields hold in the canonical form."""
    own = {name: each.holds for name, each in vars(Case).items() if isinstance(each, _Field)}
    switches = dict.fromkeys(("stop_on_failure", "criteria_judge", "rendered"), bool)
    return {**own, **switches, "turns": tuple[dict[str, Any], ...], "repeat": RepeatFields}


TURN_FIELDS = ("input", "expected_output", "criteria", "rubrics", "graders")


def check_case(data: dict[str, Any]) -> None:
    """Raise ValueError if the data of a record is not that of a case."""
    for part, names in ((data, FIELDS), *[(turn, TURN_FIELDS) for turn in data.get("turns", ())]):
        decode_object(_recorded(tuple(names)), part)
        if None in part.values():
            raise ValueError("a field is null, and absent fields are left out")
        if part.keys().isdisjoint(("input", "turns", "user")):
            raise ValueError("it asks nothing")
        if not all(isinstance(each.get("text"), str) for each in part.get("rubrics", ())):
            raise ValueError("a rubric has no text")


@cache
def _recorded(names: tuple[str, ...]) -> type[Struct]:
    """A type that has just these fields, so that all of them are checked at once."""
    fields = [(name, field_types()[name] | UnsetType, UNSET) for name in names]
    return defstruct("Recorded", fields, forbid_unknown_fields=True)


class Suite(Struct, frozen=True, eq=False):
    """A valid suite. Iterating over it gives its cases. `load` and `loads` make one of a file or
    a text."""

    path: str
    _about: dict[str, Any]
    cases: tuple[Case, ...] = ()
    warnings: tuple[Problem, ...] = ()
    _placer: Callable[[str, int], Span | None] | None = None
    """Finds the place of a case by the path of its file and its number from 0."""

    def __post_init__(self) -> None:
        named = isinstance(self._about.get("name"), str)
        expect(named, "a Suite has a `name` among its fields", self._about)
        are_cases = type(self.cases) is tuple and all(isinstance(each, Case) for each in self.cases)
        expect(are_cases, "the cases of a Suite are a tuple of Case", self.cases)

    def __eq__(self, other: object) -> bool:
        """Two suites are equal if they say the same, from whatever file."""
        if not isinstance(other, Suite):
            return NotImplemented
        return are_same(self._about, other._about) and self.cases == other.cases

    def __hash__(self) -> int:
        return hash((self.name, len(self.cases)))

    @property
    def name(self) -> str:
        return str(self._about["name"])

    @property
    def description(self) -> str | None:
        return self._about.get("description")

    @property
    def metadata(self) -> dict[str, JSON]:
        return dict(copy_value(self._about.get("metadata", {})))

    def about(self) -> dict[str, Any]:
        """The suite's own fields (name, description, metadata), as fresh objects."""
        return {name: copy_value(value) for name, value in self._about.items()}

    def to_dict(self) -> dict[str, Any]:
        return {**self.about(), "cases": [case.to_dict() for case in self.cases]}

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __len__(self) -> int:
        return len(self.cases)

    def __contains__(self, case: object) -> bool:
        return any(case in (each.id, each) for each in self.cases)

    @overload
    def __getitem__(self, id: str | int) -> Case: ...
    @overload
    def __getitem__(self, id: slice) -> tuple[Case, ...]: ...
    def __getitem__(self, id: str | int | slice) -> Case | tuple[Case, ...]:
        """The case with this id; or by numbers, as in a list."""
        return self.cases[id] if isinstance(id, int | slice) else self.cases[self._find(id)]

    def _find(self, id: str) -> int:
        ids = [case.id for case in self.cases]
        if id not in ids:
            raise unknown_case(id, "the suite", ids)
        return ids.index(id)

    def place(self, id: str) -> Span | None:
        """Where a case stands in the file as it is now; None if the file is gone or was changed.
        Raise KeyError if there is no such case."""
        number = self._find(id)
        return None if self._placer is None else self._placer(self.path, number)

    def __repr__(self) -> str:
        cases = "1 case" if len(self.cases) == 1 else f"{len(self.cases)} cases"
        return f"<Suite {self.name!r}: {cases} from {self.path}>"

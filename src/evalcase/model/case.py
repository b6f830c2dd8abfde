"""An eval case in its canonical form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalcase.model.json_value import JSON, are_same, copy_value
from evalcase.model.message import Message
from evalcase.model.simulated_user import SimulatedUser

_OF_ALL_TURNS = ("id", "tags", "metadata", "skip", "conversation_id", "vars", "rendered")


GRADED_BY_MORE = frozenset({"turns", "criteria", "rubrics", "graders"})
"""A case that has none of these is graded by nothing but the built-in comparison."""


class Case:
    """What goes in, what should come out and how to judge it: one exact form of it.

    A case is its canonical JSON object with typed access. All that the suite says about every
    case (messages before the input, graders, targets, limits) is part of it already.
    """

    __slots__ = ("_data",)

    _data: dict[str, Any]
    """The canonical JSON object itself: all of evalcase reads it, and nobody changes it. Whoever
    uses evalcase gets copies."""

    def __init__(self, data: Mapping[str, Any] | None = None, /, **fields: Any) -> None:  # noqa: ANN401 - a field may have any value
        """A case of fields as a file has them: `Case(input="2+2?", expected_output="4")`.

        One mapping of all of them means the same. Raise SuiteError with all that is wrong.
        """
        set_data(self, _read_fields(fields if data is None else _read_whole(data, fields)))

    def __setattr__(self, name: str, value: object) -> None:
        another = f"Case({{**case.to_dict(), {name!r}: …}})"
        raise AttributeError(f"a Case can't be changed; `{another}` makes another")

    @property
    def data(self) -> dict[str, Any]:
        """The same as `to_dict()`."""
        return self.to_dict()

    @property
    def id(self) -> str:
        id: str = self._data["id"]
        return id

    @property
    def input(self) -> tuple[Message, ...]:
        """The messages that the target is given; of a conversation, those before its turns."""
        messages = self._data.get("input", ())
        if len(messages) == 1:
            return (Message.copy_of(messages[0]),)
        return tuple([Message.copy_of(message) for message in messages])

    @property
    def expected_output(self) -> tuple[Message, ...]:
        """The messages that are expected; empty where nothing is."""
        expected = self._data.get("expected_output", ())
        return tuple([Message.copy_of(message) for message in expected])

    @property
    def expects_output(self) -> bool:
        """Whether there is an `expected_output`."""
        return bool(self._data.get("expected_output"))

    @property
    def needs_judge(self) -> bool:
        """Whether it has `criteria` or `rubrics`, which only a judge can grade."""
        return "criteria" in self._data or "rubrics" in self._data

    @property
    def has_parts(self) -> bool:
        """Whether some content is more than text, and so may name files."""
        return any(isinstance(message.get("content"), list | dict) for message in self._written)

    @property
    def written_messages(self) -> list[dict[str, Any]]:
        """Every message that it has for a target, those of its turns and what its user says first
        included, as data: fresh copies."""
        written: list[dict[str, Any]] = copy_value(self._written)
        return written

    @property
    def _written(self) -> list[dict[str, Any]]:
        input: list[dict[str, Any]] = self._data.get("input", [])
        turns = self._data.get("turns")
        if turns is None:
            return [*input, *self._data["user"].get("first", ())] if "user" in self._data else input
        return [*input, *[message for turn in turns for message in turn["input"]]]

    @property
    def is_conversation(self) -> bool:
        """Whether a target is asked more than once in a trial of it."""
        return "turns" in self._data or "user" in self._data

    @property
    def turns(self) -> tuple[Case, ...]:
        """Each turn as a case of its own, with its input and what is expected of its answer; empty
        where there are none. What is said of the whole holds for each of them."""
        of_all = {name: self._data[name] for name in _OF_ALL_TURNS if name in self._data}
        return tuple([canonical_case({**of_all, **turn}) for turn in self._data.get("turns", ())])

    @property
    def user(self) -> SimulatedUser | None:
        """Whom a target talks to, where another target plays the user."""
        user = self._data.get("user")
        return None if user is None else SimulatedUser.of(user)

    @property
    def stops_on_failure(self) -> bool:
        """Whether the turns after one that failed are not asked."""
        return "stop_on_failure" in self._data

    @property
    def graded_parts(self) -> tuple[Case, ...]:
        """All that is graded by itself: the whole, and each of its turns."""
        return (self, *self.turns) if "turns" in self._data else (self,)

    @property
    def description(self) -> str | None:
        return self._data.get("description")

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self._data.get("tags", ()))

    @property
    def metadata(self) -> dict[str, JSON]:
        """A fresh copy of whatever mapping the author put there."""
        held = self._data.get("metadata")
        metadata: dict[str, JSON] = copy_value(held) if held else {}
        return metadata

    @property
    def skip(self) -> str | bool:
        """The reason why the case is skipped, True where none is given, else False."""
        skip: str | bool = self._data.get("skip", False)
        return skip

    @property
    def conversation_id(self) -> str | None:
        return self._data.get("conversation_id")

    @property
    def criteria(self) -> str | None:
        return self._data.get("criteria")

    @property
    def rubrics(self) -> tuple[dict[str, JSON], ...]:
        """Each `{text, id?, weight?, required?}`, as fresh copies."""
        return tuple(copy_value(self._data.get("rubrics", [])))

    @property
    def graders(self) -> tuple[dict[str, JSON], ...]:
        """Each `{type, …}`, the suite's before the case's own, as fresh copies."""
        return tuple(copy_value(self._data.get("graders", [])))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self._data.get("targets", ()))

    @property
    def repeat(self) -> int:
        """How many trials there are of this case."""
        times: int = self._data.get("repeat", {}).get("times", 1)
        return times

    @property
    def pass_rate(self) -> float:
        """The share of trials that must pass."""
        if "repeat" not in self._data:
            return 1.0
        rate: float = self._data["repeat"].get("pass_rate", 1.0)
        return rate

    @property
    def vars(self) -> dict[str, JSON]:
        """The variables that it was made with, as a fresh copy: values, the labels of a matrix,
        the names of files. Their values stand in its texts already."""
        held = self._data.get("vars")
        variables: dict[str, JSON] = copy_value(held) if held else {}
        return variables

    @property
    def threshold(self) -> float | None:
        return self._data.get("threshold")

    @property
    def timeout_s(self) -> float | None:
        return self._data.get("timeout_s")

    def to_dict(self) -> dict[str, Any]:
        """The canonical JSON object, as fresh objects. Absent fields are left out."""
        data: dict[str, Any] = copy_value(self._data)
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and are_same(self._data, other._data)

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        return canonical_case, (self._data,)

    def __repr__(self) -> str:
        return f"Case({self._data!r})"


def is_bare(data: dict[str, Any]) -> bool:
    """Whether a case has its id, what is asked and what is expected, and nothing else, as most."""
    return len(data) == 3 and "expected_output" in data and "input" in data


def canonical_case(data: dict[str, Any]) -> Case:
    """The case of data that is canonical already, and is taken over as it is."""
    case = _new(Case)
    set_data(case, data)
    return case


_new = object.__new__
# A slot, since a property would be a call: it is read some twenty times in each trial.
set_data: Callable[[Case, dict[str, Any]], None] = Case.__dict__["_data"].__set__


def _read_whole(data: object, fields: dict[str, Any]) -> dict[str, Any]:
    """All fields of a case, given at once. Raise TypeError for anything else."""
    if not isinstance(data, Mapping):
        what = (
            f"a case is made of its fields, Case(input=…, expected_output=…), not of {data!r:.60}"
        )
        raise TypeError(what)
    if fields:
        name = next(iter(fields))
        both = f"`{name}` is given besides the mapping"
        raise TypeError(f"a case is given as a mapping or by its fields: {both}")
    return {**data}


def _read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields in any of their short forms to canonical data. Raise SuiteError."""
    # The one import that points up, and only for who makes cases in code: `Case(input=…)` is read
    # by the rules of files, which stand on this module.
    from evalcase.suites.made import read_fields

    return read_fields(fields)

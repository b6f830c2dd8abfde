"""An eval case in its canonical form."""

from __future__ import annotations

from collections.abc import Callable
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

    __slots__ = ("data",)

    data: dict[str, Any]
    """The canonical JSON object itself, to be read and never changed; `to_dict` copies it."""

    def __init__(self, data: dict[str, Any] | None = None, /, **fields: Any) -> None:  # noqa: ANN401 - a field may have any value
        """A case of fields as a file has them: `Case(input="2+2?", expected_output="4")`.

        Data that is given whole is canonical already, and is taken over as it is.
        """
        _set_data(self, data if data is not None else _read_fields(fields))

    def __setattr__(self, name: str, value: object) -> None:
        if name == "data":
            raise AttributeError("`data` of a case can't be replaced")
        object.__setattr__(self, name, value)

    @property
    def id(self) -> str:
        id: str = self.data["id"]
        return id

    @property
    def input(self) -> tuple[Message, ...]:
        """The messages that the target is given; of a conversation, those before its turns."""
        messages = self.data.get("input", ())
        if len(messages) == 1:
            return (Message.copy_of(messages[0]),)
        return tuple([Message.copy_of(message) for message in messages])

    @property
    def expected_output(self) -> tuple[Message, ...]:
        """The messages that are expected; empty where nothing is."""
        expected = self.data.get("expected_output", ())
        return tuple([Message.copy_of(message) for message in expected])

    @property
    def expects_output(self) -> bool:
        """Whether there is an `expected_output`."""
        return bool(self.data.get("expected_output"))

    @property
    def needs_judge(self) -> bool:
        """Whether it has `criteria` or `rubrics`, which only a judge can grade."""
        return "criteria" in self.data or "rubrics" in self.data

    @property
    def has_parts(self) -> bool:
        """Whether some content is more than text, and so may name files."""
        for message in self.written_messages:
            if isinstance(message.get("content"), list | dict):
                return True
        return False

    @property
    def written_messages(self) -> list[dict[str, Any]]:
        """Every message that it has for a target, those of its turns and what its user says first
        included, as data."""
        input: list[dict[str, Any]] = self.data.get("input", [])
        turns = self.data.get("turns")
        if turns is None:
            return [*input, *self.data["user"].get("first", ())] if "user" in self.data else input
        return [*input, *[message for turn in turns for message in turn["input"]]]

    @property
    def is_conversation(self) -> bool:
        """Whether a target is asked more than once in a trial of it."""
        return "turns" in self.data or "user" in self.data

    @property
    def turns(self) -> tuple[Case, ...]:
        """Each turn as a case of its own, with its input and what is expected of its answer; empty
        where there are none. What is said of the whole holds for each of them."""
        of_all = {name: self.data[name] for name in _OF_ALL_TURNS if name in self.data}
        return tuple([Case({**of_all, **turn}) for turn in self.data.get("turns", ())])

    @property
    def user(self) -> SimulatedUser | None:
        """Whom a target talks to, where another target plays the user."""
        user = self.data.get("user")
        return None if user is None else SimulatedUser.of(user)

    @property
    def stops_on_failure(self) -> bool:
        """Whether the turns after one that failed are not asked."""
        return "stop_on_failure" in self.data

    @property
    def graded_parts(self) -> tuple[Case, ...]:
        """All that is graded by itself: the whole, and each of its turns."""
        return (self, *self.turns) if "turns" in self.data else (self,)

    @property
    def description(self) -> str | None:
        return self.data.get("description")

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self.data.get("tags", ()))

    @property
    def metadata(self) -> dict[str, JSON]:
        """A fresh copy of whatever mapping the author put there."""
        held = self.data.get("metadata")
        metadata: dict[str, JSON] = copy_value(held) if held else {}
        return metadata

    @property
    def skip(self) -> str | bool:
        """The reason why the case is skipped, True where none is given, else False."""
        skip: str | bool = self.data.get("skip", False)
        return skip

    @property
    def conversation_id(self) -> str | None:
        return self.data.get("conversation_id")

    @property
    def criteria(self) -> str | None:
        return self.data.get("criteria")

    @property
    def rubrics(self) -> tuple[dict[str, JSON], ...]:
        """Each `{text, id?, weight?, required?}`, as fresh copies."""
        return tuple(copy_value(self.data.get("rubrics", [])))

    @property
    def graders(self) -> tuple[dict[str, JSON], ...]:
        """Each `{type, …}`, the suite's before the case's own, as fresh copies."""
        return tuple(copy_value(self.data.get("graders", [])))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.data.get("targets", ()))

    @property
    def repeat(self) -> int:
        """How many trials there are of this case."""
        times: int = self.data.get("repeat", {}).get("times", 1)
        return times

    @property
    def pass_rate(self) -> float:
        """The share of trials that must pass."""
        if "repeat" not in self.data:
            return 1.0
        rate: float = self.data["repeat"].get("pass_rate", 1.0)
        return rate

    @property
    def vars(self) -> dict[str, JSON]:
        """The variables that it was made with, as a fresh copy: values, the labels of a matrix,
        the names of files. Their values stand in its texts already."""
        held = self.data.get("vars")
        variables: dict[str, JSON] = copy_value(held) if held else {}
        return variables

    @property
    def threshold(self) -> float | None:
        return self.data.get("threshold")

    @property
    def timeout_s(self) -> float | None:
        return self.data.get("timeout_s")

    def to_dict(self) -> dict[str, Any]:
        """The canonical JSON object, as fresh objects. Absent fields are left out."""
        data: dict[str, Any] = copy_value(self.data)
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Case) and are_same(self.data, other.data)

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[Any, ...]:
        return Case, (self.data,)

    def __repr__(self) -> str:
        return f"Case({self.data!r})"


def is_bare(data: dict[str, Any]) -> bool:
    """Whether a case has its id, what is asked and what is expected, and nothing else, as most."""
    return len(data) == 3 and "expected_output" in data and "input" in data


def canonical_case(data: dict[str, Any]) -> Case:
    """The same as `Case(data)` at a third of the cost: there may be a million of them."""
    case = _new(Case)
    _set_data(case, data)
    return case


_new = object.__new__
# A slot, since a property would be a call: it is read some twenty times in each trial.
_set_data: Callable[[Case, dict[str, Any]], None] = Case.__dict__["data"].__set__


def _read_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields in any of their short forms to canonical data. Raise SuiteError."""
    # The one import that points up, and only for who makes cases in code: `Case(input=…)` is read
    # by the rules of files, which stand on this module.
    from evalcase.suites.made import read_fields

    return read_fields(fields)

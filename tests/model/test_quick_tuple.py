"""Quick named tuples behave as those of `typing`: each rule is tried on both."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing
from threading import Barrier, Thread
from typing import Any

import pytest

from evalcase.model import quick_tuple
from evalcase.model.problem import Span


def point(base: Any) -> Any:
    class Point(base):  # type: ignore[misc]
        """A place."""

        x: int
        y: int = 2
        name: str | None = None

        @property
        def total(self) -> int:
            found: int = self.x + self.y
            return found

        @classmethod
        def origin(cls) -> Any:
            return cls(0, 0)

        def __bool__(self) -> bool:
            return self.x != 0

    return Point


def empty(base: Any) -> Any:
    class Empty(base):  # type: ignore[misc]
        pass

    return Empty


BOTH = pytest.mark.parametrize(
    "base", [typing.NamedTuple, quick_tuple.NamedTuple], ids=["typing", "quick"]
)


@BOTH
def test_values_by_place_by_name_and_by_default(base: Any) -> None:
    cls = point(base)
    one, two = cls(1), cls(x=3, y=4, name="b")
    assert (one.x, one.y, one.name, one.total) == (1, 2, None, 3)
    assert two == (3, 4, "b")
    assert (one[0], one[-1], len(two), list(two)) == (1, None, 3, [3, 4, "b"])
    assert cls.origin() == (0, 0, None)
    assert not cls.origin()
    assert one
    assert cls._make([7, 8, "c"]) == (7, 8, "c")
    for number in range(100):
        assert cls(number) == (number, 2, None)
        assert cls(number, name="n") == (number, 2, "n")


@BOTH
@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, "n", 4), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((), {"y": 1})],
)
@pytest.mark.parametrize("calls", [0, 1, 100])
def test_wrong_values_are_type_errors_that_name_the_class(
    base: Any, values: tuple[Any, ...], named: dict[str, Any], calls: int
) -> None:
    cls = point(base)
    for _ in range(calls):
        cls(1)
    with pytest.raises(TypeError, match=r"Point\.__new__"):
        cls(*values, **named)


@BOTH
def test_it_is_shown_compared_hashed_and_taken_apart(base: Any) -> None:
    cls = point(base)
    one = cls(1, name="a")
    assert repr(one) == "Point(x=1, y=2, name='a')"
    assert one == cls(1, 2, "a") != cls(2)
    assert hash(one) == hash((1, 2, "a"))
    assert one < cls(2)
    match one:
        case cls(x, y):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("it doesn't match")
    x, y, name = one
    assert (x, y, name) == (1, 2, "a")
    assert (cls.__doc__, cls.__match_args__) == ("A place.", ("x", "y", "name"))
    assert (cls._fields, cls._field_defaults) == (("x", "y", "name"), {"y": 2, "name": None})


@BOTH
def test_it_is_replaced_and_never_changed(base: Any) -> None:
    one = point(base)(1)
    assert one._replace(y=5) == (1, 5, None)
    assert type(one._replace(y=5)) is type(one)
    assert one._asdict() == {"x": 1, "y": 2, "name": None}
    with pytest.raises(ValueError, match=r"unexpected field names: \['z'\]"):
        one._replace(z=1)
    with pytest.raises(AttributeError):
        one.x = 3
    with pytest.raises(AttributeError):
        one.other = 3


@BOTH
def test_a_class_without_fields(base: Any) -> None:
    cls = empty(base)
    assert (cls(), repr(cls())) == ((), "Empty()")


@BOTH
def test_subclasses_have_its_fields_and_their_own_behaviour(base: Any) -> None:
    class Named(point(base)):  # type: ignore[misc]
        def __new__(cls, x: int) -> Any:
            return super().__new__(cls, x, name="named")

    assert Named(4) == (4, 2, "named")
    assert type(Named(4)) is Named
    assert Named(5).total == 7


@BOTH
def test_its_signature_and_its_types_can_be_looked_up(base: Any) -> None:
    cls = point(base)
    parameters = inspect.signature(cls).parameters
    assert list(parameters) == ["x", "y", "name"]
    assert [each.default for each in parameters.values()] == [inspect.Parameter.empty, 2, None]
    assert typing.get_type_hints(cls) == {"x": int, "y": int, "name": str | None}
    assert issubclass(cls, tuple)


def test_one_of_a_module_can_be_pickled_and_copied() -> None:
    span = Span(1, 2, 3, 4)
    for each in (pickle.loads(pickle.dumps(span)), copy.copy(span), copy.deepcopy(span)):
        assert each == span
        assert type(each) is Span


def test_first_instances_may_be_made_in_several_threads() -> None:
    for _ in range(20):
        cls, barrier, made = point(quick_tuple.NamedTuple), Barrier(4), list[Any]()

        def make(cls: Any = cls, barrier: Barrier = barrier, made: list[Any] = made) -> None:
            barrier.wait()
            made.append(cls(1, y=3))

        threads = [Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [(1, 3, None)] * 4

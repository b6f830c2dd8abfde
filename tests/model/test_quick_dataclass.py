"""Quick dataclasses behave as those of the standard library: each rule is tried on both."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import operator
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from evalcase import Answer, Usage, with_options
from evalcase.model import quick_dataclass as quick
from evalcase.model.target import TargetOptions
from tests.for_each import for_each

Make = Callable[..., Any]


def point(make: Make, field: Make) -> Any:
    class Point:
        kind: ClassVar[str] = "point"
        x: int
        y: int = 2
        seen: list[int] = field(default_factory=list, metadata={"about": "who"})

        def total(self) -> int:
            return self.x + self.y

    return make(frozen=True, slots=True)(Point)


def checked(make: Make, field: Make) -> Any:
    class Checked:
        size: int = field(default=1)

        def __post_init__(self) -> None:
            if self.size < 0:
                raise ValueError("too small")

    return make(slots=True, kw_only=True)(Checked)


BOTH = pytest.mark.parametrize(
    ("make", "field"),
    [(dataclasses.dataclass, dataclasses.field), (quick.dataclass, quick.field)],
    ids=["standard", "quick"],
)


def many(make: Make, field: Make) -> Any:
    """One of which so many were made that it has found a quicker way to make them."""

    class Many:
        x: int
        y: int = 2
        seen: list[int] = field(default_factory=list)

    cls = make(frozen=True, slots=True)(quick.made_often(Many))
    assert [cls(number).x for number in range(100)] == list(range(100))
    return cls


def test_a_class_that_is_made_often_has_another_way_for_it() -> None:
    cls = many(quick.dataclass, quick.field)
    assert "become__" in cls.__init__.__globals__


@BOTH
def test_what_is_made_often_is_made_like_all_others(make: Make, field: Make) -> None:
    cls = many(make, field)
    one, two = cls(1), cls(x=3, y=4, seen=[5])
    assert (one.x, one.y, one.seen) == (1, 2, [])
    assert (two.x, two.y, two.seen) == (3, 4, [5])
    assert one.seen is not cls(1).seen
    assert type(one) is cls
    assert one == cls(1) != two
    assert copy.copy(two) == two
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(TypeError):
        cls()
    with pytest.raises(TypeError):
        cls(1, z=2)


def test_a_maker_makes_what_the_class_makes_however_often_it_is_called() -> None:
    cls = many(quick.dataclass, quick.field)
    make = quick.maker_of(cls)
    for number in range(100):
        one, two = make(number), make(x=number, y=4, seen=[5])
        assert (one.x, one.y, one.seen) == (number, 2, [])
        assert (two.x, two.y, two.seen) == (number, 4, [5])
        assert type(one) is cls
        assert one == cls(number) != two
        assert one.seen is not make(number).seen
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.x = 2
        with pytest.raises(TypeError):
            make()
        with pytest.raises(TypeError):
            make(1, z=2)
    assert make.__code__.co_name == "make__"  # else this has shown nothing of what it is for


@BOTH
def test_a_class_below_one_that_is_made_often_is_its_own(make: Make, field: Make) -> None:
    cls = many(make, field)
    plain = type("Plain", (cls,), {})
    slotted = type("Slotted", (cls,), {"__slots__": ()})
    for below in (plain, slotted):
        made = below(1, seen=[3])
        assert (type(made), made.x, made.y, made.seen) == (below, 1, 2, [3])


@BOTH
def test_values_by_place_by_name_and_by_default(make: Make, field: Make) -> None:
    cls = point(make, field)
    one, two = cls(1), cls(x=3, y=4, seen=[5])
    assert (one.x, one.y, one.seen, one.total()) == (1, 2, [], 3)
    assert (two.x, two.y, two.seen) == (3, 4, [5])
    assert one.seen is not cls(1).seen
    for number in range(100):
        many = cls(number, seen=[number])
        assert (many.x, many.y, many.seen) == (number, 2, [number])
    assert cls.kind == "point"


@BOTH
@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
def test_what_is_missing_or_unknown_is_a_type_error(
    make: Make, field: Make, wrong: dict[str, int]
) -> None:
    with pytest.raises(TypeError):
        point(make, field)(**wrong)


@BOTH
@pytest.mark.parametrize("calls", [0, 1, 100])
def test_wrong_values_are_told_of_the_class(make: Make, field: Make, calls: int) -> None:
    cls = point(make, field)
    for _ in range(calls):
        cls(1)
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing 1 required .*'x'"):
        cls()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        cls(1, z=2)


@BOTH
def test_a_value_that_is_needed_comes_before_those_that_are_not(make: Make, field: Make) -> None:
    class Wrong(point(make, field)):  # type: ignore[misc]
        late: int

    with pytest.raises(TypeError, match="non-default argument 'late' follows default argument"):
        make(frozen=True, slots=True)(Wrong)


@BOTH
def test_its_signature_can_be_looked_up(make: Make, field: Make) -> None:
    class Own(checked(make, field)):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            super().__init__(size=len(name))

    parameters = inspect.signature(point(make, field)).parameters
    assert list(parameters) == ["x", "y", "seen"]
    assert parameters["x"].default is inspect.Parameter.empty
    assert parameters["y"].default == 2
    assert inspect.signature(checked(make, field)).parameters["size"].kind.name == "KEYWORD_ONLY"
    assert list(inspect.signature(Own).parameters) == ["name"]
    assert Own("abc").size == 3


@BOTH
def test_equal_if_of_one_type_and_all_fields_are(make: Make, field: Make) -> None:
    cls, other = point(make, field), point(make, field)
    assert cls(1) == cls(1)
    assert cls(1) != cls(2)
    assert cls(1) != other(1)
    assert cls(1) != 1
    assert repr(cls(1, 3, [4])).endswith("Point(x=1, y=3, seen=[4])")


@BOTH
def test_a_frozen_one_has_a_hash_and_does_not_change(make: Make, field: Make) -> None:
    one = point(make, field)(1, seen=())
    assert hash(one) == hash(point(make, field)(1, seen=()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    with pytest.raises((AttributeError, TypeError)):
        one.other = 1


@BOTH
def test_another_changes_has_no_hash_and_checks_itself(make: Make, field: Make) -> None:
    one = checked(make, field)(size=2)
    one.size = 3
    assert one.size == 3
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(TypeError):
        checked(make, field)(2)
    with pytest.raises(ValueError, match="too small"):
        checked(make, field)(size=-1)


@BOTH
def test_fields_are_inherited_and_may_be_declared_again(make: Make, field: Make) -> None:
    class Child(point(make, field)):  # type: ignore[misc]
        z: int = 7
        y: int = 9

    child = make(frozen=True, slots=True)(Child)(1)
    assert (child.x, child.y, child.z) == (1, 9, 7)
    assert not hasattr(child, "__dict__")


@BOTH
def test_patterns_take_it_apart(make: Make, field: Make) -> None:
    cls = point(make, field)
    match cls(1, 5):
        case cls(x, y):
            assert (x, y) == (1, 5)
        case other:
            raise AssertionError(other)


def test_the_functions_of_the_standard_library_know_them() -> None:
    answer = Answer.of_text("4")
    assert dataclasses.is_dataclass(Answer)
    assert [each.name for each in dataclasses.fields(answer)] == list(Answer.__slots__)
    assert dataclasses.replace(answer, cost_usd=0.5).cost_usd == 0.5
    assert dataclasses.asdict(Usage(3, 4))["input_tokens"] == 3
    made = point(quick.dataclass, quick.field)
    names = {each.name: each for each in dataclasses.fields(made)}
    assert names["x"].default is dataclasses.MISSING
    assert names["seen"].default_factory is list
    assert names["seen"].metadata == {"about": "who"}


def test_what_the_standard_library_asks_for_is_made_once_for_each_class() -> None:
    @quick.dataclass()
    class First:
        one: int = 1

    @quick.dataclass()
    class Second(First):
        two: int = 2

    for cls, names in ((First, ["one"]), (Second, ["one", "two"]), (First, ["one"])):
        fields = dataclasses.fields(cls)
        assert [each.name for each in fields] == names
        assert all(map(operator.is_, fields, dataclasses.fields(cls())))


@for_each("move", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_they_are_copied_and_pickled(move: Callable[[Any], Any]) -> None:
    usage = Usage(3, 4)
    assert move(usage) == usage


def test_options_of_another_kind_of_dataclass_say_what_to_use() -> None:
    with pytest.raises(TypeError, match="with_options makes them"):

        @dataclasses.dataclass(frozen=True)
        class Odd(TargetOptions):
            size: int = 1

    @with_options(kw_only=True)
    class Right(TargetOptions):
        size: int = 1

    assert Right(size=2).size == 2


def test_a_field_may_have_any_name() -> None:
    @quick.dataclass(frozen=True)
    class Odd:
        missing: str = "x"
        tools: dict[str, int] = quick.field(default_factory=dict)

    assert Odd().tools == {}
    assert Odd("y").missing == "y"


def test_what_is_printed_leaves_out_what_nobody_said() -> None:
    from evalcase import Answer, Score, Usage

    assert repr(Score(0.5, "why")) == "Score(value=0.5, reason='why')"
    assert repr(Usage(0)) == "Usage(input_tokens=0)"
    assert repr(Answer.of_text("4")) == (
        "Answer(messages=(Message({'role': 'assistant', 'content': '4'}),))"
    )
    assert eval(repr(Usage(3, 4))) == Usage(3, 4)

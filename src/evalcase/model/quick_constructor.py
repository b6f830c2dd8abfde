"""Fields of a class in, its constructor out: made when it is worth it.

Most dataclasses have few instances in one start of the command, and many have none. Compiling an
`__init__` for each of them took longer than all that most commands do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

P = ParamSpec("P")
T = TypeVar("T")

OWN = "__quick_fields__"
"""Where a class has its fields."""
OFTEN = "__made_often__"
FEW = 40
"""How often a class is called before it is worth a constructor of its own: by then, compiling one
would have taken no longer."""

_put = object.__setattr__


class Missing:
    """Stands for a default that isn't there."""


class QuickField:
    """What is known of a field, under the names that `dataclasses` has for it."""

    __slots__ = ("default", "default_factory", "kw_only", "metadata", "name")

    def __init__(
        self, default: object, default_factory: object, metadata: Mapping[str, Any]
    ) -> None:
        self.name = ""
        self.default = default
        self.default_factory = default_factory
        self.metadata = metadata
        self.kw_only = False

    @property
    def is_needed(self) -> bool:
        return self.default is Missing and self.default_factory is Missing

    def differs(self, value: object) -> bool:
        """Whether a value is another than what it is if nobody says so."""
        default = self.default
        if callable(self.default_factory) and self.default_factory is not Missing:
            default = self.default_factory()
        return type(value) is not type(default) or value != default


def put_off_constructor(made: Any) -> None:  # noqa: ANN401 - a quick dataclass
    """Give a class an `__init__` that is slow to call, until it was called some times."""
    calls = 0
    goes_on = False

    def fill(self: Any, /, *values: object, **named: object) -> None:  # noqa: ANN401 - one of it
        nonlocal calls, goes_on
        calls += 1
        if calls == 1:
            goes_on = hasattr(made, "__post_init__")
        if calls > FEW or not _fill_fields(made, self, values, named):
            # It also says why it can't be called so.
            _make_constructor(made)
            made.__init__(self, *values, **named)
        elif goes_on:
            self.__post_init__()

    made.__init__ = fill


def _fill_fields(made: Any, new: object, values: tuple[Any, ...], named: dict[str, Any]) -> bool:  # noqa: ANN401 - a quick dataclass
    """Put what was given, or else the defaults, into the fields; False if that can't be."""
    given = dict(zip(made.__match_args__, values, strict=False))
    given |= named
    if len(given) != len(values) + len(named):
        return False
    known: Mapping[str, QuickField] = getattr(made, OWN)
    found = 0
    for name, each in known.items():
        if name in given:
            _put(new, name, given[name])
            found += 1
        elif each.default is not Missing:
            _put(new, name, each.default)
        elif callable(each.default_factory) and each.default_factory is not Missing:
            _put(new, name, each.default_factory())
        else:
            return False
    return found == len(given)


def _make_constructor(made: Any) -> Callable[..., None]:  # noqa: ANN401 - a quick dataclass
    """The only method that is made for each class: a loop over fields would be slow to call."""
    known: Mapping[str, QuickField] = getattr(made, OWN)
    names: dict[str, Any] = {f"set_{name}": getattr(made, name).__set__ for name in known}
    often = OFTEN in made.__dict__
    parameters, lines = _take_values(known, names)
    if often:
        names |= _names_for_quick_setting(made, known)
        lines += _quick_setting(known)
    else:
        lines += [f"    set_{name}(self, {name})" for name in known]
    lines.append("    self.__post_init__()" if hasattr(made, "__post_init__") else "    return")
    code = f"def __init__({', '.join(['self', *parameters])}):\n" + "\n".join(lines)
    exec(code, names)  # noqa: S102 - made of names of fields only
    made.__init__ = names["__init__"]
    made.__init__.__qualname__ = f"{made.__qualname__}.__init__"
    return names["__init__"]  # type: ignore[no-any-return]


def _take_values(
    known: Mapping[str, QuickField], names: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """The parameters of a constructor, and the lines that make what is not given. `names` gets
    what both are made of."""
    # No field has such a name: a parameter would hide what it stands for.
    names["missing__"] = Missing
    plain, keywords, lines = list[str](), list[str](), list[str]()
    for name, each in known.items():
        parameter = name
        if each.default_factory is not Missing:
            names[f"make_{name}"] = each.default_factory
            parameter = f"{name}=missing__"
            lines.append(f"    if {name} is missing__: {name} = make_{name}()")
        elif each.default is not Missing:
            names[f"default_{name}"] = each.default
            parameter = f"{name}=default_{name}"
        (keywords if each.kw_only else plain).append(parameter)
    return [*plain, "*", *keywords] if keywords else plain, lines


def _quick_setting(names: Iterable[str]) -> list[str]:
    """Each slot of a frozen instance is set by a call of its descriptor. Here an instance is for a
    moment of a class with the same slots that isn't frozen, and whose slots are simply assigned.
    What derives from the class has other slots."""
    return [
        "    if type(self) is own__:",
        "        become__(self, twin__)",
        *[f"        self.{name} = {name}" for name in names],
        "        self.__class__ = own__",
        "    else:",
        f"        set_all__(self, ({', '.join(names)},))",
    ]


def _names_for_quick_setting(made: Any, names: Iterable[str]) -> dict[str, Any]:  # noqa: ANN401 - a quick dataclass
    assert made.__bases__ == (object,), "all of its slots are its own"
    setters = [getattr(made, name).__set__ for name in names]

    def set_all(self: object, values: tuple[object, ...]) -> None:
        for set_one, value in zip(setters, values, strict=True):
            set_one(self, value)

    twin = type(made.__name__, (), {"__slots__": made.__slots__})
    become = object.__dict__["__class__"].__set__
    return {"own__": made, "twin__": twin, "become__": become, "set_all__": set_all}


def maker_of(made: Callable[P, T]) -> Callable[P, T]:
    """A function that is called as a class is, and takes two thirds of the time: for where every
    trial makes one of a frozen class that is made often, of values that `__post_init__` need not
    look at. A call of a class has to find what makes an instance, which then has to be thawed
    before it can be filled."""
    calls, names = 0, dict[str, Any]()

    def begin(values: tuple[Any, ...], named: dict[str, Any]) -> T:
        nonlocal calls
        calls += 1
        if calls == FEW:
            _make_maker(make, made)
        return made(*values, **named)

    names["begin__"] = begin
    make: Any = FunctionType(_begin_making.__code__, names)
    return make  # type: ignore[no-any-return]


def _begin_making(*values: Any, **named: Any) -> Any:  # noqa: ANN401 - what a class is called with
    return begin__(values, named)  # type: ignore[name-defined]  # noqa: F821 - see `maker_of`


def _make_maker(make: Any, made: Any) -> None:  # noqa: ANN401 - a function, a quick dataclass
    """Give a function that many hold already the code that fills instances of the class."""
    known: Mapping[str, QuickField] = getattr(made, OWN)
    names: dict[str, Any] = make.__globals__
    parameters, lines = _take_values(known, names)
    names |= _names_for_quick_setting(made, known) | {"new__": object.__new__}
    lines = ["    self = new__(twin__)", *lines]
    lines += [f"    self.{name} = {name}" for name in known]
    lines += ["    self.__class__ = own__", "    return self"]
    exec(f"def make__({', '.join(parameters)}):\n" + "\n".join(lines), names)  # noqa: S102 - made of names of fields only
    quick = names["make__"]
    make.__code__, make.__defaults__ = quick.__code__, quick.__defaults__
    make.__kwdefaults__ = quick.__kwdefaults__


class LateSignature:
    """What `help` and editors ask a class for, unless it has an `__init__` of its own."""

    def __get__(self, instance: object, owner: Any) -> Signature:  # noqa: ANN401 - a class
        import inspect

        made = next(each for each in owner.__mro__ if "__init__" in each.__dict__)
        if OWN not in made.__dict__:
            raise AttributeError("__signature__")
        _, *parameters = inspect.signature(_make_constructor(made)).parameters.values()
        return inspect.Signature(parameters)

"""The shape of a value that may be of several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalcase.model.either import unite_schemas
from evalcase.model.finding import QUOTE_IT, KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.shape import OptionFault, Shape, describe_mismatch
from evalcase.model.value import Value


class OneOf(Value, frozen=True):
    """A value of any of some shapes; the first that fits reads it."""

    shapes: tuple[Shape, ...]

    @property
    def words(self) -> str:
        return " or ".join(shape.words for shape in self.shapes)

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        found = [list(shape.faults(value, path)) for shape in self.shapes]
        if all(found):
            # Where one shape got further into the value than the others, that one was meant.
            deepest = max(found, key=lambda faults: len(faults[0].path))
            nearest_shapes = [faults for faults in found if not faults[0].unlike]
            if len(deepest[0].path) > len(path):
                yield from deepest
            elif len(nearest_shapes) == 1:
                yield from nearest_shapes[0]
            else:
                hinted = [faults[0] for faults in found if faults[0].hint]
                helps = bool(hinted) and (hinted[0].names_meant or hinted[0].hint == QUOTE_IT)
                hint = hinted[0].hint if helps else None
                yield describe_mismatch(self, value, path, hint)

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - whatever the field holds
        fits = (shape for shape in self.shapes if not any(shape.faults(value, ("",))))
        return next(fits).read(value)

    def schema(self) -> dict[str, JSON]:
        return unite_schemas([shape.schema() for shape in self.shapes])

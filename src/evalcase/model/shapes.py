"""The shapes that options may have, in one place for whoever declares some: `evalcase.shapes`."""

from __future__ import annotations

from evalcase.model.conflict import conflict
from evalcase.model.option import Record
from evalcase.model.shape import (
    Anything,
    Choice,
    Flag,
    ListOf,
    MapOf,
    Number,
    OptionFault,
    Shape,
    Text,
)
from evalcase.model.shape_names import Argv, GraderList, PathText, Reference
from evalcase.model.shape_one_of import OneOf
from evalcase.model.shape_pattern import Pattern

__all__ = [
    "Anything",
    "Argv",
    "Choice",
    "Flag",
    "GraderList",
    "ListOf",
    "MapOf",
    "Number",
    "OneOf",
    "OptionFault",
    "PathText",
    "Pattern",
    "Record",
    "Reference",
    "Shape",
    "Text",
    "conflict",
]
